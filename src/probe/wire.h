#pragma once
// What the two ends of a probe tell each other: the private data of the connection, and control messages sent beside
// the transfers. All numbers are big-endian. Nothing here trusts its input: a decoder answers nullopt to what is not
// its message.
//
//   probe  -> listen   Hello      private data of the request (RDMA_PS_TCP leaves 56 bytes)
//   listen -> probe    Offer      private data of the acceptance (196), or Refusal, of the rejection (148)
//   probe  -> listen   WRITE with immediate; the immediate is the seed of the pattern, its length is the transfer's
//   probe  -> listen   Order      SEND: fill the buffer with the pattern of a seed, for a READ to come
//   listen -> probe    Verdict    SEND: what became of the last of these

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace preflight::probe {

using Bytes = std::span<const std::uint8_t>;

/// Both ends must speak the same version.
inline constexpr std::uint16_t wire_version = 1;
/// The most one end offers to the other's access.
inline constexpr std::uint64_t max_buffer_bytes = 64u << 20;

struct Hello {
    std::uint16_t version = wire_version;
    std::uint64_t bytes = 0;  ///< how large a buffer it wants to reach
};

struct Offer {
    std::uint16_t version = wire_version;
    std::uint64_t address = 0, bytes = 0;
    std::uint32_t rkey = 0;
};

enum class Reason : std::uint16_t {
    busy = 1,
    not_allowed = 2,
    version = 3,
    malformed = 4,
    no_memory = 5,
    no_resources = 6
};

struct Refusal {
    std::uint16_t version = wire_version;
    Reason reason = Reason::malformed;
};

struct Order {
    std::uint32_t seed = 0;
    std::uint64_t bytes = 0;
};

struct Verdict {
    static constexpr std::uint64_t all_right = ~0ull;
    std::uint32_t seed = 0;
    std::uint64_t bytes = 0;
    std::uint64_t first_wrong = all_right;  ///< offset of the first byte that is not the pattern's
};

inline constexpr std::size_t hello_bytes = 20, offer_bytes = 32, refusal_bytes = 14, order_bytes = 24,
                             verdict_bytes = 32;
/// Of one slot for a control message, either way.
inline constexpr std::size_t control_bytes = 64;

std::array<std::uint8_t, hello_bytes> encode(const Hello& hello);
std::array<std::uint8_t, offer_bytes> encode(const Offer& offer);
std::array<std::uint8_t, refusal_bytes> encode(const Refusal& refusal);
std::array<std::uint8_t, order_bytes> encode(const Order& order);
std::array<std::uint8_t, verdict_bytes> encode(const Verdict& verdict);

// Private data arrives padded to the length the transport has for it: what follows a message is ignored. The version is
// the caller's to compare; the rest of a message of another version is left at its defaults.
std::optional<Hello> decode_hello(Bytes data);
std::optional<Offer> decode_offer(Bytes data);
std::optional<Refusal> decode_refusal(Bytes data);
// Control messages have their exact length. An order for more than max_buffer_bytes is none.
std::optional<Order> decode_order(Bytes data);
std::optional<Verdict> decode_verdict(Bytes data);

std::string_view name(Reason reason);

/// Fills `to` with the pattern of `seed`: every byte depends on the seed and on its place.
void fill(std::span<std::uint8_t> to, std::uint32_t seed);
/// The offset of the first byte that differs from the pattern.
std::optional<std::size_t> first_wrong(Bytes data, std::uint32_t seed);

}  // namespace preflight::probe
