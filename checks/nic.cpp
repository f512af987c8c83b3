// The storage NICs themselves: driver, firmware package, link, address, MTU. Rules for ice follow Linux 6.12
// drivers/net/ethernet/intel/ice; each says which file. Bonds stand in nic_bond.cpp.

#include "nic.h"

#include <arpa/inet.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "facts/kernel_modules.h"
#include "facts/nic.h"
#include "facts/node.h"
#include "facts/samples.h"
#include "modules.h"
#include "remedies.h"
#include "text.h"

namespace preflight {
namespace {

// rdma_cm's iboe_get_mtu subtracts 96 bytes of headers (include/rdma/ib_addr.h): path MTU 4096 needs 4192.
constexpr int mtu_for_4096 = 4192;
constexpr unsigned most_functions_with_rdma = 4;  // ice_common.c, ice_recalc_port_limited_caps

std::string described(const Port& port) {
    std::string ids = port.vendor && port.device ? fmt::format(" [{:04x}:{:04x}]", *port.vendor, *port.device) : "";
    return fmt::format("{}{}", port.family ? port.family->name : port.driver ? std::string_view(*port.driver) : "a netdev without a driver", ids);
}

/// Which interfaces could be meant where a name leads to no NIC.
std::string meant_instead(const Facts& facts) {
    std::vector<std::string> capable;
    for (const Port& port : facts.ports().all)
        if ((port.family || port.hardware()) && port.classed != PortClass::vf) capable.push_back(port.carrier());
    std::sort(capable.begin(), capable.end());
    capable.erase(std::unique(capable.begin(), capable.end()), capable.end());
    if (capable.empty()) return facts.deployment() == container ? "; the storage NIC is on the host" : "";
    return "; RDMA-capable here: " + list_of(capable);
}

void judge_selected(const Facts& facts, Findings& out) {
    const Ports& ports = facts.ports();
    const auto storage = ports.storage();
    if (ports.links.unreadable()) {
        out.unknown(node_subject(), "the network interfaces could not be read: " + ports.links.why().cause, how_to_know(ports.links.why()));
        return;
    }
    std::vector<std::string> names, others;
    for (const Port* port : storage) names.push_back(port->link.name);
    for (const Port& port : ports.all)
        if (port.classed != PortClass::storage) others.push_back(fmt::format("{}: {}", port.link.name, port.why));
    if (ports.missing.empty() && storage.empty() && ports.sysfs_missing) {
        out.unknown(node_subject(), "/sys is not mounted, so the drivers of the interfaces are not known", "Run the tool where /sys is mounted.").want("at least one port with an RDMA driver").from("/sys/class/net");
        return;
    }
    if (!ports.missing.empty()) {
        std::vector<std::string> absent, virtual_ones;
        for (const std::string& name : ports.missing) {
            const Link* link = ports.link(name);
            if (link) virtual_ones.push_back(fmt::format("{} is a {} with no NIC below it in this network namespace", name, link->kind.empty() ? "netdev" : link->kind));
            else absent.push_back(name);
        }
        if (!absent.empty()) virtual_ones.insert(virtual_ones.begin(), fmt::format("no interface {} here", list_of(absent)));
        const std::string meant = meant_instead(facts);
        const std::string text = fmt::format("{}{}{}", fmt::join(virtual_ones, "; "), meant, names.empty() ? "" : "; judged: " + list_of(names));
        Draft draft = out.add(ports.unbound.empty() || names.empty() ? Status::fail : Status::warn, node_subject(), text);
        draft.want("the interfaces named with --interface exist").from("rtnetlink RTM_GETLINK").note("other ports", others);
        draft.mend({"Name the storage interfaces as `ip link` shows them.", {"ip -br link"}, {}, {}});
    } else if (storage.empty()) {
        out.fail(node_subject(), ports.all.empty() ? "this node has no network interface with a device" : "no RDMA-capable port carries an address: " + fmt::format("{}", fmt::join(others, "; ")))
            .want("at least one port with an RDMA driver")
            .from("rtnetlink RTM_GETLINK, /sys/bus/pci/devices")
            .mend({"Fit or enable an RDMA-capable NIC, or name the storage interfaces with --interface.", {"ip -br link", "lspci -nn | grep -i ethernet"}, {}, {}});
    } else {
        std::set<std::string> choices;  // the members of a bond are one choice
        for (const Port& port : ports.all)
            if (port.classed == PortClass::storage || port.classed == PortClass::candidate) choices.insert(port.carrier());
        const bool several = ports.guessed && choices.size() > 1;
        Draft draft = out.add(several ? Status::warn : Status::pass, node_subject(), fmt::format("{} ({})", list_of(names), ports.selection));
        draft.want("the storage ports are known").from("rtnetlink RTM_GETLINK").note("chain", split_lines(ports.chain(facts.rdma()))).note("other ports", others);
        if (several) draft.mend({"Name the storage interfaces, so that rules which compare ports count.", {fmt::format("aistor-rdma-check --interface {}", fmt::join(names, ","))}, {}, {}});
    }
}

/// Out-of-tree network driver with an in-tree RDMA driver or the reverse, when both are known.
std::optional<std::string> mixed_drivers(const Facts& facts, const Port& port) {
    if (!port.family || !port.driver) return std::nullopt;
    const std::string netdev_module = *port.driver, rdma_module(port.family->rdma);
    const auto netdev = facts.modules().out_of_tree(netdev_module), rdma = facts.modules().out_of_tree(rdma_module);
    if (netdev && rdma && *netdev != *rdma)
        return fmt::format("{} is {} and {} is {}", netdev_module, *netdev ? "out-of-tree" : "in-tree", rdma_module, *rdma ? "out-of-tree" : "in-tree");
    if (facts.node().kernel_log)
        for (const std::string& line : *facts.node().kernel_log)
            if (line.rfind(rdma_module + ": Unknown symbol", 0) == 0) return fmt::format("{} does not fit the loaded {}: \"{}\"", rdma_module, netdev_module, line);
    return std::nullopt;
}

/// Holds a version of `ethtool -i` to the policy. True when it wrote a finding: it differs, or could not be read.
bool unexpected(const Facts& facts, const Port& port, const std::map<std::string, std::string>& expected, const std::string& key, const std::string EthtoolDriver::*version, Findings& out) {
    const auto glob = expected.find(key);
    if (glob == expected.end()) return false;
    const auto& driver = facts.nic().port(port.key).driver;
    const std::string source = "ethtool -i " + port.link.name, want = fmt::format("{} (policy)", glob->second);
    if (!driver) out.unknown(port.subject(), fmt::format("the version of {} could not be read: {}", key, no_answer(driver)), driver.unreadable() ? how_to_know(driver.why()) : "Run again.").want(want).from(source);
    else if (fnmatch(glob->second.c_str(), ((*driver).*version).c_str(), 0) != 0)
        out.fail(port.subject(), fmt::format("{} has version {}", key, (*driver).*version)).want(want).from(source).mend({"Install the version that the policy names, or correct the policy.", {}, {}, {}});
    else return false;
    return true;
}

void judge_driver(const Facts& facts, Findings& out) {
    const Ports& ports = facts.ports();
    for (const PciFunction& function : ports.unbound) {
        const bool decisive = ports.storage().empty() || !ports.missing.empty();
        const DriverFamily* family = family_of_pci(*function.vendor, *function.device);
        out.add(decisive ? Status::fail : Status::warn, {function.address, {function.address}}, fmt::format("{} [{:04x}:{:04x}] has no driver", family->name, *function.vendor, *function.device))
            .want(fmt::format("driver {} bound", family->netdev))
            .from(fmt::format("/sys/bus/pci/devices/{}/driver", function.address))
            .mend({fmt::format("Load {} and bind the function to it.", family->netdev),
                   {fmt::format("sudo modprobe {}", family->netdev), fmt::format("echo {} | sudo tee /sys/bus/pci/drivers_probe", function.address)}, {}, {}});
    }
    for (const Port* port : ports_to_judge(facts, out)) {
        const std::string source = fmt::format("/sys/bus/pci/devices/{}/driver", port->pci);
        if (port->pci.empty()) {
            out.skip(port->subject(), "no PCI function below this interface");
        } else if (port->driver.unreadable()) {
            out.unknown(port->subject(), "the driver could not be read: " + port->driver.why().cause, how_to_know(port->driver.why()));
        } else if (!port->family && port->rdma.empty()) {
            out.fail(port->subject(), fmt::format("{} has no RDMA driver", port->driver ? *port->driver : "no driver is bound; it"))
                .want("an RDMA-capable NIC with its driver bound")
                .from(source)
                .mend({"Use a port of an RDMA-capable NIC for storage traffic.", {"aistor-rdma-check --interface NAME"}, {}, {}});
        } else if (const auto mixed = mixed_drivers(facts, *port)) {
            const bool missing = port->hardware() == nullptr;
            out.add(missing ? Status::fail : Status::warn, port->subject(), *mixed)
                .want("both drivers from the kernel, or both from the same vendor release")
                .from(fmt::format("/sys/module/{}/taint, /sys/module/{}/taint", *port->driver, port->family->rdma))
                .mend({"Use both drivers of the kernel package, or install both of the vendor's release, and rebuild the initramfs.",
                       {facts.node().packages == PackageFamily::dnf ? "sudo dracut -f" : "sudo update-initramfs -u"}, {}, {}});
        } else if (!unexpected(facts, *port, facts.options().policy.expect.driver, port->driver.value_or(""), &EthtoolDriver::version, out)) {
            out.pass(port->subject(), fmt::format("{}, driver {}", described(*port), port->driver.value_or("none"))).from(source);
        }
    }
}

bool is_ice(const Port& port) {
    return port.driver.value_or("") == "ice";
}

const DevlinkDevice* devlink_of(const Fact<std::vector<DevlinkDevice>>& devlink, const Port& port) {
    if (!devlink) return nullptr;
    const auto found = std::find_if(devlink->begin(), devlink->end(), [&](const DevlinkDevice& device) { return device.bus == "pci" && device.device == port.pci; });
    return found == devlink->end() ? nullptr : &*found;
}

/// Reloading ice takes the links of all its ports on this node down.
Remedy load_ddp(const Facts& facts) {
    std::vector<const Port*> of_ice;
    for (const Port& port : facts.ports().all)
        if (is_ice(port)) of_ice.push_back(&port);
    const bool dnf = facts.node().packages == PackageFamily::dnf;
    return with_links_down(facts,
                           {.summary = "Install the DDP package, put it into the initramfs, and reload the driver (storage traffic stops meanwhile).",
                            .commands = {facts.node().install("firmware"), dnf ? "sudo dracut -f" : "sudo update-initramfs -u"},
                            .persist = {"ls /lib/firmware/intel/ice/ddp/ice.pkg*    # the driver loads it from here at each start"}},
                           "modprobe -r irdma ice; modprobe ice", of_ice);
}

void judge_ddp(const Facts& facts, Findings& out) {
    const auto storage = ports_to_judge(facts, out);
    bool any = false;
    for (const Port* port : storage) {
        if (!is_ice(*port)) continue;
        any = true;
        const DevlinkDevice* device = devlink_of(facts.nic().devlink, *port);
        const NicPort& nic = facts.nic().port(port->key);
        std::vector<std::string> signs, healthy;
        if (nic.channels && nic.channels->max_combined == 1) signs.push_back("one channel");
        if (nic.channels && nic.channels->max_combined > 1) healthy.push_back(fmt::format("{} channels", nic.channels->max_combined));
        if (nic.dcb.absent() && nic.dcb.gone().detail == "EOPNOTSUPP") signs.push_back("no DCB");
        if (nic.dcb.has()) healthy.push_back("DCB offered");
        if (nic.private_flags.absent() || (nic.private_flags && nic.private_flags->empty())) signs.push_back("no private flags");
        if (nic.private_flags && !nic.private_flags->empty()) healthy.push_back("private flags present");
        const bool told = device && device->info.has();
        const std::string package = told && device->info->running.count("fw.app.name") ? device->info->running.at("fw.app.name") : "";
        const std::string source = fmt::format("devlink dev info pci/{}; ethtool -l, --show-priv-flags; DCB_CMD_IEEE_GET", port->pci);
        if (!package.empty()) {
            const auto version = device->info->running.find("fw.app");
            out.pass(port->subject(), package + (version == device->info->running.end() ? "" : " " + version->second)).from(source);
        } else if (const RdmaAttachment* attached = port->hardware()) {
            out.pass(port->subject(), fmt::format("not in safe mode: it has the RDMA device {}", attached->device)).from(source);
        } else if (told && !signs.empty()) {
            out.fail(port->subject(), fmt::format("safe mode: no DDP package is loaded (fw.app.name absent; {})", list_of(signs)))
                .want("a loaded DDP package (fw.app.name, such as \"ICE OS Default Package\")")
                .from(source)
                .mend(load_ddp(facts));
        } else if (!told && healthy.size() >= 2) {
            out.pass(port->subject(), "not in safe mode: " + list_of(healthy)).from(source);
        } else {
            const std::string why = told ? "fw.app.name is absent, but nothing else speaks of safe mode" : fmt::format("devlink does not tell the DDP package{}", signs.empty() ? "" : "; " + list_of(signs));
            out.unknown(port->subject(), why, "Read it by hand: devlink dev info pci/" + port->pci + "; dmesg | grep -i 'safe mode'.").want("a loaded DDP package").from(source);
        }
    }
    if (!any && !storage.empty()) out.skip(node_subject(), "no storage port uses the ice driver");
}

void judge_functions(const Facts& facts, Findings& out) {
    const auto storage = ports_to_judge(facts, out);
    std::map<std::string, std::vector<const Port*>> cards;
    for (const Port* port : storage)
        if (is_ice(*port)) cards[port->card()].push_back(port);
    for (const auto& [card, ports] : cards) {
        Subject subject{card, {}};
        for (const Port* port : ports) subject.keys.push_back(port->key);
        const auto functions = static_cast<unsigned>(std::count_if(facts.ports().functions.begin(), facts.ports().functions.end(),
                                                                   [&card = card](const PciFunction& function) { return function.card() == card; }));
        const bool rdma = std::any_of(ports.begin(), ports.end(), [](const Port* port) { return port->hardware() != nullptr; });
        const std::string seen = fmt::format("{} physical functions", functions);
        if (functions == 0)
            out.unknown(subject, "the PCI functions of the card could not be listed", "Run the tool on the node itself, with /sys mounted.");
        else if (functions > most_functions_with_rdma && !rdma && facts.rdma().blind())
            out.unknown(subject, seen + "; whether it has an RDMA device could not be read", how_to_know(facts.rdma().nldev.why())).from("/sys/bus/pci/devices");
        else if (functions > most_functions_with_rdma && !rdma)
            out.fail(subject, seen + ", no RDMA device")
                .want(fmt::format("at most {} functions, or an RDMA device", most_functions_with_rdma))
                .from("/sys/bus/pci/devices")
                .mend({"Choose a port option with at most four ports in the card's firmware (EPCT, or the vendor's setup screen).", {}, {}, {}});
        else
            out.pass(subject, seen).from("/sys/bus/pci/devices");
    }
    if (cards.empty() && !storage.empty()) out.skip(node_subject(), "no storage port uses the ice driver");
}

bool live_member_beside(const Facts& facts, const Port& port) {
    if (!port.bond) return false;
    const auto members = facts.ports().members(port.bond->index);
    return std::any_of(members.begin(), members.end(), [&](const Port* other) { return other != &port && other->link.up() && other->link.running(); });
}

Remedy check_the_cable(const Link& link) {
    return {"Check cable, transceiver and switch port.", {fmt::format("ethtool {}", link.name), fmt::format("ethtool -m {}", link.name)}, {}, {}};
}

/// A port that is up, read again after the --sample time.
void judge_steady_link(const Samples& samples, const Port& port, Findings& out) {
    const std::string source = "rtnetlink RTM_GETLINK, IFLA_CARRIER_CHANGES";
    if (!samples.links) {
        out.unknown(port.subject(), "up, carrier; the second reading failed: " + no_answer(samples.links), samples.links.unreadable() ? how_to_read_again(samples.links.why()) : "Run the tool again.").from(source);
        return;
    }
    const auto again = std::find_if(samples.links->begin(), samples.links->end(), [&](const Link& link) { return link.index == port.link.index; });
    const auto before = port.link.carrier_changes;
    if (again == samples.links->end() || !again->running()) {
        out.fail(port.subject(), fmt::format("up, and {} {:.1f} s later", again == samples.links->end() ? "gone" : "without carrier", samples.seconds)).want("up, with carrier").from(source).mend(check_the_cable(port.link));
    } else if (!before || !again->carrier_changes) {
        out.pass(port.subject(), "up, carrier; this kernel does not count carrier changes").from(source);
    } else if (*again->carrier_changes != *before) {
        out.warn(port.subject(), fmt::format("up, carrier; {} carrier changes in {:.1f} s", *again->carrier_changes - *before, samples.seconds)).want("a steady carrier").from(source).mend(check_the_cable(port.link));
    } else {
        out.pass(port.subject(), fmt::format("up, carrier, steady for {:.1f} s", samples.seconds)).from(source);
    }
}

void judge_link(const Facts& facts, Findings& out) {
    for (const Port* port : ports_to_judge(facts, out)) {
        const Link& link = port->link;
        const bool carrier = link.carrier.value_or(link.running());
        if (link.up() && carrier && link.running() && facts.samples().taken()) {
            judge_steady_link(facts.samples(), *port, out);
            continue;
        }
        if (link.up() && carrier && link.running()) {
            out.pass(port->subject(), "up, carrier").from("rtnetlink RTM_GETLINK");
            continue;
        }
        const bool spared = live_member_beside(facts, *port);
        Draft draft = out.add(spared ? Status::warn : Status::fail, port->subject(),
                              !link.up() ? fmt::format("administratively down{}", spared ? fmt::format("; {} lives on the other member", port->bond->name) : "")
                                         : fmt::format("up, no carrier (operstate {}){}", link.operstate, spared ? fmt::format("; {} lives on the other member", port->bond->name) : ""));
        draft.want("up, with carrier").from("rtnetlink RTM_GETLINK");
        if (!link.up()) draft.mend({"Bring the port up.", {fmt::format("sudo ip link set {} up", link.name)}, {fmt::format("sudo nmcli connection modify {} connection.autoconnect yes    # where NetworkManager owns it", link.name)}, {fmt::format("sudo ip link set {} down", link.name)}});
        else draft.mend(check_the_cable(link));
    }
}

/// "192.0.2.11/24 on br0".
std::string placed(const PortAddress& carried) {
    return fmt::format("{}/{} on {}", carried.address.address, carried.address.prefix, carried.netdev);
}

void judge_addresses(const Port& port, Findings& out) {
    static constexpr const char* source = "rtnetlink RTM_GETADDR; gids of the RDMA device";
    static constexpr const char* wanted = "a routable address on the port or an interface above it";
    std::vector<std::string> good, without_gid, unseen, link_local;
    for (const PortAddress& carried : port.addresses)
        if (!routable(carried.address)) link_local.push_back(placed(carried));
    for (const PortAddress* carried : port.storage_addresses()) {
        if (carried->usable()) good.push_back(placed(*carried));
        else if (carried->gid.has()) without_gid.push_back(placed(*carried));
        else unseen.push_back(placed(*carried));
    }
    const std::string& carrier = port.carrier();
    const Remedy assign{
        .summary = "Give the port, its bond or a VLAN over it the storage address.",
        .commands = {fmt::format("sudo ip address add ADDRESS/PREFIX dev {}", carrier)},
        .persist = {fmt::format("sudo nmcli connection modify {} ipv4.method manual ipv4.addresses ADDRESS/PREFIX", carrier)},
    };
    if (!good.empty()) {
        out.pass(port.subject(), list_of(good)).from(source);
    } else if (!unseen.empty()) {
        out.unknown(port.subject(),
                    fmt::format("{}, above this port; whether the RDMA device has a GID of it cannot be told", list_of(unseen)),
                    "Mend rdma.device first, or run the tool as root on the node itself.")
            .want(wanted)
            .from(source);
    } else if (!without_gid.empty()) {
        out.fail(port.subject(), fmt::format("{}, above this port, and the RDMA device has no GID of it", list_of(without_gid)))
            .want("a RoCE v2 GID of the storage address")
            .from(source)
            .because("Peers reach an RDMA port by a GID; an address that gave the device none is reached by TCP only.")
            .mend(assign);
    } else {
        out.fail(port.subject(), link_local.empty() ? "no address on the port or above it"
                                                    : "only link-local addresses: " + list_of(link_local))
            .want(wanted)
            .from(source)
            .mend(assign);
    }
}

void judge_address(const Facts& facts, Findings& out) {
    const auto storage = ports_to_judge(facts, out);
    const auto& addresses = facts.ports().addresses;
    for (const Port* port : storage) {
        if (!addresses) {
            out.unknown(port->subject(), "addresses could not be read: " + no_answer(addresses), "Run the tool on the node itself.");
            continue;
        }
        judge_addresses(*port, out);
    }
}

void judge_mtu(const Facts& facts, Findings& out) {
    const auto storage = ports_to_judge(facts, out);
    std::set<int> different;
    const auto infiniband = [&](const Port& port) {
        const RdmaDeviceFacts* device = device_of(facts, port);
        return port.infiniband() || (device && device->infiniband());
    };
    for (const Port* port : storage)
        if (!infiniband(*port)) different.insert(port->mtu());
    for (const Port* port : storage) {
        if (infiniband(*port)) {
            out.skip(port->subject(), "InfiniBand: the RoCE MTU rule does not apply");
            continue;
        }
        const int mtu = port->mtu();
        const std::string source = "rtnetlink IFLA_MTU";
        const auto raise = [&](const std::string& summary) {
            const std::string& carrier = port->carrier();
            return Remedy{summary, {fmt::format("sudo ip link set {} mtu 9000", carrier)}, {fmt::format("sudo nmcli connection modify {} 802-3-ethernet.mtu 9000", carrier)}, {fmt::format("sudo ip link set {} mtu {}", carrier, mtu)}};
        };
        if (port->bond && port->bond->mtu != port->link.mtu)
            out.fail(port->subject(), fmt::format("MTU {}, but {} has {}", port->link.mtu, port->bond->name, port->bond->mtu))
                .want("member and bond have the same MTU")
                .from(source)
                .mend(raise("Set the MTU on the bond; it passes it to its members."));
        else if (different.size() > 1)
            out.add(facts.ports().guessed ? Status::warn : Status::fail, port->subject(), fmt::format("MTU {}; the storage ports have {}", mtu, fmt::format("{}", fmt::join(different, " and "))))
                .want("all storage ports have the same MTU")
                .from(source)
                .mend(raise("Give all storage ports, the switch and the peers the same MTU."));
        else if (const auto& expected = facts.options().policy.expect.mtu; expected && mtu != static_cast<int>(*expected))
            out.fail(port->subject(), fmt::format("MTU {}", mtu)).want(fmt::format("{} (policy)", *expected)).from(source).mend(
                {"Set the MTU that the policy names on ports, switches and peers together.", {fmt::format("sudo ip link set {} mtu {}", port->carrier(), *expected)},
                 {fmt::format("sudo nmcli connection modify {} 802-3-ethernet.mtu {}", port->carrier(), *expected)}, {fmt::format("sudo ip link set {} mtu {}", port->carrier(), mtu)}});
        else if (mtu < mtu_for_4096)
            out.warn(port->subject(), fmt::format("MTU {}: RoCE connections use a path MTU of {}", mtu, roce_path_mtu(mtu)))
                .want(fmt::format("{} or more, for a path MTU of 4096", mtu_for_4096))
                .from(source)
                .mend(raise("Raise the MTU on every port, switch and peer of the storage network together."));
        else
            out.pass(port->subject(), fmt::format("MTU {}", mtu)).from(source);
    }
}

/// The reload takes the links of the whole card down.
Remedy activate_firmware(const Facts& facts, const Port& port) {
    std::vector<const Port*> of_card;
    for (const Port& other : facts.ports().all)
        if (!other.card().empty() && other.card() == port.card()) of_card.push_back(&other);
    return with_links_down(facts, {.summary = "Activate the stored firmware in a maintenance window: reboot, or reload the device (its links drop)."},
                           fmt::format("devlink dev reload pci/{} action fw_activate", port.pci), of_card);
}

void judge_firmware(const Facts& facts, Findings& out) {
    for (const Port* port : ports_to_judge(facts, out)) {
        const auto& devlink = facts.nic().devlink;
        const DevlinkDevice* device = devlink_of(devlink, *port);
        const std::string ids = port->vendor && port->device ? fmt::format("{:04x}:{:04x}", *port->vendor, *port->device) : "";
        if (unexpected(facts, *port, facts.options().policy.expect.firmware, ids, &EthtoolDriver::firmware, out)) continue;
        if (!device || device->info.absent()) {
            if (devlink.unreadable()) out.unknown(port->subject(), "devlink could not be asked: " + devlink.why().cause, how_to_know(devlink.why()));
            else out.skip(port->subject(), "the driver tells no firmware versions by devlink");
            continue;
        }
        if (device->info.unreadable()) {
            out.unknown(port->subject(), "devlink info failed: " + device->info.why().cause, "Run again once the device has finished its reset.");
            continue;
        }
        std::vector<std::string> pending;
        for (const auto& [key, stored] : device->info->stored)
            if (const auto running = device->info->running.find(key); running != device->info->running.end() && running->second != stored)
                pending.push_back(fmt::format("{}: running {}, stored {}", key, running->second, stored));
        const std::string source = "devlink dev info pci/" + port->pci;
        if (pending.empty()) out.pass(port->subject(), "running firmware is the stored one").from(source);
        else
            out.warn(port->subject(), "a firmware update waits for activation: " + list_of(pending))
                .want("running and stored versions are equal")
                .from(source)
                .mend(activate_firmware(facts, *port));
    }
}

void judge_health(const Facts& facts, Findings& out) {
    const auto& log = facts.node().kernel_log;
    for (const Port* port : ports_to_judge(facts, out)) {
        std::vector<std::string> signs;
        if (const DevlinkDevice* device = devlink_of(facts.nic().devlink, *port); device && device->health)
            for (const DevlinkHealth& reporter : *device->health)
                if (!reporter.healthy || reporter.errors > 0) signs.push_back(fmt::format("devlink health {}: {} errors{}", reporter.reporter, reporter.errors, reporter.healthy ? "" : ", not healthy"));
        if (log && !port->pci.empty())
            for (const std::string& line : *log)
                if (line.find(port->pci) != std::string::npos && (line.find("HMC Error") != std::string::npos || line.find("OICR event notification") != std::string::npos) && signs.size() < 5) signs.push_back(line);
        const std::string source = "/dev/kmsg, devlink health";
        if (!signs.empty())
            out.warn(port->subject(), signs.front())
                .want("no resets and no HMC errors since boot")
                .from(source)
                .note("signs", signs)
                .mend({"Update driver and NVM before RDMA carries load; look at what came before the first error.", {fmt::format("dmesg | grep {}", port->pci)}, {}, {}});
        else if (!log)
            out.skip(port->subject(), "the kernel log is not readable for this user, and devlink health shows nothing");
        else
            out.pass(port->subject(), "no reset and no HMC error in this boot's log").from(source);
    }
}

}  // namespace

int roce_path_mtu(int netdev_mtu) {
    constexpr int headers = 96;
    int path = 256;
    for (const int mtu : {512, 1024, 2048, 4096})
        if (netdev_mtu - headers >= mtu) path = mtu;
    return path;
}

/// "192.0.2.0/24" of an address with its prefix.
std::string network_of(const Address& address) {
    std::array<unsigned char, 16> bytes{};
    const bool six = address.address.find(':') != std::string::npos;
    if (inet_pton(six ? AF_INET6 : AF_INET, address.address.c_str(), bytes.data()) != 1) return {};
    const int length = six ? 16 : 4;
    for (int bit = address.prefix; bit < length * 8; ++bit)
        bytes[static_cast<std::size_t>(bit / 8)] &= static_cast<unsigned char>(~(0x80u >> bit % 8));
    char text[INET6_ADDRSTRLEN];
    inet_ntop(six ? AF_INET6 : AF_INET, bytes.data(), text, sizeof text);
    return fmt::format("{}/{}", text, address.prefix);
}

/// Two ports in one subnet: the routing table sends all of it by one of them, and the kernel answers ARP for an address on any port
/// (Documentation/networking/ip-sysctl.rst, arp_ignore, arp_announce, rp_filter).
void judge_subnet(const Facts& facts, Findings& out) {
    const auto storage = ports_to_judge(facts, out);
    if (storage.empty()) return;
    if (!facts.ports().addresses) {
        out.unknown(node_subject(), "addresses could not be read: " + no_answer(facts.ports().addresses), "Run the tool on the node itself.");
        return;
    }
    std::set<std::string> carriers;
    std::map<std::string, std::map<std::string, const PortAddress*>> networks;  // network -> port or bond -> an address there
    std::vector<std::pair<const Port*, const PortAddress*>> all;
    for (const Port* port : storage) {
        carriers.insert(port->carrier());
        for (const PortAddress& carried : port->addresses)
            if (routable(carried.address) && carried.usable()) all.emplace_back(port, &carried);
    }
    for (const auto& [port, carried] : all) {
        // The widest of the networks that hold the address.
        Address widest = carried->address;
        for (const auto& [other_port, other] : all) {
            Address within = carried->address;
            within.prefix = other->address.prefix;
            if (other->address.prefix < widest.prefix && network_of(within) == network_of(other->address)) widest = within;
        }
        if (const std::string network = network_of(widest); !network.empty()) networks[network].emplace(port->carrier(), carried);
    }
    if (carriers.size() < 2) {
        out.skip(node_subject(), "one storage port or bond only");
        return;
    }
    for (const auto& [network, netdevs] : networks) {
        if (netdevs.size() < 2) continue;
        std::vector<std::string> names, commands;
        for (const auto& [carrier, carried] : netdevs) {
            const std::string& netdev = carried->netdev;
            names.push_back(fmt::format("{} ({})", netdev, carried->address.address));
            const std::size_t table = 100 + names.size();
            commands.push_back(fmt::format("sudo ip rule add from {} table {}", carried->address.address, table));
            commands.push_back(fmt::format("sudo ip route add {} dev {} src {} table {}", network, netdev, carried->address.address, table));
            commands.push_back(fmt::format("sudo sysctl -w net.ipv4.conf.{0}.arp_ignore=1 net.ipv4.conf.{0}.arp_announce=2", netdev));
        }
        out.warn(node_subject(), fmt::format("{} are in one subnet, {}", list_of(names), network))
            .want("a subnet of its own for each storage port")
            .from("rtnetlink RTM_GETADDR")
            .mend({.summary = "Give each storage port a subnet of its own; or route by source address, and let each port answer ARP for its own address only.",
                   .commands = commands,
                   .persist = {"# in the network configuration of each port: its address, the rule and the route above; the sysctls in /etc/sysctl.d"}});
    }
    if (out.list().empty()) out.pass(node_subject(), fmt::format("{} subnets, none on two ports", networks.size())).from("rtnetlink RTM_GETADDR");
}

Module nic_module() {
    Module module{"nic", "the storage NICs: driver, firmware package, link, address, MTU, bond", {}};
    module.checks = {
        {.id = "nic.selected",
         .phase = 'A',
         .title = "The storage ports are known",
         .why = "Every other rule judges the ports that carry storage traffic; judged ports that carry none prove nothing.",
         .judges = "pass: named with --interface, found by this node's address among the AIStor endpoints, or only one candidate. warn: guessed among several. fail: none, or a named "
                   "interface does not exist. Management NICs, VFs, admin-down and unused ports are left out.",
         .remedy = "Name the ports with --interface.",
         .evidence = "Linux rtnetlink and sysfs.",
         .judge = judge_selected},
        {.id = "nic.driver",
         .phase = 'A',
         .title = "An RDMA-capable NIC with its driver bound",
         .why = "Only some NICs have an RDMA driver, and a network driver from one source does not fit an RDMA driver from another.",
         .judges = "pass: the port's driver has an RDMA driver beside it. fail: no driver, a driver without RDMA, or out-of-tree ice with in-tree irdma (or the reverse) while the RDMA device is "
                   "missing. warn: such a mix while the device is there.",
         .remedy = "Use an RDMA-capable port; install both drivers from the same source.",
         .evidence = "Linux 6.12 drivers/infiniband/hw; flag O in /sys/module/NAME/taint; Intel's out-of-tree ice README on in-tree irdma.",
         .after = {"nic.selected"},
         .judge = judge_driver},
        {.id = "nic.ddp",
         .phase = 'A',
         .title = "The E800 card runs with its DDP package, not in safe mode",
         .why = "Without its DDP package the ice driver enters safe mode: basic traffic passes, RDMA and DCB are off.",
         .judges = "pass: devlink names the package (fw.app.name). fail: it names none and a second sign agrees: one channel, no DCB, no private flags. unknown: one sign alone. skip: other drivers.",
         .remedy = "Install the firmware package with ice.pkg, rebuild the initramfs, reload the driver.",
         .evidence = "Linux 6.12 drivers/net/ethernet/intel/ice/ice_main.c (ice_log_pkg_init), ice_common.c (ice_set_safe_mode_caps); Documentation/networking/devlink/ice.rst.",
         .after = {"nic.selected", "nic.driver"},
         .judge = judge_ddp},
        {.id = "nic.functions",
         .phase = 'A',
         .title = "The E800 card shows at most four physical functions",
         .why = "With more than four functions the ice driver forces RDMA off on the whole card.",
         .judges = "pass: four or fewer, or an RDMA device is there anyway. fail: more than four and no RDMA device. VFs do not count.",
         .remedy = "Choose another port option in the card's firmware.",
         .evidence = "Linux 6.12 drivers/net/ethernet/intel/ice/ice_common.c (ice_recalc_port_limited_caps).",
         .after = {"nic.selected", "nic.driver"},
         .judge = judge_functions},
        {.id = "nic.link",
         .phase = 'A',
         .title = "The storage ports have link",
         .why = "An RDMA port is ACTIVE only while its network device is up and has carrier.",
         .judges = "pass: up, carrier, running. fail: not so, at either reading of --sample. warn: one member of a bond whose other member lives; with --sample, carrier changes between the readings.",
         .remedy = "Bring the port up; check cable, transceiver, switch port.",
         .evidence = "Linux rtnetlink; Linux 6.12 drivers/infiniband/hw/irdma/verbs.c.",
         .after = {"nic.selected", "nic.driver"},
         .judge = judge_link},
        {.id = "nic.address",
         .phase = 'A',
         .title = "The storage ports carry an address",
         .why = "A RoCE v2 GID is made of the interface's address; without one peers cannot be reached.",
         .judges = "pass: a routable address on the port, its bond or a VLAN over it, or on another interface above it (bridge, team, "
                   "macvlan, VRF, OVS) of which the RDMA device has a RoCE v2 GID. fail: none, link-local only, or one above the port "
                   "without a GID. unknown: above the port, and the GID table cannot be read.",
         .remedy = "Assign the storage address.",
         .evidence = "Linux 6.12 drivers/infiniband/core/roce_gid_mgmt.c.",
         .after = {"nic.selected"},
         .judge = judge_address},
        {.id = "nic.mtu",
         .phase = 'A',
         .title = "The MTU allows a path MTU of 4096",
         .why = "A small MTU costs throughput; ports or bond members that differ make large messages hang.",
         .judges = "pass: 4192 or more (9000 is not required). warn: below. fail: a member differs from its bond, the storage ports differ (guessed ports: warn), or the policy expects another one. skip: InfiniBand.",
         .remedy = "Raise the MTU on ports, switches and peers together.",
         .evidence = "Linux 6.12 include/rdma/ib_addr.h (iboe_get_mtu): 96 bytes of headers.",
         .after = {"nic.selected"},
         .judge = judge_mtu},
        {.id = "nic.subnet",
         .phase = 'A',
         .title = "Each storage port has a subnet of its own",
         .why = "The kernel sends all traffic of a subnet by one port and answers ARP on any: the second port carries nothing, or loses packets.",
         .judges = "pass: no subnet on two storage ports; the members of a bond are one port. warn: a subnet on two of them. skip: one storage port or bond.",
         .remedy = "One subnet for each port, or source routing with arp_ignore and arp_announce.",
         .evidence = "Linux 6.12 Documentation/networking/ip-sysctl.rst.",
         .after = {"nic.selected"},
         .judge = judge_subnet},
        nic_bond_check(),
        {.id = "nic.firmware",
         .phase = 'A',
         .title = "No firmware update waits for activation",
         .why = "The card runs other firmware than the one stored until it is activated, so the next reboot changes its behaviour.",
         .judges = "pass: running and stored versions are equal. warn: they differ. fail: the policy expects another version. skip: the driver tells none.",
         .remedy = "Activate the update in a maintenance window.",
         .evidence = "Linux 6.12 Documentation/networking/devlink/devlink-info.rst.",
         .after = {"nic.selected", "nic.driver"},
         .judge = judge_firmware},
        {.id = "nic.health",
         .phase = 'A',
         .title = "No resets and no HMC errors in this boot",
         .why = "Cards that reset when RDMA becomes active drop every connection.",
         .judges = "pass: nothing in this boot's kernel log or devlink health. warn: resets or HMC errors. skip: the log cannot be read.",
         .remedy = "Update driver and NVM.",
         .evidence = "intel/ethernet-linux-ice#12; devlink health.",
         .after = {"nic.selected", "nic.driver"},
         .judge = judge_health},
    };
    return module;
}

}  // namespace preflight
