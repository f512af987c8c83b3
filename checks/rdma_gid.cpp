// GIDs and path MTU. A RoCE v2 GID is the address of a netdev; peers find the port by it. Empty slots answer EINVAL for their
// type and netdev (Linux 6.12 drivers/infiniband/core/sysfs.c); the GID table of irdma has 32 slots, of mlx5 up to 256.

#include <algorithm>

#include "facts/peers.h"
#include "nic.h"
#include "rdma.h"
#include "text.h"

namespace preflight {
namespace {

constexpr std::string_view roce_v2 = "RoCE v2";

std::string listed(const Gid& gid) {
    const auto address = gid_address(gid.gid);
    return fmt::format("{}: {} {}", gid.index, address ? address->text : gid.gid, gid.type ? *gid.type : no_answer(gid.type));
}


void judge_infiniband(const GidTable& table, const Subject& subject, const std::string& source, Findings& out) {
    const bool prefix = !table.gids.empty() && table.gids.front().gid.rfind("0000:0000:0000:0000", 0) != 0;
    if (prefix) out.pass(subject, "subnet prefix " + table.gids.front().gid.substr(0, 19)).from(source);
    else out.fail(subject, "no subnet prefix: no subnet manager has configured the port").want("a GID with a subnet prefix").from(source).mend({"Start a subnet manager in the InfiniBand fabric.", {"sudo sminfo"}, {}, {}});
}

/// The first peer that has no address of a family the port has GIDs of; empty when there is none or nothing is known of peers.
std::string peer_of_other_family(const Facts& facts, bool ipv4, bool ipv6) {
    if (facts.options().no_peers) return {};
    for (const PeerNode& node : facts.peers().nodes.value_or({})) {
        if (node.self() || !node.addresses || node.addresses->empty()) continue;
        const bool meets = std::any_of(node.addresses->begin(), node.addresses->end(), [&](const PeerAddress& address) { return address.text.find(':') == std::string::npos ? ipv4 : ipv6; });
        if (!meets) return fmt::format("{} ({})", node.name, node.addresses->front().text);
    }
    return {};
}

void judge_gid_table(const Facts& facts, const Port& port, const GidTable& table, const Subject& subject, const std::string& source, Findings& out) {
    bool ipv4 = false, ipv6 = false;
    std::vector<std::string> wanted, all, routable_others;
    const Gid *match = nullptr, *untyped = nullptr, *version1 = nullptr;
    for (const PortAddress* carried : port.storage_addresses()) wanted.push_back(carried->address.address);
    for (const Gid& gid : table.gids) {
        all.push_back(listed(gid));
        const auto address = gid_address(gid.gid);
        if (!address || (address->kind != GidKind::ipv4 && address->kind != GidKind::ipv6)) continue;
        const bool ours = std::find(wanted.begin(), wanted.end(), address->text) != wanted.end();
        if (!ours) routable_others.push_back(address->text);
        else if (!gid.type) untyped = untyped ? untyped : &gid;
        else if (*gid.type == roce_v2) {
            match = match ? match : &gid;
            (address->kind == GidKind::ipv4 ? ipv4 : ipv6) = true;
        }
        else version1 = version1 ? version1 : &gid;
    }
    const std::string want = wanted.empty() ? "a RoCE v2 GID with the storage address" : fmt::format("a RoCE v2 GID with {}", fmt::join(wanted, " or "));
    if (const std::string peer = match ? peer_of_other_family(facts, ipv4, ipv6) : ""; !peer.empty()) {
        out.warn(subject, fmt::format("GID {}, but the peer {} is reached by {} only", listed(*match), peer, ipv4 ? "IPv6" : "IPv4"))
            .want("a GID of the family by which the peers are reached")
            .from(source)
            .mend({"Give the port an address of the peers' family, or let their names resolve to this one.", {fmt::format("sudo ip address add ADDRESS/PREFIX dev {}", port.carrier())}, {}, {}});
        return;
    }
    if (match) {
        const auto through = std::find_if(port.addresses.begin(), port.addresses.end(), [&](const PortAddress& carried) {
            return !carried.direct && gid_address(match->gid)->text == carried.address.address;
        });
        out.pass(subject, fmt::format("GID {}{}", listed(*match), through == port.addresses.end() ? "" : ", through " + through->netdev))
            .want(want)
            .from(source);
        return;
    }
    if (untyped || !table.unreadable.empty()) {
        out.unknown(subject, untyped ? fmt::format("the type of GID {} could not be read", untyped->index) : fmt::format("GID slots could not be read: {}", list_of(table.unreadable)), "Run again; if it stays, look at the kernel log.").want(want).from(source);
        return;
    }
    std::vector<std::string> above;
    for (const PortAddress& carried : port.addresses)
        if (routable(carried.address) && !carried.direct) above.push_back(fmt::format("{} is on {}", carried.address.address, carried.netdev));
    std::string seen = "all GIDs are zero";
    if (version1) seen = fmt::format("only a RoCE v1 GID carries the address ({})", listed(*version1));
    else if (!above.empty()) seen = fmt::format("{}, above this port, and the RDMA device has no GID of it", list_of(above));
    else if (!routable_others.empty() && !wanted.empty()) seen = fmt::format("no GID carries {}; routable GIDs are {}", list_of(wanted), list_of(routable_others));
    else if (!table.gids.empty()) seen = "only link-local GIDs";
    Draft draft = out.fail(subject, seen);
    draft.want(want).from(source).note("gids", all);
    const std::string& carrier = port.carrier();
    if (table.gids.empty())
        draft.because("RoCE GIDs belong to a netdev of this network namespace; none here belongs to the device, as in a pod with an overlay interface only.")
            .mend({"In a pod: use the host network, or a second network on the same NIC. On a host: bring the netdev up and give it its address.", {fmt::format("ip address show dev {}", carrier)}, {}, {}});
    else
        draft.mend({"Give the port (or its bond or VLAN) the storage address; the kernel makes the GID of it.", {fmt::format("sudo ip address add ADDRESS/PREFIX dev {}", carrier)}, {fmt::format("sudo nmcli connection modify {} ipv4.method manual ipv4.addresses ADDRESS/PREFIX", carrier)}, {}});
}

void judge_gid(const Facts& facts, Findings& out) {
    for (const Port* port : rdma_ports_to_judge(facts, out)) {
        const Subject subject = port_subject(*port);
        const RdmaDeviceFacts* device = device_of(facts, *port);
        if (!device) {
            out.unknown(subject, "no RDMA device, so no GID", "Mend rdma.device first.");
            continue;
        }
        const int number = port->attachment()->port;
        const std::string source = fmt::format("/sys/class/infiniband/{}/ports/{}/gids", device->device.name, number);
        const auto table = device->gids.find(number);
        if (table == device->gids.end() || !table->second) out.unknown(subject, "the GID table could not be read: " + (table == device->gids.end() ? "no such port" : no_answer(table->second)), "Run the tool on the node itself, with /sys mounted.").from(source);
        else if (device->infiniband()) judge_infiniband(*table->second, subject, source, out);
        else if (facts.ports().addresses.unreadable()) out.unknown(subject, "the storage address is not known: " + no_answer(facts.ports().addresses), how_to_know(facts.ports().addresses.why())).from(source);
        else if (backup_member(*port)) out.skip(subject, fmt::format("backup member of {}: the bond's GIDs stand on its active member", port->bond->name));
        else judge_gid_table(facts, *port, *table->second, subject, source, out);
    }
}

void judge_mtu(const Facts& facts, Findings& out) {
    for (const Port* port : rdma_ports_to_judge(facts, out)) {
        const Subject subject = port_subject(*port);
        const RdmaDeviceFacts* device = device_of(facts, *port);
        if (!device) {
            out.unknown(subject, "no RDMA device", "Mend rdma.device first.");
            continue;
        }
        const VerbsPort* verbs = nullptr;
        if (device->verbs)
            for (const VerbsPort& known : device->verbs->ports)
                if (known.port == port->attachment()->port && known.active_mtu) verbs = &known;
        const bool roce = !device->infiniband();
        if (!verbs && !roce) {
            out.unknown(subject, "the active MTU could not be asked by verbs", "Mend rdma.provider first, or read it by hand: ibv_devinfo.").want("4096");
            continue;
        }
        // Without verbs the driver's rule stands in: a RoCE port's MTU follows its netdev.
        const unsigned active = verbs ? verbs->active_mtu : static_cast<unsigned>(roce_path_mtu(port->mtu()));
        const unsigned connection = roce ? std::min(active, static_cast<unsigned>(roce_path_mtu(port->mtu()))) : active;
        const std::string source = verbs ? "ibv_query_port active_mtu" : "netdev MTU (verbs did not tell)";
        const bool trap = roce && connection < active && port->mtu() >= 4096;
        if (connection >= 4096) out.pass(subject, fmt::format("path MTU {}", connection)).from(source);
        else
            out.warn(subject, trap ? fmt::format("active MTU {}, but connections take {}: netdev MTU {} leaves no room for the headers", active, connection, port->mtu()) : fmt::format("path MTU {} (netdev MTU {})", connection, port->mtu()))
                .want("4096")
                .from(source)
                .mend({"Raise the netdev's MTU to 4192 or more, on switch and peers too.", {fmt::format("sudo ip link set {} mtu 9000", port->carrier())}, {fmt::format("sudo nmcli connection modify {} 802-3-ethernet.mtu 9000", port->carrier())}, {}});
    }
}

}  // namespace

Check rdma_gid_check() {
    return {.id = "rdma.gid",
            .phase = 'A',
            .title = "A RoCE v2 GID carries the storage address",
            .why = "Peers reach an RDMA port by its GID; a link-local or RoCE v1 GID does not reach them through a routed RoCE v2 network.",
            .judges = "pass: a RoCE v2 GID with an address of the port or an interface above it, by value and at any index. fail: only v1, link-local (169.254 too), zero, or foreign addresses. warn: a peer is reached by the other address family. skip: the backup "
                      "member of an active-backup bond. InfiniBand: a subnet prefix. Empty slots that answer EINVAL are normal.",
            .remedy = "Assign the storage address to the port, its bond or VLAN.",
            .evidence = "Linux 6.12 drivers/infiniband/core/roce_gid_mgmt.c, sysfs.c.",
            .after = {"rdma.device", "rdma.protocol", "nic.address", "nic.link"},
            .judge = judge_gid};
}

Check rdma_mtu_check() {
    return {.id = "rdma.mtu",
            .phase = 'A',
            .title = "RDMA connections use a path MTU of 4096",
            .why = "A smaller path MTU costs throughput; peers that differ may hang on the first large transfer.",
            .judges = "pass: 4096. warn: lower, or the trap of a netdev MTU between 4096 and 4191, where the port shows 4096 and connections take 2048.",
            .remedy = "Raise the netdev's MTU to 4192 or more.",
            .evidence = "Linux 6.12 drivers/infiniband/hw/irdma/verbs.c; include/rdma/ib_addr.h.",
            .after = {"rdma.device"},
            .judge = judge_mtu};
}

}  // namespace preflight
