#include "facts/peers.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "facts/environment.h"
#include "facts/node.h"
#include "facts/ports.h"
#include "facts/settings.h"

namespace preflight {
namespace {

constexpr std::string_view peer_port_setting = "MINIO_RDMA_PEER_PORT";

/// An address in binary; empty when the text is none. A zone ("%eth0") is left out.
std::vector<unsigned char> bytes_of(const std::string& text) {
    const std::string plain = text.substr(0, text.find('%'));
    std::vector<unsigned char> bytes(4);
    if (inet_pton(AF_INET, plain.c_str(), bytes.data()) == 1) return bytes;
    bytes.resize(16);
    if (inet_pton(AF_INET6, plain.c_str(), bytes.data()) == 1) return bytes;
    return {};
}

bool in_subnet(const std::vector<unsigned char>& address, const Address& subnet) {
    const auto base = bytes_of(subnet.address);
    if (base.empty() || base.size() != address.size()) return false;
    for (int bit = 0; bit < subnet.prefix && bit < static_cast<int>(base.size() * 8); ++bit)
        if ((base[bit / 8] ^ address[bit / 8]) & (0x80 >> bit % 8)) return false;
    return true;
}

bool loopback(const std::vector<unsigned char>& address) {
    if (address.size() == 4) return address[0] == 127;
    return std::all_of(address.begin(), address.end() - 1, [](unsigned char byte) { return byte == 0; }) && address.back() == 1;
}

std::optional<int> port_number(const std::string& text) {
    int port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc() || end != text.data() + text.size() || port < 1 || port > 65535) return std::nullopt;
    return port;
}

bool host_name(const std::string& text) {
    const auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-' || c == '_'; };
    return !text.empty() && text.size() <= 253 && std::all_of(text.begin(), text.end(), allowed);
}

/// Reads what the kernel and the address table say about one address.
class Surveyor {
public:
    Surveyor(Host& host, const Ports& ports, const PeerFacts& facts) : host_(host), ports_(ports), facts_(facts) {
        for (const Port* port : ports.storage())
            for (const int index : {port->link.index, port->bond ? port->bond->index : port->link.index}) {
                const Link* link = ports.link(index);
                const Link* master = link && link->master ? ports.link(*link->master) : nullptr;
                if (master && master->kind == "vrf") vrfs_.insert(master->name);
            }
    }

    PeerAddress survey(const std::string& text) const {
        PeerAddress address;
        address.text = text;
        const auto bytes = bytes_of(text);
        address.loopback = !bytes.empty() && loopback(bytes);
        address.own = address.loopback;
        if (ports_.addresses)
            for (const Address& mine : *ports_.addresses) {
                if (bytes_of(mine.address) == bytes) address.own = true;
                if (in_subnet(bytes, mine) && std::find(address.on_link.begin(), address.on_link.end(), mine.link) == address.on_link.end())
                    address.on_link.push_back(mine.link);
            }
        if (address.own) return address;
        address.route = host_.route(text);
        if (leaves_by_storage(address.route)) return address;
        for (const std::string& vrf : vrfs_)
            if (leaves_by_storage(host_.route(text, vrf))) address.vrf = vrf;
        return address;
    }

private:
    bool leaves_by_storage(const Fact<Route>& route) const { return route && facts_.storage_links.count(route->link); }

    Host& host_;
    const Ports& ports_;
    const PeerFacts& facts_;
    std::set<std::string> vrfs_;
};

std::vector<VolumeHost> named_peers(const std::vector<std::string>& texts) {
    std::vector<VolumeHost> list;
    for (const std::string& text : texts)
        if (const auto peer = parse_peer(text)) list.push_back(*peer);
        else throw InputError{fmt::format("--peers: \"{}\" is not HOST or HOST:PORT", text)};
    return list;
}

void find_doubles(PeerFacts& facts) {
    std::map<std::pair<std::string, int>, std::string> first;
    for (const PeerNode& node : *facts.nodes)
        for (const PeerAddress& address : node.addresses.value_or({})) {
            const auto [known, fresh] = first.emplace(std::pair{address.text, node.api_port}, node.name);
            if (!fresh && known->second != node.name && !address.loopback)
                facts.doubles.push_back(fmt::format("{} and {} are both {}", known->second, node.name, address.text));
        }
}

void add_nodes(PeerFacts& facts, const std::vector<VolumeHost>& peers, bool api_ports, int api_port) {
    std::vector<PeerNode> nodes;
    std::map<std::string, std::size_t> seen;
    for (const VolumeHost& peer : peers) {
        PeerNode node;
        node.name = peer.name;
        node.rdma_port = !api_ports && peer.port ? peer.port : facts.rdma_port;
        node.api_port = api_ports && peer.port ? peer.port : api_port;
        if (seen.emplace(peer.name, nodes.size()).second) nodes.push_back(std::move(node));
        else if (!api_ports) facts.doubles.push_back(peer.name + " is given twice");
    }
    facts.nodes = std::move(nodes);
}

}  // namespace

