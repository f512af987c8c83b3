#include "probe/rdma.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "host/live.h"
#include "host/runtime_library.h"

namespace preflight::probe {
namespace {

constexpr const char* cm_device = "/dev/infiniband/rdma_cm";
constexpr auto spin_time = std::chrono::microseconds(100);

std::string errno_text(int error) {
    return fmt::format("{} ({})", live::errno_name(error), std::strerror(error));
}

[[noreturn]] void fail(Cause cause, const std::string& step, int error) {
    throw Failure{cause, step, errno_text(error)};
}

RuntimeLibrary loaded(const char* name) {
    const auto library = RuntimeLibrary::load(name);
    if (library.absent())
        throw Failure{Cause::no_library, "loading the libraries", fmt::format("{} is not installed", name)};
    if (!library) throw Failure{Cause::no_library, "loading the libraries", library.why().cause};
    return *library;
}

void require(const RuntimeLibrary& library) {
    if (const std::string trouble = library.trouble(); !trouble.empty())
        throw Failure{Cause::no_library, "loading the libraries", trouble};
}

void unblock(int fd) {
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

int milliseconds_until(Clock::time_point deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60000));
}

bool memory_limit(int error) {
    return error == ENOMEM || error == EPERM || error == EAGAIN;
}

}  // namespace

Library Library::load() {
    for (const auto& present : {live::rdma_subsystem(), live::rdma_uverbs()})
        if (!present)
            throw Failure{present.absent() ? Cause::no_rdma : Cause::system, "loading the libraries",
                          present.absent() ? "the kernel has no RDMA subsystem loaded" : present.why().cause};
    Library library;
    RuntimeLibrary cm = loaded("librdmacm.so.1"), verbs = loaded("libibverbs.so.1");
    cm.bind(library.create_event_channel, "rdma_create_event_channel");
    cm.bind(library.destroy_event_channel, "rdma_destroy_event_channel");
    cm.bind(library.create_id, "rdma_create_id");
    cm.bind(library.destroy_id, "rdma_destroy_id");
    cm.bind(library.bind_addr, "rdma_bind_addr");
    cm.bind(library.resolve_addr, "rdma_resolve_addr");
    cm.bind(library.resolve_route, "rdma_resolve_route");
    cm.bind(library.create_qp, "rdma_create_qp");
    cm.bind(library.destroy_qp, "rdma_destroy_qp");
    cm.bind(library.connect, "rdma_connect");
    cm.bind(library.listen, "rdma_listen");
    cm.bind(library.accept, "rdma_accept");
    cm.bind(library.reject, "rdma_reject");
    cm.bind(library.disconnect, "rdma_disconnect");
    cm.bind(library.get_cm_event, "rdma_get_cm_event");
    cm.bind(library.ack_cm_event, "rdma_ack_cm_event");
    verbs.bind(library.get_device_name, "ibv_get_device_name");
    verbs.bind(library.query_device, "ibv_query_device");
    verbs.bind(library.query_qp, "ibv_query_qp");
    verbs.bind(library.alloc_pd, "ibv_alloc_pd");
    verbs.bind(library.dealloc_pd, "ibv_dealloc_pd");
    verbs.bind(library.reg_mr, "ibv_reg_mr");
    verbs.bind(library.dereg_mr, "ibv_dereg_mr");
    verbs.bind(library.create_comp_channel, "ibv_create_comp_channel");
    verbs.bind(library.destroy_comp_channel, "ibv_destroy_comp_channel");
    verbs.bind(library.create_cq, "ibv_create_cq");
    verbs.bind(library.destroy_cq, "ibv_destroy_cq");
    verbs.bind(library.get_cq_event, "ibv_get_cq_event");
    verbs.bind(library.ack_cq_events, "ibv_ack_cq_events");
    verbs.bind(library.create_srq, "ibv_create_srq");
    verbs.bind(library.destroy_srq, "ibv_destroy_srq");
    verbs.bind(library.wc_status_str, "ibv_wc_status_str");
    require(cm);
    require(verbs);
    return library;
}

EventChannel::EventChannel(const Library& library) : library_(library) {
    errno = 0;
    channel_ = {library.create_event_channel(), library.destroy_event_channel};
    if (!channel_) {
        int error = errno ? errno : ENODEV;
        // The library tries several ways in and leaves the errno of the last.
        if (faccessat(AT_FDCWD, cm_device, R_OK | W_OK, AT_EACCESS) != 0) error = errno;
        const std::string step = fmt::format("opening {}", cm_device);
        if (error == EACCES || error == EPERM) fail(Cause::no_access, step, error);
        if (error == ENODEV || error == ENOENT || error == ENXIO) fail(Cause::no_rdma, step, error);
        fail(Cause::provider, step, error);
    }
    unblock(channel_->fd);
}

