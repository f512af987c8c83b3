#include "fleet/rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <thread>

#include "facts/settings.h"
#include "preflight/engine.h"
#include "preflight/waivers.h"

namespace preflight::fleet {
namespace {

constexpr char letter = 'F';
constexpr std::int64_t stale_after = 24 * 3600;  // seconds; a rollout or a gate takes less

using Nodes = std::vector<const Node*>;

std::string names(const Nodes& nodes) {
    constexpr std::size_t most = 8;
    std::vector<std::string> list;
    for (const Node* node : nodes) list.push_back(node->name());
    if (list.size() <= most) return fmt::format("{}", fmt::join(list, ", "));
    const std::size_t rest = list.size() - most;
    list.resize(most);
    return fmt::format("{} and {} more", fmt::join(list, ", "), rest);
}

bool is_setting(const std::string& key) {
    return key.rfind("env.", 0) == 0;
}

/// A value as it counts: of a setting the number it stands for, so that a default that is written out equals one that is not.
std::string meaning(const CompareKey& key) {
    const Setting* setting = is_setting(key.key) ? find_setting(key.key.substr(4)) : nullptr;
    if (setting && setting->type != Setting::exact_on) {
        const SettingValue read = key.state == "set" ? read_setting(*setting, key.value) : SettingValue{};
        if (read.kind == SettingValue::good) return std::to_string(read.number);
        if (read.kind != SettingValue::doubtful && setting->fallback) return std::to_string(*setting->fallback);
    }
    return key.state == "set" ? "=" + key.value : "unset";
}

std::string shown(const CompareKey& key) {
    return key.state == "set" ? "\"" + key.value + "\"" : "unset";
}

struct Group {
    std::string text;
    Nodes nodes;
};

/// How one key stands on the nodes.
struct Spread {
    std::vector<Group> groups;  ///< by size, the largest first
    std::vector<std::pair<const Node*, std::string>> unseen;  ///< node and reason
    std::vector<std::string> raw;

