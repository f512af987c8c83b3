// Order matters. ice refuses DCB writes while the firmware's LLDP agent runs; its first DSCP entry enters L3 DSCP mode and
// leaves all bandwidth on TC 0, so bandwidth and PFC come after it (ice_dcb_nl.c). `dcb` exits 0 when a driver refused, so
// the unit reads back what it set.

#include "lossless_remedy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace preflight {
namespace {

constexpr unsigned lossless_share = 50, best_effort_share = 20;

bool is_ice(const LosslessPort& port) {
    return port.driver == "ice";
}

/// "0:20 1:5 2:5 3:50 …": half for the lossless class, some for every other; a TC without bandwidth starves.
std::string shares(unsigned lossless_tc, unsigned tcs) {
    std::vector<unsigned> share(tcs, 0);
    const unsigned others = tcs - 1;
    if (others == 0) return "0:100";
    const unsigned rest = 100 - lossless_share;
    const unsigned each = tcs == 8 && lossless_tc != 0 ? (rest - best_effort_share) / (others - 1) : rest / others;
    std::fill(share.begin(), share.end(), each);
    share[lossless_tc] = lossless_share;
    unsigned sum = 0;
    for (const unsigned one : share) sum += one;
    share[0] += 100 - sum;
    std::string text;
    for (unsigned tc = 0; tc < tcs; ++tc) text += fmt::format("{}{}:{}", tc ? " " : "", tc, share[tc]);
    return text;
}

unsigned tcs_of(const LosslessPort& port) {
    const int tcs = port.dcb && port.dcb->ets ? port.dcb->ets->tcs : 8;
    return tcs >= 1 && tcs <= 8 ? static_cast<unsigned>(tcs) : 8;
}

std::string app(const LosslessPort& port, const char* verb, unsigned dscp, unsigned priority) {
    return fmt::format("dcb app {} dev {} dscp-prio {}:{}", verb, port.netdev, dscp, priority);
}

std::string ets(const LosslessPort& port, unsigned tc) {
    const bool identity = port.rules().classifier != Classifier::ice_dscp;
    return fmt::format("dcb ets set dev {} tc-tsa all:ets tc-bw {}{}", port.netdev, shares(tc, tcs_of(port)), identity ? " prio-tc 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:7" : "");
}

std::string pfc(const LosslessPort& port, unsigned priority) {
    return fmt::format("dcb pfc set dev {} prio-pfc all:off {}:on", port.netdev, priority);
}

std::string agent_off(const LosslessPort& port) {
    return port.rules().agent_flag.empty() ? fmt::format("dcb dcbx set dev {} host ieee", port.netdev)
                                           : fmt::format("ethtool --set-priv-flags {} {} off", port.netdev, port.rules().agent_flag);
}

bool pause_on(const LosslessPort& port) {
    return port.pause && (port.pause->rx || port.pause->tx);
}

/// E82x, E830: no L3 DSCP mode. Only the priorities of the kernel's ToS table are in reach without a VLAN.
std::vector<std::string> pcp_steps(const LosslessPort& port, const LosslessPlan& plan, bool all) {
    std::vector<std::string> steps;
    const unsigned skb = tos_to_priority(plan.dscp << 2);
    unsigned priority = skb;
    for (const Upper& upper : port.uppers)
        if (upper.egress) {
            priority = plan.priority;
            const auto mapped = upper.egress->find(skb);
            if (all || mapped == upper.egress->end() || mapped->second != priority)
                steps.push_back(fmt::format("ip link set dev {} type vlan egress-qos-map {}:{}", upper.netdev, skb, priority));
        }
    const Dcb* dcb = port.dcb ? &*port.dcb : nullptr;
    const auto tc = dcb && dcb->ets && priority < dcb->ets->priority_tc.size() ? dcb->ets->priority_tc[priority] : -1;
    const bool alone = tc >= 0 && std::count(dcb->ets->priority_tc.begin(), dcb->ets->priority_tc.end(), tc) == 1 &&
                       bandwidth(port, static_cast<unsigned>(tc)).state == LinkState::closed;
    if (all || !alone) steps.push_back(fmt::format("dcb ets set dev {} tc-tsa all:ets tc-bw all:0 0:50 1:50 prio-tc all:0 {}:1", port.netdev, priority));
    if (all || !dcb || !dcb->pfc || dcb->pfc->enabled != 1u << priority) steps.push_back(pfc(port, priority));
    return steps;
}

std::vector<std::string> dscp_steps(const LosslessPort& port, const LosslessPlan& plan, bool all) {
    std::vector<std::string> steps;
    const bool ice = is_ice(port);
    const Dcb* dcb = port.dcb ? &*port.dcb : nullptr;
    const auto entries = dcb ? dscp_entries(*dcb) : std::vector<DscpEntry>{};
    bool reset = all || entries.empty(), present = false;
    std::size_t left = entries.size();
    if (!all)
        for (const DscpEntry& entry : entries) {
            if (entry.dscp != plan.dscp) continue;
            if (entry.priority == plan.priority) present = true;
            else if (ice) {  // a mapped code point is refused; mlx5 replaces it
                steps.push_back(app(port, "del", entry.dscp, entry.priority));
                reset |= --left == 0;
            }
        }
    if (!present) steps.push_back(app(port, "add", plan.dscp, plan.priority));
    const auto tc = ice ? std::optional(plan.priority)
                        : dcb && dcb->ets && plan.priority < dcb->ets->priority_tc.size() ? std::optional(static_cast<unsigned>(dcb->ets->priority_tc[plan.priority])) : std::nullopt;
    if ((ice && reset) || !tc || bandwidth(port, *tc).state != LinkState::closed) steps.push_back(ets(port, plan.priority));
    if (reset || !dcb || !dcb->pfc || dcb->pfc->enabled != 1u << plan.priority) steps.push_back(pfc(port, plan.priority));
    return steps;
}

std::vector<std::string> steps_of(const LosslessPort& port, const LosslessPlan& plan, bool all) {
    std::vector<std::string> steps;
    const bool agent = owner(port) == Owner::agent;
    if (agent || (all && !port.rules().agent_flag.empty())) steps.push_back(agent_off(port));
    if (pause_on(port)) steps.push_back(fmt::format("ethtool -A {} {}rx off tx off", port.netdev, port.pause->autoneg ? "autoneg off " : ""));
    const auto rest = port.rules().classifier == Classifier::ice_pcp ? pcp_steps(port, plan, all || agent) : dscp_steps(port, plan, all || agent);
    steps.insert(steps.end(), rest.begin(), rest.end());
    return steps;
}

/// systemd.unit(5), string escaping: all but letters, digits, ':', '_' and '.' becomes \xNN.
std::string escaped(const std::string& netdev) {
    std::string out;
    for (const char c : netdev)
        out += std::isalnum(static_cast<unsigned char>(c)) || c == ':' || c == '_' || c == '.' ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    return out;
}

}  // namespace

