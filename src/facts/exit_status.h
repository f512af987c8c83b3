#pragma once
// What the service manager tells of a process that ended.

#include <string>

#include "preflight/host.h"

namespace preflight {

/// Exit statuses with which the manager itself ends a process it could not set up (systemd.exec(5), "Process Exit Codes").
inline constexpr int exit_exec = 203;
inline constexpr int exit_user = 217;

/// "exit status 217, the user does not exist", "killed by SIGKILL"; "it has not ended" for a process that runs.
std::string ending(const ExecResult& result);

/// The same of a unit's last run, where Result= says more than the process: "no answer in time", "out of memory".
std::string ending(const LoadedUnit& unit);

}  // namespace preflight
