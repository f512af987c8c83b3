#pragma once
// How the operator reaches this node: by the default route, and by the route back to the SSH session the tool runs in. A
// command that takes such a link down ends the session before the next command.

#include <string>
#include <vector>

#include "facts/ports.h"

namespace preflight {

struct Session {
    struct Way {
        std::string what;  ///< "the default route", "the route to the SSH session from 192.0.2.9"
        std::string netdev;
    };
    std::vector<Way> ways;

    /// From /proc/net/route, /proc/net/ipv6_route and the caller's SSH session; what cannot be read adds no way.
    static Session read(Host& host, const Ports& ports);
    /// The first way that leaves by this port or an interface above it; nullptr when none does.
    const Way* by(const Port& port) const;
};

}  // namespace preflight
