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
    Fact<std::string> address;  ///< the endpoint's own address, or that of its name in /etc/hosts. Absent: the name is not there
    Fact<Route> route;          ///< to that address
    bool ipv6() const { return address && address->find(':') != std::string::npos; }
};
/// nullopt without --endpoint.
std::optional<EndpointRoute> read_endpoint(const Facts& facts);

}  // namespace preflight
