#pragma once
// GPUs and RDMA NICs in the PCI tree: how far they are from each other, the bridges between them, their IOMMU groups and links.
//
// The tree is the folder structure of /sys/devices: pciDDDD:BB is a host bridge, each PCI address below it a bridge, the last
// one the function.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "preflight/host.h"

namespace preflight {

class Facts;

/// The words of `nvidia-smi topo -m`, nearest first.
enum class Distance {
    pix,   ///< at most one bridge on either side of the common one
    pxb,   ///< several bridges, none of them the host bridge
    phb,   ///< the same host bridge
    node,  ///< different host bridges of one NUMA node
    sys,   ///< different NUMA nodes
    unknown,
};
std::string_view name(Distance distance);

struct PciPlace {
    std::string address;
    std::string label;                 ///< of a NIC: its RDMA device, with the netdev in parentheses
    Fact<std::string> root;            ///< "pci0000:15"; Unreadable: its place in the tree is not known
    std::vector<std::string> bridges;  ///< from the root down
    Fact<int> numa_node;               ///< -1: the firmware gave none
    /// "identity", "DMA", "DMA-FQ", "unmanaged", "blocked". Absent: no IOMMU group, so no IOMMU handles it. Unreadable also where
    /// the kernel does not say (before 5.11).
    Fact<std::string> iommu;
    std::string iommu_group;           ///< "12"; empty: none
};

struct PciBridge {
    std::string address;
    Fact<unsigned> acs;  ///< see acs_control
};

/// A unit of the administrator that clears ACS at boot.
struct AcsUnit {
    std::string name, path;
    bool enabled = false;
    Fact<bool> active;        ///< it ran in this boot and remains active
    bool stays_active = false;///< RemainAfterExit=yes: only then `active` tells whether it ran
    std::string cycle;        ///< the line that makes an ordering cycle, or empty
};

struct PciPaths {
    std::vector<PciPlace> gpus, nics;  ///< by address
    std::vector<PciBridge> bridges;    ///< on a way between a GPU and a NIC
    std::vector<AcsUnit> acs_units;
    int numa_nodes = 0;                ///< of the node; 0: not known
    Fact<std::string> hypervisor;      ///< its name. Absent: a real machine, as far as the firmware tables say

    static PciPaths read(const Facts& facts);

    Distance distance(const PciPlace& gpu, const PciPlace& nic) const;
    /// The NICs at the smallest distance, with it; empty without NICs.
    std::pair<Distance, std::vector<const PciPlace*>> nearest(const PciPlace& gpu) const;
    /// Bridges a peer-to-peer request passes between them: those below the common bridge, or all of both sides where
    /// the way leads through a host bridge.
    static std::vector<std::string> between(const PciPlace& gpu, const PciPlace& nic);
    const PciBridge* bridge(const std::string& address) const;
    /// A row per GPU, a column per NIC; empty without both.
    std::string table() const;
};

}  // namespace preflight
