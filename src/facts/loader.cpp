#include "facts/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "facts/node.h"

namespace preflight {
namespace {

constexpr std::size_t max_objects = 512, max_names = 4096;  // more of them is no server's

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

bool fits(const Elf& library, const Elf& program) {
    return library.machine == program.machine && library.bits == program.bits;
}

// x86-64 psABI: what /proc/cpuinfo calls the instructions that each level adds.
const std::vector<std::pair<std::string, std::vector<std::string>>>& x86_levels() {
    static const std::vector<std::pair<std::string, std::vector<std::string>>> levels = {
        {"x86-64-v2", {"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"}},
        {"x86-64-v3", {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}},
        {"x86-64-v4", {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}}};
    return levels;
}

}  // namespace

std::set<std::string> hardware_levels(Host& host) {
    std::set<std::string> levels;
    const auto text = host.read("/proc/cpuinfo");
    if (!text) return levels;
    std::istringstream lines(*text);
    std::set<std::string> flags;
    for (std::string line; flags.empty() && std::getline(lines, line);)
        if (line.rfind("flags", 0) == 0) {
            std::istringstream words(line.substr(line.find(':') + 1));
            for (std::string word; words >> word;) flags.insert(word);
        }
    for (const auto& [level, needs] : x86_levels()) {
        if (!std::all_of(needs.begin(), needs.end(), [&](const std::string& flag) { return flags.count(flag) > 0; })) break;
        levels.insert(level);
    }
    return levels;
}

std::vector<LoadedLibrary> Loader::load(const std::string& program, const Elf& elf) {
    objects_ = {{program, host_.resolve(program).value_or(program), elf, -1}};
    names_.clear();
    musl_ = elf.interpreter.find("ld-musl") != std::string::npos;
    std::vector<LoadedLibrary> list;
    if (elf.interpreter.empty()) return list;
    // The loader itself is loaded; libraries name it by its SONAME.
    names_.emplace_back(elf.interpreter.substr(elf.interpreter.rfind('/') + 1), 0);
    for (const std::string& name : setting_.preload)
        if (!setting_.secure || name.find('/') == std::string::npos) ask(name, 0, list);
    for (LoadedLibrary& library : list) {
        library.preload = true;
        library.needed_by = "LD_PRELOAD";
    }
    follow(0, list);
    return list;
}

void Loader::ask(const std::string& name, int parent, std::vector<LoadedLibrary>& list) {
    if (loaded(name)) return;
    if (objects_.size() >= max_objects || names_.size() >= max_names) {
        complete_ = false;
        return;
    }
    LoadedLibrary library = resolve(name, parent);
    if (library.path) add(library, parent);
    else names_.emplace_back(name, -1);
    list.push_back(std::move(library));
}

/// Breadth first, from this object on.
void Loader::follow(std::size_t first, std::vector<LoadedLibrary>& list) {
    for (std::size_t i = first; i < objects_.size(); ++i) {
        const std::vector<std::string> needed = objects_[i].elf.needed;
        for (const std::string& name : needed) ask(name, static_cast<int>(i), list);
    }
}

std::vector<LoadedLibrary> Loader::open(const std::string& name, const std::string& caller) {
    int parent = 0;
    for (std::size_t i = 0; i < objects_.size(); ++i)
        if (objects_[i].path == caller) parent = static_cast<int>(i);
    const auto index = loaded(name);
    if (index && *index >= 0) return {{.name = name, .needed_by = objects_[static_cast<std::size_t>(parent)].path, .path = objects_[static_cast<std::size_t>(*index)].path, .by = "already loaded"}};
    if (index) std::erase_if(names_, [&](const auto& known) { return known.first == name; });
    std::vector<LoadedLibrary> list;
    const std::size_t before = objects_.size();
    ask(name, parent, list);
    follow(before, list);
    return list;
}

/// glibc elf/dl-version.c: a library without any versions satisfies every need.
std::vector<std::string> Loader::missing_versions() const {
    std::vector<std::string> missing;
    for (const Object& object : objects_)
        for (const VersionNeed& need : object.elf.version_needs) {
            const auto index = loaded(need.library);
            if (!index || *index <= 0) continue;
            const Object& library = objects_[static_cast<std::size_t>(*index)];
            const auto& offered = library.elf.versions;
            if (!offered.empty() && std::find(offered.begin(), offered.end(), need.version) == offered.end())
                missing.push_back(fmt::format("{} in {}, needed by {}", need.version, library.path, object.path));
        }
    return missing;
}

std::optional<int> Loader::loaded(const std::string& name) const {
    for (const auto& [known, index] : names_)
        if (known == name) return index;
    return std::nullopt;
}

void Loader::add(LoadedLibrary& library, int parent) {
    const auto elf = host_.elf(*library.path);
    // Two names may lead to one file, or a file may carry the SONAME that is asked for later.
    const std::string real = host_.resolve(*library.path).value_or(*library.path);
    for (std::size_t i = 0; i < objects_.size(); ++i)
        if (objects_[i].real == real) {
            names_.emplace_back(library.name, static_cast<int>(i));
            return;
        }
    const int index = static_cast<int>(objects_.size());
    names_.emplace_back(library.name, index);
    if (!elf->soname.empty() && elf->soname != library.name && !musl_) names_.emplace_back(elf->soname, index);
    objects_.push_back({*library.path, real, *elf, parent});
}

/// $ORIGIN, $LIB and $PLATFORM, with or without braces.
std::string Loader::expand(const std::string& text, const std::string& path) const {
    const std::string& machine = objects_.front().elf.machine;
    const bool bits64 = objects_.front().elf.bits == 64;
    const bool multiarch = objects_.front().elf.interpreter.find("/lib64/") == std::string::npos || host_.info("/lib/" + machine + "-linux-gnu").has();
    const std::map<std::string, std::string> values = {{"ORIGIN", folder_of(host_.resolve(path).value_or(path))},
                                                       {"LIB", multiarch ? "lib/" + machine + "-linux-gnu" : bits64 ? "lib64" : "lib"},
                                                       {"PLATFORM", machine}};
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '$') {
            result += text[i];
            continue;
        }
        const bool brace = i + 1 < text.size() && text[i + 1] == '{';
        const std::size_t begin = i + 1 + brace;
        const auto known = std::find_if(values.begin(), values.end(), [&](const auto& value) {
            const std::string& word = value.first;
            if (text.compare(begin, word.size(), word) != 0) return false;
            const char next = begin + word.size() < text.size() ? text[begin + word.size()] : '\0';
            return brace ? next == '}' : !std::isalnum(static_cast<unsigned char>(next)) && next != '_';
        });
        if (known == values.end()) {
            result += text[i];
            continue;
        }
        result += known->second;
        i = begin + known->first.size() - 1 + brace;
    }
    return result;
}

