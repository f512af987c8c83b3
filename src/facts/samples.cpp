#include "facts/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "facts/lossless.h"
#include "preflight/facts.h"

namespace preflight {
namespace {

void (*show_wait)(const std::string&) = nullptr;

Fact<Counters> pfc_counters(const Fact<Dcb>& dcb) {
    return dcb.then([](const Dcb& tables) -> Fact<Counters> {
        if (!tables.pfc) return Absent{};
        Counters counters;
        const auto fill = [&](const char* name, const std::vector<std::uint64_t>& list) {
            for (std::size_t i = 0; i < list.size(); ++i) counters[fmt::format("{} {}", name, i)] = list[i];
        };
        fill("requests", tables.pfc->requests);
        fill("indications", tables.pfc->indications);
        return counters;
    });
}

/// Rows for the netdev's driver and for what moves the data: soft-RoCE has counters of its own.
bool row_fits(const CounterRow& row, const LosslessPort& port) {
    const bool software = port.rdma_driver == "rdma_rxe";
    if (row.place == CounterPlace::ethtool) return row.driver == port.driver;
    return software ? row.driver == "rdma_rxe" : row.driver == port.driver;
}

}  // namespace

void on_wait(void (*show)(const std::string& text)) {
    show_wait = show;
}

std::optional<std::uint64_t> TwoReadings::delta(const std::string& name) const {
    if (!first || !second) return std::nullopt;
    const auto before = first->find(name), after = second->find(name);
    if (before == first->end() || after == second->end()) return std::nullopt;
    return after->second >= before->second ? after->second - before->second : after->second;
}

Samples Samples::read(const Facts& facts) {
    Samples result;
    const auto asked = facts.options().sample_seconds;
    const Lossless& lossless = facts.lossless();
    if (!asked || lossless.ports.empty()) return result;
    result.seconds = *asked;
    for (const LosslessPort& port : lossless.ports) result.seconds = std::max(result.seconds, port.rules().refresh_seconds);

    Host& host = facts.host();
    const auto reading = [&](const LosslessPort& port, int number, auto member, PortSamples& into) {
        into.ethtool.*member = host.ethtool_statistics(port.netdev, number);
        into.pfc.*member = pfc_counters(host.dcb(port.netdev, number));
        into.rdma.*member = port.rdma_device.empty() ? Fact<Counters>(Absent{}) : host.rdma_counters(port.rdma_device, port.rdma_port, number);
    };
    for (const LosslessPort& port : lossless.ports) {
        result.ports.push_back({port.key, {}, {}, {}});
        reading(port, 0, &TwoReadings::first, result.ports.back());
    }
    if (!facts.options().from_snapshot) {
        if (show_wait) show_wait(fmt::format("{:.1f} s between two readings of {} {}", result.seconds, lossless.ports.size(), lossless.ports.size() == 1 ? "port" : "ports"));
        std::this_thread::sleep_for(std::chrono::duration<double>(result.seconds));
    }
    for (std::size_t i = 0; i < lossless.ports.size(); ++i) reading(lossless.ports[i], 1, &TwoReadings::second, result.ports[i]);
    result.links = host.links(1);
    result.devices = host.rdma_devices(1);
    return result;
}

const PortSamples* Samples::of(const std::string& key) const {
    const auto found = std::find_if(ports.begin(), ports.end(), [&](const PortSamples& port) { return port.key == key; });
    return found == ports.end() ? nullptr : &*found;
}

CounterView view_counters(const LosslessPort& port, const PortSamples& samples, double seconds) {
    CounterView view;
    view.ethtool_read = samples.ethtool.first.has() && samples.ethtool.second.has();
    view.rdma_read = samples.rdma.first.has() && samples.rdma.second.has();
    for (auto row = counter_rows_begin(); row != counter_rows_end(); ++row) {
        if (!row_fits(*row, port)) continue;
        const TwoReadings& readings = row->place == CounterPlace::ethtool ? samples.ethtool : samples.rdma;
        if (!readings.first || !readings.second) continue;
        bool seen = false;
        for (const auto& [name, value] : *readings.second) {
            const auto priority = counter_priority(*row, name);
            const auto delta = priority ? readings.delta(name) : std::nullopt;
            if (!delta) continue;
            seen = true;
            if (*delta == 0) view.still.push_back(name);
            else view.moved.push_back({row, name, *priority, *delta, seconds > 0 ? static_cast<double>(*delta) / seconds : 0});
        }
        if (!seen) view.lacking.emplace_back(row->name);
    }
    return view;
}

}  // namespace preflight
