#pragma once
// One function per module; each stands in the file of its name.

#include "preflight/check.h"

namespace preflight {

Module platform_module();
Module nic_module();
Module rdma_module();
Module server_module();
Module service_module();
Module env_module();
Module memlock_module();
Module peers_module();
Module container_module();
Module dcb_module();
Module pause_module();
Module congestion_module();
Module counters_module();
Module fabric_module();
Module s3_module();
Module gpu_module();
Module pcie_module();

}  // namespace preflight
