// The systemd unit: does the manager accept it, which file does it start, and what does its sandbox take away.

#include <fmt/format.h>

#include <algorithm>

#include "facts/environment.h"
#include "facts/exit_status.h"
#include "facts/memlock.h"
#include "facts/server_build.h"
#include "facts/server_process.h"
#include "facts/service.h"
#include "modules.h"
#include "preflight/facts.h"
#include "remedies.h"
#include "service_checks.h"
#include "text.h"

namespace preflight {
namespace {

Subject unit_subject(const ServiceFacts& service) {
    return {service.name, {}};
}

const char* as_root = "Run it as root, or with read access to the unit's folders.";

void judge_unit(const Facts& facts, Findings& out) {
    const ServiceFacts& service = facts.service();
    const Subject subject = unit_subject(service);
    if (service.absent()) {
        if (!service.files.unreadable.empty()) {
            out.unknown(subject, fmt::format("{}: {}", service.files.unreadable.front().first, service.files.unreadable.front().second.error), as_root);
            return;
        }
        out.fail(subject, "no such unit").want("a unit that starts AIStor").from("the unit folders of systemd.unit(5)").mend(
            {"Install AIStor's package, or name the unit that starts it with --service", {"systemctl list-unit-files --type=service | grep -i minio"}, {}, {}});
        return;
    }
    if (service.files.masked) {
        out.fail(subject, fmt::format("masked by {}", service.files.fragment.value_or("an empty file"))).want("a unit that can start").mend(
            {"Unmask it", {"sudo systemctl unmask " + shell_word(service.name)}, {}, {"sudo systemctl mask " + shell_word(service.name)}});
        return;
    }
    const bool reload = service.loaded.has() && service.loaded->need_daemon_reload;
    if (service.loaded.has() && !reload && service.loaded->load_state != "loaded") {
        out.fail(subject, fmt::format("the service manager refuses it: {} ({})", service.loaded->load_state, service.loaded->load_error)).want("loaded").from("the service manager")
            .mend({"See what it refuses", {"systemd-analyze verify " + shell_word(service.files.fragment.value_or(service.name))}, {}, {}});
        return;
    }
    if (!service.unit.refused.empty()) {
        const auto& refused = service.unit.refused.front();
        Remedy remedy{"Correct the line", {"sudoedit " + shell_word(refused.origin.path), "sudo systemctl daemon-reload"}, {}, {}};
        if (service.unit.exec_start.size() > 1 && service.unit.type != "oneshot") {
            const std::string command = "ExecStart=" + std::string(rdma_build_path) + " server $MINIO_OPTS $MINIO_VOLUMES";
            remedy = drop_in(service, "Clear ExecStart= before setting it", refused.origin.path.substr(refused.origin.path.rfind('/') + 1), {"[Service]", "ExecStart=", command});
            if (refused.origin.path.find("/etc/systemd/system/" + service.name + ".d/") == std::string::npos)
                remedy = drop_in(service, "Clear ExecStart= before setting it", "zz-rdma.conf", {"[Service]", "ExecStart=", command});
        }
        out.fail(subject, fmt::format("the service manager will refuse it: {}", refused.message)).want("a unit systemd accepts").from(refused.origin.text()).mend(std::move(remedy));
        return;
    }
    if (!service.files.unreadable.empty() && !service.from_manager) {
        out.unknown(subject, fmt::format("{}: {}", service.files.unreadable.front().first, service.files.unreadable.front().second.error), as_root);
        return;
    }
    if (!service.unit.dynamic_user && service.account.absent()) {
        const std::string user = service.user_name();
        out.fail(subject, fmt::format("User={} is not an account of this node", user)).want("an existing account").from(service.unit.user->origin.text())
            .mend({"Create the account", {fmt::format("sudo useradd --system --no-create-home --shell /usr/sbin/nologin {}", shell_word(user))}, {}, {"sudo userdel " + shell_word(user)}});
        return;
    }
    if (!service.unit.dynamic_user && service.account.unreadable()) {
        out.unknown(subject, fmt::format("whether User={} exists: {}", service.user_name(), service.account.why().cause), fmt::format("Ask the name service: getent passwd {}", service.user_name()));
        return;
    }
    if (reload) {
        out.warn(subject, "its files changed after the service manager read them; the files were judged").want("loaded as the files say").from("NeedDaemonReload")
            .mend({"Let the manager read them again", restart_commands(service, true), {}, {}});
        return;
    }
    std::vector<std::string> ignored;
    for (const auto& trouble : service.on_disk.ignored) ignored.push_back(fmt::format("{}: {}", trouble.origin.text(), trouble.message));
    if (!ignored.empty()) {
        out.warn(subject, ignored.front()).want("every line takes effect").note("ignored", ignored)
            .mend({"Correct the line", {"sudo systemctl edit --full " + shell_word(service.name)}, {}, {}});
        return;
    }
    if (!service.differs.empty()) {
        out.warn(subject, fmt::format("the service manager holds another {} than the files; what it holds was judged", service.differs.front())).want("manager and files agree")
            .note("differs", service.differs).mend({"Let the manager read the files again", restart_commands(service, true), {}, {}});
        return;
    }
    out.pass(subject, service.from_manager ? "loaded and accepted" : "accepted, judged from its files").from(service.files.fragment.value_or(service.name));
}

/// Words of ExecStart= that do not reach the server as meant: what is wrong, or empty.
std::string broken_word(const ExecCommand& command, const EnvironmentFacts& environment) {
    for (const std::string& word : command.words) {
        for (const char* name : {"MINIO_VOLUMES", "MINIO_OPTS"}) {
            const std::string plain = std::string("$") + name, braced = std::string("${") + name + "}";
            if (word == "\\" + plain || word == "\\" + braced) return fmt::format("\"{}\" is passed on as it stands: a backslash keeps the variable from being replaced", word);
            if (word == "$" + plain || word == "$" + braced) return fmt::format("\"{}\" is passed on as \"{}\": two dollar signs are one", word, word.substr(1));
            if (!command.expands && (word == plain || word == braced)) return fmt::format("\"{}\" is passed on as it stands: the ':' before the command turns variables off", word);
            const Variable* variable = environment.find(name);
            if (word == braced && variable && systemd_text::trimmed(variable->value).find_first_of(" \t") != std::string_view::npos)
                return fmt::format("\"{}\" passes all words of {} as one argument; write {} without braces", word, name, plain);
        }
    }
    return {};
}

bool rdma_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1).rfind("minio.rdma", 0) == 0;
}

