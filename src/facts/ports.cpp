#include "facts/ports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "facts/node.h"

namespace preflight {
namespace {

std::string last_part(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

/// `function_below`: the PCI function of its RDMA device, where the netdev below `link` is not in this network namespace.
Port port_of(Host& host, const Link& link, bool sysfs_missing, const std::string& function_below = {}) {
    Port port;
    port.link = link;
    const std::string folder = fmt::format("/sys/class/net/{}/device", link.name);
    if (!function_below.empty()) port.pci = function_below;
    else if (link.parent_device && link.parent_bus.value_or("") == "pci") port.pci = *link.parent_device;
    else if (const auto resolved = host.resolve(folder)) port.pci = pci_address_in(*resolved);
    port.key = port.pci.empty() ? link.name : port.pci;
    if (port.pci.empty()) return port;
    const std::string function = fmt::format("/sys/bus/pci/devices/{}/", port.pci);
    const auto id = [&](const char* file) { return sysfs_number(host.read(function + file)).then([](int value) { return static_cast<unsigned>(value); }); };
    port.vendor = id("vendor");
    port.device = id("device");
    port.numa_node = sysfs_number(host.read(function + "numa_node"));
    port.driver = host.link_target(function + "driver").then(last_part);
    if (sysfs_missing && port.driver.absent()) port.driver = Unreadable{"ENOENT", "/sys is not mounted"};
    if (port.driver) port.family = family_of_netdev(*port.driver);
    // i40e drives many NICs; only the X722 has RDMA.
    if (port.driver.value_or("") == "i40e" && port.intel() != IntelFamily::x722) port.family = nullptr;
    return port;
}

/// Switchdev representors of VFs and SFs: their PCI parent is the function of the uplink (devlink-port: "pf0vf1", "c1pf0sf2").
std::set<int> representors_among(Host& host, const std::vector<Link>& links) {
    std::map<std::string, int> sharing;
    for (const Link& link : links)
        if (link.parent_device) ++sharing[*link.parent_device];
    std::set<int> found;
    for (const Link& link : links) {
        if (!link.parent_device || sharing[*link.parent_device] < 2) continue;
        const std::string name = host.read(fmt::format("/sys/class/net/{}/phys_port_name", link.name)).value_or("");
        const auto function = name.find("pf");
        const bool below = function != std::string::npos && (name.find("vf", function + 2) != std::string::npos || name.find("sf", function + 2) != std::string::npos);
        if (below) found.insert(link.index);
    }
    return found;
}

bool is_vf(Host& host, const Port& port) {
    return port.intel() == IntelFamily::vf || (!port.pci.empty() && host.info(fmt::format("/sys/bus/pci/devices/{}/physfn", port.pci)).has());
}

}  // namespace


bool routable(const Address& address) {
    // Another node has it (RFC 4862): the kernel does not use it.
    if (std::find(address.flags.begin(), address.flags.end(), "dadfailed") != address.flags.end()) return false;
    return address.scope != "link" && address.scope != "host" && address.address.rfind("169.254.", 0) != 0;
}

const RdmaAttachment* Port::hardware() const {
    const auto found = std::find_if(rdma.begin(), rdma.end(), [](const RdmaAttachment& attached) { return !attached.software; });
    return found == rdma.end() ? nullptr : &*found;
}

const RdmaAttachment* Port::attachment() const {
    if (const RdmaAttachment* real = hardware()) return real;
    return rdma.empty() ? nullptr : &rdma.front();
}

const Link* Ports::link(int index) const {
    if (!links) return nullptr;
    const auto found = std::find_if(links->begin(), links->end(), [&](const Link& known) { return known.index == index; });
    return found == links->end() ? nullptr : &*found;
}

const Link* Ports::link(const std::string& name) const {
    if (!links) return nullptr;
    const auto found = std::find_if(links->begin(), links->end(), [&](const Link& known) {
        return known.name == name || std::find(known.altnames.begin(), known.altnames.end(), name) != known.altnames.end();
    });
    return found == links->end() ? nullptr : &*found;
}

std::vector<const PortAddress*> Port::storage_addresses() const {
    std::vector<const PortAddress*> list;
    for (const PortAddress& carried : addresses)
        if (routable(carried.address)) list.push_back(&carried);
    if (std::any_of(list.begin(), list.end(), [](const PortAddress* one) { return one->endpoint; }))
        std::erase_if(list, [](const PortAddress* one) { return !one->endpoint; });
    return list;
}

int Port::mtu() const {
    int smallest = link.mtu;
    for (const PortAddress& carried : addresses)
        if (routable(carried.address) && carried.usable()) smallest = std::min(smallest, carried.mtu);
    return smallest;
}

std::vector<const Port*> Ports::storage() const {
    std::vector<const Port*> list;
    for (const Port& port : all)
        if (port.classed == PortClass::storage) list.push_back(&port);
    return list;
}

const Port* Ports::find(const std::string& key_or_netdev) const {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Port& port) { return port.key == key_or_netdev || port.link.name == key_or_netdev; });
    return found == all.end() ? nullptr : &*found;
}

