// What the other end of a probe may send: private data and control messages. Whatever is taken for a message is within
// its bounds, and is written as it was read.
#include "probe/wire.h"

#include <algorithm>

#include "fuzz.h"

using namespace preflight::probe;

namespace {

template <std::size_t N>
bool begins(Bytes data, const std::array<std::uint8_t, N>& message, std::size_t unread_at, std::size_t unread) {
    for (std::size_t i = 0; i < N; ++i)
        if ((i < unread_at || i >= unread_at + unread) && data[i] != message[i]) return false;
    return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes bytes(data, size);
    if (const auto hello = decode_hello(bytes); hello && hello->version == wire_version)
        HOLDS(begins(bytes, encode(*hello), 10, 2));
    if (const auto offer = decode_offer(bytes); offer && offer->version == wire_version) {
        HOLDS(offer->bytes <= max_buffer_bytes);
        HOLDS(begins(bytes, encode(*offer), 10, 2));
    }
    if (const auto refusal = decode_refusal(bytes)) HOLDS(!name(refusal->reason).empty());
    if (const auto order = decode_order(bytes)) {
        HOLDS(order->bytes <= max_buffer_bytes);
        HOLDS(begins(bytes, encode(*order), 12, 4));
    }
    if (const auto verdict = decode_verdict(bytes)) HOLDS(begins(bytes, encode(*verdict), 12, 4));
    std::uint32_t seed = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(size, 4); ++i) seed = seed << 8 | data[i];
    if (const auto wrong = first_wrong(bytes, seed)) HOLDS(*wrong < size);
    return 0;
}
