#include "facts/kernel_modules.h"

#include <algorithm>

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

bool Modules::is_blacklisted(const std::string& name) const {
    return std::find(blacklisted.begin(), blacklisted.end(), canonical(name)) != blacklisted.end();
}

Fact<bool> Modules::out_of_tree(const std::string& name) const {
    return host_->read("/sys/module/" + canonical(name) + "/taint").then([](const std::string& flags) { return flags.find('O') != std::string::npos; });
}

Fact<std::string> Modules::parameter(const std::string& module, const std::string& name) const {
    return host_->read("/sys/module/" + canonical(module) + "/parameters/" + name).then(trimmed);
}

}  // namespace preflight
