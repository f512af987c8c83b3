#pragma once
// What the nic checks share.

#include "facts/ports.h"
#include "preflight/check.h"
#include "preflight/facts.h"

namespace preflight {

Check nic_bond_check();

/// The member whose RDMA device serves the whole bond under the out-of-tree ice driver's RoCE LAG, for another member of that
/// bond; nullptr when the port has a device of its own or the conditions of RoCE LAG are not met.
const Port* roce_lag_primary(const Facts& facts, const Port& port);

/// The path MTU rdma_cm takes over a RoCE netdev: the largest IB MTU after 96 bytes of headers.
int roce_path_mtu(int netdev_mtu);

}  // namespace preflight
