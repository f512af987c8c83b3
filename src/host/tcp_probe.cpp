// Connects to many targets at once. What a filter or a router said about an attempt is in the socket's error queue
// (IP_RECVERR): errno alone calls both a firewall's rejection and a missing neighbour EHOSTUNREACH, and a rejection by "port
// unreachable" ECONNREFUSED, which no TCP of a host ever sends.

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/errqueue.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <netinet/icmp6.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <deque>

#include "host/live.h"

namespace preflight::live {
namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr std::size_t reserved_descriptors = 64;
constexpr std::size_t max_window = 8192;

struct Endpoint {
    sockaddr_storage address{};
    socklen_t size = 0;
};

/// "192.0.2.12:5555" or "[2001:db8::12]:5555"; size 0 when it is neither.
Endpoint endpoint_of(const std::string& target) {
    Endpoint endpoint;
    const auto colon = target.rfind(':');
    if (colon == std::string::npos) return endpoint;
    std::string host = target.substr(0, colon);
    if (host.size() > 1 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    if (getaddrinfo(host.c_str(), target.c_str() + colon + 1, &hints, &found) != 0) return endpoint;
    std::memcpy(&endpoint.address, found->ai_addr, found->ai_addrlen);
    endpoint.size = found->ai_addrlen;
    freeaddrinfo(found);
    return endpoint;
}

/// The ICMP message that ended an attempt.
struct Icmp {
    int type = 0, code = 0;
    bool v6 = false;
    std::string text;

    /// RFC 1812 §5.2.7.1 codes 9, 10, 13, and 3; RFC 4443 §3.1 codes 1, 4, 5, 6.
    bool from_filter() const {
        if (text.empty()) return false;
        if (v6) return type == ICMP6_DST_UNREACH && (code == 1 || code == 4 || code == 5 || code == 6);
        return type == ICMP_DEST_UNREACH && (code == ICMP_NET_ANO || code == ICMP_HOST_ANO || code == ICMP_PKT_FILTERED || code == ICMP_PORT_UNREACH);
    }
};

Icmp icmp_of(int fd) {
    Icmp icmp;
    char control[512], byte;
    iovec part{&byte, 1};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return icmp;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        sock_extended_err error;
        if (header->cmsg_len < CMSG_LEN(sizeof error)) continue;
        std::memcpy(&error, CMSG_DATA(header), sizeof error);
        if (error.ee_origin != SO_EE_ORIGIN_ICMP && error.ee_origin != SO_EE_ORIGIN_ICMP6) continue;
        icmp.type = error.ee_type;
        icmp.code = error.ee_code;
        icmp.v6 = error.ee_origin == SO_EE_ORIGIN_ICMP6;
        char from[NI_MAXHOST] = "?";
        const auto* offender = reinterpret_cast<const sockaddr*>(CMSG_DATA(header) + sizeof error);
        if (header->cmsg_len >= CMSG_LEN(sizeof error + (icmp.v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in))))
            getnameinfo(offender, icmp.v6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in), from, sizeof from, nullptr, 0, NI_NUMERICHOST);
        icmp.text = fmt::format("type {} code {} from {}", icmp.type, icmp.code, from);
    }
    return icmp;
}

Fact<TcpProbe> result_of(int error, const Icmp& icmp, int elapsed_ms, const std::string& target) {
    const auto outcome = [&]() -> const char* {
        if (icmp.from_filter()) return "prohibited";
        switch (error) {
            case 0: return "connected";
            case ECONNREFUSED: return "refused";
            case ECONNRESET:
            case EPIPE: return "reset";
            case ETIMEDOUT: return "timed-out";
            case EACCES:
            case EPERM: return "prohibited";
            case ENETUNREACH:
            case ENETDOWN:
            case EINVAL: return "no-route";
            case EHOSTUNREACH:
            case EHOSTDOWN: return "unreachable";
            default: return nullptr;
        }
    }();
    if (!outcome) return Unreadable{errno_name(error), target + ": " + std::strerror(error)};
    return TcpProbe{outcome, elapsed_ms, error ? errno_name(error) : "", icmp.text};
}

class Prober {
public:
    Prober(const std::vector<std::string>& targets, Clock::time_point deadline)
        : targets_(targets), deadline_(deadline), epoll_(epoll_create1(EPOLL_CLOEXEC)), attempts_(targets.size()) {
        for (const std::string& target : targets) results_.push_back(Unreadable{"timeout", target + ": no time left to try it"});
    }
    ~Prober() {
        for (const Attempt& attempt : attempts_)
            if (attempt.fd >= 0) close(attempt.fd);
        if (epoll_ >= 0) close(epoll_);
    }

