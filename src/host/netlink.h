#pragma once
// A thin layer over libnl-3: one socket per protocol, request and replies, errors as errno. Attribute and command
// numbers live beside their use.

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace preflight::netlink {

/// A netlink socket of one protocol. Not connected when the kernel refused it; `error()` is its errno then.
class Socket {
public:
    explicit Socket(int protocol);
    ~Socket();
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    bool open() const { return socket_ != nullptr; }
    int error() const { return error_; }

    /// Sends `request` and calls `reply` for each message that comes back until the kernel says it is done.
    /// Returns 0, or the errno of the kernel's refusal (EOPNOTSUPP, ENODEV, EPERM…), of a truncated or malformed reply
    /// (EBADMSG), or ETIMEDOUT when the kernel does not answer within five seconds. Takes ownership of `request`.
    int ask(nl_msg* request, const std::function<void(nlmsghdr*)>& reply);

    /// Id of a generic netlink family; 0 when the kernel has none by that name.
    int family(const char* name);

private:
    nl_sock* socket_ = nullptr;
    int error_ = 0;
    unsigned next_sequence_ = 1;
};

/// One attribute of a message. `type` has NLA_F_NESTED and NLA_F_NET_BYTEORDER masked off.
struct Attribute {
    int type = 0;
    const std::uint8_t* data = nullptr;
    std::size_t size = 0;

    /// The payload as a number or structure, copied since netlink aligns to 4 bytes only; nullopt when it is too short.
    template <class T>
    std::optional<T> as() const {
        if (size < sizeof(T)) return std::nullopt;
        T value;
        __builtin_memcpy(&value, data, sizeof(T));
        return value;
    }
    /// The payload as text up to its first NUL; the terminator may be missing.
    std::string text() const;
    /// The attributes inside; `false` in `whole` when the nest ends in the middle of one.
    std::vector<Attribute> inside(bool* whole = nullptr) const;
};

/// The attributes in `size` bytes at `data`. Stops at the first malformed header and sets `*whole` to false.
std::vector<Attribute> attributes(const std::uint8_t* data, std::size_t size, bool* whole = nullptr);
/// The first attribute of that type, or nullptr.
const Attribute* find(const std::vector<Attribute>& list, int type);

}  // namespace preflight::netlink