    bool told() const { return !groups.empty(); }
    bool equal() const { return groups.size() < 2; }
    bool tie() const { return groups.size() > 1 && groups[0].nodes.size() == groups[1].nodes.size(); }
    /// "n3: ON; all 2 others: on", or "a tie: …".
    std::string text() const {
        std::vector<std::string> parts;
        if (tie()) {
            for (const Group& group : groups) parts.push_back(fmt::format("{} on {}", group.text, names(group.nodes)));
            return fmt::format("no majority: {}", fmt::join(parts, "; "));
        }
        for (std::size_t i = 1; i < groups.size(); ++i) parts.push_back(fmt::format("{}: {}", names(groups[i].nodes), groups[i].text));
        return fmt::format("{}; {} on the other {}", fmt::join(parts, "; "), groups[0].text, groups[0].nodes.size());
    }
};

/// What a key stands for that a report does not hold. A report lists each variable of AIStor that is set, known to the program or not: one
/// that is missing beside others that were read is not set.
CompareKey not_there(const Node& node, const std::string& key) {
    const auto setting = [](const auto& one) { return is_setting(one.first); };
    const auto blind = [&](const auto& one) { return setting(one) && one.second.state == "unknown"; };
    if (is_setting(key) && std::any_of(node.keys.begin(), node.keys.end(), setting) && std::none_of(node.keys.begin(), node.keys.end(), blind)) return {key, "unset", "", ""};
    return {key, "unknown", "its report does not tell", ""};
}

Spread spread(const Nodes& nodes, const std::string& key) {
    Spread out;
    std::map<std::string, Group> groups;
    for (const Node* node : nodes) {
        const auto found = node->keys.find(key);
        const CompareKey value = found != node->keys.end() ? found->second : not_there(*node, key);
        if (value.state == "unknown") {
            out.unseen.emplace_back(node, value.value);
            continue;
        }
        Group& group = groups[meaning(value)];
        if (group.nodes.empty()) group.text = shown(value);
        group.nodes.push_back(node);
        if (out.raw.size() < 64) out.raw.push_back(fmt::format("{}: {}{}", node->name(), shown(value), value.origin.empty() ? "" : " (" + value.origin + ")"));
    }
    for (auto& [meant, group] : groups) out.groups.push_back(std::move(group));
    std::stable_sort(out.groups.begin(), out.groups.end(), [](const Group& a, const Group& b) { return a.nodes.size() > b.nodes.size(); });
    return out;
}

struct Wording {
    std::string label, remedy;
    Status differs = Status::fail;
};

void unseen(const Spread& found, const std::string& label, Findings& out) {
    Nodes nodes;
    for (const auto& [node, why] : found.unseen) nodes.push_back(node);
    out.unknown({label, {}}, fmt::format("not known of {}: {}", names(nodes), found.unseen.front().second), "Run the tool there as root, without --only or --skip, and compare again.");
}

/// One key over nodes. False where no report tells it at all.
bool judge_key(const Nodes& nodes, const std::string& key, const Wording& wording, Findings& out) {
    const Spread found = spread(nodes, key);
    if (!found.told() && std::all_of(nodes.begin(), nodes.end(), [&](const Node* node) { return !node->keys.count(key); })) return false;
    if (!found.equal())
        out.add(wording.differs, {wording.label, {}}, found.text()).want("the same on all nodes").note("nodes", found.raw).mend({wording.remedy, {}, {}, {}});
    if (!found.unseen.empty()) unseen(found, wording.label, out);
    if (found.equal() && found.unseen.empty()) out.pass({wording.label, {}}, fmt::format("{} on {} nodes", found.groups.front().text, nodes.size()));
    return true;
}

bool too_few(const Nodes& nodes, const char* kind, Findings& out) {
    if (nodes.size() > 1) return false;
    out.skip(node_subject(), fmt::format("fewer than two {} to compare", kind));
    return true;
}

void not_told(Findings& out) {
    if (out.list().empty()) out.skip(node_subject(), "no report tells it");
}

void judge_settings(const Fleet& fleet, Findings& out) {
    const Nodes nodes = fleet.storage();
    if (too_few(nodes, "storage nodes", out)) return;
    std::set<std::string> keys;
    for (const Node* node : nodes)
        for (const auto& [key, value] : node->keys)
            if (is_setting(key)) keys.insert(key);
    std::size_t equal = 0;
    for (const std::string& key : keys) {
        const std::string name = key.substr(4);
        const Setting* setting = find_setting(name);
        const bool must = name == "MINIO_VOLUMES" || (setting && setting->same_on_all);
        const Spread found = spread(nodes, key);
        if (!found.equal())
            out.add(must ? Status::fail : Status::warn, {name, {}}, found.text()).want("the same on all nodes").note("nodes", found.raw).mend({fmt::format("Set {} to the same value on all storage nodes and restart the server there.", name), {}, {}, {}});
        if (!found.unseen.empty()) unseen(found, name, out);
        equal += found.equal() && found.unseen.empty();
    }
    if (out.list().empty() && equal) out.pass(node_subject(), fmt::format("{} settings are the same on {} storage nodes", equal, nodes.size()));
    not_told(out);
}

void judge_build(const Fleet& fleet, Findings& out) {
    const Nodes nodes = fleet.storage();
    if (too_few(nodes, "storage nodes", out)) return;
    judge_key(nodes, "server.build", {"build", "Install the RDMA build on all storage nodes."}, out);
    judge_key(nodes, "server.release", {"release", "Bring all storage nodes to one release."}, out);
    not_told(out);
}

void judge_library(const Fleet& fleet, Findings& out) {
    const Nodes nodes = fleet.storage();
    if (too_few(nodes, "storage nodes", out)) return;
    judge_key(nodes, "server.libraries", {"RDMA libraries", "Install the same RDMA package on all storage nodes."}, out);
    not_told(out);
}

void judge_protocol(const Fleet& fleet, Findings& out) {
    if (too_few(fleet.all(), "nodes", out)) return;
    judge_key(fleet.all(), "network.protocol", {"RDMA protocol", "RoCE, iWARP and InfiniBand do not speak with each other: set all NICs to one protocol."}, out);
    not_told(out);
}

void judge_mtu(const Fleet& fleet, Findings& out) {
    if (too_few(fleet.all(), "nodes", out)) return;
    const Spread path = spread(fleet.all(), "network.path_mtu");
    // Where the RDMA path MTU is the same all over, larger netdev MTUs do no harm.
    const Status differs = path.told() && path.equal() && path.unseen.empty() ? Status::warn : Status::fail;
    judge_key(fleet.all(), "network.mtu", {"netdev MTU", "Set one MTU on all storage networks, the switch included.", differs}, out);
    judge_key(fleet.all(), "network.path_mtu", {"active path MTU", "Set one MTU on all storage networks: a larger sender's big transfers hang, small ones pass."}, out);
    not_told(out);
}

void judge_dcb(const Fleet& fleet, Findings& out) {
    if (too_few(fleet.all(), "nodes", out)) return;
    judge_key(fleet.all(), "network.dcb", {"classification and PFC", "Set trust and PFC alike on all nodes: otherwise the network is lossless in one direction only."}, out);
    // NICs hold tables of different length; what counts is a DSCP that is lossless everywhere.
    std::set<std::string> common;
    Nodes empty;
    std::size_t told = 0;
    for (const Node* node : fleet.all()) {
        const auto found = node->keys.find("network.dscp");
        if (found == node->keys.end() || found->second.state == "unknown") continue;
        std::set<std::string> own;
        for (std::size_t at = 0; found->second.state == "set" && at < found->second.value.size(); at += 4) own.insert(found->second.value.substr(at, 2));
        if (own.empty()) empty.push_back(node);
        std::set<std::string> both;
        std::set_intersection(common.begin(), common.end(), own.begin(), own.end(), std::inserter(both, both.end()));
        common = told++ ? both : own;
    }
    if (empty.size() < told && common.empty())
        out.fail({"DSCP of RoCE", {}}, empty.empty() ? "no DSCP leads to a lossless priority on all nodes" : fmt::format("no DSCP leads to a lossless priority on {}", names(empty)))
            .want("one DSCP that is lossless on all nodes")
            .mend({"Map one DSCP to the lossless priority on all nodes.", {}, {}, {}});
    not_told(out);
}

/// Only nodes with the same kind of NIC are set side by side: those whose value begins with the same word.
void judge_by_kind(const Fleet& fleet, const std::string& key, const Wording& wording, Findings& out) {
    if (too_few(fleet.all(), "nodes", out)) return;
    std::map<std::string, Nodes> kinds;
    Nodes blind;
    for (const Node* node : fleet.all()) {
        const auto found = node->keys.find(key);
        if (found == node->keys.end() || found->second.state == "unknown") blind.push_back(node);
        else if (found->second.state == "set") kinds[found->second.value.substr(0, found->second.value.find(' '))].push_back(node);
    }
    for (const auto& [kind, nodes] : kinds)
        if (nodes.size() > 1) judge_key(nodes, key, {fmt::format("{} {}", wording.label, kind), wording.remedy, wording.differs}, out);
    const bool told = blind.size() < fleet.all().size() || std::any_of(blind.begin(), blind.end(), [&](const Node* node) { return node->keys.count(key); });
    if (told && !blind.empty()) unseen(spread(blind, key), wording.label, out);
    if (told && out.list().empty()) out.skip(node_subject(), "no two nodes have NICs of one kind");
    not_told(out);
}

void judge_driver(const Fleet& fleet, Findings& out) {
    judge_by_kind(fleet, "network.driver", {"driver", "Bring all nodes to one driver version.", Status::warn}, out);
}

void judge_firmware(const Fleet& fleet, Findings& out) {
    judge_by_kind(fleet, "network.firmware", {"firmware of", "Bring the NICs to one firmware; during a rolling upgrade they differ for a while.", Status::warn}, out);
}

/// What each node was asked short of a whole run: a pass is worth no more than the question.
std::string narrowed(const Fleet& fleet) {
    std::map<std::string, Nodes> asked;
    for (const Node& node : fleet.nodes)
        if (!node.narrowed.empty()) asked[node.narrowed].push_back(&node);
    std::string text;
    for (const auto& [what, nodes] : asked)
        text += fmt::format("; asked in part: {} ({})", names(nodes), what);
    return text;
}

void judge_nodes(const Fleet& fleet, Findings& out) {
    for (const Node& node : fleet.nodes) {
        const Subject subject{node.name(), {"peer:" + node.name()}};
        const std::string reason = node.reason.empty() ? "" : ": " + node.reason;
        const std::string read = fmt::format("Mend {} as its own report says: {}", node.name(), node.file);
        if (node.verdict == "fail")
            out.fail(subject, "its report says FAIL" + reason).want("pass").from(node.file).mend({.summary = read});
        else if (node.verdict == "incomplete")
            out.unknown(subject, "its report says INCOMPLETE" + reason, read).from(node.file);
        else if (node.verdict != "pass" && node.verdict != "not-applicable")
            out.unknown(subject, fmt::format("its verdict is \"{}\"", node.verdict), "Run the tool there again.").from(node.file);
    }
    if (fleet.nodes.empty()) out.unknown(node_subject(), "no file is a report", "Fetch the reports again.");
    if (out.list().empty())
        out.pass(node_subject(), fmt::format("{} {}, each passes what it was asked{}", fleet.nodes.size(),
                                             fleet.nodes.size() == 1 ? "node" : "nodes", narrowed(fleet)));
}

void judge_missing(const Fleet& fleet, Findings& out) {
    for (const auto& [file, why] : fleet.broken) out.unknown({file, {}}, why.cause, "Fetch the report again, or leave the file out.");
    std::map<std::string, std::string> missing;
    bool named = false;
    for (const Node* node : fleet.all())
        for (const Peer& peer : node->cluster.peers) {
            named = true;
            if (!fleet.find(peer, *node)) missing.emplace(peer.name, peer.address);
        }
    for (const auto& [name, address] : missing)
        out.unknown({name, {"peer:" + name}}, fmt::format("named in MINIO_VOLUMES{}, and no report is its own", address.empty() ? "" : fmt::format(" ({})", address)), fmt::format("Run the tool on {} and give its report too.", name));
    if (!out.list().empty()) return;
    if (named) out.pass(node_subject(), fmt::format("{} nodes, each with a report", fleet.all().size()));
    else out.skip(node_subject(), "no report names other AIStor nodes");
}

void judge_stale(const Fleet& fleet, Findings& out) {
    std::int64_t newest = 0;
    for (const Node& node : fleet.nodes) newest = std::max(newest, node.started);
    for (const Node& node : fleet.nodes)
        if (node.started == 0) out.unknown({node.name(), {"peer:" + node.name()}}, fmt::format("\"{}\" is no time", node.started_text), "Run the tool there again.");
        else if (newest - node.started > stale_after)
            out.warn({node.name(), {"peer:" + node.name()}}, fmt::format("its report is of {}, {} hours before the newest", node.started_text, (newest - node.started) / 3600))
                .want("reports of one day")
                .mend({fmt::format("Run the tool on {} again.", node.name()), {}, {}, {}});
    if (out.list().empty()) out.pass(node_subject(), "all reports are of one day");
}

void judge_foreign(const Fleet& fleet, Findings& out) {
    for (std::size_t i = 0; i < fleet.nodes.size(); ++i)
        if (const Node& node = fleet.nodes[i]; fleet.foreign[i])
            out.fail({node.name(), {"peer:" + node.name()}}, fleet.all().empty() ? fmt::format("{} names other endpoints than the rest, and no cluster has the most reports: nothing was compared", node.file)
                                                                                 : fmt::format("{} is of another cluster: it names other endpoints, and none of the {} nodes compared names it", node.file, fleet.all().size()))
                .want("reports of one cluster")
                .mend({"Leave its report out, or correct MINIO_VOLUMES there.", {}, {}, {}});
    if (out.list().empty()) out.pass(node_subject(), "all reports are of one cluster");
}

bool reached(const CompareKey& key) {
    return key.value == "connected" || key.value == "refused" || key.value == "reset";
}

using Pair = std::pair<const Node*, const Node*>;

/// What each storage node got as an answer of each other one, where its report tells.
std::map<Pair, const CompareKey*> answers(const Fleet& fleet) {
    std::map<Pair, const CompareKey*> all;
    for (const Node* from : fleet.storage())
        for (const Peer& peer : from->cluster.peers)
            if (const Node* to = fleet.find(peer, *from))
                if (const auto found = from->keys.find("peer." + peer.name); found != from->keys.end() && found->second.state == "set") all[{from, to}] = &found->second;
    return all;
}

void judge_reach(const Fleet& fleet, Findings& out) {
    const auto all = answers(fleet);
    std::set<const Node*> told;
    bool both = false;
    for (const auto& [pair, there] : all) {
        const auto& [from, to] = pair;
        told.insert(from);
        const auto back = all.find({to, from});
        both |= back != all.end();
        if (back != all.end() && !reached(*there) && reached(*back->second))
            out.fail({fmt::format("{} to {}", from->name(), to->name()), {"peer:" + to->name()}}, fmt::format("{} ({}); the other direction works", there->value, there->origin))
                .want("both directions")
                .mend({fmt::format("Look for a firewall on {} that keeps {} out.", to->name(), from->name()), {}, {}, {}});
    }
    Nodes silent;
    for (const Node* node : fleet.storage())
        if (!told.count(node)) silent.push_back(node);
    if (all.empty()) out.skip(node_subject(), "no report tells which peers it reached");
    else if (!silent.empty()) out.unknown({names(silent), {}}, "its report does not tell which peers it reached", "Run the tool there without --no-peers, --only or --skip, and compare again.");
    if (!out.list().empty()) return;
    if (both) out.pass(node_subject(), "no pair of nodes reaches each other in one direction only");
    else out.skip(node_subject(), "no two of the reports tell about each other");
}

void judge_listener(const Fleet& fleet, Findings& out) {
    const auto all = answers(fleet);
    for (const auto& [pair, there] : all) {
        const auto& [from, to] = pair;
        const auto listener = to->keys.find("peers.listener");
        // An rdma_cm listener answers no TCP connection.
        if (there->value == "refused" && listener != to->keys.end() && listener->second.state == "set" && listener->second.value.find("by TCP") != std::string::npos)
            out.fail({fmt::format("{} to {}", from->name(), to->name()), {"peer:" + to->name()}}, fmt::format("refused, though AIStor listens there: {}", there->origin))
                .want("a connection")
                .mend({fmt::format("Look for a firewall on {} that answers with a reset; or run the tool on {} again if the server started meanwhile.", to->name(), from->name()), {}, {}, {}});
    }
    if (all.empty()) out.skip(node_subject(), "no report tells which peers it reached");
    else if (out.list().empty()) out.pass(node_subject(), "no peer was refused where AIStor listens");
}

/// What one node has proven holds for others of the same release, driver and firmware.
void judge_proof(const Fleet& fleet, Findings& out) {
    static const std::string unproven = "unproven.", proof = "proof.";
    using Setup = std::pair<std::string, std::string>;  // check; release, driver and firmware, or why they are not known
    std::map<Setup, const Node*> proofs;
    std::map<Setup, Nodes> open;
    for (const Node* node : fleet.all())
        for (const auto& [name, key] : node->keys) {
            if (name.rfind(proof, 0) == 0 && key.state == "set") proofs.emplace(Setup{name.substr(proof.size()), key.value}, node);
            if (name.rfind(unproven, 0) == 0) open[{name.substr(unproven.size()), key.value}].push_back(node);
        }
    for (const auto& [setup, nodes] : open) {
        const auto& [check, what] = setup;
        Subject subject{fmt::format("{} on {}", check, names(nodes)), {}};
        for (const Node* node : nodes) subject.keys.push_back("peer:" + node->name());
        const auto by = proofs.find(setup);
        if (by != proofs.end())
            out.pass(subject, fmt::format("proven by {}, which has the same setup: {}", by->second->name(), what)).from(by->second->file);
        else
            out.warn(subject, "unproven on each node of this setup: " + what)
                .want("proven on one node of each setup")
                .mend({.summary = fmt::format("Prove it on one of them, as `aistor-rdma-check explain {}` says, and compare its new report.", check)});
    }
    if (out.list().empty()) out.skip(node_subject(), "no report leaves anything unproven");
}

struct Rule {
    Check check;
    void (*judge)(const Fleet&, Findings&);
};

Check row(std::string_view id, std::string_view title, std::string_view why, std::string_view judges, std::string_view remedy, std::string_view evidence, unsigned roles = storage | client) {
    Check check{};
    check.id = id;
    check.phase = letter;
    check.title = title;
    check.why = why;
    check.judges = judges;
    check.remedy = remedy;
    check.evidence = evidence;
    check.roles = roles;
    return check;
}

const std::vector<Rule>& rules() {
    static const std::vector<Rule> table = {
        {row("fleet.missing", "Each AIStor node has a report", "A node nobody looked at may be the one on TCP.", "unknown: a node of MINIO_VOLUMES has no report, or a file is none. skip: no report names other nodes.",
             "Run the tool on the missing node.", "MINIO_VOLUMES of the reports."), judge_missing},
        {row("fleet.foreign", "All reports are of one cluster", "A report of another cluster makes a comparison meaningless.", "fail: a report names other endpoints than most, and no node of theirs names it, or the reverse; where no cluster has the most reports, all of them.",
             "Leave it out, or correct MINIO_VOLUMES.", "The endpoints of MINIO_VOLUMES."), judge_foreign},
        {row("fleet.stale", "All reports are of one day", "An old report tells of a node as it was.", "warn: more than 24 hours before the newest report.", "Run the tool there again.", "run.started of the reports."), judge_stale},
        {row("fleet.settings", "The RDMA settings are the same on all storage nodes", "Nodes with different settings fall back to TCP between each other without a word.",
             "fail: MINIO_RDMA_INTERNODE, MINIO_RDMA_PEER_PORT or MINIO_VOLUMES differs; warn: another one does. The odd nodes are named with value and origin. A default that is written out equals one that is not. unknown: a node's value could not be read.",
             "One value on all nodes; restart the server there.", "AIStor documentation, settings/rdma: the same value on every node.", storage), judge_settings},
        {row("fleet.build", "All storage nodes run the RDMA build of one release", "The standard build takes part over TCP only; releases may differ in their protocol.", "fail: builds or releases differ. unknown: a file does not tell.",
             "One release and build on all nodes.", "AIStor documentation, RDMA overview.", storage), judge_build},
        {row("fleet.library", "All storage nodes have the same RDMA libraries", "Libraries of different packages do not speak with each other for sure.", "fail: names or sizes of libs3rdma and libp2p_rdma differ.",
             "One package on all nodes.", "minio/rdma-training: a mix of generations fails.", storage), judge_library},
        {row("fleet.protocol", "All nodes speak one RDMA protocol", "RoCE v2, iWARP and InfiniBand cannot connect to each other.", "fail: protocols differ.", "Set all NICs to one protocol.", "Linux RDMA subsystem."), judge_protocol},
        {row("fleet.mtu", "MTU and active path MTU are the same on all nodes", "Small transfers pass and large ones hang where a sender's path MTU is above the receiver's.",
             "fail: active path MTUs differ. warn: only the netdevs' MTUs differ, and the path MTU is the same.", "One MTU on all nodes and switches.", "kvcache-ai/Mooncake 3868; IBTA path MTU."), judge_mtu},
        {row("fleet.dcb", "Classification and PFC are the same on all nodes", "A network that is lossless in one direction only loses frames in the other.", "fail: trust or PFC differ, or no DSCP is lossless on all nodes.",
             "Set DCB alike on all nodes.", "IEEE 802.1Qbb; drivers ice and mlx5."), judge_dcb},
        {row("fleet.driver", "NICs of one kind have one driver version", "Faults of one driver version show on some nodes only.", "warn: versions differ among nodes with the same driver.", "One version on all nodes.", "ethtool -i."), judge_driver},
        {row("fleet.firmware", "NICs of one kind have one firmware", "Faults of one firmware show on some nodes only.", "warn: firmware differs among nodes with the same NIC; normal in a rolling upgrade.", "One firmware on all nodes.", "ethtool -i."), judge_firmware},
        {row("fleet.reach", "Nodes that reach each other do so in both directions", "A firewall on one way makes one node fall back to TCP.", "fail: one direction works and the other does not. Where both fail, peers.port of the nodes says so. unknown: a node did not try its peers.",
             "Open the peer port on the node that is not reached.", "peers.port of both nodes.", storage), judge_reach},
        {row("fleet.listener", "No peer is refused where AIStor listens", "A refusal usually means that nothing listens yet; here something does.", "fail: AIStor listens by TCP on the peer port and another node was refused.",
             "Look for a firewall that answers with a reset.", "peers.listener and peers.port.", storage), judge_listener},
        {row("fleet.nodes", "Every node's own report passes", "One node that fails takes part over TCP, and slows its peers with it.",
             "fail: a report says fail; unknown: one is incomplete. What was asked of the node counts: its stage, phases and selection, and its waivers. The first reason is named.",
             "Mend the node as its own report says, and run the tool there again.", "verdict and findings of the reports."), judge_nodes},
        {row("fleet.proof", "What is unproven on one node is proven on one like it", "Where nobody has seen it work, the outcome of a node stays open.",
             "pass: another node with the same server release, driver and firmware has proven it. warn: none has. skip: nothing is unproven.",
             "Prove it on one node of each setup.", "compare_keys proof.* and unproven.* of the reports."), judge_proof}};
    return table;
}

}  // namespace

Fleet Fleet::of(std::vector<Node> nodes) {
    Fleet fleet;
    std::map<std::string, Node> newest;
    for (Node& node : nodes) {
        // A host name that many machines have tells none of them.
        const bool nameless = node.cluster.self.empty() && (node.hostname.empty() || node.hostname.rfind("localhost", 0) == 0);
        const std::string key = fmt::format("{}/{}/{}", node.cluster.fingerprint, node.name(), nameless ? node.boot_id : "");
        const auto known = newest.find(key);
        if (known == newest.end()) {
            newest.emplace(key, std::move(node));
            continue;
        }
        const bool newer = node.started > known->second.started;
        const bool rebooted = node.cluster.self.empty() && node.boot_id != known->second.boot_id;
        fleet.notes.push_back(fmt::format("{} is an older report of {} and was left out{}", newer ? known->second.file : node.file, node.name(),
                                          rebooted ? "; it is of another boot: two machines of one host name cannot be told apart" : ""));
        if (newer) known->second = std::move(node);
    }
    for (auto& [key, node] : newest) fleet.nodes.push_back(std::move(node));
    std::stable_sort(fleet.nodes.begin(), fleet.nodes.end(), [](const Node& a, const Node& b) { return a.name() < b.name(); });
    for (std::size_t i = 0; i < fleet.nodes.size(); ++i) {
        for (const std::string& name : fleet.nodes[i].cluster.self) fleet.by_name_[name].push_back(i);
        for (const std::string& address : fleet.nodes[i].cluster.addresses) fleet.by_address_[address].push_back(i);
    }
    fleet.find_foreign();
    return fleet;
}

void Fleet::find_foreign() {
    // Nodes are of one cluster where they list the same endpoints, or where one names the other.
    std::vector<std::size_t> joined(nodes.size());
    std::iota(joined.begin(), joined.end(), 0);
    const auto root = [&](std::size_t i) {
        while (joined[i] != i) i = joined[i] = joined[joined[i]];
        return i;
    };
    std::unordered_map<std::string, std::size_t> first;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (const std::string& list = nodes[i].cluster.fingerprint; !list.empty()) joined[root(i)] = root(first.emplace(list, i).first->second);
        for (const Peer& peer : nodes[i].cluster.peers)
            if (const Node* other = find(peer, nodes[i])) joined[root(i)] = root(static_cast<std::size_t>(other - nodes.data()));
    }
    std::map<std::size_t, std::size_t> members;  // of those that list endpoints at all
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (!nodes[i].cluster.fingerprint.empty()) ++members[root(i)];
    std::size_t most = 0;
    for (const auto& [cluster, count] : members) most = std::max(most, count);
    const auto largest = std::count_if(members.begin(), members.end(), [&](const auto& one) { return one.second == most; });
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto own = members.find(root(i));
        foreign.push_back(own != members.end() && (own->second < most || largest > 1));
    }
}

