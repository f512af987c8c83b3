#include "facts/pci_link.h"

#include <fmt/format.h>

#include <charconv>

#include "facts/node.h"
#include "facts/ports.h"
#include "preflight/facts.h"

namespace preflight {
namespace {

/// "16.0 GT/s PCIe" and "16"; "Unknown" and width 0 or 255 stand for no link.
Fact<PciLinkSpeed> speed_of(Host& host, const std::string& folder, const std::string& which) {
    const auto speed = host.read(folder + which + "_link_speed"), width = host.read(folder + which + "_link_width");
    if (!speed) return speed.as<PciLinkSpeed>();
    if (!width) return width.as<PciLinkSpeed>();
    const std::string text = trimmed(*speed), lanes = trimmed(*width);
    if (text.rfind("Unknown", 0) == 0 || lanes == "0" || lanes == "255") return Absent{};
    PciLinkSpeed result;
    const auto first = std::from_chars(text.data(), text.data() + text.size(), result.transfers);
    const auto second = std::from_chars(lanes.data(), lanes.data() + lanes.size(), result.lanes);
    if (first.ec != std::errc() || second.ec != std::errc() || result.transfers <= 0 || result.lanes <= 0)
        return Unreadable{"malformed", fmt::format("{}{}_link_speed: \"{}\" x \"{}\"", folder, which, text.substr(0, 40), lanes.substr(0, 40))};
    return result;
}

}  // namespace

std::string PciLinkSpeed::text() const {
    return fmt::format("{:.1f} GT/s x{}", transfers, lanes);
}

std::vector<PciLink> read_pci_links(const Facts& facts) {
    std::vector<PciLink> links;
    for (const Port* port : facts.ports().storage()) {
        if (port->pci.empty()) continue;
        const std::string folder = "/sys/bus/pci/devices/" + port->pci + "/";
        links.push_back({port, speed_of(facts.host(), folder, "current"), speed_of(facts.host(), folder, "max")});
    }
    return links;
}

}  // namespace preflight
