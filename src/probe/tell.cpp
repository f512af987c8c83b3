// What an attempt is called in a report.

#include <fmt/format.h>

#include <algorithm>

#include "facts/peers.h"
#include "facts/service.h"
#include "probe/prober.h"
#include "probe/wire.h"

namespace preflight::probe {
namespace {

constexpr std::size_t smallest = 256, factor = 16, first_large = 4096;

std::string path_text(const Path& path) {
    std::string text = fmt::format("{}/{}", path.device, path.port);
    if (path.gid_index >= 0)
        text += fmt::format(" GID {} ({})", path.gid_index, path.gid_type.empty() ? "type not told" : path.gid_type);
    if (path.mtu) text += fmt::format(", path MTU {}", path.mtu);
    if (path.traffic_class) text += fmt::format(", ToS {}", *path.traffic_class);
    if (path.service_level) text += fmt::format(", SL {}", *path.service_level);
    return text;
}

std::string speed_text(const char* name, const Direction& direction) {
    return fmt::format("{} {:.3g} Gbit/s, 4 KiB in {:.1f} us (p99 {:.1f})", name, direction.gigabits,
                       direction.latency.median_us, direction.latency.p99_us);
}

}  // namespace

std::vector<std::size_t> transfer_sizes(std::size_t max_bytes) {
    std::vector<std::size_t> sizes;
    if (smallest < max_bytes) sizes.push_back(smallest);
    for (std::size_t bytes = first_large; bytes < max_bytes; bytes *= factor) sizes.push_back(bytes);
    sizes.push_back(max_bytes);
    return sizes;
}

Latency latency_of(std::vector<double>& micros) {
    if (micros.empty()) return {};
    std::sort(micros.begin(), micros.end());
    const auto at = [&](double part) {
        return micros[static_cast<std::size_t>(part * static_cast<double>(micros.size() - 1) + 0.5)];
    };
    return {at(0.5), at(0.99), micros.size()};
}

Subject Attempt::subject(unsigned connection, unsigned of) const {
    std::string text = wish.peer;
    if (const std::string by = !path.netdev.empty()   ? path.netdev
                               : !wish.source.empty() ? wish.source
                                                      : path.device;
        !by.empty())
        text += " by " + by;
    if (of > 1) text += fmt::format(" ({} of {})", connection, of);
    return {text, {"peer:" + wish.peer}};
}

void tell(const Attempt& attempt, unsigned connection, unsigned of, Findings& out) {
    const Subject subject = attempt.subject(connection, of);
    const std::string target = target_of(attempt.wish.address, attempt.wish.port);
    const auto show = [&](Draft draft) {
        draft.from(fmt::format("rdma_cm connection to {}", target)).want("a transfer whose every byte arrives");
        const Path& path = attempt.path;
        if (!path.device.empty())
            draft.note("device", fmt::format("{}/{}", path.device, path.port))
                .note("netdev", path.netdev)
                .note("source", path.source);
        if (!path.gid.empty()) draft.note("gid", path.gid);
        if (path.gid_index >= 0) draft.note("gid_index", std::int64_t{path.gid_index}).note("gid_type", path.gid_type);
        if (path.mtu) draft.note("path_mtu", std::int64_t{path.mtu});
        if (path.traffic_class) draft.note("traffic_class", std::int64_t{*path.traffic_class});
        if (path.service_level) draft.note("service_level", std::int64_t{*path.service_level});
        if (!attempt.srq.empty()) draft.note("srq", attempt.srq);
        draft.note("tcp", attempt.tcp);
        if (attempt.pinned)
            draft.note("pinned_bytes", static_cast<std::int64_t>(attempt.pinned))
                .note("memlock", attempt.memlock == ~0ull ? "unlimited" : bytes_text(attempt.memlock));
        for (const bool reading : {false, true}) {
            const Direction& direction = reading ? attempt.read : attempt.write;
            const std::string name = reading ? "read" : "write";
            if (direction.largest) draft.note(name + "_bytes_checked", static_cast<std::int64_t>(direction.largest));
            if (direction.gigabits > 0)
                draft.note(name + "_gbit_s", fmt::format("{:.3f}", direction.gigabits))
                    .note(name + "_4k_median_us", fmt::format("{:.1f}", direction.latency.median_us))
                    .note(name + "_4k_p99_us", fmt::format("{:.1f}", direction.latency.p99_us));
        }
        return draft;
    };
    if (!attempt.failure) {
        const std::uint64_t checked = std::min(attempt.write.largest, attempt.read.largest);
        const std::string text =
            fmt::format("up to {} by WRITE and READ, every byte right; {}; {}; {}{}", bytes_text(checked),
                        path_text(attempt.path), speed_text("WRITE", attempt.write), speed_text("READ", attempt.read),
                        attempt.srq == "created" ? "" : "; no SRQ: " + attempt.srq);
        if (attempt.wish.own)
            show(out.warn(subject, text + "; to this node itself, so no network was used"))
                .mend({"Probe another node.", {}, {}, {}});
        else show(out.pass(subject, text));
        return;
    }
    Circumstances around;
    around.peer = attempt.wish.peer;
    around.target = target;
    around.by = attempt.path.netdev;
    around.gid_type = attempt.path.gid_type;
    around.path_mtu = attempt.path.mtu;
    around.passed_bytes = attempt.failed_reading ? attempt.read.largest : attempt.write.largest;
    around.failed_bytes = attempt.failed_bytes;
    around.tcp_reached = attempt.tcp_reached;
    around.as_service = attempt.wish.as_service;
    around.memlock = attempt.memlock;
    around.pinned = attempt.pinned;
    around.timeout_seconds = attempt.wish.timeout_seconds;
    const Meaning told = meaning(*attempt.failure, around);
    show(out.add(told.status, subject, told.observed)).because(told.why).mend(told.remedy);
}

}  // namespace preflight::probe
