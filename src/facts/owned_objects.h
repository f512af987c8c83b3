#pragma once
// What RDMA objects the running server owns, by the kernel's resource tracking (nldev). The kernel names an owner by its pid
// in the asking process's pid namespace; from another namespace nothing can be told.

#include <cstddef>
#include <map>
#include <string>

#include "preflight/host.h"

namespace preflight {

struct RdmaStack;

struct OwnedObjects {
    std::size_t contexts = 0, memory_regions = 0, listeners = 0, connected = 0;  ///< connected: RC queue pairs in RTS
    std::map<std::string, std::size_t> connected_on;  ///< by RDMA device, where there are any
    std::uint64_t registered = 0;  ///< bytes of all memory regions
    bool any() const { return contexts || memory_regions || listeners || connected; }
    /// "2 contexts, 16 memory regions, 1 listener, 6 connected queue pairs"
    std::string text() const;
};

/// Unreadable: a device's resources could not be read. Absent: no RDMA devices.
Fact<OwnedObjects> read_owned_objects(Host& host, const RdmaStack& rdma, int pid);

}  // namespace preflight
