#pragma once
// From the bytes of a kernel's reply to the structs of host.h: pure functions, one per message. They take what stands
// behind the nlmsghdr (netlink::payload), read nothing outside it, and answer Unreadable "malformed" with the family and
// the attribute that is broken. An attribute the kernel did not send stays nullopt or empty.

#include <cstdint>
#include <map>
#include <span>
#include <string>
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

}  // namespace preflight::decode
