#pragma once
// Which network drivers have an RDMA driver beside them, by the name that /sys/class/net/X/device/driver links to, and the
// PCI ids whose behaviour differs within a driver.

#include <cstdint>
#include <string>
#include <string_view>

namespace preflight {

struct DriverFamily {
    std::string_view netdev;    ///< network driver
    std::string_view rdma;      ///< kernel module of its RDMA driver
    std::string_view name;      ///< what a person calls the NIC
    bool roce = true;           ///< false: iWARP only
    bool merges_bond = false;   ///< bonding two ports of one card leaves one RDMA device for the bond (mlx5 RoCE LAG)
    std::string_view provider;  ///< name in the user-space provider's file: lib<provider>-rdmavNN.so, <provider>.driver
};

/// The family of a network driver, or nullptr when it has no RDMA driver.
const DriverFamily* family_of_netdev(std::string_view driver);
/// The family whose RDMA module this is, or nullptr.
const DriverFamily* family_of_rdma(std::string_view module);

/// The family a PCI function belongs to whatever driver is bound, for the vendors whose ids are known (Intel, NVIDIA).
const DriverFamily* family_of_pci(unsigned vendor, unsigned device);

/// What the PCI id says beyond the driver (drivers/net/ethernet/intel/ice/ice_devids.h, ice_main.c, Linux 6.12).
enum class IntelFamily { none, e810, e82x, e825, e830, vf, x722 };
IntelFamily intel_family(unsigned vendor, unsigned device);
std::string_view name(IntelFamily family);

inline constexpr unsigned pci_vendor_intel = 0x8086;
inline constexpr unsigned pci_vendor_mellanox = 0x15b3;
inline constexpr unsigned pci_vendor_nvidia = 0x10de;

}  // namespace preflight
