#include "probe/prober.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <set>

#include "facts/peers.h"
#include "host/live.h"
#include "probe/address.h"
#include "probe/rdma.h"

namespace preflight::probe {
namespace {

using std::chrono::duration;

constexpr std::size_t latency_bytes = 4096, latency_samples = 1000;
constexpr auto measuring_time = std::chrono::seconds(1);
constexpr double slowest_bytes_per_second =
    10e6;                        // what a transfer may take beyond the timeout: a tenth of gigabit Ethernet
constexpr unsigned retries = 7;  // the most an RC queue pair has; 7 for RNR is without end, our deadline ends it
constexpr unsigned most_reads = 16;

// Reasons of a rejection (enum ib_cm_rej_reason, include/rdma/ib_cm.h) that say something to an operator.
enum Rejection {
    no_resources = 3,
    timed_out = 4,
    no_service = 8,
    stale = 10,
    bad_gid = 12,
    bad_traffic_class = 15,
    bad_mtu = 26,
    by_listener = 28
};
const std::map<int, const char*> rejections = {{no_resources, "no resources"},
                                               {timed_out, "timeout"},
                                               {stale, "stale connection"},
                                               {bad_gid, "invalid GID"},
                                               {bad_traffic_class, "invalid traffic class"},
                                               {bad_mtu, "invalid MTU"}};

std::string code(int status) {
    if (status < 0) return fmt::format("{} ({})", live::errno_name(-status), std::strerror(-status));
    const auto known = rejections.find(status);
    return known == rejections.end() ? fmt::format("reason {}", status)
                                     : fmt::format("reason {}: {}", status, known->second);
}

unsigned mtu_bytes(int mtu) {
    return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128u << mtu : 0;
}

class Prober {
public:
    Prober(Host& host, Attempt& attempt) : host_(host), attempt_(attempt), wish_(attempt.wish) {}

    void run() {
        library_ = Library::load();
        events_.emplace(library_);
        resolve();
        prepare();
        connect();
        observe();
        for (const std::size_t bytes : transfer_sizes(buffer_bytes_)) {
            write_checked(bytes);
            read_checked(bytes);
        }
        measure();
    }
    /// Tells the peer that it is over, if there is somebody.
    void leave() {
        if (session_ && connected_) library_.disconnect(session_->id());
    }

private:
    double seconds_for(std::size_t bytes) const {
        return wish_.timeout_seconds + static_cast<double>(bytes) / slowest_bytes_per_second;
    }
    Clock::time_point deadline(std::size_t bytes = 0) const {
        return Clock::now() + std::chrono::duration_cast<Clock::duration>(duration<double>(seconds_for(bytes)));
    }
    int milliseconds() const { return static_cast<int>(wish_.timeout_seconds * 1000); }

    void resolve() {
        const SocketAddress to(wish_.address, wish_.port), from(wish_.source, 0);
        Held<rdma_cm_id> id = events_->create_id();
        const auto no_way = [](int error) {
            return error == ENODEV || error == ENETUNREACH || error == ENETDOWN || error == EADDRNOTAVAIL ||
                   error == EAFNOSUPPORT || error == EINVAL;
        };
        const auto step = [&](const char* name, int result, rdma_cm_event_type good) {
            if (result != 0) throw Failure{no_way(errno) ? Cause::no_rdma_route : Cause::system, name, code(-errno)};
            const auto event = wait_event(*events_, deadline());
            if (!event) throw Failure{Cause::no_neighbour, name, "no answer in time"};
            if (event->type == good) return;
            throw Failure{no_way(-event->status) ? Cause::no_rdma_route : Cause::no_neighbour, name,
                          code(event->status)};
        };
        step("resolving the address",
             library_.resolve_addr(id.get(), from.empty() ? nullptr : from.get(), to.get(), milliseconds()),
             RDMA_CM_EVENT_ADDR_RESOLVED);
        session_.emplace(library_, *events_, std::move(id));
        attempt_.path.device = session_->device();
        attempt_.path.port = session_->id()->port_num;
        attempt_.path.source = text_of(rdma_get_local_addr(session_->id()));
        step("resolving the route", library_.resolve_route(session_->id(), milliseconds()),
             RDMA_CM_EVENT_ROUTE_RESOLVED);
        const rdma_route& route = session_->id()->route;
        if (route.num_paths > 0 && route.path_rec) {
            attempt_.path.mtu = mtu_bytes(route.path_rec->mtu);
            attempt_.path.traffic_class = route.path_rec->traffic_class;
            attempt_.path.service_level = route.path_rec->sl;
            name_gid(route.path_rec->sgid.raw);
        }
    }

    /// What the GID table says of a GID, before a queue pair has one of its slots: the same GID has a slot of each
    /// type.
    void name_gid(const std::uint8_t* raw) {
        Path& path = attempt_.path;
        for (int i = 0; i < 16; i += 2) path.gid += fmt::format("{}{:02x}{:02x}", i ? ":" : "", raw[i], raw[i + 1]);
        std::set<std::string> types;
        if (const auto table = host_.rdma_gids(path.device, path.port))
            for (const Gid& gid : table->gids) {
                if (gid.gid != path.gid) continue;
                path.netdev = gid.netdev.value_or(path.netdev);
                types.insert(gid.type.value_or(""));
            }
        if (types.size() == 1) path.gid_type = *types.begin();
    }

