// Real replies of a 6.12 kernel to our questions, recorded in the test machine by tests/vm/record-netlink: the healthy node with
// the simulated E810 and with the simulated ConnectX-6 Dx, as tests/vm/node sets them up, and the links of an LACP bond.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "host/decode.h"

namespace preflight {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Key;
using testing::Pair;

using Bytes = std::vector<std::uint8_t>;

struct Reply {
    std::string decoder;
    Bytes bytes;
};

std::vector<Reply> replies(const std::string& node) {
    std::ifstream file(TESTS_DIR "/unit/host/replies/" + node);
    std::vector<Reply> list;
    for (std::string decoder, hex; file >> decoder >> hex;) {
        Bytes bytes;
        for (std::size_t i = 0; i + 1 < hex.size(); i += 2) bytes.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
        list.push_back({decoder, bytes});
    }
    return list;
}

template <class T>
std::vector<T> all(const std::string& node, const std::string& decoder, Fact<T> (*decode)(decode::Bytes)) {
    std::vector<T> list;
    for (const Reply& reply : replies(node))
        if (reply.decoder == decoder) {
            const Fact<T> fact = decode(reply.bytes);
            EXPECT_TRUE(fact.has()) << node << " " << decoder;
            if (fact) list.push_back(*fact);
        }
    return list;
}

template <class T>
T one(const std::string& node, const std::string& decoder, Fact<T> (*decode)(decode::Bytes)) {
    const auto list = all(node, decoder, decode);
    EXPECT_GE(list.size(), 1u) << node << " " << decoder;
    return list.empty() ? T{} : list.front();
}

Link link_named(const std::vector<Link>& links, const std::string& name) {
    for (const Link& link : links)
        if (link.name == name) return link;
    ADD_FAILURE() << "no " << name;
    return {};
}

TEST(Replies, show_links_addresses_and_the_route_of_the_kernel) {
    const Link port = link_named(all("e810", "link", decode::link), "enp59s0f0np0");
    EXPECT_EQ(port.mtu, 9000);
    EXPECT_TRUE(port.running());
    EXPECT_EQ(port.carrier, true);
    EXPECT_TRUE(port.carrier_changes.has_value());
    std::vector<std::string> addresses;
    for (const Address& address : all("e810", "address", decode::address)) addresses.push_back(address.address);
    EXPECT_THAT(addresses, Contains("192.0.2.11"));
    EXPECT_THAT(addresses, Contains("198.51.100.11"));
    EXPECT_EQ(one("e810", "route", decode::route).source, "192.0.2.11");
}

TEST(Replies, show_an_lacp_bond_with_its_members) {
    const auto links = all("bond", "link", decode::link);
    const Link bond = link_named(links, "bond0");
    ASSERT_TRUE(bond.bond);
    EXPECT_EQ(bond.kind, "bond");
    EXPECT_EQ(bond.bond->mode, "802.3ad");
    for (const char* name : {"enp59s0f0np0", "enp59s0f1np1"}) EXPECT_EQ(link_named(links, name).master, bond.index);
}

TEST(Replies, show_the_dcb_tables_as_the_node_script_set_them) {
    for (const char* node : {"e810", "connectx"}) {
        const Dcb dcb = one(node, "dcb", decode::dcb);
        ASSERT_TRUE(dcb.ets && dcb.pfc && dcb.apps) << node;
        EXPECT_THAT(dcb.ets->tx_bandwidth, ElementsAre(20, 5, 5, 50, 5, 5, 5, 5)) << node;
        EXPECT_THAT(dcb.ets->priority_tc, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7)) << node;
        EXPECT_THAT(dcb.ets->tsa, testing::Each(2)) << node;
        EXPECT_EQ(dcb.pfc->enabled, 1u << 3) << node;
        ASSERT_EQ(dcb.apps->size(), 1u) << node;
        EXPECT_EQ(dcb.apps->front().selector, 5) << node;
        EXPECT_EQ(dcb.apps->front().priority, 3) << node;
        EXPECT_EQ(dcb.apps->front().protocol, 26) << node;
        EXPECT_TRUE(dcb.dcbx && *dcb.dcbx & 1u) << node;
        EXPECT_EQ(dcb.trust, std::nullopt) << node << ": neither driver offers the trust table";
    }
    EXPECT_EQ(one("e810", "dcb", decode::dcb).buffer.has_value(), false);
    EXPECT_EQ(one("connectx", "dcb", decode::dcb).buffer.has_value(), true);
}

TEST(Replies, show_what_ethtool_shows) {
    EXPECT_EQ(one("e810", "ethtool_channels", decode::ethtool_channels).max_combined, 1u);  // the machine has one processor
    EXPECT_FALSE(one("e810", "ethtool_pause", decode::ethtool_pause).rx);
    EXPECT_FALSE(one("connectx", "ethtool_pause", decode::ethtool_pause).rx);
    EXPECT_THAT(one("e810", "ethtool_private_flags", decode::ethtool_private_flags), Contains(Pair("fw-lldp-agent", false)));
}

