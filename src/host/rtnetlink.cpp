// Links, addresses and routes of the caller's network namespace (rtnetlink(7)). Names of modes, states and flags are those
// of ip-link(8) and ip-address(8).

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_addr.h>
#include <linux/if_bonding.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "host/decode.h"
#include "host/live.h"
#include "host/netlink.h"

namespace preflight {
namespace {

using netlink::Attribute;
using netlink::Reader;

constexpr std::array operstates{"unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up"};  // RFC 2863, IF_OPER_*
constexpr std::array bond_modes{"balance-rr", "active-backup", "balance-xor", "broadcast",
                                "802.3ad",    "balance-tlb",   "balance-alb"};                       // BOND_MODE_*
constexpr std::array bond_hashes{"layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac"};  // BOND_XMIT_POLICY_*
constexpr std::array lacp_rates{"slow", "fast"};
constexpr std::array port_states{"active", "backup"};                                // BOND_STATE_*
constexpr std::array mii_states{"up", "going-down", "down", "going-back"};           // BOND_LINK_*
constexpr std::array route_types{"unspec", "unicast", "local", "broadcast", "anycast", "multicast",
                                 "blackhole", "unreachable", "prohibit", "throw", "nat", "xresolve"};  // RTN_*

constexpr std::pair<unsigned, const char*> address_flags[] = {
    {IFA_F_NODAD, "nodad"},           {IFA_F_OPTIMISTIC, "optimistic"},        {IFA_F_DADFAILED, "dadfailed"},
    {IFA_F_HOMEADDRESS, "home"},      {IFA_F_DEPRECATED, "deprecated"},        {IFA_F_TENTATIVE, "tentative"},
    {IFA_F_MANAGETEMPADDR, "mngtmpaddr"}, {IFA_F_NOPREFIXROUTE, "noprefixroute"}, {IFA_F_MCAUTOJOIN, "autojoin"},
    {IFA_F_STABLE_PRIVACY, "stable-privacy"},
};

constexpr std::pair<int, const char*> scopes[] = {{RT_SCOPE_UNIVERSE, "global"}, {RT_SCOPE_SITE, "site"}, {RT_SCOPE_LINK, "link"},
                                                  {RT_SCOPE_HOST, "host"},       {RT_SCOPE_NOWHERE, "nowhere"}};

template <std::size_t N>
std::string name_of(const std::array<const char*, N>& names, unsigned number) {
    return number < N ? names[number] : fmt::format("{}", number);
}

std::optional<int> index(Reader& at, int type, const char* name) {
    const auto value = at.number<std::uint32_t>(type, name);
    return value ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
}

std::optional<std::string> mac_of(const Reader& at, int type) {
    const Attribute* attribute = at.find(type);
    return attribute ? std::optional<std::string>(decode::mac({attribute->data, attribute->size})) : std::nullopt;
}

Bond bond(Reader at) {
    Bond bond;
    const auto mode = at.required<std::uint8_t>(IFLA_BOND_MODE, "IFLA_BOND_MODE");
    bond.mode = name_of(bond_modes, mode);
    bond.active_port = index(at, IFLA_BOND_ACTIVE_SLAVE, "IFLA_BOND_ACTIVE_SLAVE");
    if (const auto hash = at.number<std::uint8_t>(IFLA_BOND_XMIT_HASH_POLICY, "IFLA_BOND_XMIT_HASH_POLICY"))
        bond.xmit_hash_policy = name_of(bond_hashes, *hash);
    if (mode != BOND_MODE_8023AD) return bond;
    if (const auto rate = at.number<std::uint8_t>(IFLA_BOND_AD_LACP_RATE, "IFLA_BOND_AD_LACP_RATE"))
        bond.lacp_rate = name_of(lacp_rates, *rate);
    Reader info = at.nest(IFLA_BOND_AD_INFO, "IFLA_BOND_AD_INFO");
    bond.aggregator = info.number<std::uint16_t>(IFLA_BOND_AD_INFO_AGGREGATOR, "IFLA_BOND_AD_INFO_AGGREGATOR");
    bond.aggregator_ports = info.number<std::uint16_t>(IFLA_BOND_AD_INFO_NUM_PORTS, "IFLA_BOND_AD_INFO_NUM_PORTS");
    bond.partner_mac = mac_of(info, IFLA_BOND_AD_INFO_PARTNER_MAC).value_or("");
    return bond;
}

BondPort bond_port(Reader at) {
    BondPort port;
    if (const auto state = at.number<std::uint8_t>(IFLA_BOND_SLAVE_STATE, "IFLA_BOND_SLAVE_STATE"))
        port.state = name_of(port_states, *state);
    if (const auto status = at.number<std::uint8_t>(IFLA_BOND_SLAVE_MII_STATUS, "IFLA_BOND_SLAVE_MII_STATUS"))
        port.mii_status = name_of(mii_states, *status);
    port.aggregator = at.number<std::uint16_t>(IFLA_BOND_SLAVE_AD_AGGREGATOR_ID, "IFLA_BOND_SLAVE_AD_AGGREGATOR_ID");
    return port;
}

std::map<unsigned, unsigned> qos_map(Reader& at, int type, const char* name) {
    std::map<unsigned, unsigned> map;
    const Reader entries = at.nest(type, name);
    for (const Attribute& entry : entries.all()) {
        if (entry.type != IFLA_VLAN_QOS_MAPPING) continue;
        const auto mapping = entry.as<ifla_vlan_qos_mapping>();
        if (mapping) map[mapping->from] = mapping->to;
        else at.mark(name);
    }
    return map;
}

Vlan vlan(Reader at) {
    Vlan vlan;
    vlan.id = at.required<std::uint16_t>(IFLA_VLAN_ID, "IFLA_VLAN_ID");
    if (const auto protocol = at.number<std::uint16_t>(IFLA_VLAN_PROTOCOL, "IFLA_VLAN_PROTOCOL")) {
        const unsigned ethertype = ntohs(*protocol);
        vlan.protocol = ethertype == 0x8100 ? "802.1Q" : ethertype == 0x88a8 ? "802.1ad" : fmt::format("{:#06x}", ethertype);
    }
    vlan.egress = qos_map(at, IFLA_VLAN_EGRESS_QOS, "IFLA_VLAN_EGRESS_QOS");
    vlan.ingress = qos_map(at, IFLA_VLAN_INGRESS_QOS, "IFLA_VLAN_INGRESS_QOS");
    return vlan;
}

std::string ip_text(int family, const Attribute& attribute) {
    char text[INET6_ADDRSTRLEN] = "";
    const std::size_t size = family == AF_INET ? 4 : 16;
    if (attribute.size != size || !inet_ntop(family, attribute.data, text, sizeof text)) return {};
    return text;
}

std::string required_ip(Reader& at, int family, int type, const char* name) {
    const Attribute* attribute = at.find(type);
    const std::string text = attribute ? ip_text(family, *attribute) : "";
    if (text.empty()) at.mark(name);
    return text;
}

}  // namespace

namespace decode {

std::string mac(Bytes address) {
    return fmt::format("{:02x}", fmt::join(address, ":"));
}

Fact<Link> link(Bytes payload) {
    ifinfomsg header{};
    Reader at(payload, sizeof header, "rtnetlink link");
    if (at.broken()) return at.malformed();
    std::memcpy(&header, payload.data(), sizeof header);
    Link link;
    link.index = header.ifi_index;
    link.arphrd = header.ifi_type;
    link.flags = header.ifi_flags;
    link.name = at.required_text(IFLA_IFNAME, "IFLA_IFNAME");
    const Reader properties = at.nest(IFLA_PROP_LIST, "IFLA_PROP_LIST");
    for (const Attribute& property : properties.all())
        if (property.type == IFLA_ALT_IFNAME) link.altnames.push_back(property.text());
    if (const auto state = at.number<std::uint8_t>(IFLA_OPERSTATE, "IFLA_OPERSTATE")) link.operstate = name_of(operstates, *state);
    link.mtu = static_cast<int>(at.required<std::uint32_t>(IFLA_MTU, "IFLA_MTU"));
    if (const auto carrier = at.number<std::uint8_t>(IFLA_CARRIER, "IFLA_CARRIER")) link.carrier = *carrier != 0;
    link.carrier_changes = at.number<std::uint32_t>(IFLA_CARRIER_CHANGES, "IFLA_CARRIER_CHANGES");
    link.mac = mac_of(at, IFLA_ADDRESS).value_or("");
    link.permanent_mac = mac_of(at, IFLA_PERM_ADDRESS);
    link.master = index(at, IFLA_MASTER, "IFLA_MASTER");
    link.parent_bus = at.text(IFLA_PARENT_DEV_BUS_NAME);
    link.parent_device = at.text(IFLA_PARENT_DEV_NAME);

    Reader info = at.nest(IFLA_LINKINFO, "IFLA_LINKINFO");
    link.kind = info.text(IFLA_INFO_KIND).value_or("");
    const bool pair = link.kind == "veth" || link.kind == "netkit";
    if (!pair && !at.has(IFLA_LINK_NETNSID)) link.lower = index(at, IFLA_LINK, "IFLA_LINK");
    if (link.kind == "bond" && info.has(IFLA_INFO_DATA)) link.bond = bond(info.nest(IFLA_INFO_DATA, "IFLA_INFO_DATA"));
    if (link.kind == "vlan" && info.has(IFLA_INFO_DATA)) link.vlan = vlan(info.nest(IFLA_INFO_DATA, "IFLA_INFO_DATA"));
    if (info.text(IFLA_INFO_SLAVE_KIND) == "bond" && info.has(IFLA_INFO_SLAVE_DATA))
        link.bond_port = bond_port(info.nest(IFLA_INFO_SLAVE_DATA, "IFLA_INFO_SLAVE_DATA"));
    if (at.broken()) return at.malformed();
    return link;
}

Fact<Address> address(Bytes payload) {
    ifaddrmsg header{};
    Reader at(payload, sizeof header, "rtnetlink address");
    if (at.broken()) return at.malformed();
    std::memcpy(&header, payload.data(), sizeof header);
    if (header.ifa_family != AF_INET && header.ifa_family != AF_INET6) return Absent{};
    Address address;
    address.link = static_cast<int>(header.ifa_index);
    address.prefix = header.ifa_prefixlen;
    const auto scope = std::find_if(std::begin(scopes), std::end(scopes), [&](auto& entry) { return entry.first == header.ifa_scope; });
    address.scope = scope != std::end(scopes) ? scope->second : fmt::format("{}", header.ifa_scope);
    // Of a point-to-point address IFA_ADDRESS is the peer's.
    address.address = at.has(IFA_LOCAL) ? required_ip(at, header.ifa_family, IFA_LOCAL, "IFA_LOCAL")
                                        : required_ip(at, header.ifa_family, IFA_ADDRESS, "IFA_ADDRESS");
    const unsigned flags = at.number<std::uint32_t>(IFA_FLAGS, "IFA_FLAGS").value_or(header.ifa_flags);
    if (flags & IFA_F_SECONDARY) address.flags.push_back(header.ifa_family == AF_INET6 ? "temporary" : "secondary");
    if (!(flags & IFA_F_PERMANENT)) address.flags.push_back("dynamic");
    for (const auto& [bit, name] : address_flags)
        if (flags & bit) address.flags.push_back(name);
    if (at.broken()) return at.malformed();
    return address;
}

Fact<Route> route(Bytes payload) {
    rtmsg header{};
    Reader at(payload, sizeof header, "rtnetlink route");
    if (at.broken()) return at.malformed();
    std::memcpy(&header, payload.data(), sizeof header);
    Route route;
    route.type = name_of(route_types, header.rtm_type);
    route.link = index(at, RTA_OIF, "RTA_OIF").value_or(0);
    route.table = at.number<std::uint32_t>(RTA_TABLE, "RTA_TABLE").value_or(header.rtm_table);
    if (at.has(RTA_PREFSRC)) route.source = required_ip(at, header.rtm_family, RTA_PREFSRC, "RTA_PREFSRC");
    if (at.has(RTA_GATEWAY)) route.gateway = required_ip(at, header.rtm_family, RTA_GATEWAY, "RTA_GATEWAY");
    if (const Attribute* via = at.find(RTA_VIA)) {
        const auto family = via->as<std::uint16_t>();
        if (family) route.gateway = ip_text(*family, {0, via->data + sizeof *family, via->size - sizeof *family});
        if (route.gateway.empty()) at.mark("RTA_VIA");
    }
    if (at.broken()) return at.malformed();
    return route;
}

}  // namespace decode

namespace live {
namespace {

/// A whole dump, each message of `type` decoded; one that cannot be read spoils the answer, since it may be the one asked for.
template <class T>
Fact<std::vector<T>> dump(nl_msg* request, int type, const char* what, Fact<T> (*decoder)(decode::Bytes)) {
    netlink::Socket socket(NETLINK_ROUTE);
    std::vector<T> list;
    std::optional<Unreadable> broken;
    const int error = socket.ask(request, [&](nlmsghdr* message) {
        if (message->nlmsg_type != type) return;
        const Fact<T> item = decoder(netlink::payload(message));
        if (item.has()) list.push_back(*item);
        else if (item.unreadable() && !broken) broken = item.why();
    });
    if (error) return netlink::failure(error, what);
    if (broken) return *broken;
    return list;
}

}  // namespace

Fact<std::vector<Link>> links() {
    nl_msg* request = netlink::request(RTM_GETLINK, NLM_F_DUMP, ifinfomsg{});
    if (request) nla_put_u32(request, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
    return dump(request, RTM_NEWLINK, "rtnetlink links", decode::link);
}

Fact<std::vector<Address>> addresses() {
    return dump(netlink::request(RTM_GETADDR, NLM_F_DUMP, ifaddrmsg{}), RTM_NEWADDR, "rtnetlink addresses", decode::address);
}

Fact<Route> route(const std::string& destination, unsigned vrf) {
    const std::string what = "rtnetlink route to " + destination;
    in6_addr address{};
    rtmsg header{};
    header.rtm_family = destination.find(':') == std::string::npos ? AF_INET : AF_INET6;
    header.rtm_dst_len = header.rtm_family == AF_INET ? 32 : 128;
    header.rtm_flags = RTM_F_LOOKUP_TABLE;
    if (inet_pton(header.rtm_family, destination.c_str(), &address) != 1) return Unreadable{"EINVAL", what + ": not an address"};
    nl_msg* request = netlink::request(RTM_GETROUTE, 0, header);
    if (request) nla_put(request, RTA_DST, header.rtm_dst_len / 8, &address);
    if (request && vrf) nla_put_u32(request, RTA_OIF, vrf);

    netlink::Socket socket(NETLINK_ROUTE);
    Fact<Route> route = Unreadable{"malformed", what + ": no RTM_NEWROUTE in the reply"};
    const int error = socket.ask(request, [&](nlmsghdr* message) {
        if (message->nlmsg_type == RTM_NEWROUTE) route = decode::route(netlink::payload(message));
    });
    if (!error) return route;
    if (!socket.answered()) return netlink::failure(error, what);
    // The kernel answers a route of these types with the errno a packet would meet (net/ipv4/fib_semantics.c, fib_props).
    Route refused;
    switch (error) {
        case ENETUNREACH: return Absent{"ENETUNREACH"};
        case EHOSTUNREACH: refused.type = "unreachable"; return refused;
        case EACCES: refused.type = "prohibit"; return refused;
        case EINVAL: refused.type = "blackhole"; return refused;
        default: return netlink::failure(error, what);
    }
}

}  // namespace live
}  // namespace preflight
