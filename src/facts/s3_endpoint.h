#pragma once
// The S3 endpoint of --endpoint, and the way to it.

#include <optional>
#include <string>

#include "preflight/host.h"

namespace preflight {

class Facts;

struct Endpoint {
    std::string host;  ///< name or address, IPv6 without brackets
    int port = 0;      ///< 80 or 443 by scheme where none is written
};
/// "https://s3.example.net:9000", "http://[2001:db8::1]:9000/". nullopt when it is no such URL.
std::optional<Endpoint> parse_endpoint(const std::string& url);

struct EndpointRoute {
    Endpoint endpoint;
    Fact<std::string> address;  ///< the endpoint's own address, or the resolver's for its name, IPv4 first. Absent: no such name
    Fact<Route> route;          ///< to that address
    Fact<TcpProbe> probe;       ///< an attempt to connect to it
    bool ipv6() const { return address && address->find(':') != std::string::npos; }
};
/// nullopt without --endpoint.
std::optional<EndpointRoute> read_endpoint(const Facts& facts);

}  // namespace preflight
