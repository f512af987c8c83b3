#pragma once
// The report as JUnit XML, the form CI systems show: a suite for each phase, a case for each finding.

#include <string>

#include "preflight/report.h"

namespace preflight {

/// fail: failure. unknown: error, since a gate must not take it for a pass. blocked, skip and waived: skipped, with the reason. warn: passes, and its text
/// stands in system-out. Characters that XML 1.0 does not allow become "?".
std::string to_junit(const Report& report);

}  // namespace preflight