/// Debian's multiarch folders, then those of RPM distributions; a folder that does not exist does no harm.
std::vector<std::string> Loader::default_folders() const {
    if (musl_) {
        const auto path = host_.read("/etc/ld-musl-" + objects_.front().elf.machine + ".path");
        if (!path) return {"/lib", "/usr/local/lib", "/usr/lib"};
        std::vector<std::string> folders;
        std::string text = *path;
        std::replace(text.begin(), text.end(), ':', '\n');
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);)
            if (!line.empty()) folders.push_back(line);
        return folders;
    }
    const Elf& program = objects_.front().elf;
    const std::string triple = program.machine + "-linux-gnu";
    std::vector<std::string> folders = {"/lib/" + triple, "/usr/lib/" + triple};
    if (program.bits == 64) folders.insert(folders.end(), {"/lib64", "/usr/lib64"});
    folders.insert(folders.end(), {"/lib", "/usr/lib"});
    return folders;
}

/// glibc's open_verify: a file that is missing, closed, or for another machine is passed over; any other that is no library ends the search.
Loader::Try Loader::try_file(const std::string& path, LoadedLibrary& library) {
    const auto elf = host_.elf(path);
    if (elf.absent()) return Try::next;
    if (setting_.user.known())
        if (const auto closed = barrier(host_, setting_.user, path, Permission::read)) {
            if (!closed->certain) {
                library.path = Unreadable{"EACCES", fmt::format("{}: {}; whether {} may read it is not known", path, closed->what, setting_.user.text)};
                return Try::stop;
            }
            library.closed.push_back(*closed);
            return Try::next;
        }
    if (elf.unreadable()) {
        const std::string& error = elf.why().error;
        if (error == "not-elf" || error == "malformed" || error == "script" || error == "EISDIR") library.broken = elf.why().cause;
        else library.path = elf.as<std::string>();
        return Try::stop;
    }
    if (!fits(*elf, objects_.front().elf)) {
        library.other_machines.push_back(path);
        return Try::next;
    }
    library.path = path;
    return Try::found;
}

