#include "facts/lossless.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace preflight {
namespace {

// include/uapi/linux/dcbnl.h
constexpr int selector_dscp = 5, selector_pcp = 255;
constexpr unsigned dcbx_lld_managed = 2;
constexpr int tsa_strict = 0, tsa_cbs = 1, tsa_ets = 2, tsa_vendor = 255;

bool has_dscp_entry(const Dcb& dcb) {
    return dcb.apps && std::any_of(dcb.apps->begin(), dcb.apps->end(), [](const DcbApp& app) { return app.selector == selector_dscp; });
}

std::optional<int> at(const std::vector<int>& list, unsigned index) {
    return index < list.size() ? std::optional(list[index]) : std::nullopt;
}

/// Fills a chain link by link; after a broken or unseen one nothing more is known.
class Tracer {
public:
    Tracer(const LosslessPort& port, const Upper& upper, Chain& chain) : port_(port), upper_(upper), dcb_(*port.dcb), chain_(chain) {}

    void run() {
        add("DSCP", fmt::format("{}", chain_.tos >> 2), "ToS byte, upper six bits");
        const Mode how = mode(port_, upper_);
        const bool ice_dscp = port_.rules().classifier == Classifier::ice_dscp && how == Mode::dscp;
        if (how == Mode::unseen) {
            unseen("priority", "the driver does not show whether it trusts DSCP or PCP");
            return;
        }
        if (how == Mode::dscp ? !by_dscp(ice_dscp) : !by_pcp()) return;
        if (!ice_dscp && !to_tc()) return;
        pfc(ice_dscp);
    }

private:
    void add(std::string what, std::string value, std::string source, LinkState state = LinkState::closed, std::string note = {}) {
        chain_.links.push_back({std::move(what), std::move(value), std::move(source), state, std::move(note)});
    }
    void unseen(std::string what, std::string note) { add(std::move(what), "not seen", "dcb (netlink)", LinkState::unseen, std::move(note)); }

    bool by_dscp(bool ice) {
        const unsigned dscp = chain_.tos >> 2;
        const char* what = ice ? "TC" : "priority";
        std::vector<unsigned> found;
        if (!dcb_.apps) {
            unseen(what, "the driver sent no APP table");
            return false;
        }
        for (const DscpEntry& entry : dscp_entries(dcb_))
            if (entry.dscp == dscp) found.push_back(entry.priority);
        if (found.size() > 1) {
            const auto kept = std::find_if(found.begin(), found.end(), [&](unsigned priority) { return dcb_.pfc && dcb_.pfc->enabled >> priority & 1u; });
            const unsigned chosen = kept == found.end() ? found.back() : *kept;  // broken only if no entry leads to a lossless one
            settle(ice, chosen);
            add(what, fmt::format("{}", chosen), "APP table", LinkState::ambiguous,
                fmt::format("DSCP {} has {} APP entries, for {} {}", dscp, found.size(), what, fmt::join(found, " and ")));
            return true;
        }
        if (found.size() == 1) {
            settle(ice, found.front());
            add(what, fmt::format("{}", found.front()), fmt::format("APP entry {}:{}{}", dscp, found.front(), ice ? ", L3 DSCP mode" : ""));
            return true;
        }
        if (!ice) {
            unseen(what, fmt::format("DSCP {} has no APP entry, and the driver does not show its default", dscp));
            return false;
        }
        return by_ice_default(dscp);
    }

    bool by_ice_default(unsigned dscp) {
        const auto tc = dcb_.ets ? ice_default_tc(dscp, static_cast<unsigned>(dcb_.ets->tcs)) : std::nullopt;
        if (!tc) {
            unseen("TC", fmt::format("DSCP {} has no APP entry, and the driver does not show its default map", dscp));
            return false;
        }
        settle(true, *tc);
        const std::string source = "default map of L3 DSCP mode, not shown by netlink";
        if (*tc == ice_deleted_tc(dscp)) add("TC", fmt::format("{}", *tc), source);
        else
            add("TC", fmt::format("{}", *tc), source, LinkState::ambiguous,
                fmt::format("DSCP {} has no APP entry of its own: TC {} by the driver's default, TC {} if an entry was deleted before", dscp, *tc,
                            ice_deleted_tc(dscp)));
        return true;
    }

    void settle(bool ice, unsigned priority) {
        chain_.priority = priority;
        if (ice) chain_.tc = priority;
    }

    /// PCP: irdma and rdma_cm take rt_tos2priority and the VLAN's egress map. An untagged frame of mlx5 has no PCP.
    bool by_pcp() {
        const unsigned skb = tos_to_priority(chain_.tos);
        const bool ice = port_.rules().classifier == Classifier::ice_dscp || port_.rules().classifier == Classifier::ice_pcp;
        if (upper_.egress) {
            const auto mapped = upper_.egress->find(skb);
            const unsigned pcp = mapped == upper_.egress->end() ? 0 : mapped->second;
            chain_.priority = pcp;
            add("priority", fmt::format("{}", pcp), fmt::format("PCP mode: rt_tos2priority {}, egress map of VLAN {}{}", skb, upper_.netdev,
                                                                 mapped == upper_.egress->end() ? " (not listed: 0)" : ""));
        } else if (ice) {
            chain_.priority = skb;
            add("priority", fmt::format("{}", skb), "PCP mode: rt_tos2priority of the ToS byte; the frame gets a VLAN-0 priority tag");
        } else {
            chain_.priority = 0;
            add("priority", "0", "PCP trust: an untagged frame has no PCP");
        }
        return true;
    }

