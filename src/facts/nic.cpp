#include "facts/nic.h"

#include "facts/ports.h"

namespace preflight {

NicFacts NicFacts::read(Host& host, const Ports& ports) {
    NicFacts facts;
    facts.devlink = host.devlink();
    for (const Port& port : ports.all) {
        if (port.classed == PortClass::management || port.classed == PortClass::vf) continue;
        const std::string& netdev = port.link.name;
        facts.ports[port.key] = {host.ethtool_driver(netdev), host.ethtool_channels(netdev), host.ethtool_private_flags(netdev), host.ethtool_pause(netdev), host.dcb(netdev)};
    }
    return facts;
}

const NicPort& NicFacts::port(const std::string& key) const {
    static const NicPort none;
    const auto found = ports.find(key);
    return found == ports.end() ? none : found->second;
}

}  // namespace preflight
