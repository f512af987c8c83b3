#pragma once
// Kernel modules: loaded, built in, out of tree, kept away by the kernel command line or modprobe.d(5), or without a file.

#include <string>
#include <vector>

#include "preflight/host.h"

namespace preflight {

struct NodeFacts;

enum class ModuleState { loaded, built_in, not_loaded, unknown };

/// A line of the kernel command line or of modprobe.d(5) that keeps a module away.
struct ModuleBlock {
    enum Kind {
        command_line,  ///< module_blacklist=, modprobe.blacklist=: until the next boot without it
        blacklist,     ///< "blacklist NAME": it does not load by itself; `modprobe NAME` loads it
        install,       ///< "install NAME /bin/false": `modprobe NAME` runs that instead
    } kind = command_line;
    std::string text;  ///< the line; on the command line the module
    std::string path;  ///< of the file; empty for the command line
    int line = 0;
};

/// Answers about single modules. Names are compared with '-' and '_' alike, as modprobe does.
struct Modules {
    Fact<std::vector<std::string>> loaded;    ///< /proc/modules
    Fact<std::vector<std::string>> built_in;  ///< modules.builtin of the running kernel
    std::vector<std::string> blacklisted;     ///< by module_blacklist=, modprobe.blacklist= on the kernel command line

    static Modules read(Host& host, const NodeFacts& node);

    /// unknown when nothing shows the module and /proc/modules or modules.builtin could not be read: a built-in module
    /// without parameters has no folder in /sys/module.
    ModuleState state(const std::string& name) const;
    bool usable(const std::string& name) const;
    /// What keeps it away. Files that could not be read are added to `unread`.
    std::vector<ModuleBlock> blocks(const std::string& name, std::vector<std::string>& unread) const;
    /// Its file below the running kernel's modules, see Host::module_file.
    Fact<std::string> file(const std::string& name) const;
    /// The module did not come with the kernel: flag `O` in /sys/module/NAME/taint. Absent: not loaded as a module.
    Fact<bool> out_of_tree(const std::string& name) const;
    /// The value of a loaded module's parameter. Absent: the module has no such parameter, or is not loaded.
    Fact<std::string> parameter(const std::string& module, const std::string& name) const;

private:
    Host* host_ = nullptr;
};

}  // namespace preflight
