// What moved between two readings of the counters. Absolute values since boot say nothing; growth does.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "lossless.h"
#include "modules.h"
#include "text.h"

namespace preflight {
namespace {

// Below this many RoCE packets a second the port is idle, and a loss says little about losslessness.
constexpr double under_load = 1000;

std::string rate(const Moved& moved) {
    return fmt::format("{} +{} ({:.1f}/s)", moved.name, moved.delta, moved.per_second);
}

std::string refresh_note(const LosslessPort& port) {
    return port.rules().refresh_seconds > 0 ? fmt::format("; {} refreshes its counters every one to two seconds, so readings are at least {} s apart", port.driver, port.rules().refresh_seconds) : std::string();
}

bool reading_failed(const LosslessPort& port, const PortSamples& samples, bool with_pfc, Findings& out) {
    for (const auto* fact : {&samples.ethtool.first, &samples.ethtool.second, &samples.rdma.first, &samples.rdma.second})
        if (fact->unreadable()) {
            out.unknown(subject_of(port), "a counter reading failed: " + fact->why().cause, how_to_read_again(fact->why()));
            return true;
        }
    for (const auto* fact : {&samples.pfc.first, &samples.pfc.second})
        if (with_pfc && fact->unreadable()) {
            out.unknown(subject_of(port), "a PFC counter reading failed: " + fact->why().cause, how_to_read_again(fact->why()));
            return true;
        }
    return false;
}

}  // namespace

void judge_pause_counters(const LosslessPort& port, const CounterView& view, const PortSamples& samples, Findings& out) {
    if (reading_failed(port, samples, true, out)) return;
    const auto on = port.dcb && port.dcb->pfc ? lossless(*port.dcb->pfc) : std::vector<unsigned>{};
    const auto is_lossless = [&](unsigned priority) { return std::find(on.begin(), on.end(), priority) != on.end(); };
    std::vector<std::string> healthy, elsewhere;
    bool any_source = samples.pfc.first.has() && samples.pfc.second.has();
    for (const Moved& moved : view.moved) {
        if (moved.row->counts == Counted::link_pause) elsewhere.push_back(rate(moved));
        if (moved.row->counts != Counted::pause_sent && moved.row->counts != Counted::pause_received) continue;
        (is_lossless(moved.priority) ? healthy : elsewhere).push_back(rate(moved));
    }
    for (unsigned priority = 0; priority < 8; ++priority)
        for (const char* what : {"requests", "indications"}) {
            const auto delta = samples.pfc.delta(fmt::format("{} {}", what, priority));
            if (!delta || *delta == 0) continue;
            (is_lossless(priority) ? healthy : elsewhere).push_back(fmt::format("PFC {} of {} +{}", what, class_name(port, priority), *delta));
        }
    any_source |= view.ethtool_read;
    if (!any_source) {
        out.unknown(subject_of(port), "this driver offers neither PFC counters nor pause statistics", fmt::format("Run `ethtool -S {}` twice under load.", port.netdev));
    } else if (!elsewhere.empty()) {
        out.warn(subject_of(port), fmt::format("pauses outside the lossless class: {}", list_of(elsewhere)))
            .want("pauses on the lossless priority only").from("ethtool -S, dcb (netlink) IEEE PFC")
            .mend({"Find who pauses: a switch that classifies otherwise, or a peer with another plan.", {fmt::format("ethtool -S {} | grep -iE 'pause|xoff'", port.netdev)}, {}, {}});
    } else if (!healthy.empty()) {
        out.pass(subject_of(port), fmt::format("pauses on the lossless class only, as it should be under load: {}", list_of(healthy)));
    } else {
        out.pass(subject_of(port), "no pause moved; without load this proves nothing" + refresh_note(port));
    }
}

void judge_loss_counters(const LosslessPort& port, const CounterView& view, Findings& out) {
    std::vector<std::string> losses;
    double packets = 0;
    std::vector<std::string> congestion;
    for (const Moved& moved : view.moved) {
        if (moved.row->counts == Counted::loss) losses.push_back(fmt::format("{}, {}", rate(moved), moved.row->meaning));
        if (moved.row->counts == Counted::rdma_packets) packets += moved.per_second;
        if (moved.row->counts == Counted::ecn) congestion.push_back(rate(moved));
    }
    std::vector<std::string> watched;
    for (const std::string& name : view.still) watched.push_back(name);
    const auto has_row = std::any_of(counter_rows_begin(), counter_rows_end(), [&](const CounterRow& row) { return row.driver == port.driver || (row.driver == "rdma_rxe" && port.rdma_driver == "rdma_rxe"); });
    if (!has_row || (watched.empty() && view.moved.empty())) {
        out.unknown(subject_of(port), fmt::format("this version knows no loss counters of {}", port.driver.empty() ? "this driver" : port.driver), fmt::format("Run `ethtool -S {}` twice under load.", port.netdev));
        return;
    }
    const bool loaded = packets >= under_load;
    if (losses.empty()) {
        Draft draft = out.pass(subject_of(port), fmt::format("flat at {:.0f} RoCE packets/s{}", packets, loaded ? "" : ", which is no load"));
        draft.note("flat", watched).note("not offered by this driver", view.lacking);
        if (!congestion.empty()) draft.note("congestion marks", congestion);
        return;
    }
    out.add(loaded ? Status::fail : Status::warn, subject_of(port), fmt::format("{}{}", list_of(losses), loaded ? fmt::format(", at {:.0f} RoCE packets/s", packets) : ""))
        .want("loss counters that stay flat under load").from("ethtool -S, hw_counters")
        .note("not offered by this driver", view.lacking)
        .mend({"Follow the chain to the first drop: host, then the switch port, then its buffers.", {fmt::format("ethtool -S {}", port.netdev)}, {}, {}});
}

namespace {

/// Calls `rule` for each port when --sample was given.
template <class Rule>
std::function<void(const Facts&, Findings&)> sampled(Rule rule) {
    return [rule](const Facts& facts, Findings& out) {
        if (!facts.options().sample_seconds) {
            out.skip(node_subject(), "not asked for (--sample SECONDS)");
            return;
        }
        for (const LosslessPort* port : roce_ports(facts, out))
            if (const PortSamples* samples = facts.samples().of(port->key)) rule(*port, view_counters(*port, *samples, facts.samples().seconds), *samples, out);
    };
}

Check counter_row(std::string_view id, std::string_view title, std::string_view why, std::string_view judges, std::function<void(const Facts&, Findings&)> judge) {
    return row('B', id, title, why, judges, "Run it under load, for example during `mc support perf net`. Then follow the counter that moved.", counters_source(),
               {"nic.selected", "nic.driver", "nic.link"}, std::move(judge));
}

}  // namespace

Module counters_module() {
    return {"counters", "pauses and losses under --sample",
            {counter_row("counters.pfc", "Pauses occur on the lossless priority only", "Pauses elsewhere stop traffic that nobody meant to protect, and show that host and switch disagree.",
                 "With --sample: growth on a lossless priority is healthy, elsewhere or of the whole link it warns. Without --sample it skips.",
                 sampled([](const LosslessPort& port, const CounterView& view, const PortSamples& samples, Findings& out) { judge_pause_counters(port, view, samples, out); })),
             counter_row("counters.loss", "Loss counters stay flat", "RoCE recovers from a loss by sending whole windows again: a few drops cost most of the throughput.",
                 "With --sample: growth of a loss counter warns, under load (1000 RoCE packets a second) it fails. The counters that this driver lacks are listed. Without --sample it skips.",
                 sampled([](const LosslessPort& port, const CounterView& view, const PortSamples& samples, Findings& out) {
                     if (!reading_failed(port, samples, false, out)) judge_loss_counters(port, view, out);
                 }))}};
}

}  // namespace preflight