Held<rdma_cm_id> EventChannel::hold(rdma_cm_id* id) const {
    return {id, [&library = library_](rdma_cm_id* held) { library.destroy_id(held); }};
}

Held<rdma_cm_id> EventChannel::create_id() {
    rdma_cm_id* id = nullptr;
    if (library_.create_id(channel_.get(), &id, nullptr, RDMA_PS_TCP) != 0) {
        if (errno == ENODEV) fail(Cause::no_rdma, "rdma_create_id", errno);
        fail(errno == EACCES || errno == EPERM ? Cause::no_access : Cause::provider, "rdma_create_id", errno);
    }
    return hold(id);
}

std::optional<CmEvent> EventChannel::next() {
    rdma_cm_event* event = nullptr;
    if (library_.get_cm_event(channel_.get(), &event) != 0) {
        if (errno == EAGAIN || errno == EINTR) return std::nullopt;
        fail(Cause::system, "rdma_get_cm_event", errno);
    }
    CmEvent copy;
    copy.type = event->event;
    copy.id = event->id;
    copy.status = event->status;
    const auto* data = static_cast<const std::uint8_t*>(event->param.conn.private_data);
    if (data) copy.private_data.assign(data, data + event->param.conn.private_data_len);
    copy.responder_resources = event->param.conn.responder_resources;
    copy.initiator_depth = event->param.conn.initiator_depth;
    library_.ack_cm_event(event);
    return copy;
}

std::optional<CmEvent> wait_event(EventChannel& events, Clock::time_point deadline) {
    while (true) {
        if (auto event = events.next()) return event;
        if (Clock::now() >= deadline) return std::nullopt;
        pollfd wait{events.fd(), POLLIN, 0};
        poll(&wait, 1, milliseconds_until(deadline));
    }
}

Buffer::Buffer(std::size_t bytes) : bytes_(bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail(Cause::memlock, fmt::format("allocating {} bytes", bytes), errno);
    memory_ = {static_cast<std::uint8_t*>(memory), [bytes](std::uint8_t* held) { munmap(held, bytes); }};
}

Session::Session(const Library& library, EventChannel& events, Held<rdma_cm_id> id)
    : library_(library), events_(events), id_(std::move(id)) {
    if (!id_->verbs) throw Failure{Cause::provider, "opening the RDMA device", "libibverbs cannot open it"};
    if (const int error = library.query_device(id_->verbs, &limits_))
        fail(Cause::provider, "ibv_query_device", error > 0 ? error : EIO);
    if (id_->verbs->device->transport_type == IBV_TRANSPORT_IWARP)
        throw Failure{Cause::iwarp, "RDMA WRITE with immediate", device() + " is an iWARP device"};
}

void Session::prepare(std::size_t bytes, bool remote) {
    buffer_.emplace(bytes);
    control_.emplace(2 * control_slots * control_bytes);  // receives, then sends
    pd_ = {library_.alloc_pd(id_->verbs), library_.dealloc_pd};
    if (!pd_) fail(Cause::system, "ibv_alloc_pd", errno);
    const auto pin = [&](const Buffer& buffer, int access) {
        Held<ibv_mr> region{library_.reg_mr(pd_.get(), buffer.span().data(), buffer.span().size(), access),
                            library_.dereg_mr};
        if (!region)
            fail(memory_limit(errno) ? Cause::memlock : Cause::system,
                 fmt::format("pinning {} bytes", buffer.span().size()), errno);
        return region;
    };
    region_ = pin(*buffer_, IBV_ACCESS_LOCAL_WRITE | (remote ? IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ : 0));
    control_region_ = pin(*control_, IBV_ACCESS_LOCAL_WRITE);
    completions_ = {library_.create_comp_channel(id_->verbs), library_.destroy_comp_channel};
    if (!completions_) fail(Cause::system, "ibv_create_comp_channel", errno);
    unblock(completions_->fd);
    cq_ = {library_.create_cq(id_->verbs, 4 * control_slots, nullptr, completions_.get(), 0), library_.destroy_cq};
    if (!cq_) fail(memory_limit(errno) ? Cause::memlock : Cause::system, "ibv_create_cq", errno);
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = cq_.get();
    wanted.qp_type = IBV_QPT_RC;
    wanted.sq_sig_all = 1;
    wanted.cap = {control_slots, control_slots, 1, 1, 0};
    if (library_.create_qp(id_.get(), pd_.get(), &wanted) != 0)
        fail(memory_limit(errno) ? Cause::memlock : Cause::system, "rdma_create_qp", errno);
    queue_pair_ = {id_.get(), library_.destroy_qp};
    for (std::uint64_t slot = 0; slot < control_slots; ++slot) receive(slot);
}

