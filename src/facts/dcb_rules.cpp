#include "facts/dcb_rules.h"

#include <algorithm>
#include <array>

namespace preflight {
namespace {

// drivers/net/ethernet/intel/ice/ice_lib.c (ice_init_feature_support): ICE_F_DSCP is set for these ids and no others.
constexpr unsigned intel = 0x8086;
constexpr std::array<unsigned, 6> e810_ids = {0x1591, 0x1592, 0x1593, 0x1599, 0x159a, 0x159b};

// ice reads its port statistics in the service task, every one to two seconds.
constexpr double ice_refresh = 2.5;

constexpr DcbRules ice_e810{"ice", "E810", Classifier::ice_dscp, PauseRule::hidden, "fw-lldp-agent", ice_refresh,
                            "Linux drivers/net/ethernet/intel/ice: ice_dcb_nl.c, ice_lib.c, ice_ethtool.c"};
constexpr DcbRules ice_other{"ice", "E82x/E830", Classifier::ice_pcp, PauseRule::hidden, "fw-lldp-agent", ice_refresh,
                             "Linux drivers/net/ethernet/intel/ice: ice_dcb_nl.c, ice_lib.c, ice_ethtool.c"};
constexpr DcbRules mlx5{"mlx5_core", "ConnectX", Classifier::mlx5, PauseRule::visible, "", 0,
                        "Linux drivers/net/ethernet/mellanox/mlx5/core: en_dcbnl.c, en_ethtool.c"};
constexpr DcbRules any{"", "NIC", Classifier::standard, PauseRule::visible, "", 0, "IEEE 802.1Qaz, Linux net/dcb/dcbnl.c"};

// net/ipv4/route.c: ip_tos2prio[], with TC_PRIO_BESTEFFORT 0, BULK 2, INTERACTIVE 6, INTERACTIVE_BULK 4
// (include/uapi/linux/pkt_sched.h).
constexpr std::array<unsigned, 16> tos2prio = {0, 0, 0, 0, 2, 2, 2, 2, 6, 6, 6, 6, 4, 4, 4, 4};

// ice: ice_ethtool.c (ice_gstrings_pf_stats). irdma: drivers/infiniband/hw/irdma/verbs.c, GEN_2 names; it has no counter of
// RoCE retransmissions. mlx5: mlx5/core/en_stats.c and drivers/infiniband/hw/mlx5/counters.c.
constexpr CounterRow counter_table[] = {
    {"ice", CounterPlace::ethtool, "tx_priority_#_xoff.nic", Counted::pause_sent, ""},
    {"ice", CounterPlace::ethtool, "rx_priority_#_xoff.nic", Counted::pause_received, ""},
    {"ice", CounterPlace::ethtool, "link_xoff_tx.nic", Counted::link_pause, ""},
    {"ice", CounterPlace::ethtool, "link_xoff_rx.nic", Counted::link_pause, ""},
    {"ice", CounterPlace::ethtool, "rx_dropped.nic", Counted::loss, "received frames dropped for want of buffer"},
    {"ice", CounterPlace::ethtool, "rx_crc_errors.nic", Counted::loss, "received frames with a bad checksum: cable or transceiver"},
    {"ice", CounterPlace::ethtool, "tx_timeout.nic", Counted::loss, "transmit queue stalls"},
    {"ice", CounterPlace::ethtool, "mac_local_faults.nic", Counted::loss, "faults of the link at this end"},
    {"ice", CounterPlace::ethtool, "mac_remote_faults.nic", Counted::loss, "faults of the link at the far end"},
    {"ice", CounterPlace::rdma, "ip4InDiscards", Counted::loss, "received RoCE packets discarded (IPv4)"},
    {"ice", CounterPlace::rdma, "ip6InDiscards", Counted::loss, "received RoCE packets discarded (IPv6)"},
    {"ice", CounterPlace::rdma, "rxVlanErrors", Counted::loss, "received packets with the wrong VLAN"},
    {"ice", CounterPlace::rdma, "TxUDP", Counted::rdma_packets, ""},
    {"ice", CounterPlace::rdma, "RxUDP", Counted::rdma_packets, ""},
    {"ice", CounterPlace::rdma, "RxECNMrkd", Counted::ecn, "the switch marks congestion"},
    {"ice", CounterPlace::rdma, "cnpSent", Counted::ecn, "this node answers marks"},
    {"ice", CounterPlace::rdma, "cnpHandled", Counted::ecn, "a peer answers marks"},
    {"mlx5_core", CounterPlace::ethtool, "tx_prio#_pause", Counted::pause_sent, ""},
    {"mlx5_core", CounterPlace::ethtool, "rx_prio#_pause", Counted::pause_received, ""},
    {"mlx5_core", CounterPlace::ethtool, "tx_global_pause", Counted::link_pause, ""},
    {"mlx5_core", CounterPlace::ethtool, "rx_global_pause", Counted::link_pause, ""},
    {"mlx5_core", CounterPlace::ethtool, "rx_discards_phy", Counted::loss, "received frames dropped for want of buffer"},
    {"mlx5_core", CounterPlace::ethtool, "rx_prio#_discards", Counted::loss, "received frames of one priority dropped"},
    {"mlx5_core", CounterPlace::ethtool, "rx_prio#_buf_discard", Counted::loss, "received frames of one priority dropped for want of buffer"},
    {"mlx5_core", CounterPlace::ethtool, "rx_prio#_cong_discard", Counted::loss, "received frames of one priority dropped by congestion"},
    {"mlx5_core", CounterPlace::ethtool, "tx_pause_storm_error_events", Counted::loss, "pause storms that the NIC broke off by dropping"},
    {"mlx5_core", CounterPlace::ethtool, "rx_crc_errors_phy", Counted::loss, "received frames with a bad checksum: cable or transceiver"},
    {"mlx5_core", CounterPlace::ethtool, "tx_vport_rdma_unicast_packets", Counted::rdma_packets, ""},
    {"mlx5_core", CounterPlace::ethtool, "rx_vport_rdma_unicast_packets", Counted::rdma_packets, ""},
    {"mlx5_core", CounterPlace::rdma, "out_of_buffer", Counted::loss, "received packets without a posted receive"},
    {"mlx5_core", CounterPlace::rdma, "out_of_sequence", Counted::loss, "packets that arrived out of order"},
    {"mlx5_core", CounterPlace::rdma, "packet_seq_err", Counted::loss, "sequence errors: packets were lost"},
    {"mlx5_core", CounterPlace::rdma, "local_ack_timeout_err", Counted::loss, "acknowledgements that never came"},
    {"mlx5_core", CounterPlace::rdma, "roce_adp_retrans", Counted::loss, "retransmissions"},
    {"mlx5_core", CounterPlace::rdma, "roce_slow_restart", Counted::loss, "restarts after a loss"},
    {"mlx5_core", CounterPlace::rdma, "np_ecn_marked_roce_packets", Counted::ecn, "the switch marks congestion"},
    {"mlx5_core", CounterPlace::rdma, "np_cnp_sent", Counted::ecn, "this node answers marks"},
    {"mlx5_core", CounterPlace::rdma, "rp_cnp_handled", Counted::ecn, "a peer answers marks"},
    // drivers/infiniband/sw/rxe/rxe_hw_counters.c
    {"rdma_rxe", CounterPlace::rdma, "sent_pkts", Counted::rdma_packets, ""},
    {"rdma_rxe", CounterPlace::rdma, "rcvd_pkts", Counted::rdma_packets, ""},
    {"rdma_rxe", CounterPlace::rdma, "out_of_seq_request", Counted::loss, "requests that arrived out of order"},
    {"rdma_rxe", CounterPlace::rdma, "rcvd_seq_err", Counted::loss, "sequence errors: packets were lost"},
    {"rdma_rxe", CounterPlace::rdma, "completer_retry_err", Counted::loss, "retransmissions"},
    {"rdma_rxe", CounterPlace::rdma, "retry_exceeded_err", Counted::loss, "transfers given up after all retries"},
};

}  // namespace

const DcbRules& dcb_rules(std::string_view driver, unsigned vendor, unsigned device) {
    // An id that could not be read leaves the generation open; only an E810 takes DSCP entries, so its rules let the tables tell.
    if (driver == ice_e810.driver && (vendor == 0 || device == 0)) return ice_e810;
    if (driver == ice_e810.driver)
        return vendor == intel && std::find(e810_ids.begin(), e810_ids.end(), device) != e810_ids.end() ? ice_e810 : ice_other;
    return driver == mlx5.driver ? mlx5 : any;
}

unsigned tos_to_priority(unsigned tos) {
    return tos2prio[(tos & 0x1e) >> 1];
}

std::optional<unsigned> ice_default_tc(unsigned dscp, unsigned tcs) {
    if (dscp > 63) return std::nullopt;
    if (tcs == 8) return dscp >> 3;
    if (tcs != 4) return std::nullopt;
    const unsigned half = dscp & 31;  // the loop writes 0-3, 4-7, 8-11 and 12-19 of each half
    if (half > 19) return std::nullopt;
    return std::min(half >> 2, 3u);
}

unsigned ice_deleted_tc(unsigned dscp) {
    return dscp % 8;
}

std::string_view counters_source() {
    return "Linux ice_ethtool.c, irdma/verbs.c, mlx5/core/en_stats.c, mlx5/counters.c, rxe_hw_counters.c";
}

const CounterRow* counter_rows_begin() { return std::begin(counter_table); }
const CounterRow* counter_rows_end() { return std::end(counter_table); }

std::optional<unsigned> counter_priority(const CounterRow& row, std::string_view name) {
    const auto mark = row.name.find('#');
    if (mark == std::string_view::npos) return name == row.name ? std::optional(8u) : std::nullopt;
    if (name.size() != row.name.size() || name.substr(0, mark) != row.name.substr(0, mark) || name.substr(mark + 1) != row.name.substr(mark + 1) ||
        name[mark] < '0' || name[mark] > '7')
        return std::nullopt;
    return static_cast<unsigned>(name[mark] - '0');
}

}  // namespace preflight