Fleet Fleet::read(const std::vector<std::string>& files) {
    // Parsing is most of the work, and each report is a matter of its own.
    std::vector<Fact<Node>> read(files.size());
    const std::size_t hands = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8);
    std::vector<std::jthread> threads;
    for (std::size_t first = 0; first < hands; ++first)
        threads.emplace_back([&, first] {
            for (std::size_t i = first; i < files.size(); i += hands) read[i] = read_report(files[i]);
        });
    threads.clear();
    std::vector<Node> nodes;
    std::vector<std::pair<std::string, Unreadable>> broken;
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (read[i]) nodes.push_back(*read[i]);
        else broken.emplace_back(files[i], read[i].why());
    }
    Fleet fleet = of(std::move(nodes));
    fleet.broken = std::move(broken);
    return fleet;
}

std::vector<const Node*> Fleet::all() const {
    std::vector<const Node*> list;
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (!foreign[i]) list.push_back(&nodes[i]);
    return list;
}

const Node* Fleet::find(const Peer& peer, const Node& by) const {
    const auto one_of = [&](const auto& index, const std::string& text) -> const Node* {
        const auto found = index.find(text);
        if (found == index.end()) return nullptr;
        // Nodes of two clusters may have the same short name.
        for (const std::size_t i : found->second)
            if (nodes[i].cluster.fingerprint == by.cluster.fingerprint) return &nodes[i];
        return &nodes[found->second.front()];
    };
    if (const Node* node = one_of(by_name_, peer.name)) return node;
    return peer.address.empty() ? nullptr : one_of(by_address_, peer.address);
}

