#include "facts/fleet_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "facts/environment.h"
#include "facts/lossless.h"
#include "facts/nic.h"
#include "facts/peers.h"
#include "facts/ports.h"
#include "facts/rdma.h"
#include "facts/server_build.h"
#include "facts/server_process.h"
#include "facts/settings.h"
#include "preflight/engine.h"

namespace preflight {
namespace {

bool asked(const Facts& facts, std::string_view id) {
    const Check* check = find_check(id);
    return check && selected(*check, facts.options()) && (check->roles & facts.roles()) && (check->deployments & facts.deployment());
}

/// One value of several ports: "9000", or "1500, 9000".
struct Values {
    std::set<std::string> set;
    std::string unseen;

    void add(std::string value) { set.insert(std::move(value)); }
    void blind(std::string cause) {
        if (unseen.empty()) unseen = std::move(cause);
    }
    template <class T>
    void blind(const Fact<T>& fact) {
        blind(fact.unreadable() ? fact.why().cause : "not offered");
    }
    CompareKey key(const char* name) const {
        if (!unseen.empty()) return {name, "unknown", unseen, ""};
        if (set.empty()) return {name, "unset", "", ""};
        return {name, "set", fmt::format("{}", fmt::join(set, ", ")), ""};
    }
};

void settings_keys(const Facts& facts, std::vector<CompareKey>& keys) {
    const EnvironmentFacts& environment = facts.environment();
    std::set<std::string> names;
    for (const Setting& setting : settings()) names.emplace(setting.name);
    for (const std::string& name : environment.names(setting_prefix)) names.insert(name);
    const auto add = [&](const std::string& name, const Fact<ServerValue>& value) {
        const std::string key = "env." + name;
        if (value.has()) keys.push_back({key, "set", value->value, value->origin.text()});
        else if (value.absent()) keys.push_back({key, "unset", "", ""});
        else keys.push_back({key, "unknown", value.why().cause, ""});
    };
    for (const std::string& name : names) add(name, environment.server_value(name));
    add("MINIO_VOLUMES", environment.volumes_text());
}

void container_keys(const Facts& facts, std::vector<CompareKey>& keys) {
    Values build;
    for (const Process& process : facts.server_processes().in_container) {
        const auto rdma = facts.container_rdma_build(process);
        if (rdma) build.add(*rdma ? "RDMA build" : "standard build");
        else build.blind(rdma);
    }
    keys.push_back(build.key("server.build"));
}

void server_keys(const Facts& facts, std::vector<CompareKey>& keys) {
    const ServerBuild& server = facts.server_build();
    if (server.rdma_build()) keys.push_back({"server.build", "set", "RDMA build", server.origin});
    else if (server.banner || (server.elf && server.elf->searched)) keys.push_back({"server.build", "set", "standard build", server.origin});
    else keys.push_back({"server.build", "unknown", server.elf.unreadable() ? server.elf.why().cause : "the server's file is not known", ""});
    if (server.release.empty()) keys.push_back({"server.release", "unknown", "its file does not tell its release", ""});
    else keys.push_back({"server.release", "set", server.release, server.release_origin});
    Values libraries;
    for (const auto* list : {&server.libraries, &server.opened})
        for (const LoadedLibrary& library : *list) {
            const std::string name = library.name.substr(library.name.rfind('/') + 1);
            if (name.rfind("libs3rdma", 0) != 0 && name.rfind("libp2p_rdma", 0) != 0) continue;
            const auto info = library.path.then([&](const std::string& path) { return facts.host().info(path); });
            if (info) libraries.add(fmt::format("{} of {} bytes", name, info->size));
            else if (info.absent()) libraries.add(name + " not found");
            else libraries.blind(info);
        }
    keys.push_back(libraries.key("server.libraries"));
}

/// "8086:1592 4.40 0x8001c7ee 1.3429.0"; empty when not told.
std::string firmware_text(const Facts& facts, const Port& port) {
    const NicPort& nic = facts.nic().port(port.key);
    if (!nic.driver) return {};
    const std::string ids = port.vendor && port.device ? fmt::format("{:04x}:{:04x}", *port.vendor, *port.device) : nic.driver->driver;
    return ids + " " + nic.driver->firmware;
}

void network_keys(const Facts& facts, std::vector<CompareKey>& keys) {
    static constexpr const char* checks[] = {"nic.mtu", "rdma.mtu", "rdma.protocol", "nic.driver", "nic.firmware"};
    if (std::none_of(std::begin(checks), std::end(checks), [&](const char* check) { return asked(facts, check); })) return;
    Values mtu, path_mtu, protocol, driver, firmware;
    if (facts.ports().links.unreadable())
        for (Values* values : {&mtu, &path_mtu, &protocol, &driver, &firmware}) values->blind(facts.ports().links);
    for (const Port* port : facts.ports().storage()) {
        mtu.add(fmt::format("{}", port->mtu()));
        const NicPort& nic = facts.nic().port(port->key);
        const RdmaAttachment* attachment = port->attachment();
        const RdmaDeviceFacts* device = attachment ? facts.rdma().find(attachment->device) : nullptr;
        if (device) {
            if (const std::string spoken = device->protocol(); !spoken.empty()) protocol.add(spoken);
            else protocol.blind(fmt::format("{} does not tell its protocol", attachment->device));
            for (const VerbsPort& one : device->verbs ? device->verbs->ports : std::vector<VerbsPort>{})
                if (one.port == attachment->port) path_mtu.add(fmt::format("{}", one.active_mtu));
            if (!device->verbs) path_mtu.blind(fmt::format("libibverbs does not list {}", attachment->device));
        }
        if (nic.driver) {
            driver.add(driver_text(facts, *port));
            firmware.add(firmware_text(facts, *port));
        } else {
            driver.blind(nic.driver);
            firmware.blind(nic.driver);
        }
    }
    if (facts.rdma().blind()) protocol.blind(facts.rdma().nldev);
    if (facts.rdma().verbs.unreadable()) path_mtu.blind(facts.rdma().verbs);
    const std::pair<const char*, CompareKey> rows[] = {{"nic.mtu", mtu.key("network.mtu")},
                                                       {"rdma.mtu", path_mtu.key("network.path_mtu")},
                                                       {"rdma.protocol", protocol.key("network.protocol")},
                                                       {"nic.driver", driver.key("network.driver")},
                                                       {"nic.firmware", firmware.key("network.firmware")}};
    for (const auto& [check, key] : rows)
        if (asked(facts, check)) keys.push_back(key);
}

void dcb_keys(const Facts& facts, std::vector<CompareKey>& keys) {
    Values values, dscp;
    if (facts.ports().links.unreadable())
        for (Values* both : {&values, &dscp}) both->blind(facts.ports().links);
    for (const LosslessPort& port : facts.lossless().ports) {
        if (port.infiniband) continue;
        if (port.dcb.absent()) values.add("no DCB");
        if (port.dcb.unreadable()) values.blind(port.dcb);
        if (!port.dcb) continue;
        const Mode classified = port.uppers.empty() ? Mode::unseen : mode(port, port.uppers.front());
        if (classified == Mode::unseen) values.blind(port.netdev + " does not show by what it classifies");
        else if (!port.dcb->pfc) values.blind(port.netdev + " does not show its PFC");
        else {
            const std::vector<unsigned> on = lossless(*port.dcb->pfc);
            values.add(fmt::format("classified by {}; PFC on {}", name(classified), on.empty() ? "none" : fmt::format("{}", fmt::join(on, ", "))));
        }
        for (const DscpEntry& entry : detect(port).entries) dscp.add(fmt::format("{:02}", entry.dscp));
    }
    keys.push_back(values.key("network.dcb"));
    keys.push_back(dscp.key("network.dscp"));
}

void peer_keys(const Facts& facts, std::vector<CompareKey>& keys) {
    const PeerFacts& peers = facts.peers();
    if (asked(facts, "peers.listener")) {
        const PortHolders& holders = facts.peer_port_holders();
        const bool aistor = holders.aistor_by_tcp() || holders.aistor_by_rdma_cm();
        if (aistor) keys.push_back({"peers.listener", "set", holders.aistor_by_tcp() ? "AIStor, by TCP" : "AIStor, by rdma_cm", ""});
        else if (holders.tcp.unreadable()) keys.push_back({"peers.listener", "unknown", holders.tcp.why().cause, ""});
        else keys.push_back({"peers.listener", "unset", "", ""});
    }
    if (!asked(facts, "peers.port") || !peers.nodes) return;
    const PeerReach& reach = facts.peer_reach();
    for (const PeerNode& node : *peers.nodes) {
        if (node.self() || !node.addresses) continue;
        // One address that answers is enough.
        CompareKey key{"peer." + node.name, "unknown", "not asked", ""};
        for (const PeerAddress& address : *node.addresses) {
            const auto& probe = reach.at(address.text, node.rdma_port);
            if (probe && key.value != "connected") key = {key.key, "set", probe->outcome, target_of(address.text, node.rdma_port)};
            else if (probe.unreadable() && key.state == "unknown") key.value = probe.why().cause;
        }
        keys.push_back(std::move(key));
    }
}

/// FNV-1a, 64 bits: it tells lists of endpoints apart, and hides nothing.
std::string fingerprint(const std::set<std::string>& endpoints) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const std::string& endpoint : endpoints)
        for (const char c : endpoint + "\n") hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return endpoints.empty() ? "" : fmt::format("{:016x}", hash);
}

}  // namespace

