#pragma once
// A thin layer over libnl-3: one socket per protocol, request and replies, errors as errno. Attribute and command
// numbers live beside their use.

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "preflight/fact.h"

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

    /// Sends `request` and, once the kernel says the answer is complete, calls `reply` for each message of it in order; a
    /// refused or broken answer calls it not at all. A dump that changed while it was read (NLM_F_DUMP_INTR) is asked
    /// again, three times in all. Takes ownership of `request`.
    /// Returns 0, the errno of the kernel's refusal (EOPNOTSUPP, ENODEV, EPERM…), EBADMSG for a malformed message,
    /// EINTR for a dump that never stood still, ETIMEDOUT when the kernel does not answer within five seconds.
    int ask(nl_msg* request, const std::function<void(nlmsghdr*)>& reply);

    /// Whether the kernel replied to the last request. An errno without a reply, such as a security module that refuses the
    /// sending, says nothing about what was asked.
    bool answered() const { return answered_; }

    /// Id of a generic netlink family; 0 when the kernel has none by that name; Unreadable when it did not say. Found by a
    /// dump of all families: a request by name would have the kernel look for a module.
    Fact<int> family(const std::string& name);

private:
    int exchange(nl_msg* request, std::vector<std::vector<std::uint8_t>>& replies);
    int receive(std::vector<std::uint8_t>& datagram, int timeout_ms);

    nl_sock* socket_ = nullptr;
    int error_ = 0;
    bool answered_ = false;
    unsigned next_sequence_ = 1;
};

/// What a message holds behind its nlmsghdr.
std::span<const std::uint8_t> payload(const nlmsghdr* message);

/// A request: `type` and NLM_F_* as given (NLM_F_REQUEST is added), then `header`, for example struct ifinfomsg.
/// Attributes are added with libnl's nla_put_*.
nl_msg* request(int type, int flags, const void* header, std::size_t size);
template <class Header>
nl_msg* request(int type, int flags, const Header& header) {
    return request(type, flags, &header, sizeof header);
}
/// A request to a generic netlink family.
nl_msg* generic_request(int family, int command, int version, int flags);

/// Why there is no answer: "malformed", "interrupted", "timeout" or the errno's name, and `what` was asked.
Unreadable failure(int error, const std::string& what);

/// The same for a question about one device: what the kernel answered with EOPNOTSUPP or ENODEV is not there.
template <class T>
Fact<T> refusal(const Socket& socket, int error, const std::string& what) {
    if (socket.answered() && error == EOPNOTSUPP) return Absent{"EOPNOTSUPP"};
    if (socket.answered() && error == ENODEV) return Absent{"ENODEV"};
    return failure(error, what);
}

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
/// The attributes of a message behind its fixed header of `header` bytes (struct ifinfomsg, genlmsghdr…). A message shorter
/// than the header has none and is not whole.
std::vector<Attribute> attributes(const nlmsghdr* message, std::size_t header, bool* whole = nullptr);
/// The same for what payload() gave.
std::vector<Attribute> attributes(std::span<const std::uint8_t> payload, std::size_t header, bool* whole = nullptr);
/// The first attribute of that type, or nullptr.
const Attribute* find(const std::vector<Attribute>& list, int type);

/// Reads the attributes of one message and of the nests inside it, and remembers the first that has the wrong form. A
/// decoder reads all it wants and asks once, at the end, whether `broken()`. `name` is the attribute's, for the message.
class Reader {
public:
    /// The attributes behind the fixed header of `header` bytes; `family` ("devlink") is named in malformed().
    Reader(std::span<const std::uint8_t> payload, std::size_t header, std::string family);

    const std::vector<Attribute>& all() const { return list_; }
    const Attribute* find(int type) const { return netlink::find(list_, type); }
    bool has(int type) const { return find(type) != nullptr; }

    /// The number of an attribute; nullopt when it was not sent or is too short, which only the latter makes broken.
    template <class T>
    std::optional<T> number(int type, const char* name) {
        const Attribute* attribute = find(type);
        if (!attribute) return std::nullopt;
        const auto value = attribute->as<T>();
        if (!value) mark(name);
        return value;
    }
    /// The same for an attribute that a sound message always has.
    template <class T>
    T required(int type, const char* name) {
        const auto value = number<T>(type, name);
        if (!value) mark(name);
        return value.value_or(T{});
    }
    std::optional<std::string> text(int type) const;
    std::string required_text(int type, const char* name);
    /// The nest in the first attribute of that type; empty when it was not sent.
    Reader nest(int type, const char* name);
    Reader nest(const Attribute& attribute, const char* name);

    void mark(const char* name);
    bool broken() const { return !state_->broken.empty(); }
    /// "devlink: DEVLINK_ATTR_PARAM_NAME has the wrong form".
    Unreadable malformed() const;

private:
    struct State {
        std::string family;
        std::string broken;
    };

    Reader(std::vector<Attribute> list, std::shared_ptr<State> state) : list_(std::move(list)), state_(std::move(state)) {}

    std::vector<Attribute> list_;
    std::shared_ptr<State> state_;
};

}  // namespace preflight::netlink
