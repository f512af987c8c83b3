#pragma once
// Runs the catalogue in order, folds consequences under their cause, decides verdicts and outcome. It knows no check by
// name.

#include <string>
#include <vector>

#include "preflight/check.h"
#include "preflight/facts.h"
#include "preflight/report.h"

namespace preflight {

/// Whether `options` select this check: phase, --only, --skip. Globs know '*' and '?'.
bool selected(const Check& check, const Options& options);

/// Fills what a report says of the node, the run and the cluster. Run time and unreadable answers are the caller's.
void describe(Report& report, const Facts& facts);

/// Judges and fills findings, phases, outcomes and verdict of a report; describe() fills the rest.
///
/// Folding: a fail or unknown of a check becomes `blocked` when a check named in its `after` has, for a subject that
/// covers its own, a fail, or for an unknown also an unknown or blocked finding. `blocked_by` names the root causes.
/// A judge that says nothing is unknown, never a pass.
Report judge(const std::vector<Module>& catalogue, const Facts& facts);

/// Counts the findings of one phase into it and gives its verdict.
PhaseResult phase_result(char letter, std::string title, const std::vector<Finding>& findings);

/// The verdict algebra alone, over findings of one phase: fail > incomplete > not-applicable > pass as the contract
/// orders them.
Verdict phase_verdict(const std::vector<const Finding*>& findings);
/// fail > incomplete > pass > not-applicable.
Verdict whole_verdict(const std::vector<PhaseResult>& phases);

}  // namespace preflight
