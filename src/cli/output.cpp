#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "cli/command.h"

namespace preflight {
namespace {

int write_all(int fd, const std::string& text) {
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t wrote = write(fd, text.data() + done, text.size() - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return errno;
        done += static_cast<std::size_t>(wrote);
    }
    return 0;
}

}  // namespace

void print(const std::string& text) {
    if (const int error = write_all(STDOUT_FILENO, text)) throw std::runtime_error(fmt::format("standard output: {}", std::strerror(error)));
}

void write_output(const std::string& path, const std::string& text) {
    if (path == "-") return print(text);
    const auto refuse = [&](int error) { throw UsageError{fmt::format("{}: {}", path, std::strerror(error))}; };
    struct stat status {};
    if (lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode))
        throw UsageError{fmt::format("{}: is not a regular file", path)};
    std::string temporary = path + ".XXXXXX";
    const int fd = mkstemp(temporary.data());
    if (fd < 0) refuse(errno);
    int error = write_all(fd, text);
    if (close(fd) != 0 && !error) error = errno;
    if (!error && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
    if (error) {
        unlink(temporary.c_str());
        refuse(error);
    }
}

}  // namespace preflight
