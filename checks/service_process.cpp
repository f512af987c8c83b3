// The server that runs now: is it what the files say, and does it own RDMA objects.

#include <fmt/format.h>

#include <algorithm>

#include "facts/environment.h"
#include "facts/exit_status.h"
#include "facts/owned_objects.h"
#include "facts/server_process.h"
#include "facts/service.h"
#include "preflight/facts.h"
#include "remedies.h"
#include "service_checks.h"

namespace preflight {
namespace {

Subject process_subject(const Process& process) {
    return {fmt::format("{} (pid {})", process.name, process.pid), {}};
}

const std::vector<Process>& running(const Facts& facts) {
    const ServerProcesses& all = facts.server_processes();
    return facts.deployment() == container ? all.in_container : all.of_unit;
}

/// Skips or says unknown where no process can be judged; true when it did.
bool nothing_runs(const Facts& facts, Findings& out, bool with_now) {
    if (!running(facts).empty()) return false;
    const ServerProcesses& all = facts.server_processes();
    const bool container_here = facts.deployment() == container;
    if (!all.looked.has() || all.hidden) {
        auto draft = out.unknown(node_subject(), all.hidden ? "other users' processes do not show here (hidepid, or a pid namespace of its own)" : "the processes of this node could not be listed",
                                 "Run it as root in the host's pid namespace.");
        if (with_now) draft.now("unknown");
        return true;
    }
    if (container_here) {
        auto draft = out.unknown(node_subject(), "no AIStor process runs in a container here", "Run it again once the pod runs.");
        if (with_now) draft.now("not-running");
        return true;
    }
    auto draft = out.skip(Subject{facts.service().name, {}}, "the service does not run");
    if (with_now) draft.now("not-running");
    return true;
}

std::string value_of(const std::vector<std::string>& environment, const std::string& name) {
    for (const std::string& entry : environment)
        if (entry.rfind(name + "=", 0) == 0) return entry.substr(name.size() + 1);
    return {};
}

/// Why the next start must end as the last one did; empty where it need not.
std::string must_fail_again(const Facts& facts, const LoadedUnit& unit) {
    const ServiceFacts& service = facts.service();
    if (unit.main.code == 1 && unit.main.status == exit_user && service.account.absent())
        return fmt::format("User={} is still not an account of this node", service.user_name());
    const auto path = service.executable();
    const auto& file = service.executable_info;
    if (unit.main.code == 1 && unit.main.status == exit_exec && path.has() && file.absent())
        return *path + " is still not there";
    if (unit.main.code == 1 && unit.main.status == exit_exec && file.has() && !(file->mode & 0111))
        return *path + " still cannot be executed";
    return {};
}

/// A unit that failed or restarts over and over: true when it wrote a finding.
bool start_failed(const Facts& facts, Findings& out) {
    const ServiceFacts& service = facts.service();
    if (facts.deployment() != systemd || !service.loaded.has()) return false;
    const LoadedUnit& unit = *service.loaded;
    const bool looping = unit.sub_state == "auto-restart" || unit.sub_state == "auto-restart-queued";
    if (unit.active_state != "failed" && !looping) return false;
    const std::string again = must_fail_again(facts, unit);
    const std::string observed =
        fmt::format("{}: {}{}", looping ? fmt::format("it restarts over and over, {} times so far", unit.restarts) : "the last start failed",
                    ending(unit), again.empty() ? "" : "; " + again);
    const std::string name = shell_word(service.name);
    out.add(again.empty() ? Status::warn : Status::fail, {service.name, {}}, observed)
        .want("a service that starts")
        .from("the service manager: ActiveState, Result, ExecMainStatus, NRestarts")
        .because("A server that does not stay up uses no RDMA; what else is judged here holds for its next good start.")
        .mend({.summary = "Read why in its log, correct that, and start it again",
               .commands = {fmt::format("systemctl status {}", name), fmt::format("journalctl -b -u {} -n 50", name),
                            fmt::format("sudo systemctl reset-failed {0} && sudo systemctl start {0}", name)}});
    return true;
}

void judge_running(const Facts& facts, Findings& out) {
    if (running(facts).empty() && start_failed(facts, out)) return;
    if (nothing_runs(facts, out, false)) return;
    const ServiceFacts& service = facts.service();
    const EnvironmentFacts& environment = facts.environment();
    const bool ready = facts.options().stage == Stage::ready;
    for (const Process& process : running(facts)) {
        std::vector<std::string> stale, unread;
        if (facts.deployment() == systemd) {
            if (process.executable.has()) {
                const std::string exe = *process.executable;
                const bool replaced = exe.ends_with(" (deleted)");
                const std::string path = exe.substr(0, replaced ? exe.size() - 10 : exe.size());
                const bool expected = environment.wrapper || !service.real_executable.has() || path == *service.real_executable;
                if (!expected) stale.push_back(fmt::format("it runs {}, the unit starts {}", path, *service.real_executable));
                else if (replaced) stale.push_back(fmt::format("{} was replaced after it started", path));
            } else {
                unread.push_back("exe");
            }
            if (!process.environment.has()) unread.push_back("environ");
            else if (!environment.from_process && environment.missing.empty()) {
                std::vector<std::string> names = environment.names("MINIO_RDMA_");
                for (const std::string& entry : *process.environment)
                    if (entry.rfind("MINIO_RDMA_", 0) == 0) names.push_back(entry.substr(0, entry.find('=')));
                names.insert(names.end(), {"MINIO_VOLUMES", "MINIO_ARGS", "MINIO_ENDPOINTS", "MINIO_CONFIG_ENV_FILE"});
                std::sort(names.begin(), names.end());
                names.erase(std::unique(names.begin(), names.end()), names.end());
                for (const std::string& name : names) {
                    const Variable* now = environment.find(name);
                    const std::string was = value_of(*process.environment, name);
                    if (was != (now ? now->value : "")) stale.push_back(fmt::format("{} is \"{}\" in it and \"{}\" in the files", name, was, now ? now->value : ""));
                }
            }
            if (!process.memlock.has()) unread.push_back("limits");
            else if (process.memlock->soft != service.memlock.soft && !(process.memlock->soft > service.memlock.soft))
                stale.push_back(fmt::format("its memlock limit is {}, the unit gives {}", bytes_text(process.memlock->soft), bytes_text(service.memlock.soft)));
        }
        if (!stale.empty()) {
            out.warn(process_subject(process), (ready ? "not switched on yet: " : "started before the files changed: ") + stale.front()).want("the process is what the files say")
                .from(fmt::format("/proc/{}", process.pid)).note("differs", stale)
                .mend({"Restart it with systemctl; `mc admin service restart` keeps the old environment", restart_commands(service, service.loaded.has() && service.loaded->need_daemon_reload), {}, {}});
        } else if (!unread.empty()) {
            out.unknown(process_subject(process), fmt::format("/proc/{}/{} cannot be read as this user", process.pid, unread.front()), "Run it as root.");
        } else {
            out.pass(process_subject(process), facts.deployment() == container ? "runs in a container; it was judged itself" : "is what the files say").from(fmt::format("/proc/{}", process.pid));
        }
    }
}

void judge_rdma(const Facts& facts, Findings& out) {
    if (nothing_runs(facts, out, true)) return;
    const auto internode = facts.environment().server_value("MINIO_RDMA_INTERNODE");
    const auto& own = facts.server_processes().own_namespaces;
    for (const Process& process : running(facts)) {
        const Subject subject = process_subject(process);
        const auto init = own.find("pid");
        // PROC_PID_INIT_INO of include/linux/proc_ns.h: resource owners are told by their pid there.
        if (init != own.end() && init->second != "pid:[4026531836]") {
            out.unknown(subject, "the kernel does not name owners of RDMA objects inside a pid namespace", "Run it in the host's pid namespace (hostPID).").now("unknown");
            continue;
        }
        const auto owned = facts.owned_objects(process.pid);
        if (owned.unreadable()) {
            out.unknown(subject, owned.why().cause, "Run it as root on a kernel with RDMA resource tracking.").now("unknown");
            continue;
        }
        const std::string pinned = process.pinned ? fmt::format(", {} pinned", bytes_text(*process.pinned)) : "";
        // What a failed start leaves open, a context say, carries nothing: it takes memory regions, a listener or queue pairs.
        if (owned.has() && (owned->connected || owned->listeners || owned->memory_regions)) {
            out.pass(subject, fmt::format("owns {}{}", owned->text(), pinned)).from("nldev resources").now(owned->connected ? "yes" : "unknown");
            continue;
        }
        if (internode.has() && internode->value == "on")
            out.warn(subject, fmt::format("RDMA is switched on, but it owns {}: it uses TCP{}", owned.has() && owned->any() ? owned->text() : "no RDMA object", pinned)).want("contexts, memory regions and a listener").from("nldev resources").now("no")
                .mend({"Correct what fails above, then restart it", restart_commands(facts.service()), {}, {}});
        else out.pass(subject, "owns no RDMA object, and RDMA is not switched on").from("nldev resources").now("no");
    }
}

}  // namespace

std::vector<Check> service_process_checks() {
    Check running_row{};
    running_row.id = "service.running";
    running_row.phase = 'A';
    running_row.title = "The running process is what the files say";
    running_row.why = "Settings are read once at start: a process started before a change goes on with the old binary, environment and limit.";
    running_row.judges = "warn: executable, MINIO_RDMA_* environment or memlock limit of the process differ from what the next start would give; the last start failed, or the service "
                         "restarts over and over. fail: it failed, and the cause the manager tells still stands. skip: the service does not run. "
                         "unknown: the process cannot be read as this user.";
    running_row.remedy = "systemctl restart, not `mc admin service restart`: that keeps the environment captured at the first start.";
    running_row.evidence = "minio-service README; proc(5); systemd.exec(5), \"Process Exit Codes\"";
    running_row.after = {"service.unit"};
    running_row.roles = storage;
    running_row.judge = judge_running;
    Check rdma_row{};
    rdma_row.id = "service.rdma";
    rdma_row.phase = 'A';
    rdma_row.title = "The running process owns RDMA objects";
    rdma_row.why = "A server that fell back to TCP looks healthy; only what it owns in the kernel shows whether it uses RDMA.";
    rdma_row.judges = "pass: it owns contexts, memory regions, listeners or queue pairs, or RDMA is not switched on. warn: switched on and nothing owned. "
                      "unknown: resource owners cannot be seen from here. skip: the service does not run.";
    rdma_row.remedy = "Correct what the other checks name, then restart the service.";
    rdma_row.evidence = "RDMA resource tracking, drivers/infiniband/core/nldev.c and restrack.c";
    rdma_row.roles = storage;
    rdma_row.judge = judge_rdma;
    return {running_row, rdma_row};
}

}  // namespace preflight
