#include "facts/s3_endpoint.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "facts/peers.h"
#include "preflight/facts.h"

namespace preflight {
namespace {

bool is_address(const std::string& text) {
    in6_addr buffer{};
    return inet_pton(AF_INET, text.c_str(), &buffer) == 1 || inet_pton(AF_INET6, text.c_str(), &buffer) == 1;
}

/// The client binds an IPv4 address, so an IPv4 address of the endpoint comes first.
std::string preferred(const std::vector<std::string>& addresses) {
    const auto ipv4 = std::find_if(addresses.begin(), addresses.end(), [](const std::string& address) { return address.find(':') == std::string::npos; });
    return ipv4 == addresses.end() ? addresses.front() : *ipv4;
}

}  // namespace

std::optional<Endpoint> parse_endpoint(const std::string& url) {
    const bool tls = url.rfind("https://", 0) == 0;
    if (!tls && url.rfind("http://", 0) != 0) return std::nullopt;
    std::string rest = url.substr(tls ? 8 : 7);
    rest = rest.substr(0, rest.find('/'));
    Endpoint endpoint{rest, tls ? 443 : 80};
    std::string port;
    if (!rest.empty() && rest[0] == '[') {
        const auto end = rest.find(']');
        if (end == std::string::npos || (end + 1 < rest.size() && rest[end + 1] != ':')) return std::nullopt;
        endpoint.host = rest.substr(1, end - 1);
        if (!is_address(endpoint.host)) return std::nullopt;
        if (end + 1 < rest.size()) port = rest.substr(end + 1);
    } else if (const auto colon = rest.find(':'); colon != std::string::npos) {
        endpoint.host = rest.substr(0, colon);
        port = rest.substr(colon);
    }
    if (!port.empty()) {
        const auto done = std::from_chars(port.data() + 1, port.data() + port.size(), endpoint.port);
        if (done.ec != std::errc() || done.ptr != port.data() + port.size() || endpoint.port < 1 || endpoint.port > 65535) return std::nullopt;
    }
    if (endpoint.host.empty() || endpoint.host.find_first_of("@ \t?#") != std::string::npos) return std::nullopt;
    return endpoint;
}

std::optional<EndpointRoute> read_endpoint(const Facts& facts) {
    if (!facts.options().endpoint) return std::nullopt;
    const auto endpoint = parse_endpoint(*facts.options().endpoint);
    if (!endpoint) return std::nullopt;
    EndpointRoute way{*endpoint, {}, {}, {}};
    Host& host = facts.host();
    if (is_address(endpoint->host)) way.address = endpoint->host;
    else
        way.address = host.resolve_names({endpoint->host}).front().then([](const std::vector<std::string>& addresses) -> Fact<std::string> {
            if (addresses.empty()) return Absent{};
            return preferred(addresses);
        });
    way.route = way.address.then([&](const std::string& address) { return host.route(address); });
    way.probe = way.address.then([&](const std::string& address) { return host.probe_tcp({target_of(address, endpoint->port)}).front(); });
    return way;
}

}  // namespace preflight
