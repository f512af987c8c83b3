#include "probe/wire.h"

#include <endian.h>

#include <algorithm>
#include <cstring>

namespace preflight::probe {
namespace {

constexpr std::uint64_t magic = 0x4152444d41434b00;  // "ARDMACK", then the kind of the message
enum Kind : std::uint64_t { hello_kind = 1, offer_kind, refusal_kind, order_kind, verdict_kind };

class Writer {
public:
    explicit Writer(std::span<std::uint8_t> to) : to_(to) {}

    template <class T>
    Writer& put(T value) {
        for (std::size_t i = 0; i < sizeof(T); ++i)
            to_[at_++] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> 8 * (sizeof(T) - 1 - i));
        return *this;
    }

private:
    std::span<std::uint8_t> to_;
    std::size_t at_ = 0;
};

/// Reads big-endian numbers; beyond the end it reads zero.
class Reader {
public:
    explicit Reader(Bytes from) : from_(from) {}

    template <class T>
    T get() {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < sizeof(T); ++i) value = value << 8 | (at_ < from_.size() ? from_[at_++] : 0);
        return static_cast<T>(value);
    }
    bool starts(Kind kind) { return get<std::uint64_t>() == (magic | kind); }

private:
    Bytes from_;
    std::size_t at_ = 0;
};

/// splitmix64: neighbours in place or seed have nothing in common.
std::uint64_t word_of(std::uint32_t seed, std::uint64_t place) {
    std::uint64_t z = (static_cast<std::uint64_t>(seed) << 32 | (place & 0xffffffff)) + 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return htole64(z ^ z >> 31);
}

}  // namespace

std::array<std::uint8_t, hello_bytes> encode(const Hello& hello) {
    std::array<std::uint8_t, hello_bytes> data{};
    Writer(data).put(magic | hello_kind).put(hello.version).put(std::uint16_t{0}).put(hello.bytes);
    return data;
}

std::array<std::uint8_t, offer_bytes> encode(const Offer& offer) {
    std::array<std::uint8_t, offer_bytes> data{};
    Writer(data)
        .put(magic | offer_kind)
        .put(offer.version)
        .put(std::uint16_t{0})
        .put(offer.address)
        .put(offer.bytes)
        .put(offer.rkey);
    return data;
}

std::array<std::uint8_t, refusal_bytes> encode(const Refusal& refusal) {
    std::array<std::uint8_t, refusal_bytes> data{};
    Writer(data)
        .put(magic | refusal_kind)
        .put(refusal.version)
        .put(std::uint16_t{0})
        .put(static_cast<std::uint16_t>(refusal.reason));
    return data;
}

std::array<std::uint8_t, order_bytes> encode(const Order& order) {
    std::array<std::uint8_t, order_bytes> data{};
    Writer(data).put(magic | order_kind).put(order.seed).put(std::uint32_t{0}).put(order.bytes);
    return data;
}

std::array<std::uint8_t, verdict_bytes> encode(const Verdict& verdict) {
    std::array<std::uint8_t, verdict_bytes> data{};
    Writer(data)
        .put(magic | verdict_kind)
        .put(verdict.seed)
        .put(std::uint32_t{0})
        .put(verdict.bytes)
        .put(verdict.first_wrong);
    return data;
}

std::optional<Hello> decode_hello(Bytes data) {
    Reader reader(data);
    if (data.size() < hello_bytes || !reader.starts(hello_kind)) return std::nullopt;
    Hello hello;
    hello.version = reader.get<std::uint16_t>();
    if (hello.version != wire_version) return hello;
    reader.get<std::uint16_t>();
    hello.bytes = reader.get<std::uint64_t>();
    return hello;
}

std::optional<Offer> decode_offer(Bytes data) {
    Reader reader(data);
    if (data.size() < offer_bytes || !reader.starts(offer_kind)) return std::nullopt;
    Offer offer;
    offer.version = reader.get<std::uint16_t>();
    if (offer.version != wire_version) return offer;
    reader.get<std::uint16_t>();
    offer.address = reader.get<std::uint64_t>();
    offer.bytes = reader.get<std::uint64_t>();
    offer.rkey = reader.get<std::uint32_t>();
    if (offer.bytes > max_buffer_bytes) return std::nullopt;
    return offer;
}

std::optional<Refusal> decode_refusal(Bytes data) {
    Reader reader(data);
    if (data.size() < refusal_bytes || !reader.starts(refusal_kind)) return std::nullopt;
    Refusal refusal;
    refusal.version = reader.get<std::uint16_t>();
    reader.get<std::uint16_t>();
    const auto reason = reader.get<std::uint16_t>();
    if (reason < static_cast<std::uint16_t>(Reason::busy) || reason > static_cast<std::uint16_t>(Reason::no_resources))
        return std::nullopt;
    refusal.reason = static_cast<Reason>(reason);
    return refusal;
}

std::optional<Order> decode_order(Bytes data) {
    Reader reader(data);
    if (data.size() != order_bytes || !reader.starts(order_kind)) return std::nullopt;
    Order order;
    order.seed = reader.get<std::uint32_t>();
    reader.get<std::uint32_t>();
    order.bytes = reader.get<std::uint64_t>();
    if (order.bytes > max_buffer_bytes) return std::nullopt;
    return order;
}

std::optional<Verdict> decode_verdict(Bytes data) {
    Reader reader(data);
    if (data.size() != verdict_bytes || !reader.starts(verdict_kind)) return std::nullopt;
    Verdict verdict;
    verdict.seed = reader.get<std::uint32_t>();
    reader.get<std::uint32_t>();
    verdict.bytes = reader.get<std::uint64_t>();
    verdict.first_wrong = reader.get<std::uint64_t>();
    return verdict;
}

std::string_view name(Reason reason) {
    switch (reason) {
        case Reason::busy: return "it serves another probe";
        case Reason::not_allowed: return "this node's address is not among those it allows";
        case Reason::version: return "it is of another version";
        case Reason::malformed: return "it did not understand the request";
        case Reason::no_memory: return "it could not pin its buffer";
        case Reason::no_resources: return "it could not create its queues";
    }
    return "no known reason";
}

void fill(std::span<std::uint8_t> to, std::uint32_t seed) {
    for (std::size_t at = 0; at < to.size(); at += sizeof(std::uint64_t)) {
        const std::uint64_t word = word_of(seed, at / sizeof word);
        std::memcpy(to.data() + at, &word, std::min(sizeof word, to.size() - at));
    }
}

std::optional<std::size_t> first_wrong(Bytes data, std::uint32_t seed) {
    for (std::size_t at = 0; at < data.size(); at += sizeof(std::uint64_t)) {
        const std::uint64_t word = word_of(seed, at / sizeof word);
        const std::size_t length = std::min(sizeof word, data.size() - at);
        if (std::memcmp(data.data() + at, &word, length) == 0) continue;
        std::uint8_t expected[sizeof word];
        std::memcpy(expected, &word, sizeof word);
        for (std::size_t i = 0; i < length; ++i)
            if (data[at + i] != expected[i]) return at + i;
    }
    return std::nullopt;
}

}  // namespace preflight::probe
