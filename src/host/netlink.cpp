#include "host/netlink.h"

#include <fmt/format.h>
#include <linux/genetlink.h>
#include <netlink/genl/genl.h>
#include <netlink/socket.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "host/live.h"

namespace preflight::netlink {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto patience = std::chrono::seconds(5);
constexpr int dump_attempts = 3;

struct MessageFree {
    void operator()(nl_msg* message) const { nlmsg_free(message); }
};

}  // namespace

Socket::Socket(int protocol) : socket_(nl_socket_alloc()) {
    if (!socket_) {
        error_ = ENOMEM;
        return;
    }
    errno = 0;
    if (nl_connect(socket_, protocol) < 0) {
        error_ = errno ? errno : EPROTO;
        nl_socket_free(socket_);
        socket_ = nullptr;
    }
}

Socket::~Socket() {
    if (socket_) nl_socket_free(socket_);
}

int Socket::receive(std::vector<std::uint8_t>& datagram, int timeout_ms) {
    const int fd = nl_socket_get_fd(socket_);
    pollfd ready{fd, POLLIN, 0};
    const int count = poll(&ready, 1, timeout_ms);
    if (count == 0) return ETIMEDOUT;
    if (count < 0) return errno;
    sockaddr_nl sender{};
    // The first look only measures: a dump may send more than one page, and a short buffer would lose the rest.
    datagram.resize(65536);
    for (const int flags : {MSG_PEEK | MSG_TRUNC, 0}) {
        socklen_t length = sizeof sender;
        const ssize_t size = recvfrom(fd, datagram.data(), datagram.size(), flags | MSG_DONTWAIT,
                                      reinterpret_cast<sockaddr*>(&sender), &length);
        if (size < 0) return errno;
        datagram.resize(static_cast<std::size_t>(size));
    }
    if (sender.nl_pid != 0) datagram.clear();
    return 0;
}

int Socket::exchange(nl_msg* request, std::vector<std::vector<std::uint8_t>>& replies) {
    nlmsghdr* header = nlmsg_hdr(request);
    header->nlmsg_seq = next_sequence_++;
    header->nlmsg_pid = nl_socket_get_local_port(socket_);
    sockaddr_nl kernel{};
    kernel.nl_family = AF_NETLINK;
    answered_ = false;
    if (sendto(nl_socket_get_fd(socket_), header, header->nlmsg_len, 0, reinterpret_cast<sockaddr*>(&kernel),
               sizeof kernel) < 0)
        return errno;

    bool interrupted = false;
    const auto deadline = Clock::now() + patience;
    std::vector<std::uint8_t> datagram;
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return ETIMEDOUT;
        const int error = receive(datagram, static_cast<int>(left));
        if (error == EINTR || error == EAGAIN) continue;
        if (error) return error;
        std::size_t at = 0;
        while (at < datagram.size()) {
            nlmsghdr reply;
            if (datagram.size() - at < sizeof reply) return EBADMSG;
            std::memcpy(&reply, &datagram[at], sizeof reply);
            if (reply.nlmsg_len < sizeof reply || reply.nlmsg_len > datagram.size() - at) return EBADMSG;
            const std::uint8_t* begin = &datagram[at];
            at += std::min<std::size_t>(NLMSG_ALIGN(reply.nlmsg_len), datagram.size() - at);
            if (reply.nlmsg_seq != header->nlmsg_seq) continue;
            answered_ = true;
            interrupted |= (reply.nlmsg_flags & NLM_F_DUMP_INTR) != 0;
            if (reply.nlmsg_type == NLMSG_ERROR || reply.nlmsg_type == NLMSG_DONE) {
                int code = 0;
                if (reply.nlmsg_len >= sizeof reply + sizeof code) std::memcpy(&code, begin + sizeof reply, sizeof code);
                else if (reply.nlmsg_type == NLMSG_ERROR) return EBADMSG;
                if (code < 0) return -code;
                return interrupted ? EINTR : 0;
            }
            if (reply.nlmsg_type >= NLMSG_MIN_TYPE) replies.emplace_back(begin, begin + reply.nlmsg_len);
        }
    }
}

int Socket::ask(nl_msg* request, const std::function<void(nlmsghdr*)>& reply) {
    const std::unique_ptr<nl_msg, MessageFree> owned(request);
    if (!request) return ENOMEM;
    if (!open()) return error_;
    nlmsghdr* header = nlmsg_hdr(request);
    const bool dump = (header->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
    if (!dump) header->nlmsg_flags |= NLM_F_ACK;
    std::vector<std::vector<std::uint8_t>> replies;
    int error = 0;
    for (int attempt = 0; attempt < dump_attempts; ++attempt) {
        replies.clear();
        error = exchange(request, replies);
        if (error != EINTR) break;
    }
    if (error) return error;
    for (auto& message : replies) reply(reinterpret_cast<nlmsghdr*>(message.data()));
    return 0;
}

Fact<int> Socket::family(const std::string& name) {
    int id = 0;
    bool whole = true;
    const int error = ask(generic_request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, NLM_F_DUMP), [&](nlmsghdr* message) {
        const auto list = attributes(message, GENL_HDRLEN, &whole);
        const Attribute* found = find(list, CTRL_ATTR_FAMILY_NAME);
        const Attribute* number = find(list, CTRL_ATTR_FAMILY_ID);
        if (found && number && found->text() == name) id = number->as<std::uint16_t>().value_or(0);
    });
    if (error) return failure(error, "generic netlink family " + name);
    return id;
}

