// The one place where the tool starts a program of the node: --run-binary asks for it.

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/live.h"
#include "host/opened.h"

namespace preflight::live {
namespace {

constexpr std::size_t max_output = 4096;

}  // namespace

Fact<std::string> version_output(const std::string& root, const std::string& path, Clock::duration limit) {
    if (root != "/") return Unreadable{"other-root", path + " lies below another root: no program of it is started"};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return Unreadable{errno_name(errno), "pipe: " + std::string(std::strerror(errno))};
    Opened from, to;
    from.fd = ends[0];
    to.fd = ends[1];

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, to.fd, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    std::string program = path, flag = "--version";
    char* const arguments[] = {program.data(), flag.data(), nullptr};
    char* const environment[] = {nullptr};
    pid_t child = 0;
    const int error = posix_spawn(&child, path.c_str(), &actions, &attributes, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(to.fd);
    to.fd = -1;
    if (error) return file_error<std::string>(error, path + " --version");

    std::string output;
    const auto deadline = Clock::now() + limit;
    bool ended = false;
    while (!ended && output.size() < max_output) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd wait{from.fd, POLLIN, 0};
        if (left <= 0 || poll(&wait, 1, static_cast<int>(left)) == 0) break;
        char part[max_output];
        const ssize_t got = ::read(from.fd, part, max_output - output.size());
        if (got < 0 && errno == EINTR) continue;
        ended = got <= 0;
        if (got > 0) output.append(part, static_cast<std::size_t>(got));
    }
    // A program may close its output and go on.
    int status = 0;
    bool over = !ended;
    for (pid_t done = 0; ended && !over && (done = waitpid(child, &status, WNOHANG)) <= 0;) {
        if (done < 0 && errno != EINTR) break;
        over = Clock::now() >= deadline;
        poll(nullptr, 0, 5);
    }
    if (over) {
        kill(-child, SIGKILL);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    }
    if (over && output.size() < max_output) return Unreadable{"timeout", path + " --version did not end in time"};
    if (ended && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
        return Unreadable{"failed", WIFEXITED(status) ? fmt::format("{} --version ended with exit code {}", path, WEXITSTATUS(status)) : fmt::format("{} --version ended by signal {}", path, WTERMSIG(status))};
    return output;
}

}  // namespace preflight::live
