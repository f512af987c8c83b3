#include "facts/kernel_modules.h"

#include <algorithm>
#include <map>

#include "facts/node.h"

namespace preflight {
namespace {

std::string canonical(std::string name) {
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

bool holds(const Fact<std::vector<std::string>>& list, const std::string& name) {
    return list && std::find(list->begin(), list->end(), canonical(name)) != list->end();
}

std::vector<std::string> first_words(const std::string& text) {
    std::vector<std::string> names;
    for (const std::string& line : split_lines(text)) names.push_back(canonical(line.substr(0, line.find(' '))));
    return names;
}

/// "kernel/drivers/infiniband/core/ib_core.ko" -> "ib_core".
std::vector<std::string> file_stems(const std::string& text) {
    std::vector<std::string> names;
    for (const std::string& line : split_lines(text)) {
        const std::string file = line.substr(line.rfind('/') + 1);
        names.push_back(canonical(file.substr(0, file.find('.'))));
    }
    return names;
}

}  // namespace

Modules Modules::read(Host& host, const NodeFacts& node) {
    Modules modules;
    modules.host_ = &host;
    modules.loaded = host.read("/proc/modules").then(first_words);
    if (node.self) modules.built_in = host.read("/lib/modules/" + node.self->kernel + "/modules.builtin").then(file_stems);
    if (node.kernel_command_line)
        for (const std::string& word : split_words(*node.kernel_command_line))
            for (const std::string key : {"module_blacklist=", "modprobe.blacklist=", "rd.driver.blacklist="})
                if (word.rfind(key, 0) == 0)
                    for (std::size_t at = key.size(); at <= word.size();) {
                        const std::size_t comma = std::min(word.find(',', at), word.size());
                        if (key != "rd.driver.blacklist=") modules.blacklisted.push_back(canonical(word.substr(at, comma - at)));
                        at = comma + 1;
                    }
    return modules;
}

ModuleState Modules::state(const std::string& name) const {
    if (holds(loaded, name)) return ModuleState::loaded;
    if (holds(built_in, name)) return ModuleState::built_in;
    // A module with parameters or a loaded one has a folder here; modules.builtin may be missing in a container.
    const auto folder = host_->info("/sys/module/" + canonical(name));
    if (folder) return host_->info("/sys/module/" + canonical(name) + "/initstate") ? ModuleState::loaded : ModuleState::built_in;
    if (loaded && built_in && folder.absent()) return ModuleState::not_loaded;
    return ModuleState::unknown;
}

bool Modules::usable(const std::string& name) const {
    const ModuleState known = state(name);
    return known == ModuleState::loaded || known == ModuleState::built_in;
}

std::vector<ModuleBlock> Modules::blocks(const std::string& name, std::vector<std::string>& unread) const {
    // modprobe.d(5): a file hides files of its name in later folders.
    static constexpr const char* folders[] = {"/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d",
                                              "/usr/lib/modprobe.d", "/lib/modprobe.d"};
    // What an install line may run instead of loading anything.
    static constexpr const char* nothing[] = {"true", "false", ":", "exit", "echo"};
    const std::string wanted = canonical(name);
    std::vector<ModuleBlock> found;
    if (std::find(blacklisted.begin(), blacklisted.end(), wanted) != blacklisted.end())
        found.push_back({.kind = ModuleBlock::command_line, .text = wanted, .path = {}});
    std::map<std::string, std::string> files;
    for (const std::string folder : folders) {
        const auto names = host_->list(folder);
        if (names.unreadable()) unread.push_back(names.why().cause);
        for (const std::string& file : names.value_or({}))
            if (file.ends_with(".conf")) files.emplace(file, folder + "/" + file);
    }
    for (const auto& [file, path] : files) {
        const auto lines = host_->modprobe_lines(path);
        if (lines.unreadable()) unread.push_back(lines.why().cause);
        for (const FileLine& line : lines.value_or({})) {
            const std::vector<std::string> words = split_words(line.text);
            if (words.size() < 2 || canonical(words[1]) != wanted) continue;
            const bool install = words[0] == "install" && words.size() > 2;
            const std::string program = install ? words[2].substr(words[2].rfind('/') + 1) : "";
            if (install && std::find(std::begin(nothing), std::end(nothing), program) == std::end(nothing)) continue;
            found.push_back({install ? ModuleBlock::install : ModuleBlock::blacklist, line.text, path, line.line});
        }
    }
    return found;
}

Fact<std::string> Modules::file(const std::string& name) const {
    return host_->module_file(canonical(name));
}

Fact<bool> Modules::out_of_tree(const std::string& name) const {
    return host_->read("/sys/module/" + canonical(name) + "/taint").then([](const std::string& flags) { return flags.find('O') != std::string::npos; });
}

Fact<std::string> Modules::parameter(const std::string& module, const std::string& name) const {
    return host_->read("/sys/module/" + canonical(module) + "/parameters/" + name).then(trimmed);
}

}  // namespace preflight
