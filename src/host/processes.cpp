// AIStor server processes as /proc shows them. With --root, /proc below that folder is read if one is mounted there, so a pod
// with the host's root sees the host's processes. Environment and arguments are masked here.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <sstream>

#include "host/live.h"
#include "host/secrets.h"

namespace preflight::live {
namespace {

using Text = Fact<std::string>;

/// Reads a /proc file whose link targets are magic: no confinement below a root.
Text proc_text(const std::string& path) {
    return read("/", path);
}

std::string proc_of(const std::string& root) {
    if (root == "/") return "/proc";
    return access((root + "/proc/self/status").c_str(), F_OK) == 0 ? root + "/proc" : "/proc";
}

Text link_of(const std::string& path) {
    char target[PATH_MAX];
    const ssize_t size = readlink(path.c_str(), target, sizeof target);
    if (size < 0) return file_error<std::string>(errno, path);
    return std::string(target, static_cast<std::size_t>(size));
}

std::vector<std::string> split_at_nul(const std::string& text) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < text.size();) {
        const auto end = std::min(text.find('\0', i), text.size());
        parts.push_back(text.substr(i, end - i));
        i = end + 1;
    }
    return parts;
}

std::map<std::string, std::string> namespaces_of(const std::string& folder) {
    std::map<std::string, std::string> out;
    for (const char* kind : {"mnt", "net", "pid", "user"})
        if (const auto target = link_of(folder + "/ns/" + kind); target.has()) out[kind] = *target;
    return out;
}

/// "Max locked memory       8388608              8388608              bytes"
Fact<MemlockLimit> memlock_of(const std::string& folder) {
    return proc_text(folder + "/limits").then([&](const std::string& text) -> Fact<MemlockLimit> {
        static constexpr std::string_view label = "Max locked memory";
        const auto at = text.find(label);
        if (at == std::string::npos) return Unreadable{"malformed", folder + "/limits: no line of locked memory"};
        std::istringstream words(text.substr(at + label.size()));
        std::string soft, hard;
        words >> soft >> hard;
        const auto number = [](const std::string& word, std::uint64_t& value) {
            if (word == "unlimited") return value = ~std::uint64_t{0}, true;
            return std::from_chars(word.data(), word.data() + word.size(), value).ec == std::errc();
        };
        MemlockLimit limit;
        if (!number(soft, limit.soft) || !number(hard, limit.hard)) return Unreadable{"malformed", folder + "/limits"};
        return limit;
    });
}

void read_status(const std::string& folder, Process& process) {
    const auto status = proc_text(folder + "/status");
    if (!status.has()) return;
    std::istringstream lines(*status);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string label;
        words >> label;
        unsigned long long first = 0, second = 0;
        if (label == "Uid:" && words >> first >> second) process.uid = static_cast<unsigned>(second);
        else if (label == "CapEff:") words >> std::hex >> process.capabilities;
        else if (label == "VmPin:" && words >> first) process.pinned = first * 1024;
        else if (label == "NSpid:")
            for (int pid; words >> pid;) process.pids.push_back(pid);
    }
}

/// Start time in seconds since the epoch: field 22 of stat in clock ticks since boot, behind the name in parentheses.
std::int64_t started(const std::string& proc, const std::string& folder) {
    const auto stat = proc_text(folder + "/stat"), boot = proc_text(proc + "/stat");
    if (!stat.has() || !boot.has()) return 0;
    const auto close = stat->rfind(')'), line = boot->find("\nbtime ");
    if (close == std::string::npos || line == std::string::npos) return 0;
    std::istringstream words(stat->substr(close + 1));
    std::string word;
    for (int field = 3; field <= 22 && words >> word; ++field) {}
    return std::strtoll(boot->c_str() + line + 7, nullptr, 10) + std::strtoll(word.c_str(), nullptr, 10) / sysconf(_SC_CLK_TCK);
}

std::string cgroup_of(const std::string& folder) {
    const auto text = proc_text(folder + "/cgroup");
    if (!text.has()) return {};
    std::string found;
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("0::", 0) == 0) return line.substr(3);
        if (const auto at = line.find(":name=systemd:"); at != std::string::npos) found = line.substr(at + 14);
    }
    return found;
}

Process read_process(const std::string& proc, int pid) {
    const std::string folder = fmt::format("{}/{}", proc, pid);
    Process process;
    process.pid = pid;
    process.name = proc_text(folder + "/comm").value_or("");
    if (!process.name.empty() && process.name.back() == '\n') process.name.pop_back();
    process.executable = link_of(folder + "/exe");
    process.arguments = proc_text(folder + "/cmdline").then([](const std::string& text) { return secrets::mask_arguments(split_at_nul(text)); });
    process.environment = proc_text(folder + "/environ").then([](const std::string& text) {
        auto entries = split_at_nul(text);
        std::transform(entries.begin(), entries.end(), entries.begin(), [](const std::string& entry) { return secrets::mask_assignment(entry); });
        return entries;
    });
    process.cgroup = cgroup_of(folder);
    process.root = link_of(folder + "/root").value_or("");
    process.namespaces = namespaces_of(folder);
    process.started = started(proc, folder);
    read_status(folder, process);
    if (const auto map = proc_text(folder + "/uid_map"); map.has()) process.uid_map = *map;
    process.memlock = memlock_of(folder);
    return process;
}

bool server_name(std::string_view path) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return name == "minio" || name.rfind("minio.", 0) == 0;
}

/// Whether this may be an AIStor server, by what every user may read.
bool is_server(const std::string& proc, int pid) {
    const std::string folder = fmt::format("{}/{}", proc, pid);
    if (const auto exe = link_of(folder + "/exe"); exe.has()) return server_name(exe->substr(0, exe->find(" (deleted)")));
    const auto comm = proc_text(folder + "/comm");
    if (comm.has() && server_name(std::string_view(*comm).substr(0, comm->find('\n')))) return true;
    const auto line = proc_text(folder + "/cmdline");
    return line.has() && server_name(line->c_str());
}

}  // namespace

Fact<Processes> processes(const std::string& root) {
    const std::string proc = proc_of(root);
    const auto names = list("/", proc);
    if (!names.has()) return names.as<Processes>();
    Processes out;
    out.own_namespaces = namespaces_of("/proc/self");
    std::vector<int> pids;
    for (const std::string& name : *names)
        if (std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; })) pids.push_back(std::atoi(name.c_str()));
    std::sort(pids.begin(), pids.end());
    out.hidden = std::find(pids.begin(), pids.end(), 1) == pids.end();
    for (const int pid : pids)
        if (is_server(proc, pid)) out.servers.push_back(read_process(proc, pid));
    return out;
}

Fact<Process> process(const std::string& root, int pid) {
    const std::string proc = proc_of(root);
    if (access(fmt::format("{}/{}", proc, pid).c_str(), F_OK) != 0) return file_error<Process>(errno, fmt::format("{}/{}", proc, pid));
    return read_process(proc, pid);
}

}  // namespace preflight::live
