#include "preflight/waivers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace preflight {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<Module>& catalogue() {
    static const std::vector<Module> list = [] {
        Module module{"nic", "", {}};
        for (const char* id : {"nic.mtu", "nic.link"}) {
            Check check{};
            check.id = id;
            module.checks.push_back(std::move(check));
        }
        return std::vector<Module>{module};
    }();
    return list;
}

Report with(Status status, std::string id = "nic.mtu") {
    Report report;
    Finding finding;
    finding.id = std::move(id);
    finding.status = status;
    finding.subject = {"ens1f0np0", {"0000:3b:00.0"}};
    report.findings.push_back(std::move(finding));
    return report;
}

Report waived(Report report, WaiverRule rule, const std::string& today = "2026-12-01") {
    apply_waivers(report, {std::move(rule)}, today, catalogue());
    return report;
}

WaiverRule rule(std::string id = "nic.mtu", std::string scope = "", std::string expires = "2026-12-31") {
    return {std::move(id), std::move(scope), "new switch in January", "net team", std::move(expires)};
}

TEST(Waiver, marks_a_finding_and_keeps_its_status) {
    const Report report = waived(with(Status::fail), rule());
    ASSERT_TRUE(report.findings[0].waiver);
    EXPECT_EQ(report.findings[0].waiver->owner, "net team");
    EXPECT_EQ(report.findings[0].status, Status::fail);
    EXPECT_THAT(report.notes, IsEmpty());
}

TEST(Waiver, holds_on_its_last_day_and_not_after) {
    EXPECT_TRUE(waived(with(Status::fail), rule(), "2026-12-31").findings[0].waiver);
    const Report after = waived(with(Status::fail), rule(), "2027-01-01");
    EXPECT_FALSE(after.findings[0].waiver);
    EXPECT_THAT(after.notes, ElementsAre(HasSubstr("expired on 2026-12-31; its finding counts again")));
    EXPECT_EQ(after.findings[0].evidence.size(), 1u);
}

TEST(Waiver, is_bound_to_its_scope_by_name_or_pci_address) {
    EXPECT_TRUE(waived(with(Status::fail), rule("nic.*", "ens1f0*")).findings[0].waiver);
    EXPECT_TRUE(waived(with(Status::fail), rule("nic.*", "0000:3b:*")).findings[0].waiver);
    EXPECT_FALSE(waived(with(Status::fail), rule("nic.*", "ens2*")).findings[0].waiver);
}

TEST(Waiver, does_not_touch_what_is_blocked_or_fine) {
    for (const Status status : {Status::pass, Status::skip, Status::blocked}) EXPECT_FALSE(waived(with(status), rule()).findings[0].waiver);
}

TEST(Waiver, without_use_or_without_check_is_noted) {
    EXPECT_THAT(waived(with(Status::pass), rule()).notes, ElementsAre(HasSubstr("waives nothing")));
    EXPECT_THAT(waived(with(Status::fail), rule("nic.mtus")).notes, ElementsAre(HasSubstr("names no check of this version")));
}

TEST(Waiver, for_a_check_that_was_not_selected_is_no_cause_for_a_note) {
    EXPECT_THAT(waived(with(Status::fail), rule("nic.link")).notes, IsEmpty());
}

}  // namespace
}  // namespace preflight
