// The tool's own process, as a stand-in for an S3 client from the same shell.

#include <sys/resource.h>

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "host/live.h"

namespace preflight::live {

namespace {

/// The first word of SSH_CONNECTION in a block of "NAME=value" entries that end in NUL.
std::optional<std::string> ssh_peer_in(const std::string& block) {
    static const std::string name = "SSH_CONNECTION=";
    const auto at = block.rfind(name, 0) == 0 ? 0 : block.find(std::string(1, '\0') + name);
    if (at == std::string::npos) return std::nullopt;
    const auto begin = block.find('=', at) + 1;
    const std::string address = block.substr(begin, block.find_first_of(std::string(" \0", 2), begin) - begin);
    const bool plain = !address.empty() && address.find_first_not_of("0123456789abcdefABCDEF.:%") == std::string::npos;
    return plain ? std::optional(address) : std::nullopt;
}

/// sudo takes SSH_CONNECTION away from its child, and has it itself.
std::optional<std::string> ssh_peer() {
    constexpr int most_generations = 12;
    int pid = getpid();
    for (int i = 0; i < most_generations && pid > 1; ++i) {
        if (const auto block = read("/", fmt::format("/proc/{}/environ", pid)))
            if (const auto address = ssh_peer_in(*block)) return address;
        const auto status = read("/", fmt::format("/proc/{}/stat", pid));
        const auto name_end = status ? status->rfind(')') : std::string::npos;
        if (name_end == std::string::npos) return std::nullopt;
        std::istringstream fields(status->substr(name_end + 1));
        std::string state;
        if (!(fields >> state >> pid)) return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace

Fact<Caller> caller() {
    Caller own;
    own.ssh_peer = ssh_peer();
    for (const char* name : {"S3RDMA_DEVICE", "CUFILE_ENV_PATH_JSON", "LD_LIBRARY_PATH", "LD_PRELOAD"})
        if (const char* value = std::getenv(name)) own.environment.push_back(std::string(name) + "=" + std::string(value, std::strcspn(value, "\r\n")));
    rlimit limit{};
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return Unreadable{errno_name(errno), "getrlimit RLIMIT_MEMLOCK"};
    own.memlock = {limit.rlim_cur, limit.rlim_max};
    return own;
}

}  // namespace preflight::live