std::string base_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

void judge_exec(const Facts& facts, Findings& out) {
    const ServiceFacts& service = facts.service();
    const Subject subject = unit_subject(service);
    const auto path = service.executable();
    if (!path.has()) {
        if (path.absent()) out.fail(subject, "nothing to start: no ExecStart=").want("ExecStart= with the RDMA build").mend({"Install AIStor's unit", {}, {}, {}});
        else out.unknown(subject, path.why().cause, as_root);
        return;
    }
    const ExecCommand& command = service.unit.exec_start.front();
    const Remedy repoint = start_rdma_build(service, facts.options());
    if (const std::string broken = broken_word(command, facts.environment()); !broken.empty()) {
        out.fail(subject, broken).want("$MINIO_OPTS $MINIO_VOLUMES").from(service.executable_origin()).mend(repoint);
        return;
    }
    if (facts.environment().wrapper) {
        const auto& running = facts.server_processes().of_unit;
        if (!running.empty() && running.front().executable.has()) {
            const std::string& exe = *running.front().executable;
            if (rdma_name(exe)) out.pass(subject, fmt::format("{} starts {}", *path, exe)).from(fmt::format("/proc/{}/exe", running.front().pid));
            else out.warn(subject, fmt::format("{} starts {}, whose name is not the RDMA build's", *path, exe)).want(rdma_build_path).from(fmt::format("/proc/{}/exe", running.front().pid)).mend(repoint);
            return;
        }
        out.unknown(subject, fmt::format("{} is not the server itself; a script was not evaluated", *path),
                    "Start the service and run this again: the running process shows which file it is. Or name the server with --binary.");
        return;
    }
    const auto& by_script = facts.environment().script_starts;
    const std::string real = by_script ? *by_script : service.real_executable.value_or(*path);
    if (rdma_name(real) || rdma_name(*path) || (facts.server_build().real == real && facts.server_build().rdma_build())) {
        out.pass(subject, real == *path ? *path : fmt::format("{} -> {}", *path, real)).from(service.executable_origin());
        return;
    }
    const bool decided_elsewhere = !service.rdma_build_installed;
    if (decided_elsewhere) {
        // Only what the file holds can tell: server.binary judges that.
        out.warn(subject, fmt::format("starts {}; its name does not say which build it is", *path)).want("the RDMA build").from(service.executable_origin()).mend(repoint);
        return;
    }
    const bool ready = facts.options().stage == Stage::ready;
    const std::string observed = fmt::format("starts {}, although {} is installed: installing it does not repoint the unit", *path, rdma_build_path);
    if (ready) out.warn(subject, "not switched on yet: " + observed).want(rdma_build_path).from(service.executable_origin()).mend(repoint);
    else out.fail(subject, observed).want(rdma_build_path).from(service.executable_origin()).mend(repoint);
}

