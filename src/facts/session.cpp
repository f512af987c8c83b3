#include "facts/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "facts/node.h"

namespace preflight {
namespace {

/// Interfaces of the default routes; fields as net/ipv4/fib_trie.c (fib_route_seq_show) and net/ipv6/route.c print them.
std::vector<std::string> default_netdevs(Host& host) {
    constexpr unsigned rejects = 0x200;  // RTF_REJECT, include/uapi/linux/route.h
    std::vector<std::string> netdevs;
    for (const std::string& line : split_lines(host.read("/proc/net/route").value_or(""))) {
        const auto words = split_words(line);
        if (words.size() >= 8 && words[1] == "00000000" && words[7] == "00000000") netdevs.push_back(words[0]);
    }
    for (const std::string& line : split_lines(host.read("/proc/net/ipv6_route").value_or(""))) {
        const auto words = split_words(line);
        if (words.size() != 10 || words[1] != "00" || words[0] != std::string(32, '0')) continue;
        if (!(std::strtoul(words[8].c_str(), nullptr, 16) & rejects)) netdevs.push_back(words[9]);
    }
    return netdevs;
}

}  // namespace

Session Session::read(Host& host, const Ports& ports) {
    Session session;
    for (const std::string& netdev : default_netdevs(host)) session.ways.push_back({"the default route", netdev});
    const auto caller = host.caller();
    if (!caller || !caller->ssh_peer) return session;
    const auto route = host.route(*caller->ssh_peer);
    const Link* link = route ? ports.link(route->link) : nullptr;
    if (link) session.ways.push_back({"the route to the SSH session from " + *caller->ssh_peer, link->name});
    return session;
}

const Session::Way* Session::by(const Port& port) const {
    const auto carries = [&](const Way& way) {
        return way.netdev == port.link.name || (port.bond && port.bond->name == way.netdev) ||
               std::any_of(port.uppers.begin(), port.uppers.end(), [&](const Link& upper) { return upper.name == way.netdev; });
    };
    const auto found = std::find_if(ways.begin(), ways.end(), carries);
    return found == ways.end() ? nullptr : &*found;
}

}  // namespace preflight
