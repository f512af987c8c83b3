#pragma once
// Two readings of the counters and states of every storage port, --sample SECONDS apart. All first readings are taken, then comes one
// wait, then all second ones. A snapshot holds both and is not waited for.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "facts/dcb_rules.h"
#include "preflight/host.h"

namespace preflight {

class Facts;
struct LosslessPort;

using Counters = std::map<std::string, std::uint64_t>;

/// The readings of one source; an unreadable one has no deltas.
struct TwoReadings {
    Fact<Counters> first, second;

    /// How far a counter moved. A counter that went backwards started anew (driver reload): what it shows since then.
    /// nullopt: it is not in both readings.
    std::optional<std::uint64_t> delta(const std::string& name) const;
};

struct PortSamples {
    std::string key;
    TwoReadings ethtool, rdma;
    TwoReadings pfc;  ///< of the IEEE PFC attribute: "requests 3", "indications 3"
};

struct Samples {
    double seconds = 0;  ///< between the readings; 0 without --sample
    std::vector<PortSamples> ports;
    Fact<std::vector<Link>> links = Absent{};           ///< the second reading; the first is Ports::links
    Fact<std::vector<RdmaDevice>> devices = Absent{};   ///< the second reading; the first is RdmaStack::nldev

    bool taken() const { return seconds > 0; }
    static Samples read(const Facts& facts);
    const PortSamples* of(const std::string& key) const;
};

/// Called with what is about to be waited for: "2.5 s between two readings of 2 ports". The command line shows it; unset, nothing
/// is shown.
void on_wait(void (*show)(const std::string& text));

/// One counter that moved, with its row of the table.
struct Moved {
    const CounterRow* row = nullptr;
    std::string name;
    unsigned priority = 8;  ///< 8: not of one priority
    std::uint64_t delta = 0;
    double per_second = 0;
};

/// The counters of this port's driver and RDMA device: those that moved, those that stood still, those the driver does
/// not have.
struct CounterView {
    std::vector<Moved> moved;
    std::vector<std::string> still, lacking;
    bool ethtool_read = false, rdma_read = false;
};
CounterView view_counters(const LosslessPort& port, const PortSamples& samples, double seconds);

}  // namespace preflight