/// Whether nothing before the server itself is known to stop the start; else it wrote a finding.
bool judge_start_pre(const ServiceFacts& service, Findings& out) {
    static constexpr const char* wanted = "programs of ExecStartPre= that run and succeed";
    const Subject subject = unit_subject(service);
    if (!service.broken_start_pre.empty()) {
        const auto& [command, why] = service.broken_start_pre.front();
        out.fail(subject, fmt::format("ExecStartPre={} {}: the service will not start", command.path, why))
            .want(wanted)
            .from(command.origin.text())
            .mend({.summary = "Install the program, or take the line out",
                   .commands = {fmt::format("sudoedit {} && sudo systemctl daemon-reload", shell_word(command.origin.path))}});
        return false;
    }
    const auto never = std::find_if(service.unit.start_pre.begin(), service.unit.start_pre.end(), [](const ExecCommand& command) {
        return !command.ignore_failure && base_name(command.path) == "false";
    });
    if (never != service.unit.start_pre.end()) {
        out.fail(subject, fmt::format("ExecStartPre={} never succeeds: the service will not start", never->path))
            .want(wanted)
            .from(never->origin.text())
            .mend({.summary = "Take the line out", .commands = {fmt::format("sudoedit {} && sudo systemctl daemon-reload", shell_word(never->origin.path))}});
        return false;
    }
    if (!service.loaded.has() || service.loaded->active_state == "active") return true;
    for (const ExecResult& program : service.loaded->start_pre) {
        if (!program.failed()) continue;
        out.warn(subject, fmt::format("ExecStartPre={} failed at the last start: {}", program.program, ending(program)))
            .want(wanted)
            .from("the service manager: ExecStartPre")
            .mend({.summary = "Read why in the log, correct it, and start the service",
                   .commands = {fmt::format("journalctl -b -u {} -n 50", shell_word(service.name))}});
        return false;
    }
    return true;
}

void judge_start(const Facts& facts, Findings& out) {
    const ServiceFacts& service = facts.service();
    const Subject subject = unit_subject(service);
    std::vector<std::string> open;
    const auto text = [](const UnitTest& test) {
        return fmt::format("{}{}={}{}", test.assertion ? "Assert" : "Condition", test.kind, test.negated ? "!" : "", test.argument);
    };
    for (const bool assertion : {true, false}) {
        const TestResult* triggered = nullptr;
        bool any = false;
        for (const TestResult& result : service.tests) {
            if (result.test.assertion != assertion) continue;
            if (result.holds.unreadable()) {
                out.unknown(subject, fmt::format("{}: {}", text(result.test), result.holds.why().error), as_root);
                return;
            }
            if (result.holds.absent()) {
                open.push_back(text(result.test));
                any |= result.test.trigger;
                continue;
            }
            if (result.test.trigger) {
                if (!triggered) triggered = &result;
                any |= *result.holds;
                continue;
            }
            if (*result.holds) continue;
            std::vector<std::string> lines = {"[Unit]", fmt::format("{}{}=", assertion ? "Assert" : "Condition", result.test.kind)};
            for (const TestResult& other : service.tests)
                if (other.test.assertion == assertion && &other != &result) lines.push_back(text(other.test));
            const bool binary = result.test.kind == "FileIsExecutable" && base_name(result.test.argument) == "minio";
            if (binary && service.rdma_build_installed) lines.push_back(fmt::format("AssertFileIsExecutable={}", rdma_build_path));
            out.fail(subject, fmt::format("{} does not hold: the service will not start", text(result.test))).want("asserts and conditions that hold").from(result.test.origin.text())
                .mend(drop_in(service, "Replace it (an empty value clears all of them, so the others are repeated)", "start.conf", lines));
            return;
        }
        if (triggered && !any) {
            out.fail(subject, fmt::format("none of the alternatives holds, {} among them: the service will not start", text(triggered->test))).want("one of them holds")
                .from(triggered->test.origin.text()).mend(no_known_remedy());
            return;
        }
    }
    const EnvironmentFacts& environment = facts.environment();
    if (environment.no_start) {
        out.fail(subject, fmt::format("{} {}: the service will not start", environment.no_start->path, environment.no_start_why)).want("every EnvironmentFile= without a dash is readable")
            .from(environment.no_start->text()).mend({"Create the file, or put a dash before its name in the unit", {"sudoedit " + shell_word(environment.no_start->path)}, {}, {}});
        return;
    }
    if (!judge_start_pre(service, out)) return;
    auto draft = out.pass(subject, service.tests.empty() ? "no asserts and no conditions" : fmt::format("{} asserts and conditions hold", service.tests.size() - open.size()));
    if (!open.empty()) draft.note("not evaluated", open);
}

