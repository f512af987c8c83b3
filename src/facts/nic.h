#pragma once
// What ethtool, devlink and DCB say of each port.

#include <map>
#include <string>
#include <vector>

#include "preflight/host.h"

namespace preflight {

struct Ports;

struct NicPort {
    Fact<EthtoolDriver> driver;
    Fact<EthtoolChannels> channels;
    Fact<std::map<std::string, bool>> private_flags;
    Fact<EthtoolPause> pause;
    Fact<Dcb> dcb;
};

struct NicFacts {
    Fact<std::vector<DevlinkDevice>> devlink;
    std::map<std::string, NicPort> ports;  ///< by Port::key

    /// Reads every RDMA-capable port, storage or not, so that a snapshot serves any selection.
    static NicFacts read(Host& host, const Ports& ports);
    /// All answers "not-asked" for a port that was not read.
    const NicPort& port(const std::string& key) const;
};

}  // namespace preflight