std::vector<const Port*> Ports::members(int bond) const {
    std::vector<const Port*> list;
    for (const Port& port : all)
        if (port.bond && port.bond->index == bond) list.push_back(&port);
    return list;
}

namespace {

/// Joins RDMA devices to ports: by netdev where nldev names a port's own netdev, else by PCI parent, else by the bond.
void attach(Ports& ports, const RdmaStack& rdma) {
    for (const RdmaDeviceFacts& device : rdma.devices)
        for (const RdmaPort& of_device : device.device.ports) {
            const RdmaAttachment attached{device.device.name, of_device.port, false, device.software};
            Port* target = nullptr;
            for (Port& port : ports.all) {
                const bool named = of_device.netdev ? *of_device.netdev == port.link.index : of_device.netdev_name == port.link.name && !of_device.netdev_name.empty();
                if (named) target = &port;
            }
            if (!target && device.pci)
                for (Port& port : ports.all)
                    if (!target && port.pci == *device.pci) target = &port;
            if (target) target->rdma.push_back(attached);
        }
    // A merged device hangs on the first function; the other members of its bond use it too.
    for (Port& port : ports.all) {
        if (!port.rdma.empty() || !port.bond || !port.family || !port.family->merges_bond) continue;
        for (const Port* member : ports.members(port.bond->index))
            for (const RdmaAttachment& attached : member->rdma)
                if (!attached.software && !attached.merged && member->family == port.family && member->card() == port.card()) {
                    port.rdma.push_back({attached.device, attached.port, true, false});
                    break;
                }
    }
    for (Port& port : ports.all)
        if (port.bond && !port.rdma.empty() && !port.rdma.front().software)
            for (const Port* member : ports.members(port.bond->index))
                if (member != &port && !member->rdma.empty() && member->rdma.front().merged && member->rdma.front().device == port.rdma.front().device)
                    port.rdma.front().merged = true;
}

/// The physical ports below an interface: itself, the members of a bond, bridge or team, the parent of a VLAN or macvlan. An
/// internal port of Open vSwitch names nothing below it: the ports of its datapath are taken.
std::vector<std::string> ports_below(const Ports& ports, const Link& link, int depth = 0) {
    if (depth > 8) return {};
    if (ports.find(link.name)) return {link.name};
    std::vector<std::string> names;
    if (link.lower)
        if (const Link* lower = ports.link(*link.lower); lower && lower->index != link.index) return ports_below(ports, *lower, depth + 1);
    const Link* datapath = link.kind == "openvswitch" ? ports.link("ovs-system") : nullptr;
    const int master = datapath ? datapath->index : link.index;
    for (const Link& member : *ports.links)
        if (member.master && *member.master == master)
            for (const std::string& name : ports_below(ports, member, depth + 1)) names.push_back(name);
    return names;
}

/// An interface on the way up from a port.
struct Carrier {
    const Link* link;
    bool direct;       ///< the port, its bond, or a VLAN over either
    std::string vlan;
    int mtu;
};

/// The port and everything above it, each once; what stands above an interface follows it.
std::vector<Carrier> carriers_of(const Ports& ports, const Port& port) {
    static constexpr std::size_t most = 256;
    std::vector<Carrier> carriers{{&port.link, true, {}, port.link.mtu}};
    for (std::size_t i = 0; i < carriers.size() && carriers.size() < most; ++i) {
        const Carrier below = carriers[i];
        for (const Link& link : *ports.links) {
            const bool stacked = link.lower && *link.lower == below.link->index;
            const bool master = below.link->master && *below.link->master == link.index;
            if (!(stacked || master) || link.kind == "veth") continue;
            if (std::any_of(carriers.begin(), carriers.end(), [&](const Carrier& known) { return known.link == &link; })) continue;
            const bool vlan = link.kind == "vlan";
            const bool direct = below.direct && (vlan || link.kind == "ipoib" || link.kind == "bond");
            carriers.push_back({&link, direct, vlan ? link.name : below.vlan, std::min(below.mtu, link.mtu)});
        }
    }
    return carriers;
}

void collect_addresses(Ports& ports) {
    for (Port& port : ports.all) {
        if (const Link* master = port.link.master ? ports.link(*port.link.master) : nullptr)
            if (master->kind == "bond") port.bond = *master;
        for (const Carrier& carrier : carriers_of(ports, port)) {
            const bool upper = carrier.link != &port.link && carrier.link->index != (port.bond ? port.bond->index : 0);
            if (upper) port.uppers.push_back(*carrier.link);
            for (const Address& address : ports.addresses.value_or({}))
                if (address.link == carrier.link->index)
                    port.addresses.push_back({carrier.link->name, address, carrier.vlan, carrier.mtu, carrier.direct, false, Absent{}});
        }
    }
}

/// Whether a RoCE v2 GID of the table carries an address.
Fact<bool> carries(const Fact<GidTable>& table, const std::string& address) {
    if (!table) return table.as<bool>();
    bool untyped = false;
    for (const Gid& gid : table->gids) {
        const auto of_gid = gid_address(gid.gid);
        if (!of_gid || of_gid->text != address) continue;
        if (gid.type.value_or("") == "RoCE v2") return true;
        untyped |= gid.type.unreadable();
    }
    if (untyped || !table->unreadable.empty()) return Unreadable{"EIO", "a slot of the GID table could not be read"};
    return false;
}

void find_gids(Ports& ports, const RdmaStack& rdma) {
    for (Port& port : ports.all) {
        const RdmaAttachment* attached = port.attachment();
        const RdmaDeviceFacts* device = attached ? rdma.find(attached->device) : nullptr;
        if (!device) continue;
        const auto table = device->gids.find(attached->port);
        for (PortAddress& carried : port.addresses)
            carried.gid = table == device->gids.end() ? Unreadable{"ENOENT", "no GID table"} : carries(table->second, carried.address.address);
    }
}

/// Interfaces of this network namespace whose RDMA device belongs to a netdev of another one, as a pod's macvlan over a NIC
/// of the host: the GID table names them. By ifindex, with the device's name.
std::map<int, std::pair<const RdmaDeviceFacts*, int>> lent_netdevs(const Ports& ports, const RdmaStack& rdma) {
    std::map<int, std::pair<const RdmaDeviceFacts*, int>> lent;
    for (const RdmaDeviceFacts& device : rdma.devices) {
        const bool here = std::any_of(ports.links->begin(), ports.links->end(), [&](const Link& link) {
            return link.parent_device && device.pci && *link.parent_device == *device.pci;
        });
        if (here || device.software) continue;
        for (const RdmaPort& port : device.device.ports) {
            const auto table = device.gids.find(port.port);
            if (port.netdev || table == device.gids.end() || !table->second) continue;
            for (const Gid& gid : table->second->gids)
                if (const Link* link = ports.link(gid.netdev.value_or("")); link && !link->loopback()) lent.emplace(link->index, std::pair{&device, port.port});
        }
    }
    return lent;
}

void select(Ports& ports, Host& host, const Options& options, const std::vector<std::string>& endpoint_addresses) {
    std::set<std::string> chosen;
    if (!options.interfaces.empty()) {
        ports.selection = "named with --interface";
        for (const std::string& name : options.interfaces) {
            const Link* link = ports.link(name);
            const auto below = link ? ports_below(ports, *link) : std::vector<std::string>{};
            if (below.empty()) ports.missing.push_back(name);
            chosen.insert(below.begin(), below.end());
        }
    } else {
        for (const Port& port : ports.all)
            for (const PortAddress& carried : port.addresses)
                if (std::find(endpoint_addresses.begin(), endpoint_addresses.end(), carried.address.address) != endpoint_addresses.end())
                    chosen.insert(port.link.name);
        if (!chosen.empty()) ports.selection = "carries this node's own address among the AIStor endpoints";
    }
    const bool guess = chosen.empty() && options.interfaces.empty();
    if (guess) {
        ports.guessed = true;
        ports.selection = "guessed: RDMA-capable, with an address";
    }
    for (Port& port : ports.all) {
        const bool capable = port.family || port.hardware();
        const bool software = !capable && !port.rdma.empty();
        const bool addressed = std::any_of(port.addresses.begin(), port.addresses.end(),
                                           [](const PortAddress& carried) { return routable(carried.address) && carried.usable(); });
        const bool vf = is_vf(host, port);
        if (chosen.count(port.link.name)) {
            port.classed = PortClass::storage;
            port.why = ports.selection;
        } else if (vf) {
            port.classed = PortClass::vf;
            port.why = "SR-IOV virtual function";
        } else if (!capable && !software) {
            port.classed = PortClass::management;
            port.why = port.driver ? fmt::format("driver {} has no RDMA driver", *port.driver) : port.driver.unreadable() ? "its driver could not be read" : "no RDMA driver";
        } else if (!addressed || !(port.link.up() || port.bond)) {
            port.classed = PortClass::unused;
            port.why = addressed ? "administratively down" : "no address";
        } else if (guess && capable) {
            port.classed = PortClass::storage;
            port.why = ports.selection;
        } else {
            port.classed = PortClass::candidate;
            port.why = software ? "carries a software RDMA device only" : "not among the storage ports";
        }
    }
    // A guess prefers what works: beside a family with RDMA devices, one without any is taken for management.
    std::set<const DriverFamily*> working;
    for (const Port& port : ports.all)
        if (port.classed == PortClass::storage && port.hardware()) working.insert(port.family);
    if (guess && !working.empty())
        for (Port& port : ports.all)
            if (port.classed == PortClass::storage && !working.count(port.family)) {
                port.classed = PortClass::candidate;
                port.why = fmt::format("no {} port has an RDMA device, while others have: taken for management", port.family->name);
            }
    // A node whose only RDMA is software: judge that, so that it is called by its name.
    if (guess && ports.storage().empty())
        for (Port& port : ports.all)
            if (port.classed == PortClass::candidate) {
                port.classed = PortClass::storage;
                port.why = "guessed: carries the only RDMA device, a software one";
            }
    // Unconnected ports of the right family are better subjects than none: the reason then names them.
    if (guess && ports.storage().empty())
        for (Port& port : ports.all)
            if (port.classed == PortClass::unused && port.family && port.link.up()) {
                port.classed = PortClass::storage;
                port.why = "guessed: RDMA-capable and up, though without an address";
            }
}

}  // namespace

