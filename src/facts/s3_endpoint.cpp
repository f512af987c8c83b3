#include "facts/s3_endpoint.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "facts/node.h"
#include "preflight/facts.h"

namespace preflight {
namespace {

bool is_address(const std::string& text) {
    in6_addr buffer{};
    return inet_pton(AF_INET, text.c_str(), &buffer) == 1 || inet_pton(AF_INET6, text.c_str(), &buffer) == 1;
}

/// hosts(5): an address, then its names.
Fact<std::string> in_hosts(const std::string& text, const std::string& name) {
    for (const std::string& line : split_lines(text)) {
        const auto words = split_words(line.substr(0, line.find('#')));
        if (words.size() > 1 && std::find(words.begin() + 1, words.end(), name) != words.end() && is_address(words[0])) return words[0];
    }
    return Absent{};
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
    EndpointRoute way{*endpoint, {}, {}};
    Host& host = facts.host();
    if (is_address(endpoint->host)) way.address = endpoint->host;
    else way.address = host.read("/etc/hosts").then([&](const std::string& text) { return in_hosts(text, endpoint->host); });
    way.route = way.address.then([&](const std::string& address) { return host.route(address); });
    return way;
}

}  // namespace preflight
