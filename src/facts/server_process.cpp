#include "facts/server_process.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "facts/service.h"

namespace preflight {
namespace {

bool of_unit(const Process& process, const std::string& unit) {
    const std::string part = "/" + unit;
    const auto at = process.cgroup.find(part);
    return at != std::string::npos && (at + part.size() == process.cgroup.size() || process.cgroup[at + part.size()] == '/');
}

bool foreign_namespaces(const Process& process, const std::map<std::string, std::string>& own) {
    const auto pid = process.namespaces.find("pid"), mine = own.find("pid");
    if (pid != process.namespaces.end() && mine != own.end()) return pid->second != mine->second;
    return process.pids.size() > 1;
}

}  // namespace

bool container_cgroup(const std::string& cgroup) {
    // Prefixes that container engines and kubelets give to their cgroups.
    static constexpr std::array words = {"kubepods", "docker", "crio-", "cri-containerd", "libpod", "/lxc", "containerd/"};
    return std::any_of(words.begin(), words.end(), [&](const char* word) { return cgroup.find(word) != std::string::npos; });
}

ServerProcesses read_server_processes(Host& host, const ServiceFacts& service) {
    ServerProcesses out;
    const auto all = host.processes();
    out.looked = all.then([](const Processes&) { return true; });
    const std::string& unit = service.files.id.empty() ? service.name : service.files.id;
    if (all.has()) {
        out.own_namespaces = all->own_namespaces;
        out.hidden = all->hidden;
        for (const Process& process : all->servers) {
            if (of_unit(process, unit)) out.of_unit.push_back(process);
            else if (container_cgroup(process.cgroup) || foreign_namespaces(process, all->own_namespaces)) out.in_container.push_back(process);
            else out.elsewhere.push_back(process);
        }
    }
    const int main_pid = service.loaded.has() ? service.loaded->main_pid : 0;
    const auto known = [&](const Process& process) { return process.pid == main_pid; };
    if (main_pid > 0 && std::none_of(out.of_unit.begin(), out.of_unit.end(), known))
        if (const auto process = host.process(main_pid); process.has()) out.of_unit.push_back(*process);
    return out;
}

std::optional<bool> in_initial_user_namespace(const Process& process) {
    if (!process.uid_map) return std::nullopt;
    std::istringstream words(*process.uid_map);
    unsigned long inside = 1, outside = 1, count = 0;
    words >> inside >> outside >> count;
    return inside == 0 && outside == 0 && count == 4294967295ul;
}

bool may_lock_everything(const Process& process) {
    return process.capabilities >> 14 & 1 && in_initial_user_namespace(process) == true;
}

}  // namespace preflight
