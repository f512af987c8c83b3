// Locked memory: every RDMA registration is charged against RLIMIT_MEMLOCK unless the process holds CAP_IPC_LOCK in the initial
// user namespace (drivers/infiniband/core/umem.c).

#include "facts/memlock.h"

#include <fmt/format.h>

#include <algorithm>

#include "facts/environment.h"
#include "facts/near_misses.h"
#include "facts/server_process.h"
#include "facts/service.h"
#include "modules.h"
#include "preflight/facts.h"
#include "remedies.h"

namespace preflight {
namespace {

using systemd_text::infinity;

Remedy raise(const ServiceFacts& service) {
    return drop_in(service, "Lift the limit for the service", "memlock.conf", {"[Service]", "LimitMEMLOCK=infinity"});
}

std::string need_text(const PoolNeed& need) {
    return need.devices > 1 ? fmt::format("{} for each pool, {} x {} = {} with all devices", need.sum, need.devices, bytes_text(need.bytes), bytes_text(need.total()))
                            : fmt::format("{} for each pool", need.sum);
}

/// Why the limit does not bind the service at all, or empty.
std::string unbound(const ServiceFacts& service) {
    const ServiceUnit& unit = service.unit;
    const UnitLine* users = unit.sandbox_line("PrivateUsers");
    if (users && systemd_text::parse_boolean(users->value).value_or(true)) return {};
    const auto& ambient = unit.ambient_capabilities;
    const bool in_bounding = unit.may_have("CAP_IPC_LOCK");
    const bool root = !unit.dynamic_user && (service.user_name() == "root" || (service.account.has() && service.account->uid == 0));
    if (root && in_bounding) return "it runs as root, whom the limit does not bind";
    if (in_bounding && std::find(ambient.begin(), ambient.end(), "CAP_IPC_LOCK") != ambient.end()) return "it holds CAP_IPC_LOCK";
    return {};
}

void judge_limit(const Facts& facts, Findings& out) {
    if (facts.deployment() == container) {
        out.skip(node_subject(), "AIStor runs in a container: container.memlock judges its limit");
        return;
    }
    const ServiceFacts& service = facts.service();
    const Subject subject{service.name, {}};
    if (service.absent()) {
        out.unknown(subject, "there is no unit to judge", "Name the unit that starts AIStor with --service.");
        return;
    }
    if (service.uncertain() && !service.files.unreadable.empty()) {
        out.unknown(subject, fmt::format("{}: {}", service.files.unreadable.front().first, service.files.unreadable.front().second.error), "Run it as root.");
        return;
    }
    const MemlockSource& limit = service.memlock;
    const auto& need = facts.memlock().need;
    const auto& ignored = service.on_disk.memlock_ignored;
    const std::string from = ignored.empty() ? limit.origin : ignored.front().origin.text();
    if (limit.soft == infinity) {
        out.pass(subject, "unlimited").from(limit.origin);
        return;
    }
    if (const std::string why = unbound(service); !why.empty()) {
        out.pass(subject, fmt::format("{}, but {}", bytes_text(limit.soft), why)).from(limit.origin);
        return;
    }
    const std::vector<NearMiss> tries = memlock_near_misses(facts);
    std::vector<std::string> without_effect;
    for (const NearMiss& one : tries) without_effect.push_back(one.text());
    std::string observed = fmt::format("{} ({})", bytes_text(limit.soft), limit.origin);
    if (!ignored.empty()) observed = fmt::format("{}; so it is {}", ignored.front().message, observed);
    if (!need) {
        out.fail(subject, observed + "; the pools are larger than any machine").want("infinity").from(from).mend(raise(service));
        return;
    }
    const auto evidence = [&](Draft draft) {
        draft.want(fmt::format("infinity, or at least {}", need_text(*need))).from(from).mend(raise(service))
            .note("limit", static_cast<std::int64_t>(limit.soft)).note("one pool", static_cast<std::int64_t>(need->bytes)).note("devices", static_cast<std::int64_t>(need->devices));
        if (!need->doubt.empty()) draft.note("not certain", need->doubt);
        if (!without_effect.empty()) draft.note("tries without effect", without_effect);
    };
    // With a figure that is not certain only what is below any documented pool surely fails.
    const bool below = limit.soft < need->bytes;
    if (below && (need->doubt.empty() || limit.soft <= std::uint64_t{64} << 20)) evidence(out.fail(subject, fmt::format("{}: less than one pool, {}{}", observed, need->sum, first_of(tries))));
    else if (below || limit.soft < need->total()) evidence(out.warn(subject, fmt::format("{}: the server opens {} devices and registers its pools on each, {}{}", observed, need->devices, need_text(*need), first_of(tries))));
    else evidence(out.warn(subject, fmt::format("{}: finite; several pools of {} and an inbound one that is not public are pinned{}", observed, need->sum, first_of(tries))));
}

void judge_process(const Facts& facts, Findings& out) {
    const ServerProcesses& all = facts.server_processes();
    if (facts.deployment() == container) {
        out.skip(node_subject(), "AIStor runs in a container: container.memlock judges its limit");
        return;
    }
    if (all.of_unit.empty()) {
        if (!all.looked.has() || all.hidden) out.unknown(node_subject(), "other processes do not show here", "Run it as root in the host's pid namespace.");
        else out.skip(Subject{facts.service().name, {}}, "the service does not run");
        return;
    }
    const auto& need = facts.memlock().need;
    for (const Process& process : all.of_unit) {
        const Subject subject{fmt::format("{} (pid {})", process.name, process.pid), {}};
        if (!process.memlock.has()) {
            out.unknown(subject, fmt::format("/proc/{}/limits: {}", process.pid, process.memlock.unreadable() ? process.memlock.why().error : "gone"), "Run it as root.");
            continue;
        }
        const std::string pinned = process.pinned ? fmt::format(", {} pinned now", bytes_text(*process.pinned)) : "";
        const std::uint64_t soft = process.memlock->soft;
        const std::string source = fmt::format("/proc/{}/limits", process.pid);
        if (soft == infinity) out.pass(subject, "unlimited" + pinned).from(source);
        else if (may_lock_everything(process)) out.pass(subject, fmt::format("{}, but it holds CAP_IPC_LOCK{}", bytes_text(soft), pinned)).from(source);
        else if (process.capabilities >> 14 & 1 && !in_initial_user_namespace(process)) out.unknown(subject, "it holds CAP_IPC_LOCK, but its user namespace cannot be read", "Run it as root.");
        else {
            const bool below = !need || soft < need->bytes;
            const std::string observed = fmt::format("{}{}{}", bytes_text(soft), need ? below ? ": less than one pool, " + need->sum : ": finite, a pool takes " + need->sum : "", pinned);
            const bool mended = facts.service().memlock.soft == infinity;
            Remedy remedy = mended ? Remedy{"The unit is right by now: restart the service", restart_commands(facts.service()), {}, {}} : raise(facts.service());
            // The next start is memlock.limit's matter; here it is about the process that runs.
            if (below && !mended) out.fail(subject, observed).want("unlimited").from(source).mend(std::move(remedy));
            else out.warn(subject, observed).want("unlimited").from(source).mend(std::move(remedy));
        }
    }
}

void judge_memory(const Facts& facts, Findings& out) {
    const auto& need = facts.memlock().need;
    const auto& memory = facts.memlock().memory;
    if (!need) {
        out.fail(node_subject(), "MINIO_RDMA_POOL_COUNT x MINIO_RDMA_POOL_BUF_SIZE is larger than any machine").want("pools that fit").mend({"Lower one of them", {}, {}, {}});
        return;
    }
    if (!memory.has()) {
        out.unknown(node_subject(), "the node's memory: /proc/meminfo cannot be read", "Mount /proc.");
        return;
    }
    const double share = 100.0 * static_cast<double>(need->bytes) / static_cast<double>(*memory);
    const std::string observed = fmt::format("{} for one pool, {:.0f} % of {}", need->sum, share, bytes_text(*memory));
    const Remedy smaller{"Lower MINIO_RDMA_POOL_COUNT or MINIO_RDMA_POOL_BUF_SIZE on all nodes, or add memory", {}, {}, {}};
    if (need->doubt.empty() && need->bytes > *memory) out.fail(node_subject(), observed).want("at most 25 %").from("/proc/meminfo").mend(smaller);
    else if (share > 25) out.warn(node_subject(), observed).want("at most 25 %").from("/proc/meminfo").mend(smaller);
    else out.pass(node_subject(), observed).from("/proc/meminfo");
}

}  // namespace

Module memlock_module() {
    Check limit{};
    limit.id = "memlock.limit";
    limit.phase = 'A';
    limit.title = "The service may lock enough memory";
    limit.why = "Pools that cannot be pinned cannot be registered: the server falls back to TCP without a word.";
    limit.judges = "pass: the soft limit of the unit is infinity, or root or CAP_IPC_LOCK in the initial user namespace lifts it. fail: less than one pool (POOL_COUNT x POOL_BUF_SIZE). "
                   "warn: any other finite limit.";
    limit.remedy = "A drop-in with LimitMEMLOCK=infinity. limits.conf and the limit of a shell do not reach a service.";
    limit.evidence = "drivers/infiniband/core/umem.c; AIStor fabric page; minio-service, the packaged unit sets no limit";
    limit.roles = storage;
    limit.after = {"service.unit"};
    limit.judge = judge_limit;

    Check process{};
    process.id = "memlock.process";
    process.phase = 'A';
    process.title = "The running process may lock enough memory";
    process.why = "A process keeps the limit it was started with, whatever the files say now.";
    process.judges = "as memlock.limit, from /proc/PID/limits with CapEff and the user namespace; a finite limit of a service whose unit is right by now is a warning. skip: not running.";
    process.remedy = "Restart the service.";
    process.evidence = "proc(5); drivers/infiniband/core/umem.c";
    process.roles = storage;
    process.after = {"memlock.limit"};
    process.judge = judge_process;

    Check memory{};
    memory.id = "memlock.memory";
    memory.phase = 'A';
    memory.title = "The pinned pools fit into the node's memory";
    memory.why = "Pinned pages can be neither swapped nor reclaimed, and the unit shields the server from the OOM killer.";
    memory.judges = "pass: one pool takes at most 25 % of the memory. warn: more. fail: more than there is.";
    memory.remedy = "Lower MINIO_RDMA_POOL_COUNT or MINIO_RDMA_POOL_BUF_SIZE on all nodes.";
    memory.evidence = "AIStor memory requirements (up to 75 % of memory is used for GET)";
    memory.roles = storage;
    memory.judge = judge_memory;
    return {"memlock", "locked memory", {limit, process, memory}};
}

}  // namespace preflight
