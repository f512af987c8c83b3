// The environment the server will get: which of its RDMA settings arrive, and what the server makes of them.

#include <fmt/format.h>

#include <algorithm>

#include "env_files.h"
#include "env_text.h"
#include "facts/environment.h"
#include "facts/near_misses.h"
#include "facts/server_process.h"
#include "facts/service.h"
#include "facts/settings.h"
#include "modules.h"
#include "preflight/facts.h"
#include "remedies.h"
#include "text.h"

namespace preflight {

std::string shown(std::string_view value) {
    static constexpr std::size_t longest = 60;
    const auto comment = value.find(" #");
    std::string out(value.substr(0, std::min({comment == std::string_view::npos ? value.size() : comment + 2, value.find_first_of("\r\n"), longest})));
    return fmt::format("\"{}{}\"", out, out.size() < value.size() ? " …" : "");
}

std::string file_to_edit(const EnvironmentFacts& environment, const Fact<ServerValue>& value) {
    if (value.has() && value->origin.path.rfind("/", 0) == 0 && value->origin.path.rfind("/proc/", 0) != 0 && !value->origin.path.ends_with(".conf") && !value->origin.path.ends_with(".service"))
        return value->origin.path;
    for (const auto& file : environment.files)
        if (file.file.has()) return file.path;
    return environment.files.empty() ? std::string(usual_environment_file) : environment.files.front().path;
}

std::string overrides(const ServerValue& value) {
    return value.overridden.empty() ? "" : fmt::format(", overrides {}", value.overridden.back().origin.text());
}

namespace {

const char* as_root = "Run it as root.";

/// A value that the server would fetch from another server cannot be judged.
bool fetched(std::string_view value) {
    return value.rfind("env://", 0) == 0 || value.rfind("env+tls://", 0) == 0;
}

std::string dropped_by(const Facts& facts, const std::string& name) {
    const EnvironmentFacts& environment = facts.environment();
    for (const auto& file : environment.files) {
        if (!file.file.has()) continue;
        for (const EnvDropped& dropped : file.file->dropped)
            if (dropped.name == name) return fmt::format("; {}:{} is dropped, see env.syntax", file.path, dropped.line);
        for (const EnvLine& line : file.file->lines)
            if (std::find(line.swallowed.begin(), line.swallowed.end(), name) != line.swallowed.end()) return fmt::format("; its line became part of {} at {}:{}, see env.syntax", line.name, file.path, line.line);
    }
    if (std::find(environment.removed.begin(), environment.removed.end(), name) != environment.removed.end()) return "; UnsetEnvironment= takes it away";
    return environment.from_process ? std::string() : first_of(variable_near_misses(facts, name));
}

/// Opens the file where the value stands; a unit's own files are edited through the manager.
std::string edit_command(const EnvironmentFacts& environment, const Fact<ServerValue>& value) {
    const std::string path = value.has() ? value->origin.path : "";
    if (path.ends_with(".service") || path.ends_with(".conf")) return fmt::format("sudoedit {} && sudo systemctl daemon-reload", shell_word(path));
    return "sudoedit " + shell_word(file_to_edit(environment, value));
}

void judge_internode(const Facts& facts, Findings& out) {
    const std::string name = "MINIO_RDMA_INTERNODE";
    const EnvironmentFacts& environment = facts.environment();
    const Subject subject{name, {}};
    const auto value = environment.server_value(name);
    const bool ready = facts.options().stage == Stage::ready;
    if (value.unreadable()) {
        out.unknown(subject, value.why().cause, environment.wrapper ? "Start the service and run this again: the running process shows its environment." : as_root);
        return;
    }
    const auto volumes = environment.volumes_text();
    const bool alone = volumes.has() && parse_volumes(volumes->value).single_node();
    const std::string text = value.has() ? value->value : "";
    const std::string where = value.has() ? value->origin.text() : "";
    const Remedy remedy = facts.deployment() == container
                              ? Remedy{"Set MINIO_RDMA_INTERNODE=on without quotes in the pod's environment, then recreate the pod", {}, {}, {}}
                              : set_variable(facts.service(), "Set it to exactly on, in every node's file", file_to_edit(environment, value), name, "on");
    if (text == "on") {
        if (alone) out.warn(subject, "\"on\", but MINIO_VOLUMES names this node only: there is nobody to talk RDMA to").want("several nodes").from(where).mend({"Nothing to mend on a single node", {}, {}, {}});
        else out.pass(subject, "\"on\"" + overrides(*value)).from(where);
        return;
    }
    if (alone) {
        out.skip(subject, "single node: inter-node RDMA does not apply");
        return;
    }
    if (fetched(text)) {
        out.unknown(subject, "its value is fetched from another server at start", "Set it in the environment file.");
        return;
    }
    if (text.empty() || text == "off") {
        const std::string observed = (value.absent() ? "not set" + dropped_by(facts, name) : text.empty() ? "empty" : "\"off\"") + (value.has() ? overrides(*value) : "");
        if (ready) out.warn(subject, "not switched on yet: " + observed).want("\"on\"").from(where).mend(remedy).switched_off();
        else out.fail(subject, observed).want("\"on\"").from(where).mend(remedy).switched_off();
        return;
    }
    const bool quotes = text.find_first_of("\"'") != std::string::npos;
    out.fail(subject, fmt::format("{}: not exactly on, so it stays off{}{}", shown(text), quotes ? "; the quotes are part of the value" : "", overrides(*value))).want("\"on\"").from(where).mend(remedy);
}

void judge_names(const Facts& facts, Findings& out) {
    const EnvironmentFacts& environment = facts.environment();
    std::size_t known = 0;
    for (const std::string& name : environment.names(setting_prefix)) {
        if (find_setting(name) || find_setting(std::string(systemd_text::trimmed(name)))) {
            ++known;
            continue;
        }
        const Setting* nearest = nearest_setting(name);
        const auto value = environment.server_value(name);
        out.warn({name, {}}, nearest ? fmt::format("not a known setting; {} was probably meant", nearest->name) : "not a known setting: the server ignores it").want("a known setting")
            .from(value.has() ? value->origin.text() : "").mend({nearest ? fmt::format("Write {}", nearest->name) : "Remove it, or look it up in the documentation of your release", {}, {}, {}});
    }
    if (!out.list().empty()) return;
    if (!environment.missing.empty()) out.unknown(node_subject(), environment.missing.front(), as_root);
    else out.pass(node_subject(), known == 0 ? "no MINIO_RDMA_* variable is set" : fmt::format("{} known settings", known));
}

void judge_values(const Facts& facts, Findings& out) {
    const EnvironmentFacts& environment = facts.environment();
    for (const Setting& setting : settings()) {
        if (setting.type == Setting::exact_on) continue;  // env.internode
        const std::string name(setting.name);
        const auto value = environment.server_value(name);
        if (!value.has()) continue;
        const Subject subject{name, {}};
        const std::string from = value->origin.text(), text = shown(value->value);
        const std::string fallback = fmt::format("the default {} is used", setting.fallback_text);
        const auto mend = [&](Draft draft) {
            draft.from(from).mend({fmt::format("Write a plain number, or remove the line; default {}", setting.fallback_text), {edit_command(environment, value)}, {}, {}})
                .note("evidence", fmt::format("{}: {}", preflight::name(setting.evidence), setting.source));
        };
        if (fetched(value->value)) {
            out.unknown(subject, "its value is fetched from another server at start", "Set it in the environment file.");
            continue;
        }
        const SettingValue read = read_setting(setting, value->value);
        const std::string range = setting.least && setting.most ? fmt::format("{} to {}", *setting.least, *setting.most) : setting.least ? fmt::format("at least {}", *setting.least) : "a number";
        switch (read.kind) {
            case SettingValue::good: out.pass(subject, text).from(from); break;
            case SettingValue::empty: mend(out.warn(subject, "empty: " + fallback).want(range)); break;
            case SettingValue::doubtful: mend(out.warn(subject, fmt::format("{}: {}", text, read.why)).want(range)); break;
            case SettingValue::unparsable:
            case SettingValue::out_of_range:
                mend(out.fail(subject, fmt::format("{}: {}; it is dropped without a word and {}", text, read.why, fallback)).want(range));
                break;
        }
    }
    if (!out.list().empty()) return;
    if (!environment.missing.empty()) out.unknown(node_subject(), environment.missing.front(), as_root);
    else out.pass(node_subject(), "all settings have their defaults");
}

void judge_location(const Facts& facts, Findings& out) {
    const EnvironmentFacts& environment = facts.environment();
    const Variable* pointer = environment.find("MINIO_CONFIG_ENV_FILE");
    if (!environment.second) {
        if (!environment.missing.empty()) out.unknown(node_subject(), environment.missing.front(), as_root);
        else out.pass(node_subject(), "there is no second file: MINIO_CONFIG_ENV_FILE is not set");
        return;
    }
    const SecondFile& second = *environment.second;
    const Subject subject{second.path, {}};
    const std::string from = pointer ? pointer->origin.text() : "";
    if (fetched(second.path)) {
        out.unknown(subject, "MINIO_CONFIG_ENV_FILE is fetched from another server", "Name a file.");
        return;
    }
    if (second.env.unreadable()) {
        out.unknown(subject, second.env.why().cause, as_root);
        return;
    }
    if (second.env.absent()) {
        out.warn(subject, "does not exist: the server ignores that without a word").want("the file, or no MINIO_CONFIG_ENV_FILE").from(from).mend({"Create it, or remove MINIO_CONFIG_ENV_FILE", {"sudoedit " + shell_word(second.path)}, {}, {}});
        return;
    }
    if (second.env->malformed_line) {
        out.fail({fmt::format("{}:{}", second.path, second.env->malformed_line), {}}, fmt::format("this line {}: the server stops at it", second.env->malformed)).want("KEY=value").from(from)
            .mend({"Correct the line; the server's reader knows no continuation and no ';' comment", {"sudoedit " + shell_word(second.path)}, {}, {}});
        return;
    }
    for (const ServerEnvLine& line : second.env->lines) {
        const std::string name(systemd_text::trimmed(line.key));
        if (name.rfind(setting_prefix, 0) != 0 || second.env->find(line.key) != &line) continue;
        const Subject at{fmt::format("{}:{}", second.path, line.line), {}};
        const Variable* first = environment.find(name);
        const Remedy move{fmt::format("Put {} into {}", name, file_to_edit(environment, Absent{})), {"sudoedit " + shell_word(file_to_edit(environment, Absent{}))}, {}, {}};
        if (name != line.key) {
            out.warn(at, fmt::format("a blank before \"=\": the server's own reader takes \"{}\" with the blank and never finds it", name)).want(name + "=…").mend({"Remove the blank", {"sudoedit " + shell_word(second.path)}, {}, {}});
            continue;
        }
        const Setting* setting = find_setting(name);
        if (first && name == "MINIO_RDMA_INTERNODE" && first->value == "on" && line.value != "on")
            out.fail(at, fmt::format("{} turns inter-node RDMA off again, over {}", shown(line.value), first->origin.text())).want("\"on\", or no such line").mend(move);
        else if (!first && setting && setting->read_early)
            out.warn(at, fmt::format("{} stands only in this file, which is read too late: the default may be used", name)).want("in what systemd loads").mend(move);
        else if (!first)
            out.warn(at, fmt::format("{} stands only in this file; whether the server honours it there is not public", name)).want("in what systemd loads").mend(move);
        else if (first->value != line.value)
            out.warn(at, fmt::format("{} replaces {} of {}", shown(line.value), shown(first->value), first->origin.text())).want("one value").mend(move);
    }
    if (out.list().empty()) out.pass(subject, "no RDMA setting stands only in the second file").from(from);
}

void judge_volumes(const Facts& facts, Findings& out) {
    const EnvironmentFacts& environment = facts.environment();
    const Subject subject{"MINIO_VOLUMES", {}};
    const auto value = environment.volumes_text();
    if (environment.configured_by_file()) {
        out.unknown(subject, "a YAML start-up file names the endpoints", "Name the nodes with --peers.");
        return;
    }
    if (!value.has()) {
        if (value.unreadable()) out.unknown(subject, value.why().cause, "Start the service and run this again as root, or name the nodes with --peers.");
        else
            out.fail(subject, "not set" + dropped_by(facts, "MINIO_VOLUMES")).want("the endpoints of all nodes").from(file_to_edit(environment, Absent{}))
                .mend({"Set it in the environment file", {"sudoedit " + shell_word(file_to_edit(environment, Absent{}))}, {}, {}});
        return;
    }
    if (fetched(value->value)) {
        out.unknown(subject, "its value is fetched from another server at start", "Name the nodes with --peers.");
        return;
    }
    const Volumes volumes = parse_volumes(value->value);
    if (!volumes.errors.empty()) {
        const VolumeError& error = volumes.errors.front();
        std::string line = value->value.substr(0, value->value.find_first_of("\r\n"));
        const std::size_t width = std::min(error.width, line.size() > error.column ? line.size() - error.column : 1);
        out.fail(subject, fmt::format("column {}: {}", error.column + 1, error.message)).want("MinIO's notation: http://n{1...4}:9000/mnt/disk{1...8}").from(value->origin.text())
            .note("place", std::vector<std::string>{line, std::string(error.column, ' ') + std::string(std::max<std::size_t>(width, 1), '^')})
            .mend({"Correct it on all nodes alike", {edit_command(environment, value)}, {}, {}});
        return;
    }
    if (!volumes.host_without_scheme.empty()) {
        const std::string& word = volumes.host_without_scheme.front();
        out.fail(subject, fmt::format("{} is a local folder to the server, not a node", word))
            .want(fmt::format("http://{}", word))
            .from(value->origin.text())
            .because("The server takes what has no scheme for a local path: it starts as a single node, and there is nobody to talk RDMA to.")
            .mend({.summary = fmt::format("Write http://{} (or https://), on all nodes alike", word), .commands = {edit_command(environment, value)}});
        return;
    }
    if (volumes.single_node()) {
        out.skip(subject, "single node: inter-node RDMA does not apply");
        return;
    }
    if (volumes.hosts.empty()) {
        out.fail(subject, "empty").want("the endpoints of all nodes").from(value->origin.text()).mend({"Set it", {edit_command(environment, value)}, {}, {}});
        return;
    }
    const std::string seen = fmt::format("{} {}, {} {}, {} drives{}", volumes.hosts.size(), volumes.hosts.size() == 1 ? "node" : "nodes", volumes.pools,
                                         volumes.pools == 1 ? "pool" : "pools", volumes.drives, overrides(*value));
    const std::vector<std::string> others = environment.other_endpoints();
    if (others.empty()) {
        out.pass(subject, seen).from(value->origin.text());
        return;
    }
    out.warn(subject, fmt::format("{}, by {}; {} {} other endpoints and {} not count", seen, value->origin.text(), list_of(others),
                                  others.size() == 1 ? "names" : "name", others.size() == 1 ? "does" : "do"))
        .want("one place that names the endpoints")
        .from(value->origin.text())
        .mend({.summary = "Leave the endpoints in one place", .commands = {edit_command(environment, value)}});
}

void judge_license(const Facts& facts, Findings& out) {
    const EnvironmentFacts& environment = facts.environment();
    if (const auto path = environment.flag("--license"); path && !path->empty()) {
        out.pass(node_subject(), "--license " + *path);
        return;
    }
    if (environment.configured_by_file()) {
        out.pass(node_subject(), "a YAML start-up file configures the server");
        return;
    }
    const Remedy remedy{"Give the server its license with --license PATH in MINIO_OPTS", {"sudoedit " + shell_word(file_to_edit(environment, Absent{}))}, {}, {}};
    for (const char* name : {"MINIO_LICENSE", "MINIO_SUBNET_LICENSE"})
        if (const auto value = environment.server_value(name); value.has() && !value->value.empty()) {
            out.warn(node_subject(), fmt::format("{} is set, but a server was seen that ignores it", name)).want("--license PATH").from(value->origin.text()).mend(remedy);
            return;
        }
    if (!environment.missing.empty()) {
        out.unknown(node_subject(), environment.missing.front(), as_root);
        return;
    }
    out.warn(node_subject(), "no license is configured: the server may come up read-only, which looks like an RDMA fault").want("--license PATH").mend(remedy);
}

}  // namespace

Module env_module() {
    const auto internode_only = [](Check check) {
        check.paths = internode;
        return check;
    };
    const auto systemd_only = [](Check check) {
        check.deployments = systemd;
        return check;
    };
    Module module{"env", "the environment the server will get", {
        systemd_only(row('A', "env.file", "The environment files the unit names are readable", "A dash before a file's name hides that it is missing; then the server gets none of its settings.",
            "fail: a file is missing, refused by systemd, or its name has a comment glued to it. pass: a file behind a dash is missing and everything it should hold comes from elsewhere. "
            "unknown: not readable as this user.",
            "Create the file, or correct EnvironmentFile= in a drop-in.", "systemd.exec(5), EnvironmentFile=", {}, judge_env_file)),
        row('A', "env.syntax", "No line that matters is dropped or altered", "The file looks like shell and is not: systemd drops or alters lines that every shell accepts.",
            "fail: a line with MINIO_VOLUMES, MINIO_OPTS, MINIO_CONFIG_ENV_FILE or a MINIO_RDMA_* setting is dropped, swallowed by another one or changed; UnsetEnvironment= takes it away. "
            "warn: any other line is dropped or swallowed; the same name twice, nested quotes. pass with a note: CRLF, blanks around \"=\".",
            "Write KEY=value, one to a line, comments on lines of their own.", "src/basic/env-file.c (systemd 252), tried against the real manager", {}, judge_env_syntax),
        internode_only(row('A', "env.internode", "MINIO_RDMA_INTERNODE is exactly \"on\"", "Any other value, ON, true and 1 among them, leaves inter-node RDMA off without a message.",
            "pass: exactly on. fail: anything else, shown as the server gets it; absent or off (stage ready: warn \"not switched on yet\"). skip: single node, or inter-node not wanted.",
            "Write MINIO_RDMA_INTERNODE=on, without quotes and comment.", "AIStor reference, settings/rdma", {}, judge_internode)),
        row('A', "env.names", "Every MINIO_RDMA_ variable is a known setting", "A misspelt setting is ignored without a word.", "warn: a name that is no known setting, with the nearest one.", "Correct the name.",
            "AIStor reference, settings/rdma; see docs/settings.md", {}, judge_names),
        row('A', "env.values", "No RDMA setting is silently dropped", "A value that does not parse is dropped without a log line and the default used.",
            "fail: surely not a number, or outside a documented range. warn: a size suffix, a range that is not public, or empty.", "Write plain numbers, sizes in bytes.",
            "AIStor reference, settings/rdma; see docs/settings.md", {}, judge_values),
        row('A', "env.location", "RDMA settings stand where the server reads them", "Settings in the file of MINIO_CONFIG_ENV_FILE are read after some of them were needed.",
            "fail: the second file turns INTERNODE off, or holds a line that stops the server. warn: a setting stands only there, or the file is missing. unknown: not readable.",
            "Put RDMA settings into the file that systemd loads.", "AIStor reference, settings/rdma; community server, cmd/common-main.go", {}, judge_location),
        internode_only(row('A', "env.volumes", "MINIO_VOLUMES expands", "Nothing but the server expands it: what a shell would expand stays as it is and the server refuses it.",
            "fail, with a caret: two dots, comma lists, unbalanced braces, \"$\", mixed forms, trailing text; not set. skip: single node. unknown: a YAML start-up file or a script.",
            "Write {1...4} with three dots.", "minio/pkg, ellipses; community server, cmd/endpoint-ellipses.go", {}, judge_volumes)),
        row('A', "env.license", "A license is configured", "A server without one runs read-only since 2025-12-20, which looks like an RDMA fault.", "warn: no --license, or only a variable.",
            "Pass --license PATH in MINIO_OPTS.", "AIStor licensing page; minio/rdma-training", {}, judge_license),
    }};
    for (Check& check : module.checks) check.roles = storage;
    return module;
}

}  // namespace preflight
