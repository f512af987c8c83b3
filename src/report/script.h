#pragma once
// The script that `fix` prints.

#include <string>

#include "preflight/report.h"

namespace preflight {

/// A bash script with the remedies of a report, cause first. It refuses to run on another node, stops at the first command that
/// fails, and says before each step what that interrupts. What only looks, what a person has to fill in or to edit, what a warning
/// advises, what keeps a setting over a reboot and what takes it back stand in it as comments.
std::string to_script(const Report& report);

}  // namespace preflight