std::vector<const Node*> Fleet::storage() const {
    std::vector<const Node*> list = all();
    std::erase_if(list, [](const Node* node) { return !node->storage(); });
    return list;
}

const Module& module() {
    static const Module made = [] {
        Module module{"fleet", "what no single node can see: the command compare", {}};
        for (const Rule& rule : rules()) module.checks.push_back(rule.check);
        return module;
    }();
    return made;
}

Report compare(const Fleet& fleet, const Policy& policy) {
    Report report;
    report.compared.emplace();
    for (const Node& node : fleet.nodes) report.compared->push_back({node.name(), node.hostname, node.file, node.started_text, node.verdict, node.roles, node.answers});
    for (const Rule& rule : rules()) {
        Findings found;
        rule.judge(fleet, found);
        for (Finding& finding : found.list()) {
            finding.id = rule.check.id;
            finding.phase = letter;
            finding.title = rule.check.title;
            if (finding.why.empty()) finding.why = rule.check.why;
            report.findings.push_back(std::move(finding));
        }
    }
    report.notes = fleet.notes;
    apply_waivers(report, policy.waivers, today(), {module()});
    report.phases = {phase_result(letter, "Across the nodes", report.findings)};
    report.verdict = whole_verdict(report.phases);
    return report;
}

}  // namespace preflight::fleet