    bool to_tc() {
        if (!dcb_.ets) {
            unseen("TC", "the driver sent no ETS attribute");
            return true;  // PFC counts by priority, so a broken link still shows
        }
        const auto tc = at(dcb_.ets->priority_tc, *chain_.priority);
        if (!tc) {
            unseen("TC", fmt::format("the driver's map of priorities has {} entries", dcb_.ets->priority_tc.size()));
            return false;
        }
        chain_.tc = static_cast<unsigned>(*tc);
        add("TC", fmt::format("{}", *tc), "ETS prio-tc");
        return true;
    }

    void pfc(bool ice) {
        if (!dcb_.pfc) {
            unseen("PFC", "the driver sent no PFC attribute, which is not \"off\"");
            return;
        }
        const unsigned bit = ice ? *chain_.tc : *chain_.priority;
        const bool on = dcb_.pfc->enabled >> bit & 1u;
        const auto protected_ones = lossless(*dcb_.pfc);
        add("PFC", on ? "on" : "off", "PFC mask", on ? LinkState::closed : LinkState::broken,
            on ? std::string()
               : fmt::format("{} {} is not lossless; {}", ice ? "TC" : "priority", bit,
                             protected_ones.empty() ? std::string("PFC protects none")
                                                    : fmt::format("PFC protects {}", fmt::join(protected_ones, ", "))));
    }

    const LosslessPort& port_;
    const Upper& upper_;
    const Dcb& dcb_;
    Chain& chain_;
};

struct Reading {
    unsigned tos;
    std::string text;
};

/// Every ToS byte that the setting may stand for: whether a value below 64 is a ToS byte or a DSCP is not public; from 64 on it
/// is no DSCP.
std::vector<Reading> readings(const ClassSetting& setting, const Detection& detection) {
    std::vector<Reading> list;
    if (setting.kind == ClassSetting::value) list.push_back({setting.number, "set as a ToS byte"});
    if (setting.kind == ClassSetting::value && setting.number < 64) list.push_back({setting.number << 2, "set as a DSCP"});
    if (setting.kind == ClassSetting::value) return list;
    for (const DscpEntry& entry : detection.entries) list.push_back({entry.dscp << 2, "found by the automatic detection"});
    return list;
}

LinkState of_alternatives(const std::vector<LinkState>& list) {
    const auto any = [&](LinkState state) { return std::find(list.begin(), list.end(), state) != list.end(); };
    if (std::all_of(list.begin(), list.end(), [](LinkState state) { return state == LinkState::broken; })) return LinkState::broken;
    if (any(LinkState::unseen)) return LinkState::unseen;
    return any(LinkState::broken) || any(LinkState::ambiguous) ? LinkState::ambiguous : LinkState::closed;
}

}  // namespace

std::string_view name(Mode mode) {
    return mode == Mode::dscp ? "DSCP" : mode == Mode::pcp ? "PCP" : "not seen";
}

ClassSetting class_setting(const Fact<std::string>& setting) {
    ClassSetting result;
    if (setting.unreadable() && setting.why().error != "not-asked") {
        result.kind = ClassSetting::unreadable;
        result.why = setting.why().cause;
    }
    if (!setting) return result;
    result.text = *setting;
    const char* const end = setting->data() + setting->size();
    unsigned number = 0;
    const auto parsed = std::from_chars(setting->data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end || number == 0 || number > 255) return result;
    result.kind = ClassSetting::value;
    result.number = number;
    return result;
}

Mode mode(const LosslessPort& port, const Upper& upper) {
    if (!port.dcb) return Mode::unseen;
    const Dcb& dcb = *port.dcb;
    const Classifier classifier = port.rules().classifier;
    if (classifier == Classifier::ice_pcp) return Mode::pcp;
    if (dcb.trust) {
        const auto dscp = std::find(dcb.trust->begin(), dcb.trust->end(), selector_dscp);
        const auto pcp = std::find(dcb.trust->begin(), dcb.trust->end(), selector_pcp);
        if (dscp == dcb.trust->end()) return Mode::pcp;
        return pcp < dscp && upper.egress ? Mode::pcp : Mode::dscp;
    }
    if (classifier == Classifier::standard || !dcb.apps) return Mode::unseen;
    return has_dscp_entry(dcb) ? Mode::dscp : Mode::pcp;
}

