#pragma once
// The PCI functions of the node, with what every list needs: class and ids.

#include <string>
#include <vector>

#include "preflight/host.h"

namespace preflight {

struct PciFunction {
    std::string address;        ///< "0000:3b:00.0"
    unsigned class_code = 0;    ///< 24 bits: 0x020000 Ethernet controller
    Fact<unsigned> vendor, device;  ///< read for the classes below only

    bool network() const { return class_code >> 16 == 0x02; }
    /// VGA (0x0300) and 3D controllers (0x0302): GPUs appear as either.
    bool display() const { return class_code >> 8 == 0x0300 || class_code >> 8 == 0x0302; }
    std::string card() const { return address.substr(0, address.rfind('.')); }
};

struct PciFunctions {
    Fact<std::vector<std::string>> addresses;  ///< /sys/bus/pci/devices
    std::vector<PciFunction> list;             ///< those whose class could be read

    static PciFunctions read(Host& host);
};

/// The last PCI address in a path below /sys/devices, also of a device that hangs on the function (virtio, an mlx5
/// sub-function); empty when there is none.
std::string pci_address_in(const std::string& path);

/// A number as sysfs prints it ("0x8086\n", "-1\n").
Fact<int> sysfs_number(const Fact<std::string>& text);

}  // namespace preflight
