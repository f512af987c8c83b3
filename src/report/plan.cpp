#include "report/plan.h"

#include <set>
#include <string>
#include <utility>

namespace preflight {

std::vector<const Finding*> plan_steps(const Report& report) {
    std::vector<const Finding*> steps;
    std::set<std::pair<std::string, std::vector<std::string>>> seen;
    for (const Status status : {Status::fail, Status::unknown, Status::warn})
        for (const Finding& finding : report.findings)
            if (finding.status == status && !finding.waiver && !finding.remedy.summary.empty() &&
                (status != Status::warn || !finding.remedy.commands.empty()) &&
                seen.emplace(finding.remedy.summary, finding.remedy.commands).second)
                steps.push_back(&finding);
    return steps;
}

}  // namespace preflight
