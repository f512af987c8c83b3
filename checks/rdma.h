#pragma once
// What the rdma checks share.

#include <vector>

#include "facts/ports.h"
#include "preflight/check.h"
#include "preflight/facts.h"

namespace preflight {

/// An RDMA device that serves storage ports, with all of them as subject.
struct StorageDevice {
    const RdmaDeviceFacts* device;
    Subject subject;
};
std::vector<StorageDevice> storage_devices(const Facts& facts);
/// As above; without any it writes one unknown per storage port, which folds under rdma.device.
std::vector<StorageDevice> devices_to_judge(const Facts& facts, Findings& out);

/// The storage ports with an RDMA device of their own, or none that ought to be there: a bond's member that RoCE LAG serves by
/// its other member is left out.
std::vector<const Port*> rdma_ports_to_judge(const Facts& facts, Findings& out);

/// "rocep59s0f0/1" with the port's key, or the netdev while it has no RDMA device.
Subject port_subject(const Port& port);

Check rdma_gid_check();
Check rdma_mtu_check();
Check rdma_access_check();
Check rdma_provider_check();

}  // namespace preflight