    std::vector<Fact<TcpProbe>> run() {
        rlimit limit{};
        getrlimit(RLIMIT_NOFILE, &limit);
        const std::size_t soft = std::min<std::size_t>(limit.rlim_cur, max_window + reserved_descriptors);
        window_ = std::max<std::size_t>(soft, reserved_descriptors + 16) - reserved_descriptors;
        // A target that keeps silent gives way to waiting ones after its fair share of the time, so the last one has its turn too.
        const std::size_t rounds = std::max<std::size_t>(1, (targets_.size() + window_ - 1) / window_);
        share_ = (deadline_ - Clock::now()) / static_cast<int>(rounds);
        while (next_ < targets_.size() || in_flight_ > 0) {
            start_waiting();
            if (Clock::now() >= deadline_) break;
            wait();
        }
        while (!started_.empty()) time_out_oldest();
        return std::move(results_);
    }

private:
    struct Attempt {
        int fd = -1;
        Clock::time_point begin;
    };

    void start_waiting() {
        while (next_ < targets_.size() && Clock::now() < deadline_) {
            if (in_flight_ >= window_ && !make_room()) return;
            if (!start(next_)) return;
            ++next_;
        }
    }

    bool make_room() {
        while (!started_.empty() && attempts_[started_.front()].fd < 0) started_.pop_front();
        if (started_.empty() || Clock::now() - attempts_[started_.front()].begin < share_) return false;
        time_out_oldest();
        return true;
    }

    /// False when this node has no descriptor left and attempts in flight will free some.
    bool start(std::size_t index) {
        const Endpoint endpoint = endpoint_of(targets_[index]);
        if (endpoint.size == 0) {
            results_[index] = Unreadable{"malformed", targets_[index] + ": not an address and a port"};
            return true;
        }
        Attempt& attempt = attempts_[index];
        attempt.fd = socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
        if (attempt.fd < 0) {
            if ((errno == EMFILE || errno == ENFILE) && in_flight_ > 0) {
                window_ = in_flight_;
                return false;
            }
            results_[index] = Unreadable{errno_name(errno), targets_[index] + ": " + std::strerror(errno)};
            return true;
        }
        ++in_flight_;
        started_.push_back(index);
        attempt.begin = Clock::now();
        const int on = 1;
        const bool v6 = endpoint.address.ss_family == AF_INET6;
        setsockopt(attempt.fd, v6 ? int(IPPROTO_IPV6) : int(IPPROTO_IP), v6 ? IPV6_RECVERR : IP_RECVERR, &on, sizeof on);
        if (connect(attempt.fd, reinterpret_cast<const sockaddr*>(&endpoint.address), endpoint.size) == 0) finish(index, 0);
        else if (errno != EINPROGRESS) finish(index, errno);
        else {
            epoll_event event{};
            event.events = EPOLLOUT;
            event.data.u64 = index;
            if (epoll_ctl(epoll_, EPOLL_CTL_ADD, attempt.fd, &event) != 0) finish(index, errno);
        }
        return true;
    }

    void wait() {
        if (in_flight_ == 0) return;
        auto until = deadline_;
        while (!started_.empty() && attempts_[started_.front()].fd < 0) started_.pop_front();
        if (next_ < targets_.size() && !started_.empty()) until = std::min(until, attempts_[started_.front()].begin + share_);
        const auto left = std::chrono::ceil<Milliseconds>(until - Clock::now()).count();
        epoll_event events[256];
        const int count = epoll_wait(epoll_, events, std::size(events), static_cast<int>(std::max<std::int64_t>(left, 0)));
        for (int i = 0; i < count; ++i) {
            const std::size_t index = events[i].data.u64;
            int error = 0;
            socklen_t size = sizeof error;
            if (getsockopt(attempts_[index].fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
            finish(index, error);
        }
    }

    void time_out_oldest() {
        const std::size_t index = started_.front();
        started_.pop_front();
        if (attempts_[index].fd >= 0) finish(index, ETIMEDOUT);
    }

    void finish(std::size_t index, int error) {
        Attempt& attempt = attempts_[index];
        const auto elapsed = std::chrono::duration_cast<Milliseconds>(Clock::now() - attempt.begin).count();
        results_[index] = result_of(error, error ? icmp_of(attempt.fd) : Icmp(), static_cast<int>(elapsed), targets_[index]);
        close(attempt.fd);
        attempt.fd = -1;
        --in_flight_;
    }

    const std::vector<std::string>& targets_;
    const Clock::time_point deadline_;
    Clock::duration share_{};
    int epoll_;
    std::vector<Attempt> attempts_;
    std::vector<Fact<TcpProbe>> results_;
    std::deque<std::size_t> started_;  // in order of their begin, finished ones among them
    std::size_t next_ = 0, in_flight_ = 0, window_ = 0;
};

}  // namespace

std::vector<Fact<TcpProbe>> probe_tcp(const std::vector<std::string>& targets, Clock::time_point deadline) {
    return Prober(targets, deadline).run();
}

}  // namespace preflight::live
