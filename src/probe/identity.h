#pragma once
// The service's own user and memlock limit, for as long as this object lives: what it may pin and open is then tried,
// not computed.

#include <sys/resource.h>

#include <cstdint>
#include <vector>

#include "preflight/host.h"

namespace preflight::probe {

class ServiceIdentity {
public:
    /// `memlock`: the soft limit in bytes, 2^64-1 for none. Throws InputError when the caller is not root.
    ServiceIdentity(const User& user, std::uint64_t memlock);
    ~ServiceIdentity();
    ServiceIdentity(const ServiceIdentity&) = delete;
    ServiceIdentity& operator=(const ServiceIdentity&) = delete;

private:
    void restore();

    rlimit limit_{};
    std::vector<gid_t> groups_;
    gid_t group_;
};

}  // namespace preflight::probe