bool Loader::try_folders(const std::vector<std::string>& folders, const std::string& origin_of, const std::string& name, const char* by, LoadedLibrary& library) {
    for (const std::string& written : folders) {
        const std::string folder = written.empty() ? "." : expand(written, origin_of);
        if (folder[0] != '/') continue;  // of the working folder, which is not the tool's
        // ld.so(8), secure execution: $ORIGIN leads to the loader's own folders only.
        if (setting_.secure && folder != written) {
            const auto trusted = default_folders();
            if (std::find(trusted.begin(), trusted.end(), folder) == trusted.end()) continue;
        }
        std::vector<std::string> places;
        if (!musl_ && host_.info(folder + "/glibc-hwcaps").has())
            for (auto level = setting_.levels.rbegin(); level != setting_.levels.rend(); ++level) places.push_back(folder + "/glibc-hwcaps/" + *level);
        places.push_back(folder);
        for (const std::string& place : places) {
            const Try result = try_file(place + "/" + name, library);
            if (result == Try::next) continue;
            library.by = by;
            return true;
        }
    }
    return false;
}

/// glibc's dl_cache search: the highest level this processor takes, else the first plain entry; one entry is tried, not all.
const CachedLibrary* Loader::best_cached(const std::vector<CachedLibrary>& entries) const {
    const CachedLibrary* best = nullptr;
    for (const CachedLibrary& entry : entries) {
        if (entry.machine != objects_[0].elf.machine || entry.other_levels) continue;
        if (!entry.level.empty() && !setting_.levels.count(entry.level)) continue;
        if (!best || entry.level > best->level) best = &entry;
    }
    return best;
}

LoadedLibrary Loader::resolve(const std::string& name, int parent) {
    const Object& asks = objects_[static_cast<std::size_t>(parent)];
    LoadedLibrary library{.name = name, .needed_by = asks.path};
    if (name.find('/') != std::string::npos) {
        try_file(expand(name, asks.path), library);
        library.by = "its path";
        return library;
    }
    // RPATH counts only where the asking object has no RUNPATH; then that of each object up the chain, and the program's, that has none.
    if (musl_) {
        if (!setting_.secure && try_folders(setting_.library_path, asks.path, name, "LD_LIBRARY_PATH", library)) return library;
        for (int i = parent; i >= 0; i = objects_[static_cast<std::size_t>(i)].parent)
            for (const auto* folders : {&objects_[static_cast<std::size_t>(i)].elf.runpath, &objects_[static_cast<std::size_t>(i)].elf.rpath})
                if (try_folders(*folders, objects_[static_cast<std::size_t>(i)].path, name, "RPATH", library)) return library;
        try_folders(default_folders(), asks.path, name, "default folders", library);
        return library;
    }
    if (asks.elf.runpath.empty()) {
        bool program_seen = false;
        for (int i = parent; i >= 0; i = objects_[static_cast<std::size_t>(i)].parent) {
            const Object& object = objects_[static_cast<std::size_t>(i)];
            program_seen |= i == 0;
            if (object.elf.runpath.empty() && try_folders(object.elf.rpath, object.path, name, "RPATH", library)) return library;
        }
        if (!program_seen && objects_[0].elf.runpath.empty() && try_folders(objects_[0].elf.rpath, objects_[0].path, name, "RPATH", library)) return library;
    }
    if (!setting_.secure && try_folders(setting_.library_path, objects_[0].path, name, "LD_LIBRARY_PATH", library)) return library;
    if (try_folders(asks.elf.runpath, asks.path, name, "RUNPATH", library)) return library;
    const auto defaults = default_folders();
    const auto is_default = [&](const std::string& path) { return std::find(defaults.begin(), defaults.end(), folder_of(path)) != defaults.end(); };
    const auto cached = host_.cached_library(name);
    if (cached.unreadable()) library.path = cached.as<std::string>();
    const auto entries = cached.value_or({});
    if (const CachedLibrary* entry = best_cached(entries); entry && !(asks.elf.no_default_folders && is_default(entry->path)) && try_file(entry->path, library) != Try::next) {
        library.by = "ld.so.cache";
        return library;
    }
    if (!asks.elf.no_default_folders) try_folders(defaults, asks.path, name, "default folders", library);
    return library;
}

}  // namespace preflight
