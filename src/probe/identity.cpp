#include "probe/identity.h"

#include <fmt/format.h>
#include <grp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace preflight::probe {

ServiceIdentity::ServiceIdentity(const User& user, std::uint64_t memlock) : groups_(256), group_(getegid()) {
    if (geteuid() != 0) throw InputError{"--as-service takes the service's user and limit, which needs root"};
    const int count = getgroups(static_cast<int>(groups_.size()), groups_.data());
    groups_.resize(static_cast<std::size_t>(std::max(count, 0)));
    getrlimit(RLIMIT_MEMLOCK, &limit_);
    const rlimit wanted{static_cast<rlim_t>(memlock), std::max<rlim_t>(memlock, limit_.rlim_max)};
    const std::vector<gid_t> groups(user.groups.begin(), user.groups.end());
    // Last the user: without it nothing else may be changed, and its effective capabilities end with it.
    if (setrlimit(RLIMIT_MEMLOCK, &wanted) != 0 || setgroups(groups.size(), groups.data()) != 0 ||
        setegid(user.gid) != 0 || seteuid(user.uid) != 0) {
        const int error = errno;
        restore();
        throw InputError{fmt::format("--as-service: user {} with a memlock limit of {} bytes: {}", user.name, memlock,
                                     std::strerror(error))};
    }
}

ServiceIdentity::~ServiceIdentity() {
    restore();
}

void ServiceIdentity::restore() {
    // What cannot be taken back would leave the rest of the run with less, never with more.
    if (seteuid(0) != 0 || setegid(group_) != 0 || setgroups(groups_.size(), groups_.data()) != 0) return;
    setrlimit(RLIMIT_MEMLOCK, &limit_);
}

}  // namespace preflight::probe