std::string Session::try_srq() const {
    ibv_srq_init_attr wanted{};
    wanted.attr = {control_slots, 1, 0};
    errno = 0;
    const Held<ibv_srq> queue{library_.create_srq(pd_.get(), &wanted), library_.destroy_srq};
    if (queue) return "created";
    return fmt::format("{}; the device reports max_srq {}", errno_text(errno ? errno : EIO), limits_.max_srq);
}

bool Session::query(ibv_qp_attr& attributes, int mask) const {
    ibv_qp_init_attr ignored{};
    return library_.query_qp(id_->qp, &attributes, mask, &ignored) == 0;
}

void Session::receive(std::uint64_t slot) {
    ibv_sge part{reinterpret_cast<std::uintptr_t>(control_->span().data() + slot * control_bytes), control_bytes,
                 control_region_->lkey};
    ibv_recv_wr request{}, *bad = nullptr;
    request.wr_id = slot;
    request.sg_list = &part;
    request.num_sge = 1;
    if (const int error = ibv_post_recv(id_->qp, &request, &bad)) fail(Cause::system, "ibv_post_recv", error);
}

void Session::post(ibv_send_wr& request) {
    ibv_send_wr* bad = nullptr;
    request.send_flags = IBV_SEND_SIGNALED;
    if (const int error = ibv_post_send(id_->qp, &request, &bad)) fail(Cause::system, "ibv_post_send", error);
}

void Session::send(Bytes message) {
    const auto slot =
        control_->span().subspan((control_slots + sends_++ % control_slots) * control_bytes, control_bytes);
    std::copy_n(message.begin(), std::min(message.size(), slot.size()), slot.begin());
    ibv_sge part{reinterpret_cast<std::uintptr_t>(slot.data()), static_cast<std::uint32_t>(message.size()),
                 control_region_->lkey};
    ibv_send_wr request{};
    request.opcode = IBV_WR_SEND;
    request.sg_list = &part;
    request.num_sge = 1;
    post(request);
}

void Session::write(std::size_t bytes, std::uint64_t address, std::uint32_t rkey,
                    std::optional<std::uint32_t> immediate) {
    ibv_sge part{reinterpret_cast<std::uintptr_t>(buffer().data()), static_cast<std::uint32_t>(bytes), region_->lkey};
    ibv_send_wr request{};
    request.opcode = immediate ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
    request.imm_data = htobe32(immediate.value_or(0));
    request.wr.rdma.remote_addr = address;
    request.wr.rdma.rkey = rkey;
    request.sg_list = &part;
    request.num_sge = 1;
    post(request);
}

void Session::read(std::size_t bytes, std::uint64_t address, std::uint32_t rkey) {
    ibv_sge part{reinterpret_cast<std::uintptr_t>(buffer().data()), static_cast<std::uint32_t>(bytes), region_->lkey};
    ibv_send_wr request{};
    request.opcode = IBV_WR_RDMA_READ;
    request.wr.rdma.remote_addr = address;
    request.wr.rdma.rkey = rkey;
    request.sg_list = &part;
    request.num_sge = 1;
    post(request);
}

Bytes Session::message(const ibv_wc& completion) const {
    const std::size_t bytes = std::min<std::size_t>(completion.byte_len, control_bytes);
    return control_->span().subspan((completion.wr_id % control_slots) * control_bytes, bytes);
}

void Session::release(const ibv_wc& completion) {
    receive(completion.wr_id % control_slots);
}

std::optional<ibv_wc> Session::poll_completion() {
    ibv_wc completion{};
    const int count = cq_ ? ibv_poll_cq(cq_.get(), 1, &completion) : 0;
    if (count < 0) fail(Cause::system, "ibv_poll_cq", EIO);
    return count > 0 ? std::optional(completion) : std::nullopt;
}

Happening Session::next(Clock::time_point deadline) {
    const auto spin_until = Clock::now() + spin_time;
    while (true) {
        // A completion that came before the connection ended is told first.
        if (const auto completion = poll_completion()) return *completion;
        if (Clock::now() < spin_until) continue;
        if (auto event = events_.next()) return std::move(*event);
        if (Clock::now() >= deadline) return {};
        if (cq_) {
            ibv_cq* cq = nullptr;
            void* context = nullptr;
            if (library_.get_cq_event(completions_.get(), &cq, &context) == 0) library_.ack_cq_events(cq, 1);
            if (ibv_req_notify_cq(cq_.get(), 0)) fail(Cause::system, "ibv_req_notify_cq", EIO);
            if (const auto completion = poll_completion()) return *completion;
        }
        pollfd wait[2]{{events_.fd(), POLLIN, 0}, {cq_ ? completions_->fd : -1, POLLIN, 0}};
        poll(wait, 2, milliseconds_until(deadline));
    }
}

}  // namespace preflight::probe