    void prepare() {
        attempt_.pinned = wish_.max_bytes;
        session_->prepare(wish_.max_bytes, false);
        attempt_.srq = session_->try_srq();
    }

    void connect() {
        const auto hello = encode(Hello{wire_version, wish_.max_bytes});
        rdma_conn_param wanted{};
        wanted.private_data = hello.data();
        wanted.private_data_len = hello.size();
        wanted.responder_resources = wanted.initiator_depth =
            static_cast<std::uint8_t>(std::clamp<unsigned>(session_->limits().max_qp_rd_atom, 1, most_reads));
        wanted.retry_count = wanted.rnr_retry_count = retries;
        const std::string step = "the connection request";
        if (library_.connect(session_->id(), &wanted) != 0) throw Failure{Cause::system, step, code(-errno)};
        const auto event = wait_event(*events_, deadline());
        if (!event) throw Failure{Cause::no_answer, step, ""};
        switch (event->type) {
            case RDMA_CM_EVENT_ESTABLISHED: break;
            case RDMA_CM_EVENT_UNREACHABLE: throw Failure{Cause::no_answer, step, code(event->status)};
            case RDMA_CM_EVENT_REJECTED: rejected(*event, step);
            case RDMA_CM_EVENT_DISCONNECTED: throw Failure{Cause::ended, step, ""};
            default: throw Failure{Cause::rejected, step, code(event->status)};
        }
        connected_ = true;
        const auto offer = decode_offer(event->private_data);
        if (!offer || offer->bytes == 0)
            throw Failure{Cause::protocol, step, "accepted by something that is no listen of this tool"};
        if (offer->version != wire_version)
            throw Failure{Cause::protocol, step,
                          fmt::format("the listener speaks version {}, this one {}", offer->version, wire_version)};
        offer_ = *offer;
        buffer_bytes_ = std::min<std::size_t>(wish_.max_bytes, offer->bytes);
    }

    [[noreturn]] void rejected(const CmEvent& event, const std::string& step) {
        if (event.status == no_service) throw Failure{Cause::no_listener, step, "rejected: no such service"};
        // One end's CM gave up on an answer of the other's: one direction is closed.
        if (event.status == timed_out) throw Failure{Cause::no_answer, step, code(event.status)};
        const auto refusal = decode_refusal(event.private_data);
        if (event.status != by_listener || !refusal) throw Failure{Cause::rejected, step, code(event.status)};
        throw Failure{Cause::refused, step, std::string(name(refusal->reason))};
    }

    /// The connection as the queue pair has it.
    void observe() {
        ibv_qp_attr attributes{};
        if (!session_->query(attributes, IBV_QP_AV | IBV_QP_PATH_MTU)) return;
        Path& path = attempt_.path;
        if (const unsigned mtu = mtu_bytes(attributes.path_mtu)) path.mtu = mtu;
        if (!attributes.ah_attr.is_global) return;
        path.traffic_class = attributes.ah_attr.grh.traffic_class;
        const auto table = host_.rdma_gids(path.device, path.port);
        if (!table) return;
        for (const Gid& gid : table->gids)
            if (gid.index == attributes.ah_attr.grh.sgid_index) {
                path.gid_index = gid.index;
                path.gid = gid.gid;
                path.gid_type = gid.type.value_or("");
                path.netdev = gid.netdev.value_or(path.netdev);
            }
    }

    /// Waits for `completions` of what was posted, and for a verdict when one is due.
    std::optional<Verdict> finish(const std::string& step, std::size_t bytes, unsigned completions, bool verdict_due) {
        const auto until = deadline(bytes);
        std::optional<Verdict> verdict;
        while (completions > 0 || (verdict_due && !verdict)) {
            const Happening happened = session_->next(until);
            if (std::holds_alternative<std::monostate>(happened))
                throw Failure{Cause::silent, step,
                              fmt::format("nothing came back within {:.1f} s", seconds_for(bytes))};
            if (const auto* event = std::get_if<CmEvent>(&happened)) {
                if (event->type == RDMA_CM_EVENT_DISCONNECTED || event->type == RDMA_CM_EVENT_DEVICE_REMOVAL) {
                    connected_ = false;
                    throw Failure{Cause::ended, step, ""};
                }
                continue;
            }
            const auto& completion = std::get<ibv_wc>(happened);
            if (completion.status != IBV_WC_SUCCESS) failed(completion, step);
            if (completion.opcode & IBV_WC_RECV) {
                verdict = decode_verdict(session_->message(completion));
                if (!verdict || !verdict_due) throw Failure{Cause::protocol, step, "an answer that is none"};
                session_->release(completion);
            } else {
                --completions;
                sent_ = Clock::now();
            }
        }
        return verdict;
    }

