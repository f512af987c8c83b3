#include "facts/node.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

namespace preflight {
namespace {

// Package names, RPM and Debian: rdma-core's redhat/rdma-core.spec and debian/control; linux-firmware carries the DDP
// package on EL, firmware-misc-nonfree on Debian 12.
struct PackageNames {
    std::string_view what, dnf, apt;
};
constexpr PackageNames package_names[] = {
    {"rdma-core", "rdma-core", "rdma-core"},           {"libibverbs", "libibverbs", "libibverbs1"},
    {"librdmacm", "librdmacm", "librdmacm1"},          {"libnuma", "numactl-libs", "libnuma1"},
    {"providers", "libibverbs", "ibverbs-providers"},  {"firmware", "linux-firmware", "firmware-misc-nonfree"},
    {"iproute", "iproute", "iproute2"},                {"modules", "kernel-modules-extra", "linux-image-amd64"},
};

PackageFamily family_of(const std::map<std::string, std::string>& release) {
    for (const char* key : {"ID", "ID_LIKE"}) {
        const auto found = release.find(key);
        if (found == release.end()) continue;
        for (const std::string& word : split_words(found->second)) {
            if (word == "rhel" || word == "fedora" || word == "centos" || word == "rocky" || word == "almalinux" || word == "ol") return PackageFamily::dnf;
            if (word == "debian" || word == "ubuntu") return PackageFamily::apt;
        }
    }
    return PackageFamily::unknown;
}

}  // namespace

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::string> split_words(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

std::vector<std::string> split_lines(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::map<std::string, std::string> parse_os_release(const std::string& text) {
    std::map<std::string, std::string> values;
    for (const std::string& line : split_lines(text)) {
        const auto equals = line.find('=');
        if (equals == std::string::npos || line[0] == '#') continue;
        std::string value = trimmed(line.substr(equals + 1));
        if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front()) value = value.substr(1, value.size() - 2);
        values[trimmed(line.substr(0, equals))] = value;
    }
    return values;
}

std::pair<int, int> kernel_version(const std::string& release) {
    int major = 0, minor = 0;
    const char* const end = release.data() + release.size();
    const auto first = std::from_chars(release.data(), end, major);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return {0, 0};
    const auto second = std::from_chars(first.ptr + 1, end, minor);
    return second.ec == std::errc() ? std::pair{major, minor} : std::pair{0, 0};
}

NodeFacts NodeFacts::read(Host& host) {
    NodeFacts facts;
    facts.self = host.node();
    Fact<std::string> release = host.read("/etc/os-release");
    if (release.absent()) release = host.read("/usr/lib/os-release");
    facts.os_release = release.then(parse_os_release);
    facts.boot_id = host.read("/proc/sys/kernel/random/boot_id").then(trimmed);
    facts.kernel_command_line = host.read("/proc/cmdline").then(trimmed);
    facts.kernel_log = host.kernel_log();
    if (facts.os_release) facts.packages = family_of(*facts.os_release);
    facts.root = facts.self && facts.self->effective_uid == 0;
    return facts;
}

std::string NodeFacts::os_name() const {
    if (!os_release) return "unknown";
    for (const char* key : {"PRETTY_NAME", "NAME", "ID"})
        if (const auto found = os_release->find(key); found != os_release->end() && !found->second.empty()) return found->second;
    return "unknown";
}

std::string NodeFacts::install(const std::string& what) const {
    for (const PackageNames& names : package_names)
        if (names.what == what) {
            if (packages == PackageFamily::dnf) return fmt::format("sudo dnf install -y {}", names.dnf);
            if (packages == PackageFamily::apt) return fmt::format("sudo apt-get install -y {}", names.apt);
        }
    return fmt::format("# install the package that holds {} with this distribution's package tool", what);
}

}  // namespace preflight
