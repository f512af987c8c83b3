// A client that connects as a probe does, and then does what no probe does. Exit code 0: the listener ended the
// connection.
//
// usage: hostile_client ADDRESS garbage|overflow|beyond|flood|leave

#include <cstdio>
#include <cstring>
#include <string>

#include "probe/address.h"
#include "probe/rdma.h"

using namespace preflight;
using namespace preflight::probe;

namespace {

constexpr std::size_t buffer_bytes = 64 << 10;

void need(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "%s\n", what);
    std::exit(1);
}

/// Waits for the end of the connection; what completes before it is of no interest.
bool ended(Session& session, std::string& told) {
    const auto until = Clock::now() + std::chrono::seconds(20);
    while (true) {
        const Happening happened = session.next(until);
        if (std::holds_alternative<std::monostate>(happened)) return false;
        if (const auto* event = std::get_if<CmEvent>(&happened); event && event->type == RDMA_CM_EVENT_DISCONNECTED)
            return true;
        if (const auto* completion = std::get_if<ibv_wc>(&happened); completion && completion->status != IBV_WC_SUCCESS)
            told += " " + std::to_string(completion->status);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const std::string deed = argv[2];
    try {
        const Library library = Library::load();
        EventChannel events(library);
        auto id = events.create_id();
        const auto soon = [] { return Clock::now() + std::chrono::seconds(20); };
        need(library.resolve_addr(id.get(), nullptr, SocketAddress(argv[1], 5555).get(), 10000) == 0 &&
                 wait_event(events, soon()),
             "address");
        need(library.resolve_route(id.get(), 10000) == 0 && wait_event(events, soon()), "route");
        Session session(library, events, std::move(id));
        session.prepare(buffer_bytes, false);
        const auto hello = encode(Hello{wire_version, buffer_bytes});
        rdma_conn_param wanted{};
        wanted.private_data = hello.data();
        wanted.private_data_len = hello.size();
        wanted.responder_resources = wanted.initiator_depth = 1;
        wanted.retry_count = wanted.rnr_retry_count = 7;
        need(library.connect(session.id(), &wanted) == 0, "connect");
        const auto event = wait_event(events, soon());
        need(event && event->type == RDMA_CM_EVENT_ESTABLISHED, "not established");
        const auto offer = decode_offer(event->private_data);
        need(offer && offer->bytes == buffer_bytes, "the offer is more or less than was asked for");

        std::string told;
        if (deed == "leave") return 0;
        if (deed == "garbage") {
            std::uint8_t junk[control_bytes];
            std::memset(junk, 0xa5, sizeof junk);
            session.send(junk);
        } else if (deed == "overflow") {
            session.send(encode(Order{1, buffer_bytes + 1}));
        } else if (deed == "beyond") {
            session.write(buffer_bytes, offer->address + 4096, offer->rkey, std::nullopt);
        } else if (deed == "flood") {
            // Takes no answer: its receives are used up and never given back.
            for (int i = 0; i < 64; ++i) {
                session.send(encode(Order{1, 8}));
                bool sent = false;
                while (!sent) {
                    const Happening happened = session.next(soon());
                    need(!std::holds_alternative<std::monostate>(happened), "an order is not taken");
                    if (std::holds_alternative<CmEvent>(happened)) return 0;
                    const auto& completion = std::get<ibv_wc>(happened);
                    if (completion.status != IBV_WC_SUCCESS) break;
                    sent = !(completion.opcode & IBV_WC_RECV);
                }
                if (!sent) break;
            }
        } else return 2;
        need(ended(session, told), "the listener goes on");
        if (deed == "beyond")
            need(told.find(std::to_string(IBV_WC_REM_ACCESS_ERR)) != std::string::npos ||
                     told.find(std::to_string(IBV_WC_WR_FLUSH_ERR)) != std::string::npos,
                 "a write beyond the buffer was taken");
        std::printf("ended; completions:%s\n", told.c_str());
        return 0;
    } catch (const Failure& failure) {
        std::fprintf(stderr, "%s: %s\n", failure.step.c_str(), failure.detail.c_str());
        return deed == "flood" || deed == "garbage" ? 0 : 1;
    }
}
