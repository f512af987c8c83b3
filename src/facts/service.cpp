#include "facts/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "facts/node.h"

namespace preflight {
namespace {

using namespace systemd_text;

const std::string manager_name = "the service manager";

/// First systemd release whose environment files no longer continue comments (NEWS for 254).
constexpr int comments_end_since = 254;

int leading_number(std::string_view text) {
    return std::atoi(std::string(text).c_str());
}

/// The release of the installed manager: from itself, else from the name of its private library.
int systemd_version(Host& host, const Fact<ServiceManager>& manager) {
    if (manager.has()) return leading_number(manager->version);
    static constexpr std::string_view library = "libsystemd-shared-";
    for (const char* folder : {"/usr/lib/systemd", "/usr/lib/x86_64-linux-gnu/systemd", "/usr/lib/aarch64-linux-gnu/systemd", "/usr/lib64/systemd"})
        for (const std::string& name : host.list(folder).value_or({}))
            if (name.rfind(library, 0) == 0) return leading_number(std::string_view(name).substr(library.size()));
    return 0;
}

std::optional<Stated<Limit>> default_memlock(const std::vector<UnitLine>& settings) {
    std::optional<Stated<Limit>> found;
    for (const UnitLine& line : settings) {
        if (line.key != "DefaultLimitMEMLOCK") continue;
        if (const auto limit = parse_byte_limit(line.value)) found = Stated<Limit>{*limit, line.origin};
    }
    return found;
}

/// MLOCK_LIMIT of include/uapi/linux/resource.h: 64 KiB, 8 MiB since Linux 5.16.
std::uint64_t kernel_default(Host& host) {
    const auto node = host.node();
    return node.has() && kernel_version(node->kernel) < std::pair{5, 16} ? 64u << 10 : 8u << 20;
}

std::vector<std::string> capability_names(std::uint64_t mask) {
    std::vector<std::string> names;
    for (const Capability& one : capabilities_that_matter)
        if (mask >> one.bit & 1) names.emplace_back(one.name);
    return names;
}

/// The loaded unit in the form of an interpreted one, keeping the file's origin where both say the same.
ServiceUnit from_manager(const LoadedUnit& loaded, const ServiceUnit& disk, std::vector<std::string>& differs) {
    ServiceUnit unit = disk;
    const Origin origin{manager_name, 0};
    const auto differ = [&](const char* what, bool same) {
        if (!same) differs.push_back(what);
        return !same;
    };

    std::vector<ExecCommand> commands;
    for (const auto& words : loaded.exec_start) {
        ExecCommand command;
        command.path = words.empty() ? "" : words[0];
        command.words.assign(words.begin() + (words.empty() ? 0 : 1), words.end());
        command.origin = origin;
        commands.push_back(std::move(command));
    }
    // The manager names the file it found for a plain name; words are compared without what masking may alter.
    const bool same_exec = std::equal(commands.begin(), commands.end(), disk.exec_start.begin(), disk.exec_start.end(), [](const ExecCommand& a, const ExecCommand& b) {
        return (a.path == b.path || a.path.ends_with("/" + b.path)) && a.words.size() == b.words.size();
    });
    if (differ("ExecStart=", same_exec)) unit.exec_start = commands;
    else
        for (std::size_t i = 0; i < commands.size(); ++i) unit.exec_start[i].path = commands[i].path;

    std::vector<Assigned> environment;
    for (const std::string& entry : loaded.environment) environment.push_back({entry.substr(0, entry.find('=')), entry.substr(std::min(entry.find('=') + 1, entry.size())), origin});
    const auto named = [](std::vector<Assigned> list) {
        std::sort(list.begin(), list.end(), [](const Assigned& a, const Assigned& b) { return a.name < b.name; });
        return list;
    };
    const auto a = named(environment), b = named(disk.environment);
    if (differ("Environment=", std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Assigned& x, const Assigned& y) { return x.name == y.name && x.value.size() == y.value.size(); })))
        unit.environment = environment;

    std::vector<NamedFile> files;
    for (const std::string& file : loaded.environment_files) files.push_back({file.substr(file[0] == '-'), file[0] == '-', origin});
    if (differ("EnvironmentFile=", std::equal(files.begin(), files.end(), disk.environment_files.begin(), disk.environment_files.end(),
                                              [](const NamedFile& x, const NamedFile& y) { return x.path == y.path && x.optional == y.optional; })))
        unit.environment_files = files;

