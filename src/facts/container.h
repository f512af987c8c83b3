#pragma once
// A server in a container, seen from the host through /proc/PID.

#include <optional>
#include <string>
#include <vector>

#include "preflight/host.h"

namespace preflight {

struct RdmaStack;
struct ServerProcesses;

struct ContainerView {
    Process process;
    Fact<std::vector<std::string>> devices;  ///< names in /dev/infiniband below its root; Absent: no such folder
    std::optional<bool> same_network;        ///< shares the tool's network namespace; nullopt: cannot be told
    Fact<std::size_t> usable_gids;           ///< GIDs that are not zero, only where they can be seen from here
};

std::vector<ContainerView> read_containers(Host& host, const ServerProcesses& processes, const RdmaStack& rdma);

/// Whether the file a process runs is an RDMA build, by its content.
Fact<bool> rdma_build_in(Host& host, const Process& process);

}  // namespace preflight
