#pragma once
// From the bytes of a kernel's reply to the structs of host.h: pure functions, one per message. They take what stands
// behind the nlmsghdr (netlink::payload), read nothing outside it, and answer Unreadable "malformed" with the family and
// the attribute that is broken. An attribute the kernel did not send stays nullopt or empty.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "preflight/host.h"

namespace preflight::decode {

using Bytes = std::span<const std::uint8_t>;

// rtnetlink.cpp
/// RTM_NEWLINK: struct ifinfomsg and IFLA_*.
Fact<Link> link(Bytes payload);
/// RTM_NEWADDR: struct ifaddrmsg and IFA_*. Absent for a family other than IPv4 and IPv6.
Fact<Address> address(Bytes payload);
/// RTM_NEWROUTE: struct rtmsg and RTA_*.
Fact<Route> route(Bytes payload);
/// "b4:96:91:ff:0a:01".
std::string mac(Bytes address);

// dcb.cpp
/// The reply to DCB_CMD_IEEE_GET: struct dcbmsg and DCB_ATTR_*.
Fact<Dcb> dcb(Bytes payload);

// ethtool.cpp: struct genlmsghdr and ETHTOOL_A_*
Fact<EthtoolPause> ethtool_pause(Bytes payload);
Fact<EthtoolChannels> ethtool_channels(Bytes payload);
Fact<EthtoolSpeed> ethtool_speed(Bytes payload);
/// A bit list; a compact bitset, which carries no names, is malformed here.
Fact<std::map<std::string, bool>> ethtool_private_flags(Bytes payload);
/// `names` is an ETHTOOL_GSTRINGS table of 32 bytes each, `values` an ETHTOOL_GSTATS array of u64 in the same order. Only
/// the entries both hold are read; of two counters with one name the first stays.
std::map<std::string, std::uint64_t> ethtool_statistics(Bytes names, Bytes values);

// devlink.cpp: struct genlmsghdr and DEVLINK_ATTR_*
/// Bus and device name of any devlink message.
using DevlinkHandle = std::pair<std::string, std::string>;
Fact<DevlinkHandle> devlink_handle(Bytes payload);
Fact<DevlinkInfo> devlink_info(Bytes payload);
/// One entry per configuration mode in which the parameter has a value. A boolean is true when its flag was sent.
Fact<std::vector<DevlinkParam>> devlink_parameter(Bytes payload);
Fact<DevlinkHealth> devlink_health(Bytes payload);

// rdma_netlink.cpp: RDMA_NLDEV_ATTR_*, no header before them
/// RDMA_NLDEV_CMD_GET, without ports and uverbs.
Fact<RdmaDevice> rdma_device(Bytes payload);
/// RDMA_NLDEV_CMD_PORT_GET.
Fact<RdmaPort> rdma_port(Bytes payload);
/// RDMA_NLDEV_CMD_GET_CHARDEV.
Fact<RdmaChardev> rdma_chardev(Bytes payload);
/// RDMA_NLDEV_CMD_SYS_GET. Absent when the kernel sent no mode.
Fact<std::string> rdma_netns_mode(Bytes payload);
/// RDMA_NLDEV_CMD_RES_*_GET of one kind ("qp", "cm_id"…). An unknown kind has no resources.
Fact<std::vector<RdmaResource>> rdma_resources(std::string_view kind, Bytes payload);
/// enum ib_port_state as rdma-link(8) prints it; the number where it has no name.
std::string rdma_port_state(unsigned state);
/// enum rdma_node_type: "CA", "SWITCH", "RNIC"…; the number where it has no name.
std::string rdma_node_type(unsigned type);
/// "192.0.2.11:5555", "[2001:db8::1]:5555"; empty for another family or a truncated address.
std::string socket_address(Bytes sockaddr);

}  // namespace preflight::decode
