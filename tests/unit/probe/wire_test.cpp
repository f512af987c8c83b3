#include "probe/wire.h"

#include <gtest/gtest.h>

#include <vector>

namespace preflight::probe {
namespace {

template <std::size_t N>
std::vector<std::uint8_t> padded(const std::array<std::uint8_t, N>& message, std::size_t to) {
    std::vector<std::uint8_t> data(message.begin(), message.end());
    data.resize(to);
    return data;
}

TEST(ProbeWire, carries_each_message_as_it_was) {
    const auto hello = decode_hello(encode(Hello{wire_version, 64u << 20}));
    ASSERT_TRUE(hello);
    EXPECT_EQ(hello->bytes, 64u << 20);
    const auto offer = decode_offer(encode(Offer{wire_version, 0x7f0011223344, 4096, 0xdeadbeef}));
    ASSERT_TRUE(offer);
    EXPECT_EQ(offer->address, 0x7f0011223344u);
    EXPECT_EQ(offer->bytes, 4096u);
    EXPECT_EQ(offer->rkey, 0xdeadbeefu);
    const auto refusal = decode_refusal(encode(Refusal{wire_version, Reason::no_memory}));
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->reason, Reason::no_memory);
    const auto order = decode_order(encode(Order{7, 1u << 20}));
    ASSERT_TRUE(order);
    EXPECT_EQ(order->seed, 7u);
    EXPECT_EQ(order->bytes, 1u << 20);
    const auto verdict = decode_verdict(encode(Verdict{7, 4096, 17}));
    ASSERT_TRUE(verdict);
    EXPECT_EQ(verdict->first_wrong, 17u);
    EXPECT_EQ(decode_verdict(encode(Verdict{7, 4096, Verdict::all_right}))->first_wrong, Verdict::all_right);
}

TEST(ProbeWire, fits_what_rdma_cm_carries) {
    EXPECT_LE(hello_bytes, 56u);  // RDMA_PS_TCP: 92 of a request less 36 of rdma_cm's own header
    EXPECT_LE(offer_bytes, 196u);
    EXPECT_LE(refusal_bytes, 148u);
    EXPECT_LE(order_bytes, control_bytes);
    EXPECT_LE(verdict_bytes, control_bytes);
}

TEST(ProbeWire, takes_private_data_with_the_padding_of_the_transport) {
    EXPECT_TRUE(decode_hello(padded(encode(Hello{}), 56)));
    EXPECT_TRUE(decode_offer(padded(encode(Offer{}), 196)));
    EXPECT_TRUE(decode_refusal(padded(encode(Refusal{}), 148)));
    EXPECT_FALSE(decode_order(padded(encode(Order{}), 64))) << "a control message has its own length";
    EXPECT_FALSE(decode_verdict(padded(encode(Verdict{}), 64)));
}

TEST(ProbeWire, takes_no_message_that_is_cut_short_or_of_another_kind) {
    const auto hello = encode(Hello{wire_version, 5});
    for (std::size_t size = 0; size < hello.size(); ++size)
        EXPECT_FALSE(decode_hello(Bytes(hello).first(size))) << size;
    const auto order = encode(Order{1, 5});
    for (std::size_t size = 0; size < order.size(); ++size)
        EXPECT_FALSE(decode_order(Bytes(order).first(size))) << size;
    EXPECT_FALSE(decode_hello(padded(encode(Order{}), 56)));
    EXPECT_FALSE(decode_offer(padded(encode(Hello{}), 196)));
    EXPECT_FALSE(decode_hello(std::vector<std::uint8_t>(56, 0)));
    EXPECT_FALSE(decode_hello(std::vector<std::uint8_t>(56, 0xff)));
}

TEST(ProbeWire, leaves_another_version_to_the_caller_and_reads_no_further) {
    const auto hello = decode_hello(encode(Hello{wire_version + 1, 64}));
    ASSERT_TRUE(hello);
    EXPECT_NE(hello->version, wire_version);
    EXPECT_EQ(hello->bytes, 0u);
}

TEST(ProbeWire, takes_no_number_beyond_its_bounds) {
    EXPECT_FALSE(decode_offer(encode(Offer{wire_version, 0, max_buffer_bytes + 1, 0})));
    EXPECT_FALSE(decode_order(encode(Order{0, max_buffer_bytes + 1})));
    EXPECT_TRUE(decode_order(encode(Order{0, max_buffer_bytes})));
    EXPECT_FALSE(decode_refusal(encode(Refusal{wire_version, static_cast<Reason>(99)})));
    EXPECT_FALSE(decode_refusal(encode(Refusal{wire_version, static_cast<Reason>(0)})));
}

TEST(ProbePattern, shows_any_changed_byte_and_its_place) {
    for (const std::size_t size : {1u, 7u, 8u, 9u, 4096u, 4099u}) {
        std::vector<std::uint8_t> data(size);
        fill(data, 42);
        EXPECT_FALSE(first_wrong(data, 42)) << size;
        for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
            data[at] ^= 1;
            EXPECT_EQ(first_wrong(data, 42), at) << size;
            data[at] ^= 1;
        }
    }
}

TEST(ProbePattern, differs_by_seed_and_is_not_moved_unseen) {
    std::vector<std::uint8_t> data(8192);
    fill(data, 1);
    EXPECT_TRUE(first_wrong(data, 2)) << "what is left from another transfer is no pass";
    EXPECT_TRUE(first_wrong(Bytes(data).subspan(4096), 1)) << "a packet in the place of another is seen";
    EXPECT_TRUE(first_wrong(std::vector<std::uint8_t>(64, 0), 0)) << "untouched memory is not the pattern";
}

}  // namespace
}  // namespace preflight::probe
