// The way of RoCE frames through a port: classification, traffic class, chain, bandwidth.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "lossless.h"
#include "lossless_remedy.h"
#include "text.h"

namespace preflight {
namespace {

/// Every way the frames may take: as the setting says, else that of the class which this port should carry.
std::vector<Chain> ways(const LosslessPort& port, const Site& site) {
    auto list = chains(port, site.internode).list;
    if (!list.empty()) return list;
    const LosslessPlan plan = plan_for(port, site.internode, site.expect);
    for (const Upper& upper : port.uppers) list.push_back(trace(port, upper, plan.dscp << 2, "the common recipe"));
    return list;
}

/// "ToS 104 -> DSCP 26 -> TC 3 -> PFC on, 50 % of the bandwidth".
std::string told(const LosslessPort& port, const Chain& chain) {
    std::string text = chain.text();
    if (chain.tc) text += fmt::format(" -> bandwidth {}", bandwidth(port, *chain.tc).text);
    if (chain.upper != port.netdev) text += fmt::format(" (over {})", chain.upper);
    return text;
}

std::vector<std::string> sources(const Chain& chain) {
    std::vector<std::string> lines = {fmt::format("ToS {}: {}", chain.tos, chain.reading)};
    for (const ChainLink& link : chain.links) lines.push_back(fmt::format("{} {}: {}", link.what, link.value, link.source));
    return lines;
}

const Chain* worst_of(const std::vector<Chain>& list) {
    const auto worst = std::max_element(list.begin(), list.end(), [](const Chain& a, const Chain& b) { return a.state() < b.state(); });
    return worst == list.end() ? nullptr : &*worst;
}

std::string broken_text(const LosslessPort& port, const Chain& chain) {
    const ChainLink* bad = chain.first_bad();
    return fmt::format("{}; the first broken link is {}: {}", told(port, chain), bad->what, bad->note);
}

/// Trap: the recipe of one NIC on the other. Empty when it is not this one.
std::string pcp_trap(const LosslessPort& port, const Chain& chain) {
    if (chain.state() != LinkState::broken || !chain.priority || !port.dcb->pfc) return {};
    const auto protected_ones = lossless(*port.dcb->pfc);
    return fmt::format("DSCP {} lands in priority {} while PFC protects {}", chain.tos >> 2, *chain.priority,
                       protected_ones.empty() ? std::string("none") : fmt::format("{}", fmt::join(protected_ones, ", ")));
}

std::string cm_tos_text(const LosslessPort& port) {
    if (port.cm_tos) return port.cm_tos->substr(0, port.cm_tos->find('\n'));
    return port.cm_tos.absent() ? "not visible: no configfs folder" : "not visible";
}

std::string setting_text(const Site& site) {
    return fmt::format("MINIO_RDMA_INTERNODE_TRAFFIC_CLASS={}", site.internode.text);
}

}  // namespace

void judge_mode(const LosslessPort& port, const Site& site, Findings& out) {
    if (without_dcb(port, Status::fail, out)) return;
    const Mode how = mode(port, port.uppers.front());
    const DcbRules& rules = port.rules();
    if (how == Mode::unseen) {
        out.unknown(subject_of(port), "the driver does not show whether it classifies by DSCP or PCP",
                    fmt::format("Ask the vendor's tool for the trust mode of {}.", port.netdev))
            .from("dcb (netlink) APP table, APP trust table");
        return;
    }
    if (how == Mode::dscp) {
        out.pass(subject_of(port), rules.classifier == Classifier::ice_dscp ? "L3 DSCP mode" : "trusts DSCP");
        return;
    }
    const auto list = ways(port, site);
    const bool tagged = std::all_of(port.uppers.begin(), port.uppers.end(), [](const Upper& upper) { return upper.egress.has_value(); });
    const Chain* worst = worst_of(list);
    const bool closes = std::any_of(list.begin(), list.end(), [](const Chain& chain) { return chain.state() == LinkState::closed; });
    if (closes && worst->state() == LinkState::closed && tagged) {
        out.pass(subject_of(port), fmt::format("PCP mode, and the VLAN's egress map closes the chain: {}", told(port, *worst)));
        return;
    }
    const LosslessPlan plan = plan_for(port, site.internode, site.expect);
    if (worst->state() == LinkState::unseen) {
        out.unknown(subject_of(port), fmt::format("PCP mode, and the chain is not seen at {}: {}", worst->first_bad()->what, worst->first_bad()->note),
                    "Look at `dcb pfc show` and `dcb ets show` of the port.")
            .from("dcb (netlink)");
        return;
    }
    if (closes) {
        const std::string hint = tagged ? "depending on the VLAN" : rules.driver == "ice" ? "with priority tags of VLAN 0, which the switch must accept" : "as priority 0";
        out.warn(subject_of(port), fmt::format("PCP mode; the chain closes {}: {}", hint, told(port, *std::find_if(list.begin(), list.end(), [](const Chain& chain) { return chain.state() == LinkState::closed; }))))
            .want("classification by DSCP")
            .from("dcb (netlink) APP table: no DSCP entry")
            .mend(lossless_remedy(port, plan, "Classify by DSCP, which needs no tag."));
        return;
    }
    const bool possible = rules.classifier != Classifier::ice_pcp;
    const std::string trap = pcp_trap(port, *worst);
    const std::string kind = possible ? "PCP mode: no DSCP entry in the APP table" : fmt::format("PCP mode: {} has no L3 DSCP mode", rules.family);
    const std::string tag = tagged ? "the VLAN's egress map does not mend it" : "and the port is untagged";
    const std::string summary = possible ? "Enter DSCP mode: a DSCP entry first, then the bandwidth, then PFC."
                                         : fmt::format("Protect the priority that the kernel gives to the ToS byte (or map it in a VLAN), and set "
                                                       "MINIO_RDMA_INTERNODE_TRAFFIC_CLASS={}: the automatic detection cannot find a class without DSCP entries.",
                                                       plan.dscp << 2);
    out.fail(subject_of(port), fmt::format("{}, {}{}{}", kind, tag, trap.empty() ? "" : "; ", trap))
        .want(possible ? "classification by DSCP" : "a priority in reach of the ToS table, or a VLAN whose egress map leads to the lossless priority")
        .from(fmt::format("dcb (netlink) APP table; {}", rules.source))
        .note("chain", sources(*worst))
        .mend(lossless_remedy(port, plan, summary));
}

/// DSCP 0 is what nobody marked (RFC 2474): all other traffic of the port is in the lossless class then.
bool best_effort_is_lossless(const Detection& found) {
    return std::any_of(found.entries.begin(), found.entries.end(), [](const DscpEntry& entry) { return entry.dscp == 0; });
}

void warn_of_best_effort(const LosslessPort& port, const std::string& text, Findings& out) {
    out.warn(subject_of(port), text + "; DSCP 0 is what nobody marked, so all traffic of the port is lossless")
        .want("a DSCP of its own for RDMA")
        .from("dcb (netlink) PFC mask, APP table")
        .because("A pause for RDMA stops every other flow of the class too, and every other flow can pause RDMA.")
        .mend({.summary = "Map a DSCP of its own, such as 26, to the lossless priority, and DSCP 0 to another one.",
               .commands = {fmt::format("sudo dcb app del dev {} dscp-prio 0:{}", port.netdev, lossless(*port.dcb->pfc).front())}});
}

void judge_class(const LosslessPort& port, const Site& site, Findings& out) {
    if (!site.wants_internode) {
        out.skip(subject_of(port), "only inter-node RDMA detects its traffic class");
        return;
    }
    if (site.internode.kind == ClassSetting::unreadable) {
        out.unknown(subject_of(port), "the environment that may set MINIO_RDMA_INTERNODE_TRAFFIC_CLASS could not be read: " + site.internode.why, "Run the tool as root.");
        return;
    }
    if (without_dcb(port, Status::fail, out)) return;
    const LosslessPlan plan = plan_for(port, site.internode, site.expect);
    if (site.internode.kind == ClassSetting::value) {
        const Chains found = chains(port, site.internode);
        const unsigned value = site.internode.number;
        const bool one_reading = value >= 64;
        const std::string read = one_reading ? fmt::format("{} (DSCP {} as a ToS byte)", setting_text(site), value >> 2)
                                             : fmt::format("{} (a ToS byte with DSCP {}, or DSCP {}: which is not public)", setting_text(site), value >> 2, value);
        const Remedy automatic{"Leave the traffic class to the automatic detection, unless the fabric trusts PCP.",
                               {fmt::format("sudo sed -i '/^MINIO_RDMA_INTERNODE_TRAFFIC_CLASS=/d' /etc/default/minio")}, {}, {}};
        if (found.state == LinkState::broken)
            out.fail(subject_of(port), read + " is not lossless on this port in any reading").want("a traffic class in the lossless class").from("environment, dcb (netlink)").mend(automatic);
        else if (found.state == LinkState::unseen)
            out.unknown(subject_of(port), read + ": its way through the port cannot be seen", "Give its DSCP an APP entry of its own.");
        else if (found.state == LinkState::closed && one_reading)
            out.pass(subject_of(port), read);
        else
            out.warn(subject_of(port), read + (found.state == LinkState::closed ? "" : ": lossless in one reading only"))
                .want("0: the automatic detection").from("environment, dcb (netlink)").mend(automatic);
        return;
    }
    const Detection found = detect(port);
    if (found.state == LinkState::unseen) {
        out.unknown(subject_of(port), "the tables that the automatic detection reads cannot be seen: " + found.why, "Look at `dcb pfc show` and `dcb app show` of the port.");
        return;
    }
    if (found.state == LinkState::broken) {
        out.fail(subject_of(port), "AIStor's automatic detection finds no lossless class: " + found.why)
            .want("a DSCP APP entry whose priority has PFC on")
            .from("dcb (netlink) PFC mask, APP table")
            .mend(lossless_remedy(port, plan, "Give the lossless class a DSCP entry of its own."));
        return;
    }
    std::vector<std::string> classes;
    bool expected = !site.expect.dscp;
    for (const DscpEntry& entry : found.entries) {
        classes.push_back(fmt::format("DSCP {} in {}", entry.dscp, class_name(port, entry.priority)));
        expected |= entry.dscp == site.expect.dscp;
    }
    const std::string text = fmt::format("the automatic detection finds {}{}", list_of(classes), classes.size() > 1 ? "; which one it takes is not public" : "");
    if (!expected)
        out.fail(subject_of(port), text).want(fmt::format("DSCP {} (policy)", *site.expect.dscp)).from("dcb (netlink), policy").mend(lossless_remedy(port, plan, "Map the DSCP of the policy."));
    else if (site.s3.kind == ClassSetting::value && site.internode.text.empty())
        out.warn(subject_of(port), fmt::format("{}; MINIO_RDMA_TRAFFIC_CLASS={} is set, which is the S3 path's and does not reach inter-node traffic", text, site.s3.text))
            .want("the setting of the path that is meant").from("environment")
            .mend({"For inter-node traffic leave it to the detection or set MINIO_RDMA_INTERNODE_TRAFFIC_CLASS.", {}, {}, {}});
    else if (best_effort_is_lossless(found))
        warn_of_best_effort(port, text, out);
    else
        out.pass(subject_of(port), text);
}

void judge_chain(const LosslessPort& port, const Site& site, Findings& out) {
    if (without_dcb(port, Status::fail, out)) return;
    Chains found = chains(port, site.internode);
    if (!site.wants_internode && found.list.empty()) {
        found.list = ways(port, site);
        found.state = std::max(LinkState::ambiguous, worst_of(found.list)->state() == LinkState::closed ? LinkState::ambiguous : LinkState::unseen);
    }
    const LosslessPlan plan = plan_for(port, site.internode, site.expect);
    const Chain* worst = worst_of(found.list);
    const std::string source = "dcb (netlink) DCB_CMD_IEEE_GET; " + std::string(port.rules().source);
    if (!worst) {
        if (found.state == LinkState::broken)
            out.fail(subject_of(port), "the chain breaks at its first link, the traffic class: " + found.why + ", so AIStor marks no frame (ToS 0)")
                .want("a traffic class that leads to a lossless priority").from(source).mend(lossless_remedy(port, plan, "Give the lossless class a DSCP entry of its own."));
        else
            out.unknown(subject_of(port), "the chain cannot be seen at its first link, the traffic class: " + found.why, "Look at `dcb pfc show` and `dcb app show` of the port.");
        return;
    }
    switch (found.state) {
        case LinkState::closed:
            if (worst->tos >> 2 == 0) {
                warn_of_best_effort(port, told(port, *worst), out);
                break;
            }
            out.pass(subject_of(port), told(port, *worst)).from(source).note("chain", sources(*worst)).note("rdma_cm default ToS", cm_tos_text(port));
            break;
        case LinkState::ambiguous:
            out.warn(subject_of(port), worst->first_bad() ? fmt::format("{}; not sure at {}: {}", told(port, *worst), worst->first_bad()->what, worst->first_bad()->note) : told(port, *worst))
                .want("one way, and a lossless one").from(source).note("chain", sources(*worst)).note("rdma_cm default ToS", cm_tos_text(port))
                .mend(lossless_remedy(port, plan, "Give the DSCP in use exactly one APP entry."));
            break;
        case LinkState::unseen:
            out.unknown(subject_of(port), worst->first_bad() ? fmt::format("{}; not seen at {}: {}", told(port, *worst), worst->first_bad()->what, worst->first_bad()->note) : "the class of the S3 path's frames is not public",
                        "Give the DSCP in use an APP entry of its own, then run again.")
                .from(source).note("chain", sources(*worst)).note("rdma_cm default ToS", cm_tos_text(port));
            break;
        case LinkState::broken:
            out.fail(subject_of(port), broken_text(port, *worst))
                .want("every link closed, from the ToS byte to PFC").from(source).note("chain", sources(*worst)).note("rdma_cm default ToS", cm_tos_text(port))
                .mend(lossless_remedy(port, plan, "Close the chain: DSCP entry, bandwidth, PFC."));
            break;
    }
}

void judge_ets(const LosslessPort& port, const Site& site, Findings& out) {
    if (without_dcb(port, Status::fail, out)) return;
    const Dcb& dcb = *port.dcb;
    const std::string source = "dcb (netlink) IEEE ETS";
    if (!dcb.ets) {
        out.unknown(subject_of(port), "the driver sent no ETS attribute", "Look at `dcb ets show` of the port, or ask the vendor's tool.").from(source);
        return;
    }
    if (!dcb.pfc) {
        out.unknown(subject_of(port), "the driver sent no PFC attribute, so the lossless class is not known", "Look at `dcb pfc show` of the port.").from(source);
        return;
    }
    const auto protected_ones = lossless(*dcb.pfc);
    const LosslessPlan plan = plan_for(port, site.internode, site.expect);
    if (protected_ones.empty()) {
        out.fail(subject_of(port), "there is no lossless class to give bandwidth to").want("a lossless class with bandwidth").from(source).mend(lossless_remedy(port, plan, "Make one priority lossless."));
        return;
    }
    const bool ice = port.driver == "ice";
    const bool is_tc = class_name(port, 0).front() == 'T';
    const std::set<int> used(dcb.ets->priority_tc.begin(), dcb.ets->priority_tc.end());
    if (ice && !used.empty() && (*used.begin() != 0 || *used.rbegin() + 1 != static_cast<int>(used.size()))) {
        out.fail(subject_of(port), fmt::format("the TCs in use ({}) are not contiguous from 0, so the driver switches DCB off", fmt::join(used, ", ")))
            .want("TCs 0, 1, 2 …").from(source + "; ice_dcb_lib.c").mend(lossless_remedy(port, plan, "Map the priorities to TCs without a gap."));
        return;
    }
    std::vector<std::string> fine, shared;
    for (const unsigned number : protected_ones) {
        if (!is_tc && number >= dcb.ets->priority_tc.size()) {
            out.unknown(subject_of(port), fmt::format("the driver's map of priorities has {} entries", dcb.ets->priority_tc.size()), "Look at `dcb ets show` of the port.").from(source);
            return;
        }
        const unsigned tc = is_tc ? number : static_cast<unsigned>(dcb.ets->priority_tc[number]);
        const Bandwidth share = bandwidth(port, tc);
        if (share.state == LinkState::unseen) {
            out.unknown(subject_of(port), share.note, "Look at `dcb ets show` of the port.").from(source);
            return;
        }
        if (share.state == LinkState::broken) {
            const auto& all = dcb.ets->tx_bandwidth;
            const bool left_over = is_tc && all[0] == 100;
            out.fail(subject_of(port), left_over ? fmt::format("all bandwidth sits on TC 0 (100/0/0…), as ice leaves it on entering L3 DSCP mode; lossless TC {} has 0 %", tc)
                                                 : fmt::format("lossless TC {} has 0 % of the bandwidth ({})", tc, fmt::join(all, "/")))
                .want("bandwidth for the lossless TC").from(source).mend(lossless_remedy(port, plan, "Share the bandwidth out among the TCs."));
            return;
        }
        fine.push_back(fmt::format("TC {}: {}", tc, share.text));
        for (unsigned other = 0; !is_tc && other < dcb.ets->priority_tc.size(); ++other)
            if (other != number && dcb.ets->priority_tc[other] == static_cast<int>(tc) && !(dcb.pfc->enabled >> other & 1u)) shared.push_back(std::to_string(other));
    }
    if (shared.empty()) {
        out.pass(subject_of(port), list_of(fine));
        return;
    }
    out.warn(subject_of(port), fmt::format("{}, shared with priorities {} that are not lossless", list_of(fine), list_of(shared)))
        .want("a TC of its own for the lossless priority").from(source)
        .mend(lossless_remedy(port, plan, "Give the lossless priority a TC of its own."));
}

}  // namespace preflight
