#pragma once
// A connection over the node's own librdmacm and libibverbs, loaded at run time. Each object is released by its owner
// here, in the order the libraries need; nothing waits without a deadline, since the libraries themselves know none.

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "preflight/fact.h"
#include "probe/failure.h"
#include "probe/wire.h"

namespace preflight::probe {

using Clock = std::chrono::steady_clock;

/// The exported functions in use.
struct Library {
    decltype(&::rdma_create_event_channel) create_event_channel = nullptr;
    decltype(&::rdma_destroy_event_channel) destroy_event_channel = nullptr;
    decltype(&::rdma_create_id) create_id = nullptr;
    decltype(&::rdma_destroy_id) destroy_id = nullptr;
    decltype(&::rdma_bind_addr) bind_addr = nullptr;
    decltype(&::rdma_resolve_addr) resolve_addr = nullptr;
    decltype(&::rdma_resolve_route) resolve_route = nullptr;
    decltype(&::rdma_create_qp) create_qp = nullptr;
    decltype(&::rdma_destroy_qp) destroy_qp = nullptr;
    decltype(&::rdma_connect) connect = nullptr;
    decltype(&::rdma_listen) listen = nullptr;
    decltype(&::rdma_accept) accept = nullptr;
    decltype(&::rdma_reject) reject = nullptr;
    decltype(&::rdma_disconnect) disconnect = nullptr;
    decltype(&::rdma_get_cm_event) get_cm_event = nullptr;
    decltype(&::rdma_ack_cm_event) ack_cm_event = nullptr;

    decltype(&::ibv_get_device_name) get_device_name = nullptr;
    decltype(&::ibv_query_device) query_device = nullptr;
    decltype(&::ibv_query_qp) query_qp = nullptr;
    decltype(&::ibv_alloc_pd) alloc_pd = nullptr;
    decltype(&::ibv_dealloc_pd) dealloc_pd = nullptr;
    ibv_mr* (*reg_mr)(ibv_pd*, void*, std::size_t, int) = nullptr;
    decltype(&::ibv_dereg_mr) dereg_mr = nullptr;
    decltype(&::ibv_create_comp_channel) create_comp_channel = nullptr;
    decltype(&::ibv_destroy_comp_channel) destroy_comp_channel = nullptr;
    decltype(&::ibv_create_cq) create_cq = nullptr;
    decltype(&::ibv_destroy_cq) destroy_cq = nullptr;
    decltype(&::ibv_get_cq_event) get_cq_event = nullptr;
    decltype(&::ibv_ack_cq_events) ack_cq_events = nullptr;
    decltype(&::ibv_create_srq) create_srq = nullptr;
    decltype(&::ibv_destroy_srq) destroy_srq = nullptr;
    decltype(&::ibv_wc_status_str) wc_status_str = nullptr;

    /// Throws Failure when the kernel has no RDMA (nothing is loaded then) or a library cannot be used.
    static Library load();
};

/// Receives posted, and the depth of the send queue: no more sends may be without completion.
inline constexpr unsigned control_slots = 16;

template <class T>
using Held = std::unique_ptr<T, std::function<void(T*)>>;

/// An event of rdma_cm, copied, so that it holds nothing back.
struct CmEvent {
    rdma_cm_event_type type{};
    rdma_cm_id* id = nullptr;  ///< of a connection request: the caller's to destroy
    int status = 0;            ///< negative errno, or the reason of a rejection
    std::vector<std::uint8_t> private_data;
    unsigned responder_resources = 0, initiator_depth = 0;
};

class EventChannel {
public:
    /// Throws Failure.
    explicit EventChannel(const Library& library);

    Held<rdma_cm_id> create_id();
    Held<rdma_cm_id> hold(rdma_cm_id* id) const;
    /// The next event that is there already.
    std::optional<CmEvent> next();
    int fd() const { return channel_->fd; }
    rdma_event_channel* get() const { return channel_.get(); }

private:
    const Library& library_;
    Held<rdma_event_channel> channel_;
};

/// Zeroed memory of its own pages.
class Buffer {
public:
    explicit Buffer(std::size_t bytes);
    std::span<std::uint8_t> span() const { return {memory_.get(), bytes_}; }

private:
    std::size_t bytes_;
    Held<std::uint8_t> memory_;
};

/// What happened first: nothing before the deadline, an event, or a completion.
using Happening = std::variant<std::monostate, CmEvent, ibv_wc>;

/// One queue pair with its memory: one buffer for the transfers, and small slots for control messages that no peer
/// reaches.
class Session {
public:
    /// `id` has its device. Throws Failure.
    Session(const Library& library, EventChannel& events, Held<rdma_cm_id> id);

    /// Pins `bytes` and creates the queues. `remote`: the buffer is open to READ and WRITE of the peer. Throws Failure.
    void prepare(std::size_t bytes, bool remote);
    /// What came of creating a shared receive queue: "created", or why not. It is destroyed again.
    std::string try_srq() const;

    rdma_cm_id* id() const { return id_.get(); }
    std::span<std::uint8_t> buffer() const { return buffer_->span(); }
    std::uint32_t rkey() const { return region_->rkey; }
    std::string device() const { return library_.get_device_name(id_->verbs->device); }
    const ibv_device_attr& limits() const { return limits_; }
    /// Reads one attribute set of the queue pair; false when the provider does not tell.
    bool query(ibv_qp_attr& attributes, int mask) const;

    /// These post one work request; its completion comes from next(). Throw Failure.
    void send(Bytes message);
    void write(std::size_t bytes, std::uint64_t address, std::uint32_t rkey, std::optional<std::uint32_t> immediate);
    void read(std::size_t bytes, std::uint64_t address, std::uint32_t rkey);
    /// The control message of a receive completion; valid until release().
    Bytes message(const ibv_wc& completion) const;
    /// Gives the slot of a receive completion back to the queue.
    void release(const ibv_wc& completion);

    Happening next(Clock::time_point deadline);

private:
    void post(ibv_send_wr& request);
    void receive(std::uint64_t slot);
    std::optional<ibv_wc> poll_completion();

    const Library& library_;
    EventChannel& events_;
    Held<rdma_cm_id> id_;
    ibv_device_attr limits_{};
    std::optional<Buffer> buffer_, control_;
    Held<ibv_pd> pd_;
    Held<ibv_mr> region_, control_region_;
    Held<ibv_comp_channel> completions_;
    Held<ibv_cq> cq_;
    std::uint64_t sends_ = 0;
    Held<rdma_cm_id> queue_pair_;  // releases the queue pair alone
};

/// Waits for an event where there is no session yet; nullopt at the deadline.
std::optional<CmEvent> wait_event(EventChannel& events, Clock::time_point deadline);

}  // namespace preflight::probe
