#pragma once
// Ports as their drivers show them, for the tests of the lossless chain.

#include "facts/lossless.h"

namespace preflight::ports {

inline const std::vector<int> identity = {0, 1, 2, 3, 4, 5, 6, 7};

inline Dcb dcb(unsigned pfc, std::vector<DcbApp> apps, std::vector<int> bandwidth, std::vector<int> priority_tc = identity) {
    Dcb made;
    made.dcbx = 0x09;
    made.ets = DcbEts{false, 8, false, std::move(bandwidth), std::vector<int>(8, 2), std::move(priority_tc)};
    made.pfc = DcbPfc{8, pfc, false, 0, std::vector<std::uint64_t>(8, 0), std::vector<std::uint64_t>(8, 0)};
    made.apps = std::move(apps);
    return made;
}

inline const std::vector<int> shared_out = {20, 5, 5, 50, 5, 5, 5, 5};

/// An E810 in L3 DSCP mode with DSCP 26 in lossless TC 3.
inline LosslessPort e810() {
    LosslessPort port;
    port.netdev = "ens1f0np0";
    port.key = "0000:3b:00.0";
    port.driver = "ice";
    port.vendor = 0x8086;
    port.device = 0x1592;
    port.rdma_device = "rocep59s0f0";
    port.rdma_driver = "irdma";
    port.uppers = {{"ens1f0np0", {}}};
    port.dcb = dcb(1u << 3, {{5, 3, 26}}, shared_out);
    port.pause = EthtoolPause{false, false, false};
    port.flags = std::map<std::string, bool>{{"fw-lldp-agent", false}};
    return port;
}

/// The same port in PCP mode: no DSCP entry, PFC as given.
inline LosslessPort e810_pcp(unsigned pfc) {
    LosslessPort port = e810();
    port.dcb = dcb(pfc, {}, shared_out);
    return port;
}

/// An E830, which has no L3 DSCP mode.
inline LosslessPort e830(unsigned pfc) {
    LosslessPort port = e810_pcp(pfc);
    port.device = 0x12d2;
    return port;
}

/// A ConnectX with DSCP trust, its TCs as the driver crosses them.
inline LosslessPort connectx() {
    LosslessPort port = e810();
    port.netdev = "ens2f0np0";
    port.key = "0000:5e:00.0";
    port.driver = "mlx5_core";
    port.vendor = 0x15b3;
    port.device = 0x101d;
    port.rdma_device = "mlx5_0";
    port.rdma_driver = "mlx5_ib";
    port.uppers = {{"ens2f0np0", {}}};
    port.dcb = dcb(1u << 3, {{5, 3, 26}}, std::vector<int>(8, 0), {1, 0, 2, 3, 4, 5, 6, 7});
    port.dcb = [&] {
        Dcb made = *port.dcb;
        made.dcbx = 0x0d;
        made.ets->tsa.assign(8, 255);
        return made;
    }();
    port.flags = std::map<std::string, bool>{{"rx_cqe_moder", true}};
    return port;
}

template <class Change>
LosslessPort with_dcb(LosslessPort port, Change change) {
    Dcb made = *port.dcb;
    change(made);
    port.dcb = made;
    return port;
}

inline LosslessPort without_dcb(LosslessPort port) {
    port.dcb = Absent{"EOPNOTSUPP"};
    return port;
}

inline LosslessPort silent(LosslessPort port) {
    port.dcb = Unreadable{"EPERM", "dcb: EPERM"};
    return port;
}

inline LosslessPort over_vlan(LosslessPort port, std::map<unsigned, unsigned> egress) {
    port.uppers = {{"storage.100", std::move(egress)}};
    return port;
}

}  // namespace preflight::ports