std::span<const std::uint8_t> payload(const nlmsghdr* message) {
    if (message->nlmsg_len < NLMSG_HDRLEN) return {};
    return {reinterpret_cast<const std::uint8_t*>(message) + NLMSG_HDRLEN, message->nlmsg_len - NLMSG_HDRLEN};
}

nl_msg* request(int type, int flags, const void* header, std::size_t size) {
    nl_msg* message = nlmsg_alloc_simple(type, NLM_F_REQUEST | flags);
    if (!message) return nullptr;
    if (nlmsg_append(message, const_cast<void*>(header), size, NLMSG_ALIGNTO) == 0) return message;
    nlmsg_free(message);
    return nullptr;
}

nl_msg* generic_request(int family, int command, int version, int flags) {
    genlmsghdr header{};
    header.cmd = static_cast<std::uint8_t>(command);
    header.version = static_cast<std::uint8_t>(version);
    return request(family, flags, header);
}

Unreadable failure(int error, const std::string& what) {
    if (error == EBADMSG) return {"malformed", what + ": the kernel's reply has the wrong form"};
    if (error == EINTR) return {"interrupted", what + ": changed while it was read, three times in a row"};
    if (error == ETIMEDOUT) return {"timeout", what + ": no reply within five seconds"};
    return {live::errno_name(error), fmt::format("{}: {}", what, std::strerror(error))};
}

std::string Attribute::text() const {
    const char* begin = reinterpret_cast<const char*>(data);
    return size ? std::string(begin, strnlen(begin, size)) : std::string();
}

std::vector<Attribute> Attribute::inside(bool* whole) const {
    return attributes(data, size, whole);
}

std::vector<Attribute> attributes(const std::uint8_t* data, std::size_t size, bool* whole) {
    std::vector<Attribute> list;
    std::size_t at = 0;
    while (at < size) {
        nlattr header;
        if (size - at >= sizeof header) std::memcpy(&header, data + at, sizeof header);
        else header.nla_len = 0;
        if (header.nla_len < sizeof header || header.nla_len > size - at) {
            if (whole) *whole = false;
            break;
        }
        list.push_back({header.nla_type & NLA_TYPE_MASK, data + at + sizeof header, header.nla_len - sizeof header});
        at += std::min<std::size_t>(NLA_ALIGN(header.nla_len), size - at);
    }
    return list;
}

std::vector<Attribute> attributes(std::span<const std::uint8_t> payload, std::size_t header, bool* whole) {
    const std::size_t before = NLMSG_ALIGN(header);
    if (payload.size() < before) {
        if (whole) *whole = false;
        return {};
    }
    return attributes(payload.data() + before, payload.size() - before, whole);
}

std::vector<Attribute> attributes(const nlmsghdr* message, std::size_t header, bool* whole) {
    return attributes(payload(message), header, whole);
}

Reader::Reader(std::span<const std::uint8_t> payload, std::size_t header, std::string family)
    : state_(std::make_shared<State>(State{std::move(family), {}})) {
    bool whole = true;
    list_ = attributes(payload, header, &whole);
    if (!whole) mark("the message");
}

std::optional<std::string> Reader::text(int type) const {
    const Attribute* attribute = find(type);
    return attribute ? std::optional<std::string>(attribute->text()) : std::nullopt;
}

std::string Reader::required_text(int type, const char* name) {
    const auto value = text(type);
    if (!value || value->empty()) mark(name);
    return value.value_or("");
}

Reader Reader::nest(int type, const char* name) {
    const Attribute* attribute = find(type);
    return attribute ? nest(*attribute, name) : Reader({}, state_);
}

Reader Reader::nest(const Attribute& attribute, const char* name) {
    bool whole = true;
    Reader inside(attribute.inside(&whole), state_);
    if (!whole) mark(name);
    return inside;
}

void Reader::mark(const char* name) {
    if (state_->broken.empty()) state_->broken = name;
}

Unreadable Reader::malformed() const {
    return {"malformed", fmt::format("{}: {} has the wrong form", state_->family, state_->broken)};
}

const Attribute* find(const std::vector<Attribute>& list, int type) {
    for (const Attribute& attribute : list)
        if (attribute.type == type) return &attribute;
    return nullptr;
}

}  // namespace preflight::netlink
