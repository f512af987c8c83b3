#pragma once
// The report of an earlier `probe`, given with --probe-result.

#include <string>
#include <vector>

#include "preflight/finding.h"

namespace preflight {

struct ProbeResult {
    struct Transfer {
        std::string subject;  ///< the peer, and the port it went by: "n2 by ens1f0np0"
        Status status = Status::unknown;
        std::string observed, why;
        Remedy remedy;
    };

    std::string file;
    std::string hostname, boot_id, started;  ///< of the node that probed
    std::vector<Transfer> transfers;         ///< its peers.rdma findings

    /// Throws InputError, naming the file and the place, when it is not a report with at least one peers.rdma finding.
    static ProbeResult read(const std::string& path);
};

}  // namespace preflight