    if (differ("PassEnvironment=", loaded.pass_environment == disk.pass_environment)) unit.pass_environment = loaded.pass_environment;
    if (differ("UnsetEnvironment=", loaded.unset_environment.size() == disk.unset_environment.size())) unit.unset_environment = loaded.unset_environment;

    const bool states_limit = disk.memlock.has_value();
    if (!states_limit || differ("LimitMEMLOCK=", disk.memlock->value.soft == loaded.memlock_soft)) unit.memlock = Stated<Limit>{{loaded.memlock_soft, loaded.memlock_hard}, origin};
    const bool given_by_dynamic_user = loaded.dynamic_user && disk.dynamic_user && !disk.user;
    if (!given_by_dynamic_user && differ("User=", loaded.user == (disk.user ? disk.user->value : "")))
        unit.user = loaded.user.empty() ? std::nullopt : std::optional(Stated<std::string>{loaded.user, origin});
    if (!loaded.group.empty()) unit.group = Stated<std::string>{loaded.group, origin};
    unit.dynamic_user = loaded.dynamic_user;
    if (!loaded.type.empty()) unit.type = loaded.type;
    unit.ambient_capabilities = capability_names(loaded.ambient_capabilities);
    unit.bounding_set.reset();
    if (loaded.bounding_set) unit.bounding_set = Stated<std::vector<std::string>>{capability_names(loaded.bounding_set), origin};

    unit.sandbox.clear();
    for (const auto& [key, value] : loaded.sandbox) {
        const UnitLine* line = disk.sandbox_line(key);
        unit.sandbox.push_back({"Service", key, value, line ? line->origin : origin});
    }
    if (loaded.memory_max && loaded.memory_max != infinity) {
        const UnitLine* line = disk.sandbox_line("MemoryMax");
        unit.sandbox.push_back({"Service", "MemoryMax", std::to_string(loaded.memory_max), line ? line->origin : origin});
    }
    return unit;
}

/// systemd.unit(5), "Conditions and Asserts", as far as files can answer.
Fact<bool> holds(Host& host, const UnitTest& test) {
    // A specifier that files do not tell; and a path that is not absolute, which the manager ignores (config_parse_unit_condition_path).
    if (test.argument.find('%') != std::string::npos || test.argument.empty() || test.argument.front() != '/') return Absent{};
    const auto file = [&](auto&& judge) -> Fact<bool> {
        const auto info = host.info(test.argument);
        if (info.unreadable()) return info.as<bool>();
        return (info.has() && judge(*info)) != test.negated;
    };
    if (test.kind == "PathExists") return file([](const FileInfo&) { return true; });
    if (test.kind == "PathIsDirectory") return file([](const FileInfo& info) { return info.type == "dir"; });
    if (test.kind == "FileNotEmpty") return file([](const FileInfo& info) { return info.type == "file" && info.size > 0; });
    if (test.kind == "FileIsExecutable") return file([](const FileInfo& info) { return info.type == "file" && info.mode & 0111; });
    if (test.kind == "DirectoryNotEmpty") {
        const auto names = host.list(test.argument);
        if (names.unreadable()) return names.as<bool>();
        return (names.has() && !names->empty()) != test.negated;
    }
    return Absent{};
}

/// Why a program of ExecStartPre= stops every start; empty where it may run.
std::string cannot_run(Host& host, const ExecCommand& command) {
    if (command.ignore_failure || command.path.empty() || command.path.front() != '/' || command.path.find('%') != std::string::npos) return {};
    const auto file = host.info(command.path);
    if (file.absent()) return "does not exist";
    if (file.has() && file->type == "dir") return "is a folder";
    if (file.has() && !(file->mode & 0111)) return "cannot be executed";
    return {};
}

}  // namespace

std::vector<UnitLine> manager_settings(Host& host) {
    static constexpr std::array roots = {"/etc/systemd", "/run/systemd", "/usr/local/lib/systemd", "/usr/lib/systemd"};
    std::vector<std::string> files;
    for (const char* root : roots)
        if (host.info(std::string(root) + "/system.conf").has()) {
            files.push_back(std::string(root) + "/system.conf");
            break;
        }
    std::map<std::string, std::string> drop_ins;
    for (const char* root : roots) {
        const std::string folder = std::string(root) + "/system.conf.d";
        for (const std::string& name : host.list(folder).value_or({}))
            if (name.ends_with(".conf")) drop_ins.emplace(name, folder + "/" + name);
    }
    for (const auto& [name, path] : drop_ins) files.push_back(path);
    std::vector<UnitLine> lines;
    for (const std::string& path : files)
        if (const auto text = host.unit_file(path); text.has())
            for (UnitLine& line : read_unit_text(*text, path).lines)
                if (line.section == "Manager") lines.push_back(std::move(line));
    return lines;
}

