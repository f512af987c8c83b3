#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/stat.h>

#include "host/decode.h"
#include "host/live.h"
#include "preflight/rdma_drivers.h"

namespace preflight {
namespace {

using testing::IsEmpty;

/// An nldev message put together by hand. Attribute numbers stand as the kernel's ABI has them
/// (include/uapi/rdma/rdma_netlink.h), not as our headers spell them.
class Message {
public:
    Message& bytes(int type, const void* data, std::size_t size) {
        const std::uint16_t header[2] = {static_cast<std::uint16_t>(size + 4), static_cast<std::uint16_t>(type)};
        append(header, sizeof header);
        append(data, size);
        data_.resize((data_.size() + 3) / 4 * 4);
        return *this;
    }
    Message& text(int type, const std::string& text) { return bytes(type, text.c_str(), text.size() + 1); }
    Message& u8(int type, std::uint8_t value) { return bytes(type, &value, 1); }
    Message& u32(int type, std::uint32_t value) { return bytes(type, &value, 4); }
    Message& u64(int type, std::uint64_t value) { return bytes(type, &value, 8); }
    Message& nest(int type, const Message& inside) { return bytes(type, inside.data_.data(), inside.data_.size()); }

    operator decode::Bytes() const { return data_; }

private:
    void append(const void* data, std::size_t size) {
        const auto* begin = static_cast<const std::uint8_t*>(data);
        data_.insert(data_.end(), begin, begin + size);
    }
    std::vector<std::uint8_t> data_;
};

/// Each shorter message is read from memory of exactly its size, so that a sanitizer sees any read behind its end.
template <class Decoder>
void cut_at_each_byte(decode::Bytes whole, Decoder decoder) {
    std::size_t malformed = 0;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const std::vector<std::uint8_t> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        const auto fact = decoder(decode::Bytes(part));
        if (fact.unreadable()) {
            EXPECT_EQ(fact.why().error, "malformed");
            ++malformed;
        }
    }
    EXPECT_GE(malformed, whole.size() / 2) << "a message cut inside an attribute is not a shorter message";
}

Message irdma_device() {
    return Message()
        .u32(1, 3)
        .text(2, "rocep59s0f0")
        .u32(3, 1)
        .u64(4, 0x221)
        .text(5, "1.72")
        .u64(6, 0xb69691fffea60001)
        .u64(7, 0xb69691fffea60001)
        .u8(14, 1)
        .u8(84, 1)
        .text(67, "roce");
}

TEST(RdmaDecode, reads_a_device_and_prints_its_guid_as_sysfs_does) {
    const auto device = decode::rdma_device(irdma_device());
    ASSERT_TRUE(device.has());
    EXPECT_EQ(device->index, 3);
    EXPECT_EQ(device->name, "rocep59s0f0");
    EXPECT_EQ(device->firmware, "1.72");
    EXPECT_EQ(device->node_guid, "b696:91ff:fea6:0001");
    EXPECT_EQ(device->node_type, "CA");
    EXPECT_EQ(device->protocol, "roce");
    EXPECT_THAT(device->ports, IsEmpty());
}

TEST(RdmaDecode, tells_iwarp_by_node_type_and_protocol) {
    const auto device = decode::rdma_device(Message().u32(1, 0).text(2, "siw0").u8(14, 4).text(67, "iw"));
    ASSERT_TRUE(device.has());
    EXPECT_EQ(device->node_type, "RNIC");
    EXPECT_EQ(device->protocol, "iw");
}

TEST(RdmaDecode, leaves_empty_what_an_old_kernel_does_not_send_and_skips_what_a_new_one_adds) {
    const auto device = decode::rdma_device(Message().u32(1, 0).text(2, "mlx5_0").u32(9999, 7).text(97, "new"));
    ASSERT_TRUE(device.has());
    EXPECT_EQ(device->node_type, "");
    EXPECT_EQ(device->protocol, "");
    EXPECT_EQ(device->firmware, "");
}

TEST(RdmaDecode, refuses_a_device_without_a_name) {
    EXPECT_EQ(decode::rdma_device(Message().u32(1, 0)).why().error, "malformed");
    EXPECT_EQ(decode::rdma_device(Message().u32(1, 0).text(2, "")).why().error, "malformed");
    EXPECT_EQ(decode::rdma_device({}).why().error, "malformed");
}

TEST(RdmaDecode, refuses_an_attribute_that_is_too_short) {
    const auto device = decode::rdma_device(Message().u32(1, 0).text(2, "a").u32(6, 1));
    ASSERT_TRUE(device.unreadable());
    EXPECT_EQ(device.why().error, "malformed");
    EXPECT_NE(device.why().cause.find("NODE_GUID"), std::string::npos) << device.why().cause;
}

TEST(RdmaDecode, reads_a_port_with_the_netdev_of_this_namespace) {
    const auto port = decode::rdma_port(
        Message().u32(1, 3).text(2, "rocep59s0f0").u32(3, 1).u32(9, 1).u8(12, 4).u8(13, 5).u32(50, 7).text(51, "ens1f0np0"));
    ASSERT_TRUE(port.has());
    EXPECT_EQ(port->port, 1);
    EXPECT_EQ(port->state, "ACTIVE");
    EXPECT_EQ(port->physical_state, "LINK_UP");
    EXPECT_EQ(port->netdev, 7);
    EXPECT_EQ(port->netdev_name, "ens1f0np0");
}

TEST(RdmaDecode, a_port_of_another_namespace_has_no_netdev) {
    const auto port = decode::rdma_port(Message().u32(1, 3).text(2, "a").u32(3, 2).u8(12, 1).u8(13, 3));
    ASSERT_TRUE(port.has());
    EXPECT_EQ(port->port, 2);
    EXPECT_EQ(port->state, "DOWN");
    EXPECT_EQ(port->physical_state, "DISABLED");
    EXPECT_FALSE(port->netdev.has_value());
    EXPECT_EQ(port->netdev_name, "");
}

TEST(RdmaDecode, prints_a_state_without_a_name_as_its_number) {
    const auto port = decode::rdma_port(Message().u32(3, 1).u8(12, 200).u8(13, 201));
    EXPECT_EQ(port->state, "200");
    EXPECT_EQ(port->physical_state, "201");
    EXPECT_EQ(decode::rdma_node_type(0), "0");
}

TEST(RdmaDecode, reads_the_uverbs_device_and_its_driver) {
    const auto device = decode::rdma_chardev(Message().text(69, "uverbs").text(70, "uverbs2").u64(71, 1).u64(72, 0xe700c2).u32(73, 9));
    ASSERT_TRUE(device.has());
    EXPECT_EQ(device->name, "uverbs2");
    EXPECT_EQ(device->driver_id, 9u);
}

TEST(RdmaDecode, a_driver_that_sends_no_id_is_not_driver_zero) {
    const auto device = decode::rdma_chardev(Message().text(70, "uverbs0"));
    ASSERT_TRUE(device.has());
    EXPECT_FALSE(device->driver_id.has_value());
    EXPECT_EQ(decode::rdma_chardev(Message().u32(73, 9)).why().error, "malformed");
}

TEST(RdmaDecode, tells_shared_exclusive_and_unsaid_apart) {
    EXPECT_EQ(*decode::rdma_netns_mode(Message().u8(66, 1)), "shared");
    EXPECT_EQ(*decode::rdma_netns_mode(Message().u8(66, 0)), "exclusive");
    EXPECT_TRUE(decode::rdma_netns_mode(Message().u8(93, 1)).absent());
    EXPECT_TRUE(decode::rdma_netns_mode(Message().bytes(66, "", 0)).unreadable());
}

/// struct sockaddr_storage as the kernel sends it, all 128 bytes.
Message cm_id_address(int type, int family, const char* address, int port) {
    sockaddr_storage storage{};
    if (family == AF_INET) {
        auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
        v4.sin_port = htons(static_cast<std::uint16_t>(port));
        inet_pton(family, address, &v4.sin_addr);
    } else {
        auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
        v6.sin6_port = htons(static_cast<std::uint16_t>(port));
        inet_pton(family, address, &v6.sin6_addr);
    }
    storage.ss_family = static_cast<sa_family_t>(family);
    return Message().bytes(type, &storage, sizeof storage);
}

Message in_table(int table, int entry, const std::vector<Message>& entries) {
    Message inside;
    for (const Message& one : entries) inside.nest(entry, one);
    return Message().u32(1, 0).text(2, "rxe0").nest(table, inside);
}

TEST(RdmaDecode, reads_queue_pairs_of_a_process_and_of_the_kernel) {
    const auto list = decode::rdma_resources(
        "qp", in_table(19, 20,
                       {Message().u32(3, 1).u32(21, 28).u32(22, 30).u8(26, 2).u8(27, 3).u32(60, 17).u32(28, 830),
                        Message().u32(3, 1).u32(21, 1).u8(26, 1).u8(27, 3).text(29, "ib_core")}));
    ASSERT_TRUE(list.has());
    ASSERT_EQ(list->size(), 2u);
    const RdmaResource &user = (*list)[0], &kernel = (*list)[1];
    EXPECT_EQ(user.kind, "qp");
    EXPECT_EQ(user.number, 28u);
    EXPECT_EQ(user.pid, 830);
    EXPECT_EQ(user.type, "RC");
    EXPECT_EQ(user.state, "RTS");
    EXPECT_EQ(user.kernel_user, "");
    EXPECT_EQ(kernel.type, "GSI");
    EXPECT_FALSE(kernel.pid.has_value());
    EXPECT_EQ(kernel.kernel_user, "ib_core");
}

TEST(RdmaDecode, reads_a_listener_with_its_address) {
    Message entry;
    entry.u32(3, 1).u32(32, 0x0106).u8(27, 8).u32(63, 13).u32(28, 843);
    const auto source = cm_id_address(33, AF_INET, "192.0.2.11", 5555), destination = cm_id_address(34, AF_INET, "0.0.0.0", 0);
    const auto joined = [](Message into, const Message& part) {
        const decode::Bytes bytes = part;
        return into.bytes(bytes[2], bytes.data() + 4, bytes.size() - 4);
    };
    const auto list = decode::rdma_resources("cm_id", in_table(30, 31, {joined(joined(entry, source), destination)}));
    ASSERT_TRUE(list.has());
    ASSERT_EQ(list->size(), 1u);
    EXPECT_EQ((*list)[0].number, 13u);
    EXPECT_EQ((*list)[0].type, "TCP");
    EXPECT_EQ((*list)[0].state, "LISTEN");
    EXPECT_EQ((*list)[0].source, "192.0.2.11:5555");
    EXPECT_EQ((*list)[0].destination, "0.0.0.0:0");
    EXPECT_EQ((*list)[0].pid, 843);
}

TEST(RdmaDecode, prints_both_address_families_and_no_other) {
    const auto bytes = [](const Message& message) { return decode::Bytes(message).subspan(4); };
    const auto v6 = cm_id_address(33, AF_INET6, "2001:db8::1", 5555), v4 = cm_id_address(33, AF_INET, "192.0.2.1", 1),
               ib = cm_id_address(33, 27, "::", 0);
    EXPECT_EQ(decode::socket_address(bytes(v6)), "[2001:db8::1]:5555");
    EXPECT_EQ(decode::socket_address(bytes(v4)), "192.0.2.1:1");
    EXPECT_EQ(decode::socket_address(bytes(ib)), "");
    EXPECT_EQ(decode::socket_address(bytes(v6).first(20)), "") << "half an address";
    EXPECT_EQ(decode::socket_address({}), "");
}

TEST(RdmaDecode, reads_memory_regions_and_contexts) {
    const auto regions = decode::rdma_resources("mr", in_table(40, 41, {Message().u64(45, 1ull << 32).u32(62, 5).u32(28, 900)}));
    ASSERT_EQ(regions->size(), 1u);
    EXPECT_EQ((*regions)[0].length, 1ull << 32);
    EXPECT_EQ((*regions)[0].number, 5u);
    const auto contexts = decode::rdma_resources("ctx", in_table(86, 87, {Message().u32(64, 2).u32(28, 900)}));
    ASSERT_EQ(contexts->size(), 1u);
    EXPECT_EQ((*contexts)[0].number, 2u);
    EXPECT_EQ((*contexts)[0].pid, 900);
}

TEST(RdmaDecode, an_empty_table_is_no_resource_and_no_error) {
    const auto list = decode::rdma_resources("qp", in_table(19, 20, {}));
    ASSERT_TRUE(list.has());
    EXPECT_THAT(*list, IsEmpty());
}

TEST(RdmaDecode, one_broken_entry_spoils_the_table) {
    const auto list = decode::rdma_resources("qp", in_table(19, 20, {Message().u32(21, 28), Message().u8(21, 1)}));
    ASSERT_TRUE(list.unreadable());
    EXPECT_EQ(list.why().error, "malformed");
}

TEST(RdmaDecode, survives_a_message_cut_at_any_byte) {
    cut_at_each_byte(irdma_device(), decode::rdma_device);
    cut_at_each_byte(Message().u32(3, 1).u8(12, 4).u8(13, 5).u32(50, 7).text(51, "ens1f0np0"), decode::rdma_port);
    cut_at_each_byte(Message().text(69, "uverbs").text(70, "uverbs2").u32(73, 9), decode::rdma_chardev);
    cut_at_each_byte(Message().text(2, "unrelated").u8(66, 1), decode::rdma_netns_mode);
    const auto table = in_table(30, 31, {cm_id_address(33, AF_INET6, "2001:db8::1", 5555), Message().u32(63, 13).u32(28, 843)});
    cut_at_each_byte(table, [](decode::Bytes part) { return decode::rdma_resources("cm_id", part); });
}

TEST(RdmaDrivers, names_the_module_of_each_id) {
    EXPECT_EQ(rdma_driver_name(1), "mlx5_ib");
    EXPECT_EQ(rdma_driver_name(6), "bnxt_re");
    EXPECT_EQ(rdma_driver_name(9), "irdma");
    EXPECT_EQ(rdma_driver_name(14), "rdma_rxe");
    EXPECT_EQ(rdma_driver_name(18), "siw");
    EXPECT_EQ(rdma_driver_name(20), "mana_ib");
    EXPECT_EQ(rdma_driver_name(0), "");
    EXPECT_EQ(rdma_driver_name(4000), "");
}

bool exists(const char* path) {
    struct stat status {};
    return stat(path, &status) == 0;
}

TEST(RdmaLive, says_that_there_is_no_subsystem_and_does_not_load_it) {
    const bool before = exists("/sys/module/ib_core") || exists("/sys/class/infiniband");
    const auto devices = live::rdma_devices();
    const auto mode = live::rdma_netns_mode();
    const auto resources = live::rdma_resources("no-such-device");
    EXPECT_TRUE(resources.absent());
    if (before) {
        EXPECT_TRUE(devices.has());
        EXPECT_TRUE(mode.has() || mode.absent());
        EXPECT_EQ(resources.gone().detail, "ENODEV");
    } else {
        EXPECT_TRUE(devices.absent());
        EXPECT_TRUE(mode.absent());
        EXPECT_EQ(devices.gone().detail, "ib_core is not loaded");
        EXPECT_FALSE(exists("/sys/module/ib_core"));
    }
}

}  // namespace
}  // namespace preflight
