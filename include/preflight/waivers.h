#pragma once
// Waivers: decisions of the policy file to live with a finding. A waived finding keeps its status and is shown; it does
// not count towards the verdict. What it blocks stays blocked, and outcomes do not change.

#include <string>
#include <vector>

#include "preflight/check.h"
#include "preflight/policy.h"
#include "preflight/report.h"

namespace preflight {

/// Marks the warn, fail and unknown findings that a rule covers on `today` ("2026-12-01"), and adds notes to the report for rules
/// that are expired, waive nothing although their check ran, or name no check of the catalogue.
void apply_waivers(Report& report, const std::vector<WaiverRule>& rules, const std::string& today, const std::vector<Module>& catalogue);

/// The present day, UTC; SOURCE_DATE_EPOCH decides where it is set.
std::string today();

}  // namespace preflight
