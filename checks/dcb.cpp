// PFC, DSCP and ETS of each port: who owns them, whether one priority is lossless, whether all ports agree, and what brings the
// settings back after a reboot. The way of the frames stands in dcb_chain.cpp.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "facts/ports.h"
#include "lossless.h"
#include "lossless_remedy.h"
#include "modules.h"
#include "text.h"

namespace preflight {
namespace {

constexpr std::string_view not_seen = "not seen";
constexpr std::string_view from_pfc = "dcb (netlink) IEEE PFC";

std::string numbers(const std::vector<unsigned>& list) {
    std::vector<std::string> words;
    for (const unsigned number : list) words.push_back(std::to_string(number));
    return list_of(words);
}

std::string dcbx_text(const LosslessPort& port) {
    return port.dcb->dcbx ? fmt::format("DCBX 0x{:02x}", *port.dcb->dcbx) : std::string("no DCBX attribute");
}

/// What a port does with RoCE frames, to be compared with other ports. `not_seen`: the driver did not send it.
std::map<std::string, std::string> plan_of(const LosslessPort& port) {
    const Dcb& dcb = *port.dcb;
    std::map<std::string, std::string> plan;
    plan["classification"] = std::string(name(mode(port, port.uppers.front())));
    plan["PFC"] = !dcb.pfc ? std::string(not_seen) : dcb.pfc->enabled ? numbers(lossless(*dcb.pfc)) : std::string("off");
    std::vector<std::string> entries;
    for (const DscpEntry& entry : detect(port).entries) entries.push_back(fmt::format("{}:{}", entry.dscp, entry.priority));
    plan["lossless DSCP entries"] = !dcb.apps || !dcb.pfc ? std::string(not_seen) : entries.empty() ? std::string("none") : fmt::format("{}", fmt::join(entries, " "));
    return plan;
}

}  // namespace

void judge_control(const LosslessPort& port, const Site& site, Findings& out) {
    if (without_dcb(port, Status::skip, out)) return;
    const Owner who = owner(port);
    const std::string flag(port.rules().agent_flag);
    const std::string source = flag.empty() ? "dcb (netlink) DCBX" : fmt::format("ethtool private flag {}, dcb (netlink) DCBX", flag);
    if (who == Owner::unseen) {
        out.unknown(subject_of(port), "neither a DCBX attribute nor a private flag says who controls DCB", fmt::format("Run `dcb dcbx show dev {}`, or ask the vendor's tool.", port.netdev)).from(source);
        return;
    }
    const LosslessPlan plan = plan_for(port, site.internode, site.expect);
    if (who == Owner::host) {
        const bool remote = port.dcb->dcbx && *port.dcb->dcbx & 2u;
        if (site.expect.dcb_owner == "switch")
            out.fail(subject_of(port), fmt::format("the host controls DCB ({})", dcbx_text(port))).want("the switch by DCBX (policy)").from(source)
                .mend(flag.empty() ? Remedy{"Let the NIC's firmware run DCBX with the vendor's tool.", {}, {}, {}}
                                   : Remedy{"Start the firmware's LLDP agent.", {fmt::format("sudo ethtool --set-priv-flags {} {} on", port.netdev, flag)}, {}, {fmt::format("sudo ethtool --set-priv-flags {} {} off", port.netdev, flag)}});
        else if (remote)
            out.warn(subject_of(port), fmt::format("two owners: {} is off, yet {} says it is managed by LLDP", flag, dcbx_text(port))).want("one owner").from(source)
                .mend({"Decide who owns DCB: the host, or the switch by DCBX.", {}, {}, {}});
        else
            out.pass(subject_of(port), fmt::format("the host controls DCB ({}{})", dcbx_text(port), port.dcb->ets && port.dcb->ets->willing ? ", willing" : ""));
        return;
    }
    const std::string agent = fmt::format("{} owns DCB ({}{})", agent_name(port), flag.empty() ? "" : flag + " on, ", dcbx_text(port));
    const Remedy take = lossless_remedy(port, plan, "Take DCB under the host's control: agent off first, then the settings.");
    if (site.expect.dcb_owner == "host") {
        out.fail(subject_of(port), agent).want("the host (policy)").from(source).mend(take);
        return;
    }
    if (!port.dcb->pfc) {
        out.unknown(subject_of(port), agent + ", and the driver sent no PFC attribute", "Look at `dcb pfc show` of the port.").from(source);
        return;
    }
    const auto negotiated = lossless(*port.dcb->pfc);
    if (negotiated.empty())
        out.fail(subject_of(port), agent + " and has negotiated no lossless priority").want("the host in control, or a switch that offers PFC by DCBX").from(source).mend(take);
    else if (site.expect.dcb_owner == "switch")
        out.pass(subject_of(port), fmt::format("{}, as the policy says; negotiated: PFC on {}", agent, numbers(negotiated)));
    else
        out.warn(subject_of(port), fmt::format("{}: not under host control; negotiated: PFC on {}", agent, numbers(negotiated)))
            .want("the host in control; or expect.dcb_owner \"switch\" in the policy").from(source).mend(take);
}

void judge_pfc(const LosslessPort& port, const Site& site, Findings& out) {
    if (without_dcb(port, Status::fail, out)) return;
    if (!port.dcb->pfc) {
        out.unknown(subject_of(port), "the driver sent no PFC attribute, which is not \"off\"", fmt::format("Run `dcb pfc show dev {}`, and look at the driver's log.", port.netdev)).from(std::string(from_pfc));
        return;
    }
    const auto on = lossless(*port.dcb->pfc);
    const LosslessPlan plan = plan_for(port, site.internode, site.expect);
    const std::string want = site.expect.priority ? fmt::format("{} alone (policy)", class_name(port, *site.expect.priority)) : "exactly one lossless priority";
    const auto bad = [&](Status status, std::string text, std::string summary) {
        out.add(status, subject_of(port), std::move(text)).want(want).from(std::string(from_pfc)).mend(lossless_remedy(port, plan, std::move(summary)));
    };
    const bool pause = port.pause && (port.pause->rx || port.pause->tx);
    if (on.empty()) bad(Status::fail, pause ? "PFC is off for every priority; link pause is on instead, which stops all traffic alike" : "PFC is off for every priority", "Make one priority lossless.");
    else if (on.size() == 8) bad(Status::fail, "PFC is on for all eight priorities, so one slow flow stops everything", "Keep one priority lossless.");
    else if (site.expect.priority && (on.size() != 1 || on.front() != *site.expect.priority)) bad(Status::fail, fmt::format("PFC is on for {}", numbers(on)), "Protect the priority of the policy.");
    else if (on.size() > 1) bad(Status::warn, fmt::format("PFC is on for {} priorities: {}", on.size(), numbers(on)), "Keep one priority lossless.");
    else out.pass(subject_of(port), fmt::format("PFC on for {} alone", class_name(port, on.front())));
}

void judge_same_plan(const std::vector<LosslessPort>& ports, bool guessed, const Site& site, Findings& out) {
    Subject subject{"node", {}};
    std::vector<const LosslessPort*> read;
    std::vector<std::string> silent;
    for (const LosslessPort& port : ports) {
        if (port.infiniband) continue;
        subject.keys.push_back(port.key);
        if (port.dcb) read.push_back(&port);
        else silent.push_back(port.netdev);
    }
    if (subject.keys.size() < 2) {
        out.skip(node_subject(), "there are no two RoCE storage ports to compare");
        return;
    }
    if (!silent.empty() && (read.empty() || std::any_of(ports.begin(), ports.end(), [](const LosslessPort& port) { return port.dcb.unreadable(); }))) {
        out.unknown(subject, fmt::format("no DCB answer from {}", list_of(silent)), "See dcb.control and dcb.pfc of these ports.").from("dcb (netlink)");
        return;
    }
    std::map<std::string, std::map<std::string, std::vector<std::string>>> values;  // part -> value -> ports
    std::vector<std::string> hidden;
    for (const LosslessPort* port : read)
        for (const auto& [part, value] : plan_of(*port)) {
            if (value == not_seen) hidden.push_back(fmt::format("{} of {}", part, port->netdev));
            else values[part][value].push_back(port->netdev);
        }
    for (const std::string& netdev : silent) values["DCB"]["not offered"].push_back(netdev);
    if (!silent.empty())
        for (const LosslessPort* port : read) values["DCB"]["offered"].push_back(port->netdev);
    std::vector<std::string> differences;
    for (const auto& [part, by_value] : values) {
        if (by_value.size() < 2) continue;
        std::vector<std::string> texts;
        for (const auto& [value, names] : by_value) texts.push_back(fmt::format("{} on {}", value, list_of(names)));
        differences.push_back(fmt::format("{}: {}", part, fmt::join(texts, "; ")));
    }
    if (differences.empty() && !hidden.empty()) {
        out.unknown(subject, fmt::format("not seen: {}", list_of(hidden)), "See dcb.pfc and dcb.mode of these ports.").from("dcb (netlink)");
        return;
    }
    if (differences.empty()) {
        out.pass(subject, fmt::format("{} ports carry the same plan", read.size()));
        return;
    }
    Remedy remedy{"Give all storage ports the plan of the first one.", {}, {}, {}};
    if (!read.empty()) {
        const LosslessPlan plan = plan_for(*read.front(), site.internode, site.expect);
        for (const LosslessPort* port : read) {
            const auto commands = lossless_commands(*port, plan);
            remedy.commands.insert(remedy.commands.end(), commands.begin(), commands.end());
        }
    }
    out.add(guessed ? Status::warn : Status::fail, subject, fmt::format("{}", fmt::join(differences, ". ")))
        .want("the same classification, PFC mask and DSCP entries on all storage ports").from("dcb (netlink)").mend(std::move(remedy));
}

void judge_persistence(const LosslessPort& port, const Site& site, const Keepers& keepers, Findings& out) {
    if (without_dcb(port, Status::skip, out)) return;
    if (!port.dcb->pfc || port.dcb->pfc->enabled == 0) {
        out.skip(subject_of(port), "there is no lossless setting to keep yet");
        return;
    }
    const LosslessPlan plan = plan_for(port, site.internode, site.expect);
    if (owner(port) == Owner::agent) {
        out.pass(subject_of(port), fmt::format("{} negotiates the settings anew at each link-up; its switch is kept in the NVM", agent_name(port)));
        return;
    }
    std::vector<std::string> doubtful;
    for (const Keeper* keeper : keepers.of(port.netdev)) {
        const std::string what = keeper->unit.empty() ? fmt::format("{} {}", keeper->kind, keeper->path) : fmt::format("{} {}", keeper->kind, keeper->unit);
        if (keeper->unit.empty()) {
            doubtful.push_back(what + " (whether it ran in this boot cannot be told)");
        } else if (keeper->kind == "lldpad" && keeper->active && *keeper->active) {
            doubtful.push_back(what + " (active; it keeps PFC and ETS, look for the DSCP entry by hand)");
        } else if (keeper->active && *keeper->active && keeper->stays_active && keeper->enabled) {
            out.pass(subject_of(port), what + " is enabled and ran in this boot");
            return;
        } else if (keeper->active.unreadable()) {
            doubtful.push_back(fmt::format("{} (whether it ran could not be read: {})", what, keeper->active.why().error));
        } else if (keeper->active && *keeper->active && !keeper->enabled) {
            doubtful.push_back(what + " (ran, but nothing starts it at the next boot)");
        } else if (!keeper->stays_active) {
            doubtful.push_back(what + (keeper->enabled ? " (enabled; without RemainAfterExit=yes nobody can tell whether it ran)" : " (not enabled)"));
        } else {
            doubtful.push_back(what + (keeper->enabled ? " (enabled, but it did NOT run in this boot)" : " (not enabled)"));
        }
    }
    std::vector<std::string> hidden;
    for (const auto& [path, why] : keepers.unreadable) hidden.push_back(fmt::format("{} ({})", path, why.error));
    const std::string text = doubtful.empty() ? "nothing was found that sets DCB again after a reboot" : list_of(doubtful);
    out.warn(subject_of(port), hidden.empty() ? text : fmt::format("{}; not readable: {}", text, list_of(hidden)))
        .want("an enabled unit that ran in this boot")
        .from("/etc/systemd/system, /run/systemd/units, /etc/udev/rules.d, NetworkManager, /var/lib/lldpad")
        .mend({"Let a one-shot unit set the port up at each boot.", {}, lossless_unit(port, plan), {fmt::format("sudo systemctl disable lossless-{}.service", port.netdev)}});
}

namespace {

constexpr std::string_view kernel_dcb = "Linux net/dcb/dcbnl.c, drivers/net/ethernet/intel/ice/ice_dcb_nl.c, mellanox/mlx5/core/en_dcbnl.c";

}  // namespace

Module dcb_module() {
    return {"dcb", "PFC, DSCP and ETS of each port",
            {row('B', "dcb.control", "One owner controls DCB", "An LLDP agent in the NIC overrides what the host sets, or has set nothing at all.",
                 "The firmware's LLDP agent or a DCBX-managed port: warn when it negotiated PFC, fail when it negotiated nothing or the policy expects the host. The host in control passes. "
                 "A port without DCB is for dcb.pfc.",
                 "Switch the firmware's agent off (ice: private flag fw-lldp-agent) before any other step, or declare expect.dcb_owner \"switch\" in the policy.",
                 "Linux ice_dcb_lib.c, ice_ethtool.c; Intel's flow control guide for E810 RDMA", {"nic.selected", "nic.driver", "nic.ddp", "nic.link"}, each_port(judge_control)),
             row('B', "dcb.pfc", "Exactly one priority is lossless", "Without a lossless priority RoCE drops under load and collapses; with all of them one slow flow stops everything.",
                 "One lossless priority passes, several warn, none or all eight fail, another one than the policy's fails. A port without DCB fails; a driver that sends no PFC attribute is unknown: neither is \"off\".",
                 "dcb pfc set dev PORT prio-pfc all:off 3:on, after the DSCP entry and the bandwidth.", kernel_dcb, {"nic.selected", "nic.driver", "nic.ddp", "dcb.control"}, each_port(judge_pfc)),
             row('B', "dcb.mode", "The port classifies by DSCP", "A port that trusts PCP puts untagged or routed RoCE into priority 0, whatever its DSCP.",
                 "E810: L3 DSCP mode while there is a DSCP APP entry. ConnectX: DSCP trust likewise. PCP mode passes only where a VLAN's egress map closes the chain, warns where the chain closes by priority tags, "
                 "else fails. E82x and E830 have no L3 DSCP mode.",
                 "Add the DSCP entry: it switches the mode. On an E810 set the bandwidth and PFC again afterwards.", kernel_dcb, {"nic.selected", "nic.driver", "nic.ddp", "dcb.control", "dcb.pfc"}, each_port(judge_mode)),
             row('B', "dcb.class", "AIStor's automatic detection finds the lossless class", "AIStor marks its queue pairs with what it finds in the host's DCB tables; with nothing to find it marks nothing.",
                 "Automatic: a DSCP APP entry whose priority has PFC on. An explicit value may be a ToS byte or a DSCP, which is not public: fail only when no reading is lossless.",
                 "Give the lossless priority a DSCP APP entry, and leave MINIO_RDMA_INTERNODE_TRAFFIC_CLASS unset.", "Strings of libs3rdma (public SDK): it reads the IEEE tables over rtnetlink",
                 {"nic.selected", "nic.driver", "nic.ddp", "service.unit", "env.file", "dcb.control", "dcb.pfc", "dcb.mode"}, each_port(judge_class)),
             row('B', "dcb.chain", "RDMA traffic lands in the lossless class", "One link that does not fit, and RoCE runs in a class that drops.",
                 "ToS byte, DSCP, priority or TC, PFC, link by link by the driver's own rule, for each netdev that carries storage addresses. A broken link fails and is named; a link that cannot be seen is unknown; "
                 "a code point with two entries, or with the driver's hidden default only, warns.",
                 "Close the first broken link; the commands are in the order in which the driver takes them.",
                 "Linux net/ipv4/route.c (ip_tos2prio), infiniband/hw/irdma/verbs.c, ice_dcb_nl.c, en_dcbnl.c", {"nic.selected", "nic.driver", "nic.ddp", "dcb.control", "dcb.pfc", "dcb.mode", "dcb.class"},
                 each_port(judge_chain)),
             row('B', "dcb.ets", "The lossless class has bandwidth", "A lossless class that is scheduled with no bandwidth starves as soon as another class is busy.",
                 "Judged where the TC is scheduled by ETS; strict priority and a vendor's scheduler need no share. ice: TCs must be contiguous from 0, and entering L3 DSCP mode leaves 100/0/0… on TC 0.",
                 "dcb ets set dev PORT tc-tsa all:ets tc-bw …", kernel_dcb, {"nic.selected", "nic.driver", "nic.ddp", "dcb.control", "dcb.pfc"}, each_port(judge_ets)),
             row('B', "dcb.ports", "All storage ports carry the same plan", "A bond or a multipath spreads flows over ports; those on the odd one are not protected.",
                 "Classification, PFC mask and lossless DSCP entries of all selected ports. A difference fails; warns when the selection was guessed.", "Set all ports up alike.", kernel_dcb,
                 {"nic.selected", "nic.driver", "nic.ddp", "dcb.control", "dcb.pfc", "dcb.mode", "dcb.class"},
                 [](const Facts& facts, Findings& out) {
                     if (!ports_to_judge(facts, out).empty()) judge_same_plan(facts.lossless().ports, facts.ports().guessed, site_of(facts), out);
                 }),
             row('B', "dcb.persistence", "The DCB settings survive a reboot", "Nothing in Linux keeps DCB settings: after the next boot RoCE is lossy again.",
                 "An enabled one-shot unit for this port that ran in this boot passes, as does a firmware agent. Anything less certain, or nothing found, warns.", "Install the one-shot unit of the remedy.",
                 "systemd src/core/unit.c (invocation links); Intel's README of ice", {},
                 [](const Facts& facts, Findings& out) {
                     const Site site = site_of(facts);
                     for (const LosslessPort* port : roce_ports(facts, out)) judge_persistence(*port, site, facts.keepers(), out);
                 })}};
}

}  // namespace preflight
