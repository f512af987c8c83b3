// Bonds and RDMA. irdma in the kernel has no RoCE LAG: a QP belongs to one function, and with 802.3ad the switch may send its
// packets to the other port (Linux 6.12 drivers/net/ethernet/intel/ice/ice_lag.c, drivers/infiniband/core/roce_gid_mgmt.c).
// mlx5 merges the ports of one card into one device (drivers/infiniband/hw/mlx5/main.c).

#include <algorithm>
#include <map>
#include <set>

#include "facts/kernel_modules.h"
#include "facts/nic.h"
#include "facts/node.h"
#include "facts/probe_result.h"
#include "nic.h"
#include "text.h"

namespace preflight {
namespace {

constexpr std::string_view bond_source = "rtnetlink IFLA_BOND_*; /sys/class/infiniband/*/ports/*/gid_attrs/ndevs";

struct BondView {
    Link link;
    std::vector<const Port*> members;
    std::vector<const Port*> with_rdma;
    std::set<std::string> devices;

    Subject subject() const {
        Subject subject{link.name, {}};
        for (const Port* member : members) subject.keys.push_back(member->key);
        return subject;
    }
    std::string mode() const { return link.bond ? link.bond->mode : "unknown mode"; }
    std::string member_names() const {
        std::vector<std::string> names;
        for (const Port* member : members) names.push_back(member->link.name);
        return list_of(names);
    }
};

std::vector<BondView> storage_bonds(const Facts& facts) {
    std::map<int, BondView> bonds;
    for (const Port* port : facts.ports().storage()) {
        if (!port->bond || bonds.count(port->bond->index)) continue;
        BondView& view = bonds[port->bond->index];
        view.link = *port->bond;
        view.members = facts.ports().members(port->bond->index);
        for (const Port* member : view.members)
            if (const RdmaAttachment* attached = member->attachment()) {
                view.with_rdma.push_back(member);
                view.devices.insert(attached->device);
            }
    }
    std::vector<BondView> list;
    for (auto& [index, view] : bonds) list.push_back(std::move(view));
    return list;
}

bool carries_gids_of(const Facts& facts, const Port& port, const std::vector<std::string>& netdevs) {
    const RdmaDeviceFacts* device = device_of(facts, port);
    if (!device) return false;
    const auto table = device->gids.find(port.attachment()->port);
    if (table == device->gids.end() || !table->second) return false;
    return std::any_of(table->second->gids.begin(), table->second->gids.end(), [&](const Gid& gid) {
        return gid.netdev && std::find(netdevs.begin(), netdevs.end(), *gid.netdev) != netdevs.end();
    });
}

/// The interfaces whose GIDs are the bond's: itself and what stands over it.
std::vector<std::string> bond_and_uppers(const Link& bond, const Port& member) {
    std::vector<std::string> names{bond.name};
    for (const Link& upper : member.uppers) names.push_back(upper.name);
    return names;
}

bool gids_unreadable(const Facts& facts, const Port& port) {
    const RdmaDeviceFacts* device = device_of(facts, port);
    if (!device) return false;
    const auto table = device->gids.find(port.attachment()->port);
    return table == device->gids.end() || table->second.unreadable();
}

bool in_active_aggregator(const BondView& bond, const Port& port) {
    if (!bond.link.bond || !bond.link.bond->aggregator || !port.link.bond_port || !port.link.bond_port->aggregator) return true;
    return *bond.link.bond->aggregator == *port.link.bond_port->aggregator;
}

std::string package_name(const Facts& facts, const Port& port) {
    if (facts.nic().devlink)
        for (const DevlinkDevice& device : *facts.nic().devlink)
            if (device.device == port.pci && device.info)
                if (const auto name = device.info->running.find("fw.app.name"); name != device.info->running.end()) return name->second;
    return {};
}

/// What Intel's out-of-tree drivers ask of RoCE LAG and this bond lacks; empty when all is met.
std::vector<std::string> unmet_lag_conditions(const Facts& facts, const BondView& bond) {
    std::vector<std::string> unmet;
    if (!facts.modules().out_of_tree("ice").value_or(false) || !facts.modules().out_of_tree("irdma").value_or(false)) unmet.push_back("out-of-tree ice and irdma drivers (the kernel's have no RoCE LAG)");
    if (bond.members.size() != 2 || bond.members[0]->card() != bond.members[1]->card()) unmet.push_back("two ports of one card");
    if (bond.mode() != "active-backup" && bond.mode() != "802.3ad") unmet.push_back("bond mode active-backup or 802.3ad");
    const std::string package = bond.members.empty() ? "" : package_name(facts, *bond.members.front());
    if (package.find("LAG") == std::string::npos) unmet.push_back(fmt::format("the LAG DDP package (loaded: {})", package.empty() ? "not told" : package));
    for (const Port* member : bond.members)
        if (member->intel() != IntelFamily::e810) {
            unmet.push_back("E810 ports");
            break;
        }
    return unmet;
}

constexpr const char* over_each_member = "run probe over each member and give its report with --probe-result";

Remedy unbond(const BondView& bond) {
    return {fmt::format("Give each member of {} an address of its own and use two storage networks instead of the bond, or meet the vendor's RoCE LAG conditions; ask Intel and MinIO which they support.", bond.link.name),
            {}, {}, {}};
}

/// A probe of this boot moved data over each member of the bond.
bool proven_over_each(const Facts& facts, const BondView& bond) {
    const auto& probe = facts.probe_result();
    const auto& boot = facts.node().boot_id;
    if (!probe || !boot || *boot != probe->boot_id) return false;
    return std::all_of(bond.members.begin(), bond.members.end(), [&](const Port* member) {
        const std::string by = " by " + member->link.name;
        return std::any_of(probe->transfers.begin(), probe->transfers.end(), [&](const ProbeResult::Transfer& transfer) {
            return transfer.status == Status::pass && transfer.subject.size() > by.size() && transfer.subject.compare(transfer.subject.size() - by.size(), by.size(), by) == 0;
        });
    });
}

void judge_bond_of(const Facts& facts, const BondView& bond, Findings& out) {
    const Subject subject = bond.subject();
    const std::string head = fmt::format("{} over {}", bond.mode(), bond.member_names());
    const bool merges = std::any_of(bond.members.begin(), bond.members.end(), [](const Port* member) { return member->family && member->family->merges_bond; });
    const bool ice = std::any_of(bond.members.begin(), bond.members.end(), [](const Port* member) { return member->driver.value_or("") == "ice"; });

    if (bond.with_rdma.empty() && facts.rdma().blind()) {
        out.unknown(subject, fmt::format("{}; RDMA devices could not be listed: {}", head, no_answer(facts.rdma().nldev)), how_to_know(facts.rdma().nldev.why())).from(std::string(bond_source));
        return;
    }
    for (const Port* member : bond.members)
        if (const RdmaDeviceFacts* portless = facts.rdma().portless(member->pci)) {
            out.unknown(subject, fmt::format("{}; the ports of {} could not be listed", head, portless->device.name), "Run the tool as root, on the node itself, with /sys mounted.").from(std::string(bond_source));
            return;
        }
    if (bond.with_rdma.empty()) {
        const auto family = std::find_if(bond.members.begin(), bond.members.end(), [](const Port* member) { return member->family != nullptr; });
        if (family != bond.members.end() && !facts.modules().usable(std::string((*family)->family->rdma))) {
            out.unknown(subject, fmt::format("{}; no member has an RDMA device, but {} is not loaded either", head, (*family)->family->rdma), "Load the RDMA driver first (rdma.modules), then run again.").from(std::string(bond_source));
            return;
        }
        Draft draft = out.fail(subject, fmt::format("{}; no member has an RDMA device any more", head));
        draft.want("the members keep their RDMA device").from(std::string(bond_source)).mend(unbond(bond));
        if (ice) draft.note("unmet conditions of RoCE LAG", unmet_lag_conditions(facts, bond)).because("The ice driver unplugs RDMA from ports of a bond unless RoCE LAG is set up; RDMA is gone while the bond exists.");
        return;
    }
    if (bond.devices.size() == 1) {
        const std::string device = *bond.devices.begin();
        if (merges && bond.with_rdma.front()->attachment()->merged) {
            out.pass(subject, fmt::format("{}; one merged device {}", head, device)).from(std::string(bond_source));
        } else if (ice && bond.members.size() > 1 && unmet_lag_conditions(facts, bond).empty()) {
            out.pass(subject, fmt::format("{}; out-of-tree RoCE LAG on {}", head, device)).from(std::string(bond_source));
        } else if (bond.members.size() == 1) {
            out.warn(subject, fmt::format("{}; a bond of one member", head)).want("RDMA on every member, or no bond").from(std::string(bond_source)).mend(unbond(bond)).unproven(over_each_member);
        } else {
            out.warn(subject, fmt::format("{}; only {} has an RDMA device ({})", head, bond.with_rdma.front()->link.name, device))
                .want("one merged device, or a device on every member")
                .from(std::string(bond_source))
                .mend(unbond(bond))
                .unproven(over_each_member);
        }
        return;
    }
    std::vector<std::string> carrying;
    bool blind = false;
    for (const Port* member : bond.with_rdma) {
        if (!in_active_aggregator(bond, *member)) continue;
        if (carries_gids_of(facts, *member, bond_and_uppers(bond.link, *member))) carrying.push_back(fmt::format("{} ({})", member->attachment()->device, member->link.name));
        blind |= gids_unreadable(facts, *member);
    }
    // Only of irdma and of mlx5 ports that did not merge does the source say that flows are lost.
    const bool known_to_lose = std::any_of(bond.with_rdma.begin(), bond.with_rdma.end(), [](const Port* member) { return member->family && (member->family->rdma == "irdma" || member->family->rdma == "mlx5_ib"); });
    if (bond.mode() == "802.3ad" && carrying.size() >= 2 && known_to_lose && proven_over_each(facts, bond)) {
        out.warn(subject, fmt::format("{}; {} both carry the bond's GIDs, and the probe moved data over each member", head, list_of(carrying)))
            .want("one RDMA device for the bond, or storage ports outside a bond")
            .from(std::string(bond_source) + "; " + facts.probe_result()->file)
            .because("The switch may hash other flows to the other port: a probe proves the flows it made.")
            .mend(unbond(bond))
            .unproven("write into attest.proven of the policy file what a test under load over both members showed");
        return;
    }
    if (bond.mode() == "802.3ad" && carrying.size() >= 2 && known_to_lose) {
        out.fail(subject, fmt::format("{}; {} both carry the bond's GIDs: flows hashed to the other port are lost", head, list_of(carrying)))
            .want("one RDMA device for the bond, or storage ports outside a bond")
            .from(std::string(bond_source))
            .because("Each QP lives on one port's function, but LACP lets the switch send its packets to the other port, where no QP knows them; the kernel driver has no RoCE LAG. A transfer proven over "
                     "both members (probe) turns this into a warning.")
            .mend(unbond(bond));
        return;
    }
    if (bond.mode() == "802.3ad" && blind) {
        out.unknown(subject, fmt::format("{}; the GID tables of its members could not be read", head), "Run the tool as root on the node itself.").from(std::string(bond_source));
        return;
    }
    if (proven_over_each(facts, bond)) {
        out.pass(subject, fmt::format("{}; the probe moved data over each member", head))
            .from(std::string(bond_source) + "; " + facts.probe_result()->file)
            .proven();
        return;
    }
    out.warn(subject, fmt::format("{}; RDMA devices {}: nobody has proven RDMA over this kind of bond with this driver", head, list_of({bond.devices.begin(), bond.devices.end()})))
        .want("RDMA proven over each member")
        .from(std::string(bond_source))
        .mend({"Prove it with a transfer over each member before production (probe), also after a failover.", {}, {}, {}})
        .unproven(over_each_member);
}

/// A port that has left its bond but whose RDMA device still carries the bond's GIDs.
void judge_left_behind(const Facts& facts, Findings& out) {
    for (const Port* port : facts.ports().storage()) {
        if (port->bond || !facts.ports().links) continue;
        for (const Link& link : *facts.ports().links)
            if (link.kind == "bond" && carries_gids_of(facts, *port, {link.name}))
                out.fail(port->subject(), fmt::format("its RDMA device still carries the GIDs of {}, of which it is no member", link.name))
                    .want("the GIDs of the port itself")
                    .from(std::string(bond_source))
                    .mend({"Reload the RDMA driver, so that its GIDs are made anew.", {fmt::format("sudo modprobe -r {0} && sudo modprobe {0}", port->family ? port->family->rdma : "irdma")}, {}, {}});
    }
}

}  // namespace

const Port* roce_lag_primary(const Facts& facts, const Port& port) {
    if (!port.bond || port.attachment()) return nullptr;
    for (const BondView& bond : storage_bonds(facts))
        if (bond.link.index == port.bond->index && bond.devices.size() == 1 && unmet_lag_conditions(facts, bond).empty()) return bond.with_rdma.front();
    return nullptr;
}

namespace {

void judge_bond(const Facts& facts, Findings& out) {
    if (ports_to_judge(facts, out).empty()) return;
    for (const BondView& bond : storage_bonds(facts)) judge_bond_of(facts, bond, out);
    judge_left_behind(facts, out);
    if (out.list().empty()) out.skip(node_subject(), "no storage port is in a bond");
}

}  // namespace

Check nic_bond_check() {
    return {.id = "nic.bond",
            .phase = 'A',
            .title = "The bond leaves RDMA working on its members",
            .why = "A bond may take the RDMA device away, or spread one connection's packets over two devices.",
            .judges = "pass: one merged mlx5 device, or out-of-tree RoCE LAG with all its conditions; active-backup where a probe of this boot moved data over each member, or where the policy attests it. warn (unproven): active-backup and other modes, or a device on one member only. fail: no member has an "
                      "RDMA device any more; or 802.3ad with at least two devices that carry the bond's GIDs; or a port that left its bond and kept its GIDs. skip: no bond.",
            .remedy = "Use the ports without a bond, one storage network each; or meet the vendor's RoCE LAG conditions; prove it with a transfer over each member.",
            .evidence = "Linux 6.12 ice_lag.c, roce_gid_mgmt.c, mlx5 main.c; Intel's out-of-tree ice and irdma READMEs on RoCE LAG. The 802.3ad rule is derived from the source, not measured on hardware.",
            .after = {"nic.selected", "nic.driver", "nic.ddp", "nic.functions"},
            .unproven = true,
            .judge = judge_bond};
}

}  // namespace preflight
