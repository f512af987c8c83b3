#pragma once
// Opening files of the node below the root that is judged.

#include <unistd.h>

#include <string>

namespace preflight::live {

/// Owns a descriptor; `error` is the errno of a failed open.
struct Opened {
    int fd = -1;
    int error = 0;

    Opened() = default;
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    ~Opened() {
        if (fd >= 0) close(fd);
    }
};

/// Opens `path` as the node sees it: below another root all links are resolved inside that root (openat2, Linux 5.6). A path that begins
/// with /proc/PID/root is one of that process: its links are resolved inside the process's root. /proc/PID/exe is followed as well. The
/// other magic links of /proc are not followed below another root (ELOOP).
void open_below(Opened& opened, const std::string& root, const std::string& path, int flags);

}  // namespace preflight::live