Owner owner(const LosslessPort& port) {
    const std::string flag(port.rules().agent_flag);
    if (!flag.empty() && port.flags) {
        const auto found = port.flags->find(flag);
        if (found != port.flags->end() && found->second) return Owner::agent;
        if (found != port.flags->end() && (!port.dcb || !port.dcb->dcbx)) return Owner::host;
    }
    if (!port.dcb || !port.dcb->dcbx) return Owner::unseen;
    return *port.dcb->dcbx & dcbx_lld_managed ? Owner::agent : Owner::host;
}

std::vector<unsigned> lossless(const DcbPfc& pfc) {
    std::vector<unsigned> list;
    for (unsigned priority = 0; priority < 8; ++priority)
        if (pfc.enabled >> priority & 1u) list.push_back(priority);
    return list;
}

std::vector<DscpEntry> dscp_entries(const Dcb& dcb) {
    std::vector<DscpEntry> list;
    if (dcb.apps)
        for (const DcbApp& app : *dcb.apps)
            if (app.selector == selector_dscp && app.protocol >= 0 && app.protocol < 64 && app.priority >= 0 && app.priority < 8)
                list.push_back({static_cast<unsigned>(app.protocol), static_cast<unsigned>(app.priority)});
    std::sort(list.begin(), list.end());
    return list;
}

Detection detect(const LosslessPort& port) {
    if (!port.dcb) return {port.dcb.absent() ? LinkState::broken : LinkState::unseen, {}, port.dcb.absent() ? "the port offers no DCB" : port.dcb.why().cause};
    const Dcb& dcb = *port.dcb;
    if (!dcb.pfc || !dcb.apps) return {LinkState::unseen, {}, fmt::format("the driver sent no {}", dcb.pfc ? "APP table" : "PFC attribute")};
    if (dcb.pfc->enabled == 0) return {LinkState::broken, {}, "PFC is off for every priority"};
    Detection found{LinkState::closed, {}, {}};
    const auto entries = dscp_entries(dcb);
    for (const DscpEntry& entry : entries)
        if (dcb.pfc->enabled >> entry.priority & 1u) found.entries.push_back(entry);
    if (!found.entries.empty()) return found;
    found.state = LinkState::broken;
    found.why = entries.empty() ? std::string("no DSCP APP entry in the IEEE table")
                                : fmt::format("no DSCP APP entry leads to lossless priority {}", fmt::join(lossless(*dcb.pfc), ", "));
    return found;
}

LinkState Chain::state() const {
    LinkState worst = LinkState::closed;
    for (const ChainLink& link : links) worst = std::max(worst, link.state);
    return worst;
}

const ChainLink* Chain::first_bad() const {
    const auto found = std::find_if(links.begin(), links.end(), [](const ChainLink& link) { return link.state != LinkState::closed; });
    return found == links.end() ? nullptr : &*found;
}

std::string Chain::text() const {
    std::string out = fmt::format("ToS {}", tos);
    for (const ChainLink& link : links) out += fmt::format(" -> {} {}", link.what, link.value);
    return out;
}

Chain trace(const LosslessPort& port, const Upper& upper, unsigned tos, std::string reading) {
    Chain chain;
    chain.tos = tos;
    chain.reading = std::move(reading);
    chain.upper = upper.netdev;
    Tracer(port, upper, chain).run();
    return chain;
}

Chains chains(const LosslessPort& port, const ClassSetting& setting) {
    Chains result;
    const Detection detection = detect(port);
    if (!port.dcb) {
        result.state = detection.state;
        result.why = detection.why;
        return result;
    }
    std::vector<LinkState> of_readings;
    for (const Reading& reading : readings(setting, detection)) {
        std::vector<LinkState> of_uppers;
        for (const Upper& upper : port.uppers) {
            result.list.push_back(trace(port, upper, reading.tos, reading.text));
            of_uppers.push_back(result.list.back().state());
        }
        of_readings.push_back(of_alternatives(of_uppers));
    }
    if (of_readings.empty()) {
        result.state = detection.state;
        result.why = detection.why;
    } else {
        result.state = of_alternatives(of_readings);
    }
    return result;
}

Bandwidth bandwidth(const LosslessPort& port, unsigned tc) {
    if (!port.dcb || !port.dcb->ets) return {LinkState::unseen, "not seen", "the driver sent no ETS attribute"};
    const DcbEts& ets = *port.dcb->ets;
    const auto tsa = at(ets.tsa, tc), share = at(ets.tx_bandwidth, tc);
    if (!tsa || !share) return {LinkState::unseen, "not seen", fmt::format("the driver's ETS tables have no TC {}", tc)};
    switch (*tsa) {
        case tsa_strict: return {LinkState::closed, "strict priority", {}};
        case tsa_cbs: return {LinkState::closed, "credit-based shaper", {}};
        case tsa_vendor: return {LinkState::closed, "vendor's scheduler", {}};
        case tsa_ets: break;
        default: return {LinkState::unseen, fmt::format("TSA {}", *tsa), "a transmission selection that this version does not know"};
    }
    if (*share > 0) return {LinkState::closed, fmt::format("{} %", *share), {}};
    return {LinkState::broken, "0 %", fmt::format("TC {} is scheduled by ETS with no bandwidth", tc)};
}

}  // namespace preflight
