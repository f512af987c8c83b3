#include "facts/container.h"

#include <fmt/format.h>

#include <algorithm>

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
    const std::string root = fmt::format("/proc/{}/root", process.pid);
    for (const char* folder : {"/usr/lib/minio", "/usr/local/lib/minio"}) {
        const auto names = host.list(root + folder);
        if (names.unreadable()) return names.as<bool>();
        for (const std::string& name : names.value_or({}))
            if (name.rfind("libp2p_rdma.so", 0) == 0 || name.rfind("libs3rdma.so", 0) == 0) return true;
    }
    return host.list(root).then([](const std::vector<std::string>&) { return false; });
}

}  // namespace preflight
