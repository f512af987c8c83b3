#pragma once
// The RDMA stack of the node: devices with their PCI parent and driver, verbs, character devices, netns mode.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "preflight/host.h"

namespace preflight {

/// One RDMA device, whoever told us of it.
struct RdmaDeviceFacts {
    RdmaDevice device;                  ///< by nldev; by sysfs only names, node type and ports are filled
    Fact<std::string> pci;              ///< PCI address of its parent; Absent: a software device
    std::string module;                 ///< kernel module of its driver ("irdma", "mlx5_ib", "rdma_rxe"); empty: not told
    bool software = false;              ///< rxe or siw: no PCI function below it, or their id on a kernel before 6.0
    std::map<int, Fact<GidTable>> gids; ///< by port
    std::optional<VerbsDevice> verbs;   ///< what libibverbs says of it, when it lists it
    Fact<FileInfo> uverbs;              ///< /dev/infiniband/uverbsN

    bool iwarp() const;
    /// "IB", "RoCE", "iWARP" or empty when not told. On InfiniBand no RoCE rule applies.
    std::string protocol() const;
    bool infiniband() const { return protocol() == "IB"; }
    const RdmaPort* port(int number) const;
};

struct RdmaStack {
    Fact<std::vector<RdmaDevice>> nldev;
    Fact<std::vector<std::string>> sysfs;   ///< names in /sys/class/infiniband
    std::vector<RdmaDeviceFacts> devices;   ///< of nldev, else of sysfs
    Fact<Verbs> verbs;
    Fact<std::string> netns_mode;           ///< "shared", "exclusive"
    std::vector<std::string> provider_files;///< libraries in libibverbs' provider folders
    Fact<FileInfo> rdma_cm;                 ///< /dev/infiniband/rdma_cm

    static RdmaStack read(Host& host);
    const RdmaDeviceFacts* find(const std::string& device) const;
    /// The path of lib<name>-rdmavNN.so among the node's files, whatever its ABI suffix; empty when there is none.
    std::string provider_file(const std::string& name) const;
    /// Neither nldev nor sysfs gave an answer: an empty list of devices means nothing.
    bool blind() const { return nldev.unreadable() && !sysfs.has(); }
    /// A device of this PCI function whose ports could not be listed, so that nothing says which netdev they serve; or nullptr.
    const RdmaDeviceFacts* portless(const std::string& pci) const;
};

/// The kind of address a GID carries.
enum class GidKind { zero, link_local, ipv4, ipv6 };
struct GidAddress {
    GidKind kind = GidKind::zero;
    std::string text;  ///< "192.0.2.11" for an IPv4-mapped GID, else IPv6 in presentation form
};
/// Of a GID as sysfs prints it; nullopt when it is not 8 groups of 4 hex digits. IPv4-mapped 169.254.0.0/16 is link local.
std::optional<GidAddress> gid_address(const std::string& gid);

}  // namespace preflight
