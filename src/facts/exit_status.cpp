#include "facts/exit_status.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>

namespace preflight {
namespace {

struct Meaning {
    int status;
    const char* text;
};

/// systemd.exec(5), "Process Exit Codes", in our own words; src/shared/exit-status.c has the numbers (systemd 252).
constexpr Meaning meanings[] = {
    {200, "its working directory cannot be entered"},
    {201, "its nice level cannot be set"},
    {202, "its file descriptors cannot be closed or passed on"},
    {exit_exec, "its program cannot be executed"},
    {205, "a resource limit cannot be set"},
    {206, "the OOM score cannot be set"},
    {207, "the signal mask cannot be set"},
    {208, "its standard input cannot be set up"},
    {209, "its standard output cannot be set up"},
    {210, "its root directory cannot be entered"},
    {211, "its I/O priority cannot be set"},
    {214, "its CPU scheduling cannot be set"},
    {215, "its CPU affinity cannot be set"},
    {216, "the group does not exist"},
    {exit_user, "the user does not exist"},
    {218, "its capabilities cannot be set"},
    {219, "its control group cannot be set up"},
    {222, "its standard error cannot be set up"},
    {224, "the PAM session cannot be opened"},
    {225, "its network namespace cannot be set up"},
    {226, "its mount namespace cannot be set up"},
    {228, "its system call filter cannot be set"},
    {231, "its AppArmor profile cannot be set"},
    {232, "its address families cannot be restricted"},
    {233, "its runtime directory cannot be made"},
    {235, "the owner of its socket cannot be set"},
    {238, "its state directory cannot be made"},
    {239, "its cache directory cannot be made"},
    {240, "its log directory cannot be made"},
    {241, "its configuration directory cannot be made"},
    {243, "its credentials cannot be set up"},
};

}  // namespace

std::string ending(const ExecResult& result) {
    if (result.code == 0) return "it has not ended";
    if (result.code != CLD_EXITED) {
        const char* name = sigabbrev_np(result.status);
        const char* how = result.code == CLD_DUMPED ? "dumped core by" : "killed by";
        return name ? fmt::format("{} SIG{}", how, name) : fmt::format("{} signal {}", how, result.status);
    }
    for (const Meaning& meaning : meanings)
        if (meaning.status == result.status) return fmt::format("exit status {}, {}", result.status, meaning.text);
    return fmt::format("exit status {}", result.status);
}

std::string ending(const LoadedUnit& unit) {
    if (unit.result == "timeout") return "it was not ready in time (TimeoutStartSec=)";
    if (unit.result == "watchdog") return "it did not answer the watchdog";
    if (unit.result == "oom-kill") return "the kernel killed it for memory (OOM)";
    if (unit.result == "start-limit-hit") return "it was started too often in a short time (StartLimitBurst=); " + ending(unit.main);
    if (unit.result == "resources") return "the manager lacked resources, or could not read a file it names";
    if (unit.result == "protocol") return "it did not notify the manager as Type= promises";
    for (const ExecResult& program : unit.start_pre)
        if (program.failed()) return fmt::format("ExecStartPre={}: {}", program.program, ending(program));
    return ending(unit.main);
}

}  // namespace preflight