    [[noreturn]] void failed(const ibv_wc& completion, const std::string& step) {
        const std::string text = library_.wc_status_str(completion.status);
        switch (completion.status) {
            case IBV_WC_RETRY_EXC_ERR:
            case IBV_WC_RNR_RETRY_EXC_ERR:
            case IBV_WC_RESP_TIMEOUT_ERR: throw Failure{Cause::silent, step, text};
            case IBV_WC_REM_ACCESS_ERR:
            case IBV_WC_REM_INV_REQ_ERR:
            case IBV_WC_REM_OP_ERR: throw Failure{Cause::denied, step, text};
            case IBV_WC_WR_FLUSH_ERR: throw Failure{Cause::ended, step, text};
            default: throw Failure{Cause::system, step, text};
        }
    }

    std::string begin(const char* what, std::size_t bytes, bool reading) {
        attempt_.failed_bytes = bytes;
        attempt_.failed_reading = reading;
        return fmt::format("{} of {} bytes", what, bytes);
    }

    void write_checked(std::size_t bytes) {
        const std::string step = begin("RDMA WRITE with immediate", bytes, false);
        const auto seed = static_cast<std::uint32_t>(random_());
        fill(session_->buffer().first(bytes), seed);
        session_->write(bytes, offer_.address, offer_.rkey, seed);
        const auto verdict = finish(step, bytes, 1, true);
        if (verdict->seed != seed || verdict->bytes != bytes)
            throw Failure{Cause::wrong_bytes, step,
                          fmt::format("immediate {:#x} and {} bytes arrived as {:#x} and {}", seed, bytes,
                                      verdict->seed, verdict->bytes)};
        if (verdict->first_wrong != Verdict::all_right)
            throw Failure{Cause::wrong_bytes, step, fmt::format("first at byte {}", verdict->first_wrong)};
        attempt_.write.largest = bytes;
    }

    void read_checked(std::size_t bytes) {
        const std::string step = begin("RDMA READ", bytes, true);
        const auto seed = static_cast<std::uint32_t>(random_());
        session_->send(encode(Order{seed, bytes}));
        const auto verdict = finish(step, bytes, 1, true);
        if (verdict->seed != seed) throw Failure{Cause::protocol, step, "an answer to another order"};
        session_->read(bytes, offer_.address, offer_.rkey);
        finish(step, bytes, 1, false);
        if (const auto wrong = first_wrong(session_->buffer().first(bytes), seed))
            throw Failure{Cause::wrong_bytes, step, fmt::format("first at byte {}", *wrong)};
        attempt_.read.largest = bytes;
    }

    /// Posts the same transfer again and again, `bytes` each, until `samples` or the time is up.
    template <class Post>
    std::vector<double> repeat(const std::string& step, std::size_t bytes, std::size_t samples, Post post) {
        std::vector<double> micros;
        const auto until = Clock::now() + measuring_time;
        do {
            const auto start = Clock::now();
            post();
            finish(step, bytes, 1, false);
            micros.push_back(duration<double, std::micro>(sent_ - start).count());
        } while (micros.size() < samples && Clock::now() < until);
        return micros;
    }

    void measure() {
        const std::size_t small = std::min(latency_bytes, buffer_bytes_);
        for (const bool reading : {false, true}) {
            Direction& direction = reading ? attempt_.read : attempt_.write;
            const auto post = [&](std::size_t bytes) {
                return [this, bytes, reading] {
                    reading ? session_->read(bytes, offer_.address, offer_.rkey)
                            : session_->write(bytes, offer_.address, offer_.rkey, std::nullopt);
                };
            };
            auto micros = repeat(begin(reading ? "RDMA READ" : "RDMA WRITE", small, reading), small, latency_samples,
                                 post(small));
            direction.latency = latency_of(micros);
            micros = repeat(begin(reading ? "RDMA READ" : "RDMA WRITE", buffer_bytes_, reading), buffer_bytes_,
                            latency_samples, post(buffer_bytes_));
            double sum = 0;
            for (const double each : micros) sum += each;
            direction.gigabits =
                static_cast<double>(buffer_bytes_) * static_cast<double>(micros.size()) * 8 / (sum * 1000);
        }
    }

    Host& host_;
    Attempt& attempt_;
    const Wish& wish_;
    Library library_;
    std::optional<EventChannel> events_;
    std::optional<Session> session_;
    Offer offer_;
    std::size_t buffer_bytes_ = 0;
    bool connected_ = false;
    Clock::time_point sent_;
    std::mt19937_64 random_{std::random_device{}()};
};

std::uint64_t memlock_limit() {
    rlimit limit{};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    return limit.rlim_cur;
}

}  // namespace

Attempt probe(Host& host, const Wish& wish) {
    Attempt attempt;
    attempt.wish = wish;
    attempt.memlock = memlock_limit();
    const auto tcp = host.probe_tcp({target_of(wish.address, wish.port)}).front();
    attempt.tcp = tcp ? tcp->outcome : tcp.unreadable() ? tcp.why().error : "not tried";
    attempt.tcp_reached = tcp && (tcp->outcome == "connected" || tcp->outcome == "refused");
    Prober prober(host, attempt);
    try {
        prober.run();
    } catch (const Failure& failure) {
        attempt.failure = failure;
    }
    prober.leave();
    return attempt;
}

}  // namespace preflight::probe