bool ServiceFacts::absent() const {
    const bool loaded_one = loaded.has() && !loaded->load_state.empty() && loaded->load_state != "not-found";
    return files.fragment.absent() && !loaded_one;
}

bool ServiceFacts::uncertain() const {
    return !from_manager && (!files.unreadable.empty() || !unit.unresolved.empty());
}

Fact<std::string> ServiceFacts::executable() const {
    if (uncertain() && !files.unreadable.empty())
        return Unreadable{files.unreadable.front().second.error, "a file of " + name + " could not be read: " + files.unreadable.front().second.cause};
    if (unit.exec_start.empty()) return Absent{};
    const std::string& path = unit.exec_start.front().path;
    if (path.empty() || path.front() != '/') return Unreadable{"relative", fmt::format("ExecStart= names \"{}\", which the manager looks for in its own PATH", path)};
    return path;
}

std::string ServiceFacts::executable_origin() const {
    return unit.exec_start.empty() ? name : unit.exec_start.front().origin.text();
}

ServiceFacts read_service(Host& host, const Options& options) {
    ServiceFacts facts;
    facts.name = options.service.find('.') == std::string::npos ? options.service + ".service" : options.service;
    facts.files = find_unit(host, facts.name);
    facts.on_disk = interpret(facts.files, specifiers_of(host, facts.files.id));
    facts.manager = host.service_manager();
    facts.loaded = host.loaded_unit(facts.name);
    facts.systemd_version = systemd_version(host, facts.manager);
    if (facts.systemd_version >= comments_end_since) facts.comments = CommentContinues::no;

    const bool usable = facts.loaded.has() && facts.loaded->load_state == "loaded" && !facts.loaded->need_daemon_reload;
    facts.from_manager = usable;
    facts.unit = usable ? from_manager(*facts.loaded, facts.on_disk, facts.differs) : facts.on_disk;

    facts.account = host.user(facts.user_name());
    for (const UnitTest& test : facts.unit.tests) facts.tests.push_back({test, holds(host, test)});
    const bool other_root = facts.unit.sandbox_line("RootDirectory") || facts.unit.sandbox_line("RootImage");
    for (const ExecCommand& command : other_root ? std::vector<ExecCommand>{} : facts.unit.start_pre)
        if (const std::string why = cannot_run(host, command); !why.empty()) facts.broken_start_pre.emplace_back(command, why);
    const auto path = facts.executable();
    facts.executable_info = path.then([&](const std::string& name) { return host.info(name); });
    if (path.has()) facts.real_executable = host.resolve(*path);
    facts.rdma_build_installed = host.info(rdma_build_path).has();

    if (facts.on_disk.memlock && (!usable || facts.on_disk.memlock->value.soft == facts.loaded->memlock_soft)) {
        facts.memlock = {facts.on_disk.memlock->value.soft, facts.on_disk.memlock->origin.text(), false};
    } else {
        const auto stated = default_memlock(manager_settings(host));
        const std::uint64_t soft = usable ? facts.loaded->memlock_soft : stated ? stated->value.soft : kernel_default(host);
        const bool by_conf = stated && stated->value.soft == soft;
        const bool by_unit = usable && facts.on_disk.memlock.has_value();
        facts.memlock = {soft, by_conf ? "DefaultLimitMEMLOCK= of " + stated->origin.text() : by_unit ? "what the service manager has loaded" : usable ? "the service manager's default" : "the kernel's default", !by_unit};
    }
    return facts;
}

std::string bytes_text(std::uint64_t bytes) {
    if (bytes == infinity) return "unlimited";
    static constexpr std::array units = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    double value = static_cast<double>(bytes);
    while (value >= 1024 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    const bool whole = value == static_cast<double>(static_cast<std::uint64_t>(value));
    return whole ? fmt::format("{:.0f} {}", value, units[unit]) : fmt::format("{:.1f} {}", value, units[unit]);
}

}  // namespace preflight
