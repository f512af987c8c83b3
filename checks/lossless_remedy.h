#pragma once
// The commands that make a port lossless, in the order in which its driver takes them.

#include <string>
#include <vector>

#include "facts/lossless.h"
#include "preflight/finding.h"
#include "preflight/policy.h"

namespace preflight {

/// Which class a port shall carry RoCE in.
struct LosslessPlan {
    unsigned priority = 3;  ///< on ice in L3 DSCP mode a TC
    unsigned dscp = 26;
};

/// What the policy expects, else what the port already has, else the common recipe: DSCP 26 in priority 3.
LosslessPlan plan_for(const LosslessPort& port, const ClassSetting& setting, const Expect& expect);

/// The steps that are still missing on this port.
std::vector<std::string> lossless_commands(const LosslessPort& port, const LosslessPlan& plan);

/// The whole remedy: `summary`, the missing steps, a one-shot unit that repeats them at boot, and the way back.
Remedy lossless_remedy(const LosslessPort& port, const LosslessPlan& plan, std::string summary);

/// The shell lines that write and enable a one-shot unit which makes the port lossless at each boot. The unit is written by one
/// line, which can be copied from an indented report; a here-document could not.
std::vector<std::string> lossless_unit(const LosslessPort& port, const LosslessPlan& plan);

}  // namespace preflight
