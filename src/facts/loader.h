#pragma once
// Which files the dynamic loader would map for a program, found from the files alone (ld.so(8); glibc 2.39 elf/dl-load.c, elf/dl-deps.c,
// elf/dl-cache.c; musl ldso/dynlink.c). Nothing is executed.

#include <set>
#include <string>
#include <vector>

#include "facts/service_user.h"
#include "preflight/elf.h"
#include "preflight/host.h"

namespace preflight {

/// What decides beside the files.
struct LoaderSetting {
    std::vector<std::string> library_path;  ///< LD_LIBRARY_PATH of the program; ignored under secure execution
    std::vector<std::string> preload;       ///< LD_PRELOAD
    bool secure = false;                    ///< secure execution: the file gives more rights than its caller has (AT_SECURE of getauxval(3))
    ServiceUser user;                       ///< who opens the files; not known: everybody may
    std::set<std::string> levels;           ///< folders below glibc-hwcaps that this processor takes, "x86-64-v3"
};

/// The glibc-hwcaps folders for the processor of /proc/cpuinfo (x86-64 psABI, micro-architecture levels).
std::set<std::string> hardware_levels(Host& host);

struct LoadedLibrary {
    std::string name;       ///< as it was asked for
    std::string needed_by;  ///< the file that asked
    Fact<std::string> path = Absent{}; ///< Absent: the loader does not find it. Unreadable: a place where it may lie could not be read
    std::string by = {};    ///< "RUNPATH", "RPATH", "LD_LIBRARY_PATH", "ld.so.cache", "default folders", "its path"
    std::vector<std::string> other_machines = {};  ///< files of that name for another machine, which the loader passes over
    std::vector<Barrier> closed = {};              ///< files of that name that the user may not read, which the loader passes over
    std::string broken = {};                       ///< a file at which the loader gives up, and why; nothing behind it is tried
    bool preload = false;                     ///< of LD_PRELOAD: without it the program starts all the same
};

class Loader {
public:
    Loader(Host& host, LoaderSetting setting) : host_(host), setting_(std::move(setting)) {}

    /// Everything the program needs, transitively, in the loader's order (breadth first), each name once.
    std::vector<LoadedLibrary> load(const std::string& program, const Elf& elf);
    /// What dlopen(3) of a bare name finds when `caller` calls it, and what this needs in turn; after load().
    std::vector<LoadedLibrary> open(const std::string& name, const std::string& caller);
    /// Symbol versions that a loaded file cannot do without and that the library it names does not offer: the loader gives up.
    std::vector<std::string> missing_versions() const;
    /// False: more libraries than any server has; the rest was not looked at.
    bool complete() const { return complete_; }

private:
    struct Object {
        std::string path, real;  ///< as found, and after links
        Elf elf;
        int parent = -1;  ///< index of the object that asked for it
    };
    enum class Try { next, found, stop };

    std::optional<int> loaded(const std::string& name) const;
    void ask(const std::string& name, int parent, std::vector<LoadedLibrary>& list);
    void follow(std::size_t first, std::vector<LoadedLibrary>& list);
    LoadedLibrary resolve(const std::string& name, int parent);
    Try try_file(const std::string& path, LoadedLibrary& library);
    /// True when the search ends here: found, or given up.
    bool try_folders(const std::vector<std::string>& folders, const std::string& origin_of, const std::string& name, const char* by, LoadedLibrary& library);
    const CachedLibrary* best_cached(const std::vector<CachedLibrary>& entries) const;
    std::string expand(const std::string& text, const std::string& path) const;
    std::vector<std::string> default_folders() const;
    void add(LoadedLibrary& library, int parent);

    Host& host_;
    LoaderSetting setting_;
    std::vector<Object> objects_;
    std::vector<std::pair<std::string, int>> names_;
    bool musl_ = false, complete_ = true;
};

}  // namespace preflight
