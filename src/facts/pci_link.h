#pragma once
// The PCI Express link of each storage port: what it runs at, and what the NIC itself can do.

#include <string>
#include <vector>

#include "preflight/host.h"

namespace preflight {

class Facts;
struct Port;

struct PciLinkSpeed {
    double transfers = 0;  ///< GT/s for each lane
    int lanes = 0;

    std::string text() const;  ///< "16.0 GT/s x16"
};

struct PciLink {
    const Port* port = nullptr;
    Fact<PciLinkSpeed> current, most;  ///< Absent: no PCI Express link (a virtual function, a function of a virtual machine)
};

/// sysfs current_link_speed, current_link_width, max_link_speed, max_link_width (Documentation/ABI/testing/sysfs-bus-pci).
std::vector<PciLink> read_pci_links(const Facts& facts);

}  // namespace preflight
