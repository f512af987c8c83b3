#pragma once
// The active end: one connection to a listener, transfers in both directions, every byte checked.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "preflight/finding.h"
#include "preflight/host.h"
#include "probe/failure.h"

namespace preflight::probe {

struct Wish {
    std::string peer;     ///< as it was named
    std::string address;  ///< of it
    int port = 0;
    std::string source;          ///< own address to connect from; empty: the kernel's choice
    std::size_t max_bytes = 0;   ///< of the largest transfer
    double timeout_seconds = 5;  ///< of each step; transfers have more by their size
    bool as_service = false;     ///< the caller runs under the service's identity (only told here)
    bool own = false;            ///< the address is this node's own
};

/// What the kernel says of the connection.
struct Path {
    std::string device;  ///< "rocep59s0f0"
    int port = 0;
    std::string source, netdev;  ///< own address; interface of the GID
    int gid_index = -1;          ///< -1: not told
    std::string gid, gid_type;   ///< "RoCE v2"
    unsigned mtu = 0;            ///< path MTU, bytes
    std::optional<unsigned> traffic_class,
        service_level;  ///< ToS byte; SL of the path record, which the kernel made of the ToS
};

struct Latency {
    double median_us = 0, p99_us = 0;
    std::size_t samples = 0;
};

struct Direction {
    std::uint64_t largest = 0;  ///< bytes of the largest transfer whose every byte was right
    Latency latency;            ///< of 4 KiB, from post to completion
    double gigabits = 0;        ///< of the largest size, over at least a second where the timeout allows
};

/// All that one attempt found out.
struct Attempt {
    Wish wish;
    Path path;
    bool tcp_reached = false;
    std::string tcp;  ///< outcome of a TCP connection to the same port
    std::string srq;  ///< what came of creating a shared receive queue
    std::uint64_t pinned = 0, memlock = 0;
    Direction write, read;
    std::optional<Failure> failure;
    std::uint64_t failed_bytes = 0;
    bool failed_reading = false;

    Subject subject(unsigned connection, unsigned of) const;
};

/// Sizes of the checked transfers: one below any path MTU, 4 KiB, and up by sixteen to `max_bytes`, which is the last.
std::vector<std::size_t> transfer_sizes(std::size_t max_bytes);

/// Median and 99th percentile; `micros` is reordered. All zero when it is empty.
Latency latency_of(std::vector<double>& micros);

/// Connects and transfers. Never throws a Failure: it is in the result.
Attempt probe(Host& host, const Wish& wish);

/// The attempt as a finding of peers.rdma: status, text, remedy and evidence.
void tell(const Attempt& attempt, unsigned connection, unsigned of, Findings& out);

}  // namespace preflight::probe