std::optional<VolumeHost> parse_peer(const std::string& text) {
    VolumeHost peer;
    const bool bare_v6 = std::count(text.begin(), text.end(), ':') > 1 && text.front() != '[';
    if (bare_v6) {
        peer.name = text;
        return bytes_of(text).size() == 16 ? std::optional(peer) : std::nullopt;
    }
    const auto colon = text.rfind(':');
    const bool with_port = colon != std::string::npos && (text.front() != '[' || (colon > 0 && text[colon - 1] == ']'));
    peer.name = with_port ? text.substr(0, colon) : text;
    if (with_port) {
        const auto port = port_number(text.substr(colon + 1));
        if (!port) return std::nullopt;
        peer.port = *port;
    }
    if (peer.name.size() > 2 && peer.name.front() == '[' && peer.name.back() == ']') {
        peer.name = peer.name.substr(1, peer.name.size() - 2);
        return bytes_of(peer.name).size() == 16 ? std::optional(peer) : std::nullopt;
    }
    return host_name(peer.name) ? std::optional(peer) : std::nullopt;
}

bool PeerNode::self() const {
    if (!addresses) return false;
    return std::any_of(addresses->begin(), addresses->end(), [](const PeerAddress& address) { return address.own; });
}

std::string target_of(const std::string& address, int port) {
    return address.find(':') == std::string::npos ? fmt::format("{}:{}", address, port) : fmt::format("[{}]:{}", address, port);
}

PeerSettings PeerSettings::read(const EnvironmentFacts& environment) {
    PeerSettings settings;
    const auto volumes = environment.volumes_text();
    if (environment.configured_by_file()) {
        settings.hosts = Unreadable{"not-asked", "a start-up file names the nodes, which this version does not read"};
    } else if (volumes) {
        settings.hosts_origin = fmt::format("{}", volumes->origin.text());
        const Volumes parsed = parse_volumes(volumes->value);
        settings.single_node = parsed.single_node();
        if (!parsed.errors.empty()) settings.hosts = Unreadable{"malformed", "it does not expand: " + parsed.errors.front().message};
        else settings.hosts = parsed.hosts;
    } else {
        settings.hosts = volumes.as<std::vector<VolumeHost>>();
    }
    const auto port = environment.server_value(peer_port_setting);
    settings.rdma_port = port.then([](const ServerValue& value) -> Fact<int> {
        const SettingValue read = read_setting(*find_setting(peer_port_setting), value.value);
        if (read.kind != SettingValue::good || read.number > 65535) return Absent{};
        return static_cast<int>(read.number);
    });
    if (port) settings.rdma_port_origin = port->origin.text();
    const auto variable = environment.server_value("MINIO_ADDRESS");
    const auto flag = environment.flag("--address");
    if (const auto address = flag ? flag : variable.has() ? std::optional(variable->value) : std::nullopt)
        if (const auto number = port_number(address->substr(address->rfind(':') + 1))) settings.api_port = *number;
    return settings;
}

PeerFacts PeerFacts::read(Host& host, const Options& options, const Ports& ports, const PeerSettings& settings) {
    PeerFacts facts;
    facts.rdma_port = settings.rdma_port.value_or(static_cast<int>(find_setting(peer_port_setting)->fallback.value()));
    if (settings.rdma_port) facts.rdma_port_origin = settings.rdma_port_origin;
    else facts.rdma_port_origin = settings.rdma_port.as<std::string>();
    for (const Port* port : ports.storage()) {
        facts.storage_links.insert(port->link.index);
        if (port->bond) facts.storage_links.insert(port->bond->index);
        for (const Link& upper : port->uppers) facts.storage_links.insert(upper.index);
        for (const PortAddress& address : port->addresses) facts.storage_addresses.insert(address.address.address);
    }
    if (options.peers) {
        facts.origin = "--peers";
        add_nodes(facts, named_peers(*options.peers), false, settings.api_port);
    } else if (settings.single_node) {
        facts.origin = settings.hosts_origin;
        facts.single_node = true;
        facts.nodes = std::vector<PeerNode>();
    } else {
        facts.origin = settings.hosts_origin;
        if (settings.hosts) add_nodes(facts, *settings.hosts, true, settings.api_port);
        else facts.nodes = settings.hosts.as<std::vector<PeerNode>>();
    }
    if (!facts.nodes) return facts;

    std::vector<PeerNode> nodes = *facts.nodes;
    std::vector<std::string> names;
    std::vector<PeerNode*> to_resolve;
    const Surveyor surveyor(host, ports, facts);
    for (PeerNode& node : nodes)
        if (!bytes_of(node.name).empty()) node.addresses = std::vector{surveyor.survey(node.name)};
        else {
            names.push_back(node.name);
            to_resolve.push_back(&node);
        }
    const auto answers = host.resolve_names(names);
    for (std::size_t i = 0; i < names.size(); ++i)
        to_resolve[i]->addresses = answers[i].then([&](const std::vector<std::string>& texts) -> Fact<std::vector<PeerAddress>> {
            if (texts.empty()) return Absent{};
            std::vector<PeerAddress> addresses;
            for (const std::string& text : texts) addresses.push_back(surveyor.survey(text));
            return addresses;
        });
    facts.nodes = std::move(nodes);
    find_doubles(facts);
    return facts;
}

