#pragma once
// How each NIC driver treats DCB. One row per driver and family of PCI ids; whatever a check says of "this driver" comes
// from here.

#include <optional>
#include <string>
#include <string_view>

namespace preflight {

/// How a port finds the priority of a RoCE frame it sends.
enum class Classifier {
    ice_dscp,  ///< L3 DSCP mode while there is a DSCP APP entry, whose priority is then a TC; else PCP mode
    ice_pcp,   ///< PCP mode only
    mlx5,      ///< DSCP trust while there is a DSCP APP entry, else PCP trust
    standard,  ///< as the APP trust table says; without one it cannot be seen
};

/// What becomes of link pause beside PFC.
enum class PauseRule {
    hidden,   ///< reads "off" and cannot be set while PFC is on
    visible,  ///< both can be on at once
};

struct DcbRules {
    std::string_view driver;      ///< "" matches any driver
    std::string_view family;      ///< for people: "E810"
    Classifier classifier = Classifier::standard;
    PauseRule pause = PauseRule::visible;
    std::string_view agent_flag;  ///< ethtool private flag of the firmware LLDP agent; empty where there is none
    double refresh_seconds = 0;   ///< how far apart two readings of the port statistics must be
    std::string_view source;      ///< where the row comes from
};

/// The row for a kernel driver ("ice") and PCI ids; the last row fits every driver.
const DcbRules& dcb_rules(std::string_view driver, unsigned vendor, unsigned device);

/// The priority that the kernel gives to a ToS byte: rt_tos2priority() of include/net/route.h, that is ip_tos2prio[] of
/// net/ipv4/route.c at (tos & 0x1E) >> 1. Only 0, 2, 4 and 6 occur.
unsigned tos_to_priority(unsigned tos);

/// The TC of a DSCP without an APP entry of its own, just after ice entered L3 DSCP mode with `tcs` traffic classes. Nothing
/// of it shows in netlink. nullopt where the driver leaves what was there before (ice_dcb_nl.c).
std::optional<unsigned> ice_default_tc(unsigned dscp, unsigned tcs);

/// The TC that ice gives to a DSCP whose APP entry was deleted while others remained (ice_dcb_nl.c).
unsigned ice_deleted_tc(unsigned dscp);

/// What a statistic counts.
enum class Counted {
    pause_sent,      ///< PFC frames of one priority
    pause_received,
    link_pause,      ///< pause of the whole link
    loss,            ///< a frame was lost, or had to be sent again
    rdma_packets,    ///< RoCE packets, sent or received
    ecn,             ///< congestion marks and notifications
};

/// Where a statistic is read.
enum class CounterPlace { ethtool, rdma };

/// A statistic of a driver. A '#' in the name stands for a priority, 0 to 7.
struct CounterRow {
    std::string_view driver;  ///< driver of the netdev; "rdma_rxe" for soft-RoCE's own
    CounterPlace place;
    std::string_view name;
    Counted counts;
    std::string_view meaning;  ///< for `loss`: what was lost
};

/// All rows; sources stand beside the table.
std::string_view counters_source();
const CounterRow* counter_rows_begin();
const CounterRow* counter_rows_end();

/// The priority in `name` when it fits the row's pattern; 8 for a row without '#'; nullopt when it does not fit.
std::optional<unsigned> counter_priority(const CounterRow& row, std::string_view name);

}  // namespace preflight
