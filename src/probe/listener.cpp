#include "probe/listener.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "facts/peers.h"
#include "facts/service.h"
#include "host/live.h"
#include "probe/address.h"
#include "probe/rdma.h"

namespace preflight::probe {
namespace {

using Say = std::function<void(const std::string&)>;

constexpr auto client_silence = std::chrono::seconds(60);  // a client that does nothing for so long is dropped
constexpr auto establish_time = std::chrono::seconds(20);  // from acceptance to connection
constexpr int backlog = 8;
constexpr const char* unanswered =
    "the connection did not come up: the acceptance was not answered (is UDP port 4791 dropped from here to there?)";

Clock::duration seconds(double count) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
}

/// The peer port by TCP, so that a probe can tell a host that is down from RoCE that is dropped. Nothing is read from
/// it.
class TcpPort {
public:
    TcpPort(const SocketAddress& address, const Say& say)
        : fd_(socket(address.get()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
        const int on = 1;
        if (fd_ >= 0) setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (fd_ >= 0 && bind(fd_, address.get(), address.size()) == 0 && ::listen(fd_, backlog) == 0) return;
        say(fmt::format("the port by TCP: {}; only RDMA is listened for", std::strerror(errno)));
        if (fd_ >= 0) close(fd_);
        fd_ = -1;
    }
    ~TcpPort() {
        if (fd_ >= 0) close(fd_);
    }
    TcpPort(const TcpPort&) = delete;
    TcpPort& operator=(const TcpPort&) = delete;

    int fd() const { return fd_; }
    void hang_up() const {
        for (int i = 0; fd_ >= 0 && i < backlog; ++i) {
            const int client = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
            if (client < 0) return;
            close(client);
        }
    }

private:
    int fd_;
};

class Listener {
public:
    Listener(const Invitation& invitation, const Say& say)
        : invitation_(invitation),
          say_(say),
          library_(Library::load()),
          events_(library_),
          id_(events_.create_id()),
          end_(Clock::now() + seconds(invitation.total_seconds)) {}

    Served run() {
        const SocketAddress address(invitation_.address, invitation_.port);
        const std::string where = target_of(invitation_.address, invitation_.port), step = "listening on " + where;
        if (library_.bind_addr(id_.get(), address.get()) != 0) {
            const bool elsewhere = errno == ENODEV || errno == EADDRNOTAVAIL;
            throw Failure{elsewhere ? Cause::no_rdma_route : Cause::system, step,
                          fmt::format("{} ({})", live::errno_name(errno), std::strerror(errno))};
        }
        if (!id_->verbs) throw Failure{Cause::no_rdma_route, step, "no RDMA device has this address"};
        if (library_.listen(id_.get(), backlog) != 0)
            throw Failure{Cause::system, step, fmt::format("{} ({})", live::errno_name(errno), std::strerror(errno))};
        const TcpPort tcp(address, say_);
        say_(fmt::format("listening on {} by {}, for {}", where, library_.get_device_name(id_->verbs->device),
                         fmt::join(invitation_.allowed, ", ")));
        auto idle_end = Clock::now() + seconds(invitation_.idle_seconds);
        while (!removed_ && Clock::now() < std::min(idle_end, end_)) {
            const auto left =
                std::chrono::ceil<std::chrono::milliseconds>(std::min(idle_end, end_) - Clock::now()).count();
            pollfd wait[2]{{events_.fd(), POLLIN, 0}, {tcp.fd(), POLLIN, 0}};
            poll(wait, 2, static_cast<int>(std::clamp<std::int64_t>(left, 0, 60000)));
            tcp.hang_up();
            const auto event = events_.next();
            removed_ |= event && event->type == RDMA_CM_EVENT_DEVICE_REMOVAL;
            if (!event || event->type != RDMA_CM_EVENT_CONNECT_REQUEST) continue;
            if (admit(*event)) idle_end = Clock::now() + seconds(invitation_.idle_seconds);
        }
        if (removed_) throw Failure{Cause::system, step, "the device was removed"};
        return served_;
    }

private:
    /// Whether it was a client to serve.
    bool admit(const CmEvent& request) {
        Held<rdma_cm_id> id = events_.hold(request.id);
        const std::string peer = text_of(rdma_get_peer_addr(id.get()));
        const auto refuse = [&](Reason reason) {
            turn_away(id.get(), reason);
            ++served_.refused;
            say_(fmt::format("{}: refused: {}", peer,
                             reason == Reason::not_allowed ? "not among the allowed addresses" : name(reason)));
            return false;
        };
        if (std::find(invitation_.allowed.begin(), invitation_.allowed.end(), peer) == invitation_.allowed.end())
            return refuse(Reason::not_allowed);
        const auto hello = decode_hello(request.private_data);
        if (!hello) return refuse(Reason::malformed);
        if (hello->version != wire_version) return refuse(Reason::version);
        if (hello->bytes == 0) return refuse(Reason::malformed);
        rdma_cm_id* const raw = id.get();
        std::optional<Session> session;
        try {
            session.emplace(library_, events_, std::move(id));
            session->prepare(std::min(hello->bytes, max_buffer_bytes), true);
        } catch (const Failure& failure) {
            const Reason reason = failure.cause == Cause::memlock ? Reason::no_memory : Reason::no_resources;
            ++served_.refused;
            say_(fmt::format("{}: refused: {}: {}", peer, failure.step, failure.detail));
            if (session) turn_away(raw, reason);
            return false;
        }
        const auto offer = encode(Offer{wire_version, reinterpret_cast<std::uintptr_t>(session->buffer().data()),
                                        session->buffer().size(), session->rkey()});
        rdma_conn_param wanted{};
        wanted.private_data = offer.data();
        wanted.private_data_len = offer.size();
        const auto most = static_cast<unsigned>(std::clamp(session->limits().max_qp_rd_atom, 0, 16));
        wanted.responder_resources = static_cast<std::uint8_t>(std::min(request.responder_resources, most));
        wanted.initiator_depth = static_cast<std::uint8_t>(std::min(request.initiator_depth, most));
        wanted.rnr_retry_count = 7;
        if (library_.accept(session->id(), &wanted) != 0) {
            say_(fmt::format("{}: the connection could not be accepted: {}", peer, std::strerror(errno)));
            ++served_.failed;
            return true;
        }
        say_(fmt::format("{}: let in, with a buffer of {}", peer, bytes_text(session->buffer().size())));
        serve(*session, peer);
        library_.disconnect(session->id());
        return true;
    }

