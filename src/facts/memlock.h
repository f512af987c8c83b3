#pragma once
// What locked memory the server needs: pools, devices, and the node's memory.
//
// Each registration is charged, and a buffer registered on two devices counts twice (drivers/infiniband/core/umem.c).

#include <cstdint>
#include <optional>
#include <string>

#include "preflight/host.h"

namespace preflight {

struct EnvironmentFacts;
struct RdmaStack;

struct PoolNeed {
    std::uint64_t count = 0, size = 0;  ///< POOL_COUNT and POOL_BUF_SIZE as the server will take them
    std::uint64_t bytes = 0;            ///< one pool
    std::uint64_t devices = 1;          ///< hardware RDMA devices with an active port, at least 1: the server opens all of them
    std::string sum;                    ///< "256 x 64 MiB = 16 GiB"
    std::string doubt;                  ///< why the figure is not certain; empty: it is
    std::uint64_t total() const { return bytes * devices; }
};

struct MemlockFacts {
    std::optional<PoolNeed> need;  ///< nullopt: more than any machine can hold
    Fact<std::uint64_t> memory;    ///< MemTotal of /proc/meminfo, in bytes

    static MemlockFacts read(Host& host, const EnvironmentFacts& environment, const RdmaStack& rdma);
};

}  // namespace preflight