TEST(Replies, show_what_devlink_shows) {
    const DevlinkInfo e810 = one("e810", "devlink_info", decode::devlink_info), connectx = one("connectx", "devlink_info", decode::devlink_info);
    EXPECT_EQ(e810.driver, "ice");
    EXPECT_THAT(e810.running, Contains(Pair("fw.app.name", "ICE OS Default Package")));
    EXPECT_THAT(e810.stored, Contains(Key("fw.bundle_id")));
    EXPECT_EQ(connectx.driver, "mlx5_core");
    EXPECT_THAT(connectx.fixed, Contains(Pair("fw.psid", "MT_0000000359")));
    std::map<std::string, std::string> values;
    for (const auto& parameter : all("e810", "devlink_parameter", decode::devlink_parameter))
        for (const DevlinkParam& value : parameter) values[value.name + " " + value.mode] = value.value;
    EXPECT_THAT(values, Contains(Pair("enable_roce runtime", "true")));
    EXPECT_THAT(values, Contains(Pair("enable_iwarp runtime", "false")));
    EXPECT_EQ(one("e810", "devlink_health", decode::devlink_health).reporter, "tx_hang");
    EXPECT_EQ(one("e810", "devlink_handle", decode::devlink_handle).second, "0000:3b:00.0");
}

TEST(Replies, show_the_rdma_devices_their_ports_and_nodes) {
    std::vector<std::string> names;
    for (const RdmaDevice& device : all("e810", "rdma_device", decode::rdma_device)) names.push_back(device.name);
    EXPECT_THAT(names, ElementsAre("rocep59s0f0", "rocep59s0f1"));
    for (const RdmaPort& port : all("e810", "rdma_port", decode::rdma_port)) EXPECT_EQ(port.state, "ACTIVE");
    EXPECT_THAT(one("e810", "rdma_chardev", decode::rdma_chardev).name, testing::StartsWith("uverbs"));
    EXPECT_EQ(one("e810", "rdma_netns_mode", decode::rdma_netns_mode), "shared");
}

/// Cut at each byte, from memory of exactly that size so that a sanitizer sees any read behind its end. What is cut inside an
/// attribute is malformed; what is cut between two is a shorter message, without what stood behind.
TEST(Replies, survive_a_cut_at_each_byte) {
    const auto cut = [](const Reply& reply, auto decoder) {
        std::size_t malformed = 0;
        for (std::size_t size = 0; size < reply.bytes.size(); ++size) {
            const Bytes part(reply.bytes.begin(), reply.bytes.begin() + static_cast<std::ptrdiff_t>(size));
            const auto fact = decoder(decode::Bytes(part));
            if (!fact.unreadable()) continue;
            EXPECT_EQ(fact.why().error, "malformed") << reply.decoder;
            EXPECT_FALSE(fact.why().cause.empty()) << reply.decoder;
            ++malformed;
        }
        EXPECT_GE(malformed, reply.bytes.size() / 2) << reply.decoder;
    };
    std::size_t tried = 0;
    for (const char* node : {"e810", "connectx", "bond"})
        for (const Reply& reply : replies(node)) {
            ++tried;
            const std::string& name = reply.decoder;
            if (name == "link") cut(reply, decode::link);
            else if (name == "address") cut(reply, decode::address);
            else if (name == "route") cut(reply, decode::route);
            else if (name == "dcb") cut(reply, decode::dcb);
            else if (name == "ethtool_pause") cut(reply, decode::ethtool_pause);
            else if (name == "ethtool_channels") cut(reply, decode::ethtool_channels);
            else if (name == "ethtool_speed") cut(reply, decode::ethtool_speed);
            else if (name == "ethtool_private_flags") cut(reply, decode::ethtool_private_flags);
            else if (name == "devlink_handle") cut(reply, decode::devlink_handle);
            else if (name == "devlink_info") cut(reply, decode::devlink_info);
            else if (name == "devlink_parameter") cut(reply, decode::devlink_parameter);
            else if (name == "devlink_health") cut(reply, decode::devlink_health);
            else if (name == "rdma_device") cut(reply, decode::rdma_device);
            else if (name == "rdma_port") cut(reply, decode::rdma_port);
            else if (name == "rdma_chardev") cut(reply, decode::rdma_chardev);
            else if (name == "rdma_netns_mode") cut(reply, decode::rdma_netns_mode);
            else ADD_FAILURE() << "no decoder named " << name;
        }
    EXPECT_GE(tried, 60u);
}

}  // namespace
}  // namespace preflight