Ports Ports::read(Host& host, const Options& options, const PciFunctions& pci, const RdmaStack& rdma, const std::vector<std::string>& endpoint_addresses) {
    Ports ports;
    for (const PciFunction& function : pci.list) {
        const std::string folder = "/sys/bus/pci/devices/" + function.address;
        if (!function.network() || host.info(folder + "/physfn")) continue;
        ports.functions.push_back(function);
        if (function.vendor && function.device && family_of_pci(*function.vendor, *function.device) && host.link_target(folder + "/driver").absent())
            ports.unbound.push_back(function);
    }
    ports.sysfs_missing = host.info("/sys/class/net").absent();
    ports.links = host.links();
    ports.addresses = host.addresses();
    if (!ports.links) return ports;
    const std::set<int> representors = representors_among(host, *ports.links);
    std::set<int> carried;
    for (const RdmaDeviceFacts& device : rdma.devices)
        for (const RdmaPort& port : device.device.ports)
            if (port.netdev) carried.insert(*port.netdev);
    const auto lent = lent_netdevs(ports, rdma);
    for (const Link& link : *ports.links) {
        // IPoIB names its kind on the port's own netdev too; a child of it has a lower interface.
        const bool plain = link.kind.empty() || (link.kind == "ipoib" && !link.lower);
        const bool physical = plain && !link.loopback() && !representors.count(link.index) && (link.parent_device || host.info(fmt::format("/sys/class/net/{}/device", link.name)).has());
        const bool carries_rdma = carried.count(link.index) && link.kind != "bond" && link.kind != "vlan";
        const auto borrowed = lent.find(link.index);
        if (physical || carries_rdma) ports.all.push_back(port_of(host, link, ports.sysfs_missing));
        else if (borrowed != lent.end()) ports.all.push_back(port_of(host, link, ports.sysfs_missing, borrowed->second.first->pci.value_or("")));
    }
    std::sort(ports.all.begin(), ports.all.end(), [](const Port& a, const Port& b) { return a.link.name < b.link.name; });
    collect_addresses(ports);
    attach(ports, rdma);
    find_gids(ports, rdma);
    for (Port& port : ports.all)
        for (PortAddress& one : port.addresses)
            one.endpoint = std::find(endpoint_addresses.begin(), endpoint_addresses.end(), one.address.address) != endpoint_addresses.end();
    select(ports, host, options, endpoint_addresses);
    return ports;
}