    void turn_away(rdma_cm_id* id, Reason reason) {
        const auto refusal = encode(Refusal{wire_version, reason});
        library_.reject(id, refusal.data(), refusal.size());
    }

    void serve(Session& session, const std::string& peer) {
        Work work;
        std::string ended;
        try {
            ended = follow(session, work);
        } catch (const Failure& failure) {
            ended = fmt::format("{}: {}", failure.step, failure.detail);
        }
        const std::string done =
            fmt::format("{} {}, {} received, {} wrong", work.transfers, work.transfers == 1 ? "transfer" : "transfers",
                        bytes_text(work.received), work.wrong);
        ++(ended.empty() && work.transfers > 0 && work.wrong == 0 ? served_.clients : served_.failed);
        say_(fmt::format("{}: {}{}", peer, done, ended.empty() ? "" : "; ended: " + ended));
    }

    struct Work {
        unsigned transfers = 0, wrong = 0;
        std::uint64_t received = 0;
        unsigned sending = 0;
        bool up = false;
    };

    /// Serves one client to its end; why it ended when not by the client's good-bye.
    std::string follow(Session& session, Work& work) {
        while (true) {
            const auto until = std::min(Clock::now() + (work.up ? client_silence : establish_time), end_);
            const Happening happened = session.next(until);
            if (std::holds_alternative<std::monostate>(happened))
                return Clock::now() >= end_ ? "the time of this listener is up"
                       : work.up            ? "it kept silent"
                                            : unanswered;
            if (const auto* event = std::get_if<CmEvent>(&happened)) {
                if (event->type == RDMA_CM_EVENT_CONNECT_REQUEST) {
                    const auto other = events_.hold(event->id);
                    turn_away(other.get(), Reason::busy);
                    ++served_.refused;
                    continue;
                }
                if (event->type == RDMA_CM_EVENT_DEVICE_REMOVAL) {
                    removed_ = true;
                    return "the device was removed";
                }
                if (event->id != session.id()) continue;
                if (event->type == RDMA_CM_EVENT_ESTABLISHED) work.up = true;
                if (event->type == RDMA_CM_EVENT_DISCONNECTED) return {};
                for (const auto type : {RDMA_CM_EVENT_CONNECT_ERROR, RDMA_CM_EVENT_UNREACHABLE, RDMA_CM_EVENT_REJECTED})
                    if (event->type == type) return unanswered;
                continue;
            }
            const auto& completion = std::get<ibv_wc>(happened);
            if (completion.status == IBV_WC_WR_FLUSH_ERR) return wait_good_bye(session);
            if (completion.status != IBV_WC_SUCCESS) return library_.wc_status_str(completion.status);
            work.up = true;
            if (!(completion.opcode & IBV_WC_RECV)) {
                --work.sending;
                continue;
            }
            const auto verdict = judge(session, completion, work);
            if (!verdict) return "it sent what no probe sends";
            if (work.sending + 1 >= control_slots) return "it does not take the answers";
            session.release(completion);
            session.send(encode(*verdict));
            ++work.sending;
        }
    }

    /// The queue is flushed: the good-bye may stand behind it.
    std::string wait_good_bye(Session& session) {
        const auto until = Clock::now() + std::chrono::seconds(2);
        while (true) {
            const Happening happened = session.next(until);
            if (std::holds_alternative<std::monostate>(happened)) return "the connection broke";
            const auto* event = std::get_if<CmEvent>(&happened);
            if (event && event->type == RDMA_CM_EVENT_CONNECT_REQUEST)
                turn_away(events_.hold(event->id).get(), Reason::busy);
            if (event && event->id == session.id() && event->type == RDMA_CM_EVENT_DISCONNECTED) return {};
        }
    }

    std::optional<Verdict> judge(Session& session, const ibv_wc& completion, Work& work) {
        if (completion.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
            Verdict verdict{be32toh(completion.imm_data), completion.byte_len, Verdict::all_right};
            if (completion.byte_len > session.buffer().size()) return std::nullopt;
            if (const auto wrong = first_wrong(session.buffer().first(completion.byte_len), verdict.seed)) {
                verdict.first_wrong = *wrong;
                ++work.wrong;
            }
            ++work.transfers;
            work.received += completion.byte_len;
            return verdict;
        }
        const auto order = decode_order(session.message(completion));
        if (!order || order->bytes > session.buffer().size()) return std::nullopt;
        fill(session.buffer().first(order->bytes), order->seed);
        ++work.transfers;
        return Verdict{order->seed, order->bytes, Verdict::all_right};
    }

    const Invitation& invitation_;
    const Say& say_;
    Library library_;
    EventChannel events_;
    Held<rdma_cm_id> id_;
    Clock::time_point end_;
    Served served_;
    bool removed_ = false;  // the kernel waits until all is released
};

}  // namespace

Served listen(const Invitation& invitation, const Say& say) {
    return Listener(invitation, say).run();
}

}  // namespace preflight::probe
