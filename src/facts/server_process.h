#pragma once
// The AIStor server that runs now, if one does: under the unit, or in a container.

#include <string>
#include <vector>

#include "preflight/host.h"

namespace preflight {

struct ServiceFacts;

struct ServerProcesses {
    Fact<bool> looked;                 ///< Unreadable when /proc could not be listed
    std::vector<Process> of_unit;      ///< server processes in the unit's cgroup; a wrapper's child stands before the wrapper
    std::vector<Process> in_container; ///< server processes in a container's cgroup or in namespaces of their own
    std::vector<Process> elsewhere;    ///< started by hand, or by another unit
    std::map<std::string, std::string> own_namespaces;
    bool hidden = false;               ///< other users' processes do not show
};

ServerProcesses read_server_processes(Host& host, const ServiceFacts& service);

/// Whether the process is in the user namespace in which CAP_IPC_LOCK counts; nullopt when that cannot be told.
std::optional<bool> in_initial_user_namespace(const Process& process);
/// Whether limits do not bind it: CAP_IPC_LOCK (bit 14 of CapEff) in the initial user namespace.
bool may_lock_everything(const Process& process);
/// The container of a cgroup path in a few words ("kubepods…"), or empty.
bool container_cgroup(const std::string& cgroup);

}  // namespace preflight