bool device_allowed(const UnitLine& line, std::initializer_list<std::string_view> names) {
    std::string_view rest = line.value;
    for (;;) {
        const auto word = systemd_text::next_word(rest, systemd_text::unquote);
        if (word.kind != systemd_text::Word::found) return false;
        for (const std::string_view name : names)
            if (word.text == name || (word.text.find('*') != std::string::npos && name.rfind(word.text.substr(0, word.text.find('*')), 0) == 0) || word.text.rfind(std::string(name), 0) == 0) return true;
    }
}

void judge_sandbox(const Facts& facts, Findings& out) {
    const ServiceFacts& service = facts.service();
    const ServiceUnit& unit = service.unit;
    const std::size_t before = out.list().size();
    const auto subject = [&](const UnitLine& line) { return Subject{fmt::format("{} {}=", service.name, line.key), {}}; };
    const auto undo = [&](const UnitLine& line, const std::string& value) {
        return drop_in(service, fmt::format("Take {}= back", line.key), "sandbox.conf", {"[Service]", fmt::format("{}={}", line.key, value)});
    };
    const auto on = [&](const char* key) -> const UnitLine* {
        const UnitLine* line = unit.sandbox_line(key);
        return line && systemd_text::parse_boolean(line->value).value_or(false) ? line : nullptr;
    };
    if (service.uncertain() && !service.files.unreadable.empty()) {
        out.unknown(unit_subject(service), fmt::format("{}: {}", service.files.unreadable.front().first, service.files.unreadable.front().second.error), as_root);
        return;
    }
    if (const UnitLine* line = on("PrivateDevices"))
        out.fail(subject(*line), "the service gets a /dev of its own without /dev/infiniband").want("no").from(line->origin.text()).mend(undo(*line, "no"));
    const UnitLine* allow = unit.sandbox_line("DeviceAllow");
    const UnitLine* policy = unit.sandbox_line("DevicePolicy");
    const bool closed = policy && (policy->value == "closed" || policy->value == "strict");
    const UnitLine* clock = on("ProtectClock");
    if (allow || closed || clock) {
        const bool verbs = allow && device_allowed(*allow, {"char-infiniband_verbs", "char-infiniband", "/dev/infiniband/uverbs"});
        // rdma_cm is a misc device (major 10).
        const bool cm = allow && device_allowed(*allow, {"char-misc", "/dev/infiniband/rdma_cm"});
        if (!verbs || !cm) {
            const UnitLine& line = allow ? *allow : closed ? *policy : *clock;
            out.fail(subject(line), fmt::format("device access is limited and {} is not allowed", !verbs ? "/dev/infiniband/uverbs*" : "/dev/infiniband/rdma_cm")).want("the RDMA devices allowed").from(line.origin.text())
                .mend(drop_in(service, "Allow the RDMA devices", "devices.conf", {"[Service]", "DeviceAllow=char-infiniband_verbs rw", "DeviceAllow=/dev/infiniband/rdma_cm rw"}));
        }
    }
    if (const UnitLine* line = on("PrivateNetwork"))
        out.fail(subject(*line), "the service gets a network namespace with nothing but a loopback").want("no").from(line->origin.text()).mend(undo(*line, "no"));
    if (const UnitLine* line = unit.sandbox_line("NetworkNamespacePath"))
        out.warn(subject(*line), fmt::format("the service runs in the network namespace {}; the ports of this namespace were judged", line->value)).want("the node's network namespace").from(line->origin.text()).mend(undo(*line, ""));
    if (const UnitLine* line = unit.sandbox_line("RestrictAddressFamilies")) {
        const bool deny = line->value.front() == '~';
        const bool named = line->value.find("AF_NETLINK") != std::string::npos;
        if (deny == named) {
            Remedy remedy = deny ? undo(*line, "") : drop_in(service, "Allow AF_NETLINK", "families.conf", {"[Service]", "RestrictAddressFamilies=AF_NETLINK"});
            out.warn(subject(*line), "AF_NETLINK is not allowed: the RDMA libraries ask the kernel for devices over it").want("AF_NETLINK allowed").from(line->origin.text()).mend(std::move(remedy));
        }
    }
    if (const UnitLine* line = on("PrivateUsers")) {
        if (service.memlock.soft == systemd_text::infinity) out.pass(subject(*line), "CAP_IPC_LOCK has no effect in a user namespace, but the limit is unlimited").from(line->origin.text());
        else out.fail(subject(*line), "in a user namespace of its own the service's CAP_IPC_LOCK has no effect, and its limit is finite").want("no, or LimitMEMLOCK=infinity").from(line->origin.text()).mend(undo(*line, "no"));
    }
    for (const char* key : {"InaccessiblePaths", "TemporaryFileSystem"})
        if (const UnitLine* line = unit.sandbox_line(key)) {
            const auto words = " " + line->value + " ";
            for (const char* path : {"/dev", "/dev/infiniband", "/sys", "/sys/class/infiniband"})
                if (words.find(fmt::format(" {} ", path)) != std::string::npos || words.find(fmt::format(" -{} ", path)) != std::string::npos) {
                    out.fail(subject(*line), fmt::format("hides {} from the service", path)).want("the RDMA devices visible").from(line->origin.text()).mend(undo(*line, ""));
                    break;
                }
        }
    for (const char* key : {"RootDirectory", "RootImage"})
        if (const UnitLine* line = unit.sandbox_line(key))
            out.warn(subject(*line), fmt::format("the service runs in a file system of its own ({}), which was not judged", line->value)).want("the node's file system").from(line->origin.text()).mend(undo(*line, ""));
    for (const char* key : {"MemoryMax", "MemoryLimit"})
        if (const UnitLine* line = unit.sandbox_line(key)) {
            const auto limit = systemd_text::parse_size(line->value);
            const auto& pool = facts.memlock().need;
            if (!limit || !pool) continue;  // a percentage or infinity
            if (*limit < pool->bytes)
                out.fail(subject(*line), fmt::format("{} is less than one pool: {}", bytes_text(*limit), pool->sum)).want("more than the pools").from(line->origin.text()).mend(undo(*line, "infinity"));
        }
    if (out.list().size() == before) out.pass(unit_subject(service), "nothing in the unit takes RDMA away");
}

}  // namespace

