#pragma once
// Answers turned into plain structs with the field's own words. Facts know the host; checks know facts and never the
// host. Each domain is read when a check first asks for it, and once.

#include <memory>
#include <optional>
#include <vector>

#include "preflight/fact.h"
#include "preflight/options.h"

namespace preflight {

class Host;
struct NodeFacts;     // src/facts/node.h      os-release, kernel, who is asking
struct Modules;       // src/facts/kernel_modules.h
struct PciFunctions;  // src/facts/pci.h       PCI functions with class and ids
struct Ports;         // src/facts/ports.h     the chain netdev - bond/VLAN - PCI - RDMA device - GID - address
struct NicFacts;      // src/facts/nic.h       ethtool, devlink and DCB of each port
struct Lossless;      // src/facts/lossless.h  DCB of the storage ports and the way of RoCE frames through it
struct Keepers;       // src/facts/keepers.h   what re-applies DCB settings at boot
struct Samples;       // src/facts/samples.h   two readings of the counters
struct RdmaStack;     // src/facts/rdma.h      RDMA devices, verbs, character devices, netns mode
struct PeerFacts;     // src/facts/peers.h     the other AIStor nodes: names, addresses, routes
struct PeerReach;     // src/facts/peers.h     what their ports answered
struct PortHolders;   // src/facts/peers.h     who listens on the RDMA peer port here
struct ProbeResult;   // src/facts/probe_result.h
struct RoleFacts;     // src/facts/role.h      storage node or client, systemd or container, and by which trace
struct ServiceFacts;     // src/facts/service.h         the unit: files, what the manager has loaded, what the next start uses
struct ServerBuild;      // src/facts/server_build.h    the server's file, what it is, and its libraries
struct ServerProcesses;  // src/facts/server_process.h  the server that runs now
struct EnvironmentFacts; // src/facts/environment.h     what the server will find in its environment
struct MemlockFacts;     // src/facts/memlock.h         what has to be pinned, and the node's memory
struct OwnedObjects;     // src/facts/owned_objects.h   RDMA objects of the running server
struct ContainerView;    // src/facts/container.h       a server in a container, seen from the host
struct PciPaths;         // src/facts/pci_paths.h       GPUs, RDMA NICs, and the bridges between them
struct GpuFacts;         // src/facts/gpus.h            the NVIDIA driver and its ways to register GPU memory
struct Session;          // src/facts/session.h         how the operator reaches this node
struct S3ClientFacts;    // src/facts/s3_client.h       what an S3 client on this node will find
struct Process;

class Facts {
public:
    Facts(Host& host, Options options);
    ~Facts();

    const Options& options() const { return options_; }

    const NodeFacts& node() const;
    const Modules& modules() const;
    const PciFunctions& pci() const;
    const Ports& ports() const;
    const NicFacts& nic() const;
    const Lossless& lossless() const;
    const Keepers& keepers() const;
    const Samples& samples() const;
    const RdmaStack& rdma() const;
    const RoleFacts& role() const;
    const ServiceFacts& service() const;
    const ServerBuild& server_build() const;
    const ServerProcesses& server_processes() const;
    const EnvironmentFacts& environment() const;
    const MemlockFacts& memlock() const;
    const std::vector<ContainerView>& containers() const;
    const PciPaths& pci_paths() const;
    const GpuFacts& gpus() const;
    const S3ClientFacts& s3_client() const;
    /// Asked for only where a remedy takes a link down.
    const Session& session() const;
    /// Whether a process in a container runs an RDMA build, by what its root holds.
    Fact<bool> container_rdma_build(const Process& process) const;
    /// Of the process with this pid in the tool's pid namespace.
    Fact<OwnedObjects> owned_objects(int pid) const;
    const PeerFacts& peers() const;
    const PeerReach& peer_reach() const;
    const PortHolders& peer_port_holders() const;
    /// Of --probe-result; nullopt without. Throws InputError when the file is no probe's report.
    const std::optional<ProbeResult>& probe_result() const;

    /// Role bits: --role, or by the traces role() found.
    unsigned roles() const;
    Deployment deployment() const;
    /// Path bits this node shall serve: --want, or by role.
    unsigned want() const;

    /// For the fact readers in src/facts only.
    Host& host() const { return host_; }

private:
    Host& host_;
    Options options_;
    struct Cache;
    std::unique_ptr<Cache> cache_;
};

}  // namespace preflight
