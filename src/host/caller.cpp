// The tool's own process, as a stand-in for an S3 client from the same shell.

#include <sys/resource.h>

#include <cstdlib>
#include <cstring>
#include <cerrno>

#include "host/live.h"

namespace preflight::live {

Fact<Caller> caller() {
    Caller own;
    for (const char* name : {"S3RDMA_DEVICE", "CUFILE_ENV_PATH_JSON", "LD_LIBRARY_PATH", "LD_PRELOAD"})
        if (const char* value = std::getenv(name)) own.environment.push_back(std::string(name) + "=" + std::string(value, std::strcspn(value, "\r\n")));
    rlimit limit{};
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return Unreadable{errno_name(errno), "getrlimit RLIMIT_MEMLOCK"};
    own.memlock = {limit.rlim_cur, limit.rlim_max};
    return own;
}

}  // namespace preflight::live