std::string driver_text(const Facts& facts, const Port& port) {
    const NicPort& nic = facts.nic().port(port.key);
    if (!nic.driver) return {};
    const RdmaAttachment* attachment = port.attachment();
    const RdmaDeviceFacts* device = attachment ? facts.rdma().find(attachment->device) : nullptr;
    const std::string module = device && !device->module.empty() ? " with " + device->module : "";
    return fmt::format("{} {}{}", nic.driver->driver, nic.driver->version, module);
}

std::string proven_setup(const Facts& facts) {
    const std::string release = server_release(facts);
    std::set<std::string> drivers, firmware;
    for (const Port* port : facts.ports().storage()) {
        drivers.insert(driver_text(facts, *port));
        firmware.insert(firmware_text(facts, *port));
    }
    if (release.empty() || drivers.empty() || drivers.count("") || firmware.count("")) return {};
    return fmt::format("{}; {}; {}", release, fmt::join(drivers, ", "), fmt::join(firmware, ", "));
}

std::string server_release(const Facts& facts) {
    if (facts.options().server_release) return *facts.options().server_release;
    return asked(facts, "server.libraries") ? facts.server_build().release : std::string();
}

std::vector<CompareKey> compare_keys(const Facts& facts) {
    std::vector<CompareKey> keys;
    if (facts.roles() & storage) {
        if (asked(facts, "env.names")) settings_keys(facts, keys);
        if (asked(facts, "container.image")) container_keys(facts, keys);
        if (asked(facts, "server.libraries")) server_keys(facts, keys);
    }
    network_keys(facts, keys);
    if (asked(facts, "dcb.mode")) dcb_keys(facts, keys);
    if ((facts.roles() & storage) && !facts.options().no_peers) peer_keys(facts, keys);
    return keys;
}

Cluster cluster_of(const Facts& facts) {
    Cluster cluster;
    if (!(facts.roles() & storage) || facts.options().no_peers || !asked(facts, "peers.names")) return cluster;
    const PeerFacts& peers = facts.peers();
    std::set<std::string> endpoints, own;
    for (const PeerNode& node : peers.nodes.value_or({})) {
        endpoints.insert(fmt::format("{}:{}", node.name, node.api_port));
        const bool self = node.self();
        if (self) cluster.self.push_back(node.name);
        for (const PeerAddress& address : node.addresses.value_or({}))
            if (self) own.insert(address.text);
        if (!self) cluster.peers.push_back({node.name, node.addresses && !node.addresses->empty() ? node.addresses->front().text : ""});
    }
    cluster.addresses.assign(own.begin(), own.end());
    cluster.fingerprint = fingerprint(endpoints);
    return cluster;
}

}  // namespace preflight
