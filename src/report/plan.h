#pragma once
// What to do, in order: the findings whose remedies make up the fix plan of the text report and the script of `fix`.

#include <vector>

#include "preflight/report.h"

namespace preflight {

/// Failures first, then what is unknown, then warnings that have commands, each in catalogue order: a cause stands before what rests
/// on it, and blocked findings have no step of their own. Waived ones and repeated remedies are left out.
std::vector<const Finding*> plan_steps(const Report& report);

}  // namespace preflight
