// The ports of the lossless chain, from the storage ports and what ethtool and DCB say of them.

#include <algorithm>

#include "facts/environment.h"
#include "facts/lossless.h"
#include "facts/nic.h"
#include "facts/ports.h"
#include "facts/rdma.h"
#include "preflight/facts.h"

namespace preflight {
namespace {

constexpr int arphrd_infiniband = 32;  // include/uapi/linux/if_arp.h

bool named(const Options& options, const std::string& netdev) {
    return std::find(options.interfaces.begin(), options.interfaces.end(), netdev) != options.interfaces.end();
}

/// The netdevs whose addresses AIStor may use. A VLAN that was named with --interface stands for itself alone.
std::vector<Upper> uppers_of(const Port& port, const Options& options) {
    std::vector<Upper> all, chosen;
    const auto add = [](std::vector<Upper>& list, Upper upper) {
        if (std::none_of(list.begin(), list.end(), [&](const Upper& known) { return known.netdev == upper.netdev; })) list.push_back(std::move(upper));
    };
    for (const PortAddress& on : port.addresses) {
        if (!routable(on.address)) continue;
        if (!on.usable()) continue;
        const auto vlan = std::find_if(port.uppers.begin(), port.uppers.end(), [&](const Link& link) { return link.name == on.vlan; });
        Upper upper{on.netdev, {}};
        if (vlan != port.uppers.end()) upper.egress = vlan->vlan ? vlan->vlan->egress : std::map<unsigned, unsigned>{};
        if (upper.egress && named(options, on.netdev)) add(chosen, upper);
        add(all, std::move(upper));
    }
    if (!chosen.empty()) return chosen;
    if (all.empty()) all.push_back({port.link.name, {}});
    return all;
}

void read_ecn(Host& host, LosslessPort& port) {
    const std::string folder = "/sys/class/net/" + port.netdev + "/ecn";
    if (!host.list(folder)) return;
    for (const char* half : {"roce_np", "roce_rp"})
        for (unsigned priority = 0; priority < 8; ++priority)
            port.ecn[half][priority] = host.read(folder + "/" + half + "/enable/" + std::to_string(priority));
}

}  // namespace

Lossless Lossless::read(const Facts& facts) {
    Lossless result;
    const auto setting = [&](std::string_view name) { return class_setting(facts.environment().server_value(name).then([](const ServerValue& value) { return value.value; })); };
    result.internode = setting("MINIO_RDMA_INTERNODE_TRAFFIC_CLASS");
    result.s3 = setting("MINIO_RDMA_TRAFFIC_CLASS");
    for (const Port* port : facts.ports().storage()) {
        LosslessPort made;
        made.netdev = port->link.name;
        made.key = port->key;
        made.driver = port->driver ? *port->driver : std::string();
        made.vendor = port->vendor ? *port->vendor : 0;
        made.device = port->device ? *port->device : 0;
        made.infiniband = port->link.arphrd == arphrd_infiniband;
        made.bond = port->bond ? port->bond->name : std::string();
        if (const RdmaAttachment* attached = port->attachment()) {
            made.rdma_device = attached->device;
            made.rdma_port = attached->port;
            if (const RdmaDeviceFacts* device = facts.rdma().find(attached->device)) {
                made.infiniband |= device->infiniband();
                made.rdma_driver = device->module;
            }
        }
        if (made.rdma_driver.empty() && port->family) made.rdma_driver = port->family->rdma;
        made.uppers = uppers_of(*port, facts.options());
        const NicPort& nic = facts.nic().port(port->key);
        made.dcb = nic.dcb;
        made.pause = nic.pause;
        made.flags = nic.private_flags;
        read_ecn(facts.host(), made);
        if (!made.rdma_device.empty())
            made.cm_tos = facts.host().read("/sys/kernel/config/rdma_cm/" + made.rdma_device + "/ports/" + std::to_string(made.rdma_port) + "/default_roce_tos");
        result.ports.push_back(std::move(made));
    }
    return result;
}

}  // namespace preflight
