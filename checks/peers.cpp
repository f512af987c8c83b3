// Inter-node RDMA is between AIStor nodes only, on a TCP port of its own beside the API port (AIStor documentation,
// settings/rdma: MINIO_RDMA_PEER_PORT). The library behind it calls its port informational and links librdmacm, so the listener may
// be one of rdma_cm: then a TCP connect is refused on a healthy node.

#include <fmt/format.h>

#include <algorithm>

#include "facts/node.h"
#include "facts/peers.h"
#include "facts/probe_result.h"
#include "modules.h"
#include "preflight/facts.h"
#include "text.h"

namespace preflight {
namespace {

/// The peers to judge; without any it says why and returns nullptr.
const std::vector<PeerNode>* peers_to_judge(const Facts& facts, Findings& out) {
    if (facts.options().no_peers) {
        out.skip(node_subject(), "not asked for (--no-peers)");
        return nullptr;
    }
    const PeerFacts& peers = facts.peers();
    if (peers.single_node) {
        out.skip(node_subject(), "single node: inter-node RDMA does not apply");
        return nullptr;
    }
    if (peers.nodes && !peers.nodes->empty()) return &*peers.nodes;
    const char* name_them = "Name the AIStor nodes with --peers HOST,… or leave them out with --no-peers.";
    if (peers.nodes.unreadable()) out.unknown(node_subject(), fmt::format("{}: {}", peers.origin, no_answer(peers.nodes)), name_them);
    else out.unknown(node_subject(), fmt::format("{} names no node", peers.origin), name_them);
    return nullptr;
}

std::string interface_name(const Facts& facts, int index) {
    const Link* link = facts.ports().link(index);
    return link ? link->name : fmt::format("interface {}", index);
}

std::string storage_names(const Facts& facts) {
    std::vector<std::string> names;
    for (const Port* port : facts.ports().storage()) names.push_back(port->link.name);
    return list_of(names);
}

/// The worst verdict over the addresses of one node. One good address is enough for RDMA: then the worst one only warns.
template <class Verdict>
std::pair<const Verdict*, Status> worst_of(const std::vector<Verdict>& verdicts) {
    const auto severity = [](Status status) { return status == Status::fail ? 3 : status == Status::unknown ? 2 : status == Status::warn ? 1 : 0; };
    const auto worst = std::max_element(verdicts.begin(), verdicts.end(), [&](auto& a, auto& b) { return severity(a.status) < severity(b.status); });
    const bool some_right = std::any_of(verdicts.begin(), verdicts.end(), [](auto& verdict) { return verdict.status == Status::pass; });
    return {&*worst, worst->status != Status::pass && some_right ? Status::warn : worst->status};
}

std::vector<std::string> texts_of(const std::vector<PeerAddress>& addresses) {
    std::vector<std::string> texts;
    for (const PeerAddress& address : addresses) texts.push_back(address.text);
    return texts;
}

// ---------------------------------------------------------------------------------------------------- peers.list

void judge_list(const Facts& facts, Findings& out) {
    const auto* nodes = peers_to_judge(facts, out);
    if (!nodes) return;
    const PeerFacts& peers = facts.peers();
    std::vector<std::string> self;
    bool all_resolved = true;
    for (const PeerNode& node : *nodes) {
        if (node.self()) self.push_back(fmt::format("{} ({})", node.name, list_of(texts_of(*node.addresses))));
        all_resolved &= node.addresses.has();
    }
    const std::string count = fmt::format("{} {} from {}", nodes->size(), nodes->size() == 1 ? "node" : "nodes", peers.origin);
    if (!peers.doubles.empty()) {
        out.warn(node_subject(), fmt::format("{}: {}{}", count, peers.doubles.front(),
                                             peers.doubles.size() > 1 ? fmt::format("; {} more", peers.doubles.size() - 1) : ""))
            .want("each node once")
            .from(peers.origin)
            .note("doubles", peers.doubles)
            .mend({"Name each node once, by one name.", {}, {}, {}});
    } else if (!self.empty()) {
        out.pass(node_subject(), fmt::format("{}; this one is {}", count, list_of(self))).from(peers.origin);
    } else if (facts.ports().addresses.unreadable()) {
        out.unknown(node_subject(), count + "; which of them this node is could not be seen: " + no_answer(facts.ports().addresses),
                    how_to_know(facts.ports().addresses.why()));
    } else if (!all_resolved) {
        out.unknown(node_subject(), count + "; none that resolves is this node", "Make all names resolve (peers.names), then run again.");
    } else {
        out.warn(node_subject(), count + "; none has an address of this node")
            .want("one of the nodes has an address of this node")
            .from(peers.origin)
            .mend({"If this is one of the nodes, name it by an address that this node has; else run the tool on a node that is in the list.", {}, {}, {}});
    }
}

// ---------------------------------------------------------------------------------------------------- peers.names

Remedy hosts_entry(const std::string& name, const std::string& address) {
    if (name.find(':') != std::string::npos || name.find_first_not_of("0123456789.") == std::string::npos)
        return {fmt::format("Name this node by its address on the storage network instead of {}, in MINIO_VOLUMES of every node.", name), {}, {}, {}};
    return {fmt::format("Make {} resolve to its address on the storage network, in DNS or in /etc/hosts of every node.", name),
            {},
            {address.empty() ? fmt::format("# in /etc/hosts of every node: STORAGE-ADDRESS {}", name) : fmt::format("# in /etc/hosts of every node: {} {}", address, name)},
            {}};
}

/// Interfaces whose subnet holds the address, when none of them is a storage port's; empty when the address may be on the storage network.
std::vector<std::string> off_storage(const Facts& facts, const PeerAddress& address) {
    std::vector<std::string> names;
    const PeerFacts& peers = facts.peers();
    if (address.own) {
        if (peers.storage_addresses.count(address.text)) return {};
        for (const int index : address.on_link) names.push_back(interface_name(facts, index));
        return names;
    }
    for (const int index : address.on_link) {
        if (peers.storage_links.count(index)) return {};
        names.push_back(interface_name(facts, index));
    }
    return names;
}

void judge_name(const Facts& facts, Findings& out, const PeerNode& node) {
    const Subject subject = node.subject();
    const std::string want = "an address on the storage network";
    if (node.addresses.unreadable()) {
        out.unknown(subject, fmt::format("{} could not be resolved: {}", node.name, no_answer(node.addresses)),
                    fmt::format("Run `getent ahosts {}`; a slow resolver needs a longer --timeout.", node.name))
            .want(want);
        return;
    }
    if (node.addresses.absent()) {
        out.fail(subject, fmt::format("{} does not resolve", node.name)).want(want).from("getaddrinfo " + node.name).mend(hosts_entry(node.name, ""));
        return;
    }
    const auto& addresses = *node.addresses;
    const std::string all = list_of(texts_of(addresses)), seen = all == node.name ? all : fmt::format("{} is {}", node.name, all);
    const bool all_loopback = std::all_of(addresses.begin(), addresses.end(), [](const PeerAddress& address) { return address.loopback; });
    if (all_loopback) {
        std::vector<std::string> own;
        for (const std::string& address : facts.peers().storage_addresses)
            if (address.rfind("fe80:", 0) != 0) own.push_back(address);
        out.fail(subject, seen + ": loopback, which no other node reaches and no RDMA device carries")
            .want(want)
            .from("getaddrinfo " + node.name)
            .mend(hosts_entry(node.name, own.size() == 1 ? own.front() : ""));
        return;
    }
    if (facts.peers().storage_links.empty()) {
        out.unknown(subject, seen + "; no storage port is known to compare with", "Name the storage interfaces with --interface.").want(want);
        return;
    }
    std::vector<std::string> strays;
    std::size_t off = 0;
    for (const PeerAddress& address : addresses) {
        const auto names = off_storage(facts, address);
        if (names.empty() && !address.loopback) continue;
        ++off;
        strays.push_back(address.loopback ? address.text + " is loopback" : fmt::format("{} is on the network of {}", address.text, list_of(names)));
    }
    if (off == 0) {
        out.pass(subject, seen);
        return;
    }
    const std::string observed = fmt::format("{}: {}, not of {}", node.name, list_of(strays), storage_names(facts));
    const bool surely = off == addresses.size() && !facts.ports().guessed;
    out.add(surely ? Status::fail : Status::warn, subject, observed).want(want).from("getaddrinfo " + node.name).mend(hosts_entry(node.name, ""));
}

void judge_names(const Facts& facts, Findings& out) {
    if (const auto* nodes = peers_to_judge(facts, out))
        for (const PeerNode& node : *nodes) judge_name(facts, out, node);
}

// ---------------------------------------------------------------------------------------------------- peers.route

struct RouteVerdict {
    Status status;
    std::string text;
    Remedy remedy;
};

/// The server binds by the source of the route: rdma_cm finds the device by its GID (drivers/infiniband/core/cma.c,
/// cma_acquire_dev_by_src_ip). Empty when the storage port that carries the address has a RoCE v2 GID of it, or where that is
/// not to be told here: rdma.device and rdma.gid say so then.
std::string source_without_gid(const Facts& facts, const Route& route) {
    std::string lacking;
    for (const Port* port : facts.ports().storage()) {
        const RdmaDeviceFacts* device = device_of(facts, *port);
        if (!device || device->infiniband()) continue;
        for (const PortAddress& carried : port->addresses) {
            if (carried.address.address != route.source || backup_member(*port)) continue;
            // One member of a bond may carry its GIDs alone.
            if (!carried.gid.has() || *carried.gid) return {};
            lacking = fmt::format("{} has no RoCE v2 GID", device->device.name);
        }
    }
    return lacking;
}

Remedy give_it_a_gid(const Facts& facts, const Route& route) {
    const std::string netdev = interface_name(facts, route.link);
    return {.summary = fmt::format("Let the route take a source address with a GID, or make the kernel build the GID of {} anew by setting it again.", route.source),
            .commands = {fmt::format("ip address show dev {}", netdev), "ip route get PEER", fmt::format("sudo ip route change SUBNET dev {} src ADDRESS", netdev)}};
}

/// Whether the storage port of this interface, or an interface above it, carries the address.
bool carried_by(const Facts& facts, int link, const std::string& address) {
    for (const Port* port : facts.ports().storage()) {
        const bool this_port = port->link.index == link || (port->bond && port->bond->index == link) ||
                               std::any_of(port->uppers.begin(), port->uppers.end(), [&](const Link& upper) { return upper.index == link; });
        for (const PortAddress& carried : port->addresses)
            if (this_port && carried.address.address == address) return true;
    }
    return false;
}

RouteVerdict route_verdict(const Facts& facts, const PeerAddress& address) {
    const PeerFacts& peers = facts.peers();
    const Fact<Route>& route = address.route;
    const std::string port = storage_names(facts);
    const Remedy remedy{fmt::format("Give this node a route to {} by {}, or fix the policy rule that sends it elsewhere.", address.text, port),
                        {"ip route get " + address.text, "ip rule show"}, {}, {}};
    if (route && peers.storage_links.count(route->link) && (route->type.empty() || route->type == "unicast")) {
        const std::string via = route->gateway.empty() ? "" : " via " + route->gateway;
        const std::string by = fmt::format("{} leaves by {}{}", address.text, interface_name(facts, route->link), via);
        if (!route->source.empty() && !peers.storage_addresses.empty() && !carried_by(facts, route->link, route->source))
            return {Status::warn, fmt::format("{} with source {}, which is no address of {}", by, route->source, interface_name(facts, route->link)), remedy};
        if (const std::string lacking = source_without_gid(facts, *route); !lacking.empty())
            return {Status::fail, fmt::format("{} with source {}, of which {}", by, route->source, lacking), give_it_a_gid(facts, *route)};
        return {Status::pass, route->source.empty() ? by : fmt::format("{}, source {}", by, route->source), {}};
    }
    if (!address.vrf.empty())
        return {Status::unknown, fmt::format("{} is reached by {} only inside the VRF {}; whether the service runs in it is not known", address.text, port, address.vrf),
                {fmt::format("Start the service in the VRF (ip vrf exec {} …), or move the storage ports out of it; judge it by hand.", address.vrf), {}, {}, {}}};
    if (route.unreadable()) return {Status::unknown, fmt::format("the route to {} could not be read: {}", address.text, no_answer(route)), {how_to_know(route.why()), {}, {}, {}}};
    if (route.absent()) return {Status::fail, "no route to " + address.text, remedy};
    if (route->type != "unicast") return {Status::fail, fmt::format("the route to {} is of type {}", address.text, route->type), remedy};
    return {Status::fail, fmt::format("{} leaves by {} (table {}), not by {}", address.text, interface_name(facts, route->link), route->table, port), remedy};
}

void judge_routes(const Facts& facts, Findings& out) {
    const auto* nodes = peers_to_judge(facts, out);
    if (!nodes) return;
    if (facts.peers().storage_links.empty()) {
        ports_to_judge(facts, out);
        return;
    }
    bool any = false;
    for (const PeerNode& node : *nodes) {
        if (node.self()) continue;
        any = true;
        if (!node.addresses) {
            out.unknown(node.subject(), node.name + " has no address", "Make the name resolve (peers.names).");
            continue;
        }
        std::vector<RouteVerdict> verdicts;
        for (const PeerAddress& address : *node.addresses) verdicts.push_back(route_verdict(facts, address));
        const auto [worst, status] = worst_of(verdicts);
        auto draft = out.add(status, node.subject(), worst->text);
        draft.want("by " + storage_names(facts)).from("rtnetlink RTM_GETROUTE");
        if (status != Status::pass) draft.mend(worst->remedy);
    }
    if (!any) out.skip(node_subject(), "no peer but this node itself");
}

// ---------------------------------------------------------------------------------------------------- peers.port

Remedy open_port(const Facts& facts, const std::string& peer, int port) {
    const std::string summary = fmt::format("On {}: let TCP port {} in from the AIStor nodes. Commands are for that node.", peer, port);
    if (facts.node().packages == PackageFamily::dnf)
        return {summary,
                {fmt::format("firewall-cmd --add-port={}/tcp", port)},
                {fmt::format("firewall-cmd --permanent --add-port={}/tcp", port)},
                {fmt::format("firewall-cmd --remove-port={}/tcp", port), fmt::format("firewall-cmd --permanent --remove-port={}/tcp", port)}};
    return {summary,
            {fmt::format("nft insert rule inet filter input tcp dport {} accept", port)},
            {fmt::format("# in the input chain of /etc/nftables.conf: tcp dport {} accept", port)},
            {"nft -a list chain inet filter input", "nft delete rule inet filter input handle HANDLE"}};
}

bool reachable(const Fact<TcpProbe>& probe) {
    return probe && (probe->outcome == "connected" || probe->outcome == "refused");
}

/// What the API port beside it says about the host.
std::string beside(const Fact<TcpProbe>& api, int port) {
    if (reachable(api)) return fmt::format("the API port {} {}, so the host is up and this port is blocked", port, api->outcome == "connected" ? "answers" : "is reachable");
    if (!api) return fmt::format("the API port {} could not be tried", port);
    return fmt::format("so is the API port {} ({}): the host is down, its address is wrong, or all of it is filtered", port, api->outcome);
}

std::string icmp_note(const TcpProbe& probe) {
    return probe.icmp.empty() ? "" : " (ICMP " + probe.icmp + ")";
}

struct PortVerdict {
    Status status;
    std::string text;
    bool firewall = false;  ///< opening the port is the remedy
};

PortVerdict port_verdict(const Facts& facts, const std::string& target, const Fact<TcpProbe>& probe, const Fact<TcpProbe>& api, int api_port) {
    if (!probe) return {Status::unknown, fmt::format("{} could not be tried: {}", target, no_answer(probe))};
    if (probe->outcome == "connected") return {Status::pass, fmt::format("{} connected", target)};
    if (probe->outcome == "refused") {
        const PortHolders& here = facts.peer_port_holders();
        if (here.aistor_by_rdma_cm()) return {Status::pass, target + " refused TCP: reachable; AIStor listens by rdma_cm, where TCP is refused"};
        if (here.aistor_by_tcp())
            return {Status::warn, target + " refused: AIStor listens on this node's peer port but not there (or a firewall answers with a reset)"};
        return {Status::pass, target + " refused: reachable, nothing listens yet (a firewall that answers with a reset looks the same)"};
    }
    if (probe->outcome == "timed-out") return {Status::fail, fmt::format("{} gave no answer within {:.1f} s; {}", target, probe->elapsed_ms / 1000.0, beside(api, api_port)), reachable(api)};
    if (probe->outcome == "prohibited") {
        if (probe->icmp.empty()) return {Status::fail, fmt::format("{}: this node's own firewall, route or security policy prohibits it ({})", target, probe->error)};
        return {Status::fail, fmt::format("{} is prohibited by a firewall{}", target, icmp_note(*probe)), true};
    }
    if (probe->outcome == "no-route") return {Status::fail, fmt::format("{}: no route{}", target, probe->icmp.empty() ? fmt::format(" on this node ({})", probe->error) : icmp_note(*probe))};
    if (probe->outcome == "unreachable") {
        const std::string text = fmt::format("{} is unreachable{}", target, icmp_note(*probe));
        if (reachable(api)) return {Status::fail, text + ": rejected by a firewall, since " + beside(api, api_port), true};
        return {Status::fail, text + ": the host does not answer on its network, or a firewall rejects it"};
    }
    if (probe->outcome == "reset") return {Status::warn, target + ": the connection was reset"};
    return {Status::unknown, fmt::format("{}: outcome \"{}\" is not known to this version", target, probe->outcome)};
}

void judge_ports(const Facts& facts, Findings& out) {
    const auto* nodes = peers_to_judge(facts, out);
    if (!nodes) return;
    const PeerReach& reach = facts.peer_reach();
    bool any = false;
    for (const PeerNode& node : *nodes) {
        if (node.self()) continue;
        any = true;
        if (!node.addresses) {
            out.unknown(node.subject(), node.name + " has no address", "Make the name resolve (peers.names).");
            continue;
        }
        std::vector<PortVerdict> verdicts;
        for (const PeerAddress& address : *node.addresses)
            verdicts.push_back(port_verdict(facts, target_of(address.text, node.rdma_port), reach.at(address.text, node.rdma_port),
                                            reach.at(address.text, node.api_port), node.api_port));
        const auto [worst, status] = worst_of(verdicts);
        auto draft = out.add(status, node.subject(), worst->text);
        draft.want(fmt::format("TCP port {} reachable", node.rdma_port)).from(fmt::format("connect {}", node.name));
        if (status == Status::unknown) draft.mend({"Run again with a longer --timeout, or with a higher `ulimit -n`.", {}, {}, {}});
        else if (worst->firewall) draft.mend(open_port(facts, node.name, node.rdma_port));
        else if (status != Status::pass)
            draft.mend({fmt::format("Look whether {} is up and at this address, and whether anything between filters.", node.name), {"ping -c 3 " + node.addresses->front().text}, {}, {}});
        if (status != Status::pass)
            for (const PeerAddress& address : *node.addresses)
                for (const int port : {node.rdma_port, node.api_port})
                    if (const auto& probe = reach.at(address.text, port); probe)
                        draft.note(target_of(address.text, port), probe->outcome + icmp_note(*probe));
    }
    if (!any) out.skip(node_subject(), "no peer but this node itself");
}

// ---------------------------------------------------------------------------------------------------- peers.listener

std::string holder_text(const PortHolder& holder) {
    const std::string who = holder.pid ? fmt::format("{} (process {})", holder.name.empty() ? "a process" : holder.name, *holder.pid)
                            : holder.name.empty() ? "a process that is not visible"
                                                  : holder.name;
    return fmt::format("{} on {} by {}", who, holder.address, holder.rdma_cm ? "rdma_cm" : "TCP");
}

void judge_listener(const Facts& facts, Findings& out) {
    if (facts.peers().single_node) {
        out.skip(node_subject(), "single node: inter-node RDMA does not apply");
        return;
    }
    const PeerFacts& peers = facts.peers();
    const PortHolders& holders = facts.peer_port_holders();
    const int port = peers.rdma_port;
    const std::string want = fmt::format("port {} free, or held by AIStor", port);
    std::vector<std::string> ours, foreign, hidden, elsewhere;
    Remedy move{fmt::format("Stop that program or move it to another port; or set MINIO_RDMA_PEER_PORT to a free port on all nodes."), {}, {}, {}};
    for (const auto* list : {&holders.tcp, &holders.rdma_cm}) {
        if (!list->has()) continue;
        for (const PortHolder& holder : **list) {
            const bool any = holder.address == "0.0.0.0" || holder.address == "::" || holder.address == "[::]";
            if (holder.aistor) ours.push_back(holder_text(holder));
            else if (!holder.pid && holder.name.empty()) hidden.push_back(holder_text(holder) + (holder.rdma_cm ? "" : fmt::format(", user id {}", holder.uid)));
            else if (any || peers.storage_addresses.count(holder.address)) {
                foreign.push_back(holder_text(holder));
                if (holder.pid) move.commands = {fmt::format("ps -o pid,user,args -p {}", *holder.pid)};
            } else elsewhere.push_back(holder_text(holder));
        }
    }
    const std::string source = "/proc/net/tcp, RDMA netlink";
    if (!foreign.empty()) out.fail(node_subject(), fmt::format("port {} is held by {}", port, list_of(foreign))).want(want).from(source).mend(move);
    else if (!hidden.empty()) out.unknown(node_subject(), fmt::format("port {} is held by {}", port, list_of(hidden)), "Run the tool as root, outside of a container.").want(want).from(source);
    else if (holders.tcp.unreadable()) out.unknown(node_subject(), "the listening sockets could not be read: " + no_answer(holders.tcp), how_to_know(holders.tcp.why())).want(want);
    else if (holders.rdma_cm.unreadable() && ours.empty())
        out.unknown(node_subject(), fmt::format("TCP port {} is free; the rdma_cm listeners could not be read: {}", port, no_answer(holders.rdma_cm)), how_to_know(holders.rdma_cm.why())).want(want);
    else if (!elsewhere.empty())
        out.warn(node_subject(), fmt::format("port {} is held by {}: not a storage address, but in the way of a server that listens on all of them", port, list_of(elsewhere)))
            .want(want).from(source).mend(move);
    else if (!ours.empty()) out.pass(node_subject(), fmt::format("port {} is held by {}", port, list_of(ours))).from(source);
    else if (peers.rdma_port_origin.unreadable())
        out.unknown(node_subject(), fmt::format("port {} is free; whether MINIO_RDMA_PEER_PORT names another one could not be read", port), how_to_know(peers.rdma_port_origin.why())).want(want);
    else out.pass(node_subject(), fmt::format("port {} is free", port)).from(source);
}

// ---------------------------------------------------------------------------------------------------- peers.rdma

void judge_transfers(const Facts& facts, Findings& out) {
    if (facts.options().no_peers) {
        out.skip(node_subject(), "not asked for (--no-peers)");
        return;
    }
    const std::optional<ProbeResult>& result = facts.probe_result();
    if (!result) {
        out.skip(node_subject(), "no probe was asked for: run `listen` there and `probe` here, then give its report with --probe-result");
        return;
    }
    const auto& self = facts.node().self;
    if (self && result->hostname != self->hostname) {
        out.unknown(node_subject(), fmt::format("{} was made on {}, this node is {}", result->file, result->hostname, self->hostname), "Run `probe` on this node.");
        return;
    }
    const bool stale = facts.node().boot_id && *facts.node().boot_id != result->boot_id;
    for (const ProbeResult::Transfer& transfer : result->transfers) {
        const Subject subject{transfer.subject, {"peer:" + transfer.subject.substr(0, transfer.subject.find(' '))}};
        const bool old = stale && transfer.status == Status::pass;
        auto draft = out.add(old ? Status::warn : transfer.status, subject, old ? transfer.observed + "; before this boot" : transfer.observed);
        draft.from(fmt::format("{} of {}", result->file, result->started)).want("a transfer whose every byte arrives");
        if (old) draft.mend({"Run `probe` again.", {}, {}, {}});
        else if (transfer.status != Status::pass) draft.mend(transfer.remedy).because(transfer.why);
    }
}

}  // namespace

Module peers_module() {
    constexpr std::string_view port_source = "AIStor documentation, settings/rdma (MINIO_RDMA_PEER_PORT) and the default of 5555.";
    return {"peers",
            "the other AIStor nodes",
            {{.id = "peers.list",
              .phase = 'A',
              .title = "The AIStor nodes are known, this one among them",
              .why = "A node that does not find itself among the endpoints starts alone or not at all, and its peers wait for it.",
              .judges = "pass: every node once, this one among them, by address. warn: this node is not among them; a node is named twice. unknown: nobody "
                        "names the nodes, or this node may be one whose name does not resolve. skip: --no-peers, or a single node.",
              .remedy = "Correct MINIO_VOLUMES, or name the nodes with --peers.",
              .evidence = "MinIO server: endpoints are local when their name resolves to an address of the node.",
              .paths = internode,
              .roles = storage,
              .after = {"env.volumes", "env.file"},
              .judge = judge_list},
             {.id = "peers.names",
              .phase = 'A',
              .title = "Peer names resolve to storage addresses",
              .why = "RDMA goes to the address a name resolves to: on loopback or a management network there is no RDMA device, and the server uses TCP.",
              .judges = "fail: a name does not resolve, is loopback only, or is only on networks of other ports than the storage ports. warn: the same when the "
                        "storage ports were guessed, or for one of several addresses. unknown: the resolver gave no answer in time.",
              .remedy = "Let the names resolve to the addresses on the storage network.",
              .evidence = "Public AIStor RDMA deployments alias node names to rail addresses; MinIO server on names that are 127.0.1.1.",
              .paths = internode,
              .roles = storage,
              .after = {"peers.list", "nic.selected"},
              .judge = judge_names},
             {.id = "peers.route",
              .phase = 'A',
              .title = "Routes to the peers leave by a storage port",
              .why = "rdma_cm picks the RDMA device by the kernel's route to the peer: a route by another port finds none.",
              .judges = "pass: the kernel's own route leaves by a storage port, its bond or VLAN. fail: by another port, or no route. warn: with a source address of "
                        "another port; one of several addresses elsewhere. unknown: only inside a VRF.",
              .remedy = "Add the route, or fix the policy rule.",
              .evidence = "Linux drivers/infiniband/core/addr.c (addr_resolve uses the route's netdev).",
              .paths = internode,
              .roles = storage,
              .after = {"peers.list", "peers.names", "nic.selected"},
              .judge = judge_routes},
             {.id = "peers.port",
              .phase = 'A',
              .title = "The RDMA peer port of each peer is reachable",
              .why = "Peers find each other on this port; where it is blocked the server falls back to TCP on the API port without a word.",
              .judges = "pass: connected, or refused (reachable, nothing listens yet). warn: refused although AIStor listens on this node's port by TCP. fail: timed out, "
                        "prohibited, no route, unreachable. unknown: not tried in time.",
              .remedy = "Open the port between the AIStor nodes.",
              .evidence = port_source,
              .paths = internode,
              .roles = storage,
              .after = {"peers.list", "peers.names", "peers.route"},
              .judge = judge_ports},
             {.id = "peers.listener",
              .phase = 'A',
              .title = "The local RDMA peer port is free or AIStor's",
              .why = "When another program holds the port, peers cannot connect, and the server goes on without RDMA.",
              .judges = "pass: nobody or AIStor holds it, for TCP and for rdma_cm. fail: another program holds it on a storage address or on all. warn: on another address "
                        "only. unknown: the holder is not visible.",
              .remedy = "Stop the other program, or set another peer port on all nodes.",
              .evidence = port_source,
              .paths = internode,
              .roles = storage,
              .judge = judge_listener},
             {.id = "peers.rdma",
              .phase = 'A',
              .title = "A real RDMA transfer to a peer worked",
              .why = "Only a transfer proves that UDP 4791, the MTU, the GIDs and the memory limit fit from end to end.",
              .judges = "As the report of `probe` says, when --probe-result names one; warn when it is from before this boot. Else skip. The probe's own: pass: every byte of "
                        "each WRITE with immediate and READ arrived. fail: RoCE is dropped on the way, full packets are lost (MTU), no RDMA device on the route, the service may not pin "
                        "or open (--as-service). warn: to this node itself. unknown: nothing listens there, it refused, or the caller may not look.",
              .remedy = "On the peer: aistor-rdma-check listen ITS-STORAGE-ADDRESS --allow THIS-NODE. On this node: aistor-rdma-check probe PEER --output json=probe.json, then "
                        "aistor-rdma-check run --probe-result probe.json. The probe says what is wrong and how it is mended; docs/peers.md shows it.",
              .evidence = "The probe's own report. AIStor's inter-node counters name RDMA WRITE with immediate.",
              .paths = internode,
              .roles = storage,
              .judge = judge_transfers}}};
}

}  // namespace preflight
