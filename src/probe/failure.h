#pragma once
// What can go wrong on the way to a transfer, and what each of it means to an operator.

#include <cstdint>
#include <string>

#include "preflight/finding.h"

namespace preflight::probe {

enum class Cause {
    no_library,     ///< librdmacm or libibverbs cannot be used
    no_rdma,        ///< the kernel has no RDMA subsystem loaded, or no device
    no_access,      ///< the device files are closed to the caller
    provider,       ///< no device can be opened
    no_rdma_route,  ///< the route leaves by an interface without RDMA device, or the source address has no GID of the
                    ///< peer's family
    no_neighbour,   ///< the peer's address does not answer on the link
    iwarp,          ///< no RDMA WRITE with immediate
    memlock,        ///< memory could not be pinned
    no_listener,    ///< the peer rejected: nothing listens on that port by rdma_cm
    refused,        ///< the listener refused, and said why
    rejected,       ///< the peer's kernel or NIC rejected
    no_answer,      ///< nothing came back to the connection request
    ended,          ///< the peer ended the connection
    silent,         ///< a transfer was never acknowledged
    denied,         ///< the peer's NIC denied the access
    wrong_bytes,    ///< bytes arrived that were not sent
    protocol,       ///< an answer that makes no sense
    system,         ///< another error of a call
};

struct Failure {
    Cause cause{};
    std::string step;    ///< what was tried: "RDMA WRITE of 4 KiB"
    std::string detail;  ///< the error's own words: "ENODEV (No such device)"
};

/// What is known when a failure is explained.
struct Circumstances {
    std::string peer, target;        ///< "n2", "192.0.2.12:5555"
    std::string by;                  ///< the netdev, if known
    std::string gid_type;            ///< "RoCE v2", "IB/RoCE v1"; empty: not known
    unsigned path_mtu = 0;           ///< bytes; 0: not known
    std::uint64_t passed_bytes = 0;  ///< the largest transfer in the same direction that arrived
    std::uint64_t failed_bytes = 0;  ///< the transfer that did not
    bool tcp_reached = false;        ///< the same port answered TCP
    bool as_service = false;         ///< memory was pinned as the service would
    std::uint64_t memlock = 0;       ///< the limit in force, in bytes; 2^64-1: none
    std::uint64_t pinned = 0;        ///< bytes that were to be pinned
    double timeout_seconds = 0;
};

struct Meaning {
    Status status;
    std::string observed, why;
    Remedy remedy;
};
Meaning meaning(const Failure& failure, const Circumstances& around);

}  // namespace preflight::probe
