// The IEEE 802.1Qaz tables of one netdev (RTM_GETDCB, DCB_CMD_IEEE_GET; net/dcb/dcbnl.c). The IEEE nest is sent without
// NLA_F_NESTED, the trust table with it, and no payload is aligned to more than four bytes.

#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <algorithm>

#include "host/decode.h"
#include "host/live.h"
#include "host/netlink.h"

namespace preflight {
namespace {

using netlink::Attribute;
using netlink::Reader;

// include/uapi/linux/dcbnl.h of Linux 6.12; not in the headers of Linux 6.1.
constexpr int DCB_ATTR_APP_PCP = 2;        // DCB_ATTR_DCB_APP
constexpr int DCB_ATTR_TRUST_TABLE = 11;   // DCB_ATTR_DCB_APP_TRUST_TABLE

template <class T>
std::vector<T> eight(const auto (&values)[IEEE_8021QAZ_MAX_TCS]) {
    return {std::begin(values), std::end(values)};
}

DcbEts ets(const ieee_ets& from) {
    return {from.willing != 0,           from.ets_cap,           from.cbs != 0, eight<int>(from.tc_tx_bw),
            eight<int>(from.tc_tsa), eight<int>(from.prio_tc)};
}

DcbPfc pfc(const ieee_pfc& from) {
    return {from.pfc_cap, from.pfc_en, from.mbc != 0, from.delay, eight<std::uint64_t>(from.requests),
            eight<std::uint64_t>(from.indications)};
}

bool is_application(const Attribute& entry) {
    return entry.type == DCB_ATTR_IEEE_APP || entry.type == DCB_ATTR_APP_PCP;
}

}  // namespace

Fact<Dcb> decode::dcb(Bytes payload) {
    Reader at(payload, sizeof(dcbmsg), "dcbnl");
    if (at.broken()) return at.malformed();
    Dcb dcb;
    dcb.dcbx = at.number<std::uint8_t>(DCB_ATTR_DCBX, "DCB_ATTR_DCBX");
    Reader ieee = at.nest(DCB_ATTR_IEEE, "DCB_ATTR_IEEE");
    if (const auto sent = ieee.number<ieee_ets>(DCB_ATTR_IEEE_ETS, "DCB_ATTR_IEEE_ETS")) dcb.ets = ets(*sent);
    if (const auto sent = ieee.number<ieee_pfc>(DCB_ATTR_IEEE_PFC, "DCB_ATTR_IEEE_PFC")) dcb.pfc = pfc(*sent);
    if (ieee.has(DCB_ATTR_IEEE_APP_TABLE)) {
        dcb.apps.emplace();
        const Reader table = ieee.nest(DCB_ATTR_IEEE_APP_TABLE, "DCB_ATTR_IEEE_APP_TABLE");
        for (const Attribute& entry : table.all()) {
            if (!is_application(entry)) continue;
            const auto app = entry.as<dcb_app>();
            if (app) dcb.apps->push_back({app->selector, app->priority, app->protocol});
            else ieee.mark("DCB_ATTR_IEEE_APP");
        }
    }
    if (const auto sent = ieee.number<dcbnl_buffer>(DCB_ATTR_DCB_BUFFER, "DCB_ATTR_DCB_BUFFER"))
        dcb.buffer = DcbBuffer{eight<int>(sent->prio2buffer), eight<std::uint64_t>(sent->buffer_size), sent->total_size};
    if (ieee.has(DCB_ATTR_TRUST_TABLE)) {
        dcb.trust.emplace();
        const Reader table = ieee.nest(DCB_ATTR_TRUST_TABLE, "DCB_ATTR_DCB_APP_TRUST_TABLE");
        for (const Attribute& entry : table.all()) {
            if (!is_application(entry)) continue;
            const auto selector = entry.as<std::uint8_t>();
            if (selector) dcb.trust->push_back(*selector);
            else ieee.mark("DCB_ATTR_DCB_APP_TRUST_TABLE");
        }
    }
    if (at.broken()) return at.malformed();
    return dcb;
}

Fact<Dcb> live::dcb(const std::string& netdev) {
    const std::string what = "dcbnl " + netdev;
    if (netdev.empty() || netdev.size() >= IFNAMSIZ) return Absent{"ENODEV"};
    dcbmsg header{};
    header.dcb_family = AF_UNSPEC;
    header.cmd = DCB_CMD_IEEE_GET;
    nl_msg* request = netlink::request(RTM_GETDCB, 0, header);
    if (request) nla_put_string(request, DCB_ATTR_IFNAME, netdev.c_str());
    netlink::Socket socket(NETLINK_ROUTE);
    Fact<Dcb> dcb = Unreadable{"malformed", what + ": no reply to DCB_CMD_IEEE_GET"};
    const int error = socket.ask(request, [&](nlmsghdr* message) { dcb = decode::dcb(netlink::payload(message)); });
    return error ? netlink::refusal<Dcb>(socket, error, what) : dcb;
}

}  // namespace preflight