Module service_module() {
    Module module{"service", "the systemd unit and the running process", {
        row('A', "service.unit", "The unit exists and systemd accepts it", "A unit that systemd refuses does not start the server at all, or starts the one it loaded before.",
            "fail: no such unit, masked, refused (two ExecStart=, no ExecStart=, bad values), or its user is not an account. warn: files changed after the manager read them, "
            "manager and files disagree, or a line is ignored. unknown: a file of it, or the user base, cannot be read.",
            "Clear ExecStart= before setting it in a drop-in; create the account; systemctl daemon-reload.",
            "systemd.unit(5), systemd.service(5), src/core/load-fragment.c and service.c (systemd 252)", {}, judge_unit),
        row('A', "service.exec", "The service starts the RDMA build",
            "Installing the RDMA package does not repoint the unit: it goes on starting the standard build, which ignores every RDMA setting without a word.",
            "pass: ExecStart= after all drop-ins starts the RDMA build. fail: a standard build while the RDMA build is installed (stage ready: warn), braces around a variable of "
            "several words, \"\\$\" or \"$$\". warn: the name does not tell the build; server.binary looks into the file. unknown: a script; a running process decides.",
            "A drop-in that clears and sets ExecStart=.", "AIStor deploy and troubleshoot pages; systemd.service(5), \"Command lines\"", {"service.unit"}, judge_exec),
        row('A', "service.start", "The unit's asserts and conditions hold", "An assert that names a removed file, or a missing environment file, keeps the service from starting.",
            "fail: an assert or condition that files can answer does not hold, an EnvironmentFile= without a dash cannot be loaded, or a program of ExecStartPre= is not there or never succeeds. "
            "warn: one failed at the last start.",
            "A drop-in that clears the assert and repeats the others.", "minio-service, the packaged unit; systemd.unit(5)", {"service.unit"}, judge_start),
        row('A', "service.sandbox", "The unit's sandbox leaves RDMA usable", "Sandboxing of systemd can hide the RDMA devices or void the right to pin memory.",
            "fail: PrivateDevices, device access without the RDMA devices (DeviceAllow, DevicePolicy, ProtectClock), PrivateNetwork, hidden /dev, PrivateUsers with a finite memlock limit, "
            "MemoryMax below one pool. warn: no AF_NETLINK, another network namespace or root.",
            "A drop-in that takes the directive back.", "systemd.exec(5), systemd.resource-control(5)", {"service.unit"}, judge_sandbox),
    }};
    for (Check& check : module.checks) {
        check.roles = storage;
        check.deployments = systemd;
    }
    for (Check& check : service_process_checks()) module.checks.push_back(std::move(check));
    return module;
}

}  // namespace preflight
