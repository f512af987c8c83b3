#pragma once
// The chain from netdev to storage address: netdev - bond/VLAN over it - PCI function - NUMA node - RDMA device and port - GID -
// IP. Every netdev is classified first, so that management NICs, VFs and unused ports are never judged.

#include <string>
#include <vector>

#include "facts/drivers.h"
#include "facts/pci.h"
#include "facts/rdma.h"
#include "preflight/finding.h"
#include "preflight/host.h"
#include "preflight/options.h"

namespace preflight {

enum class PortClass {
    storage,    ///< selected: the rules judge it
    candidate,  ///< RDMA-capable, not selected
    unused,     ///< RDMA-capable, admin-down or without an address
    vf,         ///< SR-IOV virtual function
    management, ///< a NIC without an RDMA driver
};

/// An RDMA device's port that belongs to a netdev.
struct RdmaAttachment {
    std::string device;
    int port = 1;
    bool merged = false;    ///< one device serves the whole bond (mlx5_bond_0)
    bool software = false;
};

struct PortAddress {
    std::string netdev;  ///< the port, or an interface above it
    Address address;
    std::string vlan;    ///< the VLAN by which frames of it leave the port; empty: untagged
    int mtu = 0;         ///< bytes: the smallest from `netdev` down to the port
    /// On the port itself, its bond or a VLAN over either; the GIDs of all other uppers (bridge, macvlan, team, VRF, OVS)
    /// depend on more than the interface, so that only the GID table tells.
    bool direct = true;
    /// One of this node's own addresses among the AIStor endpoints.
    bool endpoint = false;
    /// The RDMA device has a RoCE v2 GID of it. Absent: the port has no RDMA device.
    Fact<bool> gid;

    /// RDMA can use it, as far as this interface decides.
    bool usable() const { return direct || gid.value_or(false); }
};

/// A physical port: a netdev with a device below it, or one that carries an RDMA device.
struct Port {
    Link link;
    std::string key;                 ///< PCI address, else the netdev's name
    std::string pci;                 ///< empty without a PCI function
    Fact<unsigned> vendor, device;   ///< PCI ids
    Fact<std::string> driver;        ///< Absent: no driver bound
    const DriverFamily* family = nullptr;
    Fact<int> numa_node;             ///< -1: the firmware gave none
    std::optional<Link> bond;        ///< the bond it is a member of
    /// All interfaces above the port but its bond: VLANs, bridges, teams, macvlans, VRFs; the kernel gives the RDMA device
    /// GIDs of each (drivers/infiniband/core/roce_gid_mgmt.c, netdev_walk_all_upper_dev_rcu).
    std::vector<Link> uppers;
    std::vector<PortAddress> addresses;
    std::vector<RdmaAttachment> rdma;
    PortClass classed = PortClass::management;
    std::string why;                 ///< why it is classed so

    IntelFamily intel() const { return vendor && device ? intel_family(*vendor, *device) : IntelFamily::none; }
    Subject subject() const { return {link.name, {key}}; }
    /// The hardware device if there is one, else a software one, else nullptr.
    const RdmaAttachment* attachment() const;
    /// The hardware device, or nullptr.
    const RdmaAttachment* hardware() const;
    bool infiniband() const { return link.arphrd == 32; }  ///< ARPHRD_INFINIBAND (include/uapi/linux/if_arp.h)
    /// The interface to configure: the bond it is a member of, else itself.
    const std::string& carrier() const { return bond ? bond->name : link.name; }
    /// Of frames between a storage address and the wire, in bytes: the smallest on the way.
    int mtu() const;
    /// The addresses that have to count: its endpoint's own where one is known, else all that are routable.
    std::vector<const PortAddress*> storage_addresses() const;
    /// The PCI card: address without the function number; empty without a PCI function.
    std::string card() const { return pci.empty() ? std::string() : pci.substr(0, pci.rfind('.')); }
};

/// Neither link-local (169.254.0.0/16, fe80::/10) nor of the host itself.
bool routable(const Address& address);

struct Ports {
    Fact<std::vector<Link>> links;
    Fact<std::vector<Address>> addresses;
    std::vector<Port> all;             ///< by netdev name
    bool guessed = false;              ///< nobody named the storage ports: rules that compare ports are at most warn
    std::string selection;             ///< how the storage ports were found
    bool sysfs_missing = false;        ///< /sys is not mounted: a driver that was not found says nothing
    std::vector<PciFunction> unbound;  ///< RDMA-capable network functions to which no driver is bound
    std::vector<PciFunction> functions;///< physical network functions, with or without a netdev here
    std::vector<std::string> missing;  ///< names given with --interface that are not here

    /// `endpoint_addresses`: this node's own addresses among the AIStor endpoints, as far as they are known.
    static Ports read(Host& host, const Options& options, const PciFunctions& pci, const RdmaStack& rdma, const std::vector<std::string>& endpoint_addresses);

    std::vector<const Port*> storage() const;
    const Port* find(const std::string& key_or_netdev) const;
    const Link* link(int index) const;
    const Link* link(const std::string& name) const;
    /// Members of a bond, by its interface index.
    std::vector<const Port*> members(int bond) const;
    /// The storage ports, a line each, for a person.
    std::string chain(const RdmaStack& rdma) const;
};

}  // namespace preflight
