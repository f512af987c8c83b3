#pragma once
// Which kernel module stands behind an RDMA device.

#include <array>
#include <string_view>

namespace preflight {

/// Modules by enum rdma_driver_id (include/uapi/rdma/ib_user_ioctl_verbs.h; module names from the Makefiles below
/// drivers/infiniband). irdma took over i40iw's number.
inline constexpr std::array<std::string_view, 21> rdma_driver_names{
    "",       "mlx5_ib", "mlx4_ib", "iw_cxgb3",   "iw_cxgb4", "ib_mthca",       "bnxt_re",
    "ocrdma", "iw_nes",  "irdma",   "vmw_pvrdma", "qedr",     "hns_roce_hw_v2", "usnic_verbs",
    "rdma_rxe", "hfi1",  "ib_qib",  "efa",        "siw",      "erdma",          "mana_ib",
};

/// Module of RdmaChardev::driver_id as /sys/module spells it; empty for 0 and for numbers newer than the table.
constexpr std::string_view rdma_driver_name(unsigned id) {
    return id < rdma_driver_names.size() ? rdma_driver_names[id] : std::string_view();
}

}  // namespace preflight
