#include "facts/container.h"

#include <fmt/format.h>

#include <algorithm>

#include "facts/rdma.h"
#include "facts/server_build.h"
#include "facts/server_process.h"

namespace preflight {

namespace {

/// Routable RoCE v2 GIDs of the devices whose netdev is in this network namespace; sysfs hides the netdev of the others
/// (drivers/infiniband/core/sysfs.c, show_port_gid_attr).
Fact<std::size_t> usable_gids(const RdmaStack& rdma) {
    std::size_t usable = 0;
    for (const RdmaDeviceFacts& device : rdma.devices)
        for (const auto& [port, table] : device.gids) {
            if (device.infiniband()) return Absent{"InfiniBand"};
            if (!table) return table.as<std::size_t>();
            for (const Gid& gid : table->gids) {
                const auto address = gid_address(gid.gid);
                const bool routable = address && (address->kind == GidKind::ipv4 || address->kind == GidKind::ipv6);
                usable += routable && gid.netdev.has() && gid.type.value_or("") == "RoCE v2";
            }
        }
    if (rdma.devices.empty()) return Absent{"no RDMA device"};
    return usable;
}

}  // namespace

std::vector<ContainerView> read_containers(Host& host, const ServerProcesses& processes, const RdmaStack& rdma) {
    std::vector<ContainerView> views;
    for (const Process& process : processes.in_container) {
        ContainerView view{process, host.list(fmt::format("/proc/{}/root/dev/infiniband", process.pid)), std::nullopt, Unreadable{"namespace", "GIDs of another network namespace do not show here"}};
        const auto net = process.namespaces.find("net"), own = processes.own_namespaces.find("net");
        if (net != process.namespaces.end() && own != processes.own_namespaces.end()) view.same_network = net->second == own->second;
        if (view.same_network == true) view.usable_gids = usable_gids(rdma);
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