PeerReach PeerReach::read(Host& host, const PeerFacts& peers) {
    std::vector<std::string> targets;
    for (const bool api : {false, true})
        for (const PeerNode& node : peers.nodes.value_or({})) {
            if (node.self()) continue;
            for (const PeerAddress& address : node.addresses.value_or({}))
                targets.push_back(target_of(address.text, api ? node.api_port : node.rdma_port));
        }
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    PeerReach reach;
    const auto answers = host.probe_tcp(targets);
    for (std::size_t i = 0; i < targets.size(); ++i) reach.probes.emplace(targets[i], answers[i]);
    return reach;
}

namespace {

std::string base_name(const std::string& path) {
    std::string name = path.substr(path.rfind('/') + 1);
    const std::string gone = " (deleted)";
    if (name.size() > gone.size() && name.compare(name.size() - gone.size(), gone.size(), gone) == 0) name.resize(name.size() - gone.size());
    return name;
}

void identify(PortHolder& holder, const std::string& executable, const std::string& comm) {
    holder.name = executable.empty() ? comm : base_name(executable);
    holder.aistor = holder.name == "minio" || holder.name.rfind("minio.", 0) == 0;
}

}  // namespace

PortHolders PortHolders::read(Host& host, const RdmaStack& rdma, int port) {
    PortHolders holders;
    holders.tcp = host.listening(port).then([](const std::vector<ListeningSocket>& sockets) {
        std::vector<PortHolder> list;
        for (const ListeningSocket& socket : sockets) {
            PortHolder holder;
            holder.address = socket.address;
            holder.pid = socket.pid;
            holder.uid = socket.uid;
            identify(holder, socket.executable, socket.comm);
            list.push_back(std::move(holder));
        }
        return list;
    });
    if (!rdma.nldev) {
        holders.rdma_cm = rdma.nldev.as<std::vector<PortHolder>>();
        return holders;
    }
    std::vector<PortHolder> list;
    std::set<std::pair<int, std::string>> seen;
    const std::string suffix = fmt::format(":{}", port);
    for (const RdmaDevice& device : *rdma.nldev) {
        const auto resources = host.rdma_resources(device.name);
        if (!resources) {
            holders.rdma_cm = resources.as<std::vector<PortHolder>>();
            return holders;
        }
        for (const RdmaResource& resource : *resources) {
            const std::string& source = resource.source;
            if (resource.kind != "cm_id" || resource.state != "LISTEN" || source.size() <= suffix.size()) continue;
            if (source.compare(source.size() - suffix.size(), suffix.size(), suffix) != 0) continue;
            PortHolder holder;
            holder.rdma_cm = true;
            holder.address = source.substr(0, source.size() - suffix.size());
            holder.pid = resource.pid;
            if (!seen.emplace(resource.pid.value_or(0), holder.address).second) continue;
            if (resource.pid) {
                const std::string process = fmt::format("/proc/{}", *resource.pid);
                identify(holder, host.link_target(process + "/exe").value_or(""), trimmed(host.read(process + "/comm").value_or("")));
            } else identify(holder, "", resource.kernel_user);
            list.push_back(std::move(holder));
        }
    }
    holders.rdma_cm = std::move(list);
    return holders;
}

namespace {

bool any_aistor(const Fact<std::vector<PortHolder>>& holders) {
    return holders && std::any_of(holders->begin(), holders->end(), [](const PortHolder& holder) { return holder.aistor; });
}

}  // namespace

bool PortHolders::aistor_by_tcp() const {
    return any_aistor(tcp);
}

bool PortHolders::aistor_by_rdma_cm() const {
    return any_aistor(rdma_cm);
}

}  // namespace preflight
