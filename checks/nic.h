#pragma once
// What the nic checks share.

#include "preflight/check.h"

namespace preflight {

Check nic_bond_check();

/// The path MTU rdma_cm takes over a RoCE netdev: the largest IB MTU after 96 bytes of headers.
int roce_path_mtu(int netdev_mtu);

}  // namespace preflight
