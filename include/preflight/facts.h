#pragma once
// Answers turned into plain structs with the field's own words. Facts know the host; checks know facts and never the
// host. Each domain is read when a check first asks for it, and once.

#include <memory>

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
struct RoleFacts;     // src/facts/role.h      storage node or client, systemd or container, and by which trace

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