std::string Ports::chain(const RdmaStack& rdma) const {
    std::string text;
    for (const Port* port : storage()) {
        std::vector<std::string> parts{port->link.name};
        if (port->bond) parts.push_back(port->bond->name);
        for (const Link& upper : port->uppers) {
            const bool addressed = std::any_of(port->addresses.begin(), port->addresses.end(), [&](const PortAddress& carried) { return carried.netdev == upper.name; });
            if (upper.kind == "vlan" || addressed) parts.push_back(upper.name);
        }
        parts.push_back(port->pci.empty() ? "no PCI function" : "PCI " + port->pci);
        if (port->numa_node && *port->numa_node >= 0) parts.push_back(fmt::format("NUMA {}", *port->numa_node));
        if (const RdmaAttachment* attached = port->attachment()) {
            parts.push_back(fmt::format("{}/{}", attached->device, attached->port));
            if (const RdmaDeviceFacts* device = rdma.find(attached->device))
                if (const auto table = device->gids.find(attached->port); table != device->gids.end() && table->second)
                    for (const Gid& gid : table->second->gids)
                        if (const auto address = gid_address(gid.gid); address && (address->kind == GidKind::ipv4 || address->kind == GidKind::ipv6) && gid.type.value_or("") == "RoCE v2") {
                            parts.push_back(fmt::format("GID {}", gid.index));
                            break;
                        }
        } else {
            parts.push_back("no RDMA device");
        }
        std::vector<std::string> shown;
        for (const PortAddress& carried : port->addresses)
            if (routable(carried.address)) shown.push_back(carried.address.address);
        parts.push_back(shown.empty() ? "no address" : fmt::format("{}", fmt::join(shown, ", ")));
        text += fmt::format("{}{}", text.empty() ? "" : "\n", fmt::join(parts, " \u2194 "));
    }
    return text;
}

}  // namespace preflight
