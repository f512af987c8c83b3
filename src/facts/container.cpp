#include "facts/container.h"

#include <fmt/format.h>

#include <algorithm>

#include "facts/server_build.h"
#include "facts/server_process.h"

namespace preflight {

std::vector<ContainerView> read_containers(Host& host, const ServerProcesses& processes) {
    std::vector<ContainerView> views;
    for (const Process& process : processes.in_container) {
        ContainerView view{process, host.list(fmt::format("/proc/{}/root/dev/infiniband", process.pid)), std::nullopt, Unreadable{"namespace", "GIDs of another network namespace do not show here"}};
        const auto net = process.namespaces.find("net"), own = processes.own_namespaces.find("net");
        if (net != process.namespaces.end() && own != processes.own_namespaces.end()) view.same_network = net->second == own->second;
        views.push_back(std::move(view));
    }
    return views;
}

Fact<bool> rdma_build_in(Host& host, const Process& process) {
    const std::string path = fmt::format("/proc/{}/exe", process.pid);
    return host.elf(path).then([&](const Elf& elf) -> Fact<bool> {
        const bool shows = !rdma_sign(elf).empty();
        if (!shows && !elf.searched) return Unreadable{"too-large", path + " is too large to be searched for signs of RDMA"};
        return shows;
    });
}

}  // namespace preflight