LosslessPlan plan_for(const LosslessPort& port, const ClassSetting& setting, const Expect& expect) {
    LosslessPlan plan;
    const auto protected_ones = port.dcb && port.dcb->pfc ? lossless(*port.dcb->pfc) : std::vector<unsigned>{};
    if (expect.priority) plan.priority = *expect.priority;
    else if (protected_ones.size() == 1) plan.priority = protected_ones.front();
    if (plan.priority != 3) plan.dscp = plan.priority * 8;
    if (port.dcb)
        for (const DscpEntry& entry : dscp_entries(*port.dcb))
            if (entry.priority == plan.priority) plan.dscp = entry.dscp;
    if (setting.kind == ClassSetting::value) plan.dscp = setting.number < 64 ? setting.number : setting.number >> 2;
    if (expect.dscp) plan.dscp = *expect.dscp;
    return plan;
}

std::vector<std::string> lossless_commands(const LosslessPort& port, const LosslessPlan& plan) {
    auto steps = steps_of(port, plan, false);
    for (std::string& step : steps) step = "sudo " + step;
    return steps;
}

std::vector<std::string> lossless_unit(const LosslessPort& port, const LosslessPlan& plan) {
    const std::string name = fmt::format("lossless-{}.service", port.netdev);
    const std::string device = fmt::format("sys-subsystem-net-devices-{}.device", escaped(port.netdev));
    const bool pcp = port.rules().classifier == Classifier::ice_pcp;
    const bool vlan = std::any_of(port.uppers.begin(), port.uppers.end(), [](const Upper& upper) { return upper.egress.has_value(); });
    const bool late = pcp && vlan;  // the VLAN must be there
    std::vector<std::string> lines = {"[Unit]", fmt::format("Description=Lossless RoCE on {}", port.netdev), "BindsTo=" + device,
                                      "After=" + device + (late ? " network-online.target" : ""), late ? "Wants=network-online.target" : "Wants=network-pre.target"};
    if (!late) lines.push_back("Before=network-pre.target");
    lines.insert(lines.end(), {"[Service]", "Type=oneshot", "RemainAfterExit=yes"});
    if (!pcp) lines.push_back(fmt::format("ExecStart=-dcb app flush dev {} dscp-prio", port.netdev));
    for (const std::string& step : steps_of(port, plan, true)) lines.push_back("ExecStart=" + step);
    const unsigned protected_one = pcp && !vlan ? tos_to_priority(plan.dscp << 2) : plan.priority;
    lines.push_back(fmt::format("ExecStart=sh -c \"dcb pfc show dev {} prio-pfc | grep -q {}:on\"", port.netdev, protected_one));
    lines.insert(lines.end(), {"[Install]", "WantedBy=multi-user.target"});
    return {fmt::format("printf '%s\\n' '{}' | sudo tee /etc/systemd/system/{}", fmt::join(lines, "' '"), name), "sudo systemctl daemon-reload", "sudo systemctl enable --now " + name};
}

Remedy lossless_remedy(const LosslessPort& port, const LosslessPlan& plan, std::string summary) {
    if (!port.bond.empty() && is_ice(port)) summary += fmt::format(" If the driver refuses while the port is in {}, take it out of the bond first.", port.bond);
    std::vector<std::string> undo = {fmt::format("sudo dcb pfc set dev {} prio-pfc all:off", port.netdev)};
    if (port.rules().classifier != Classifier::ice_pcp) undo.push_back(fmt::format("sudo dcb app flush dev {} dscp-prio", port.netdev));
    return {std::move(summary), lossless_commands(port, plan), lossless_unit(port, plan), std::move(undo)};
}

}  // namespace preflight
