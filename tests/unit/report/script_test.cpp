#include "report/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace preflight {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Finding finding(const std::string& id, Status status, const std::string& subject, const Remedy& remedy) {
    Finding result{};
    result.id = id;
    result.status = status;
    result.subject = {subject, {subject}};
    result.observed = "seen";
    result.remedy = remedy;
    return result;
}

std::string script(std::vector<Finding> findings) {
    Report report;
    report.node.hostname = "node7";
    report.findings = std::move(findings);
    return to_script(report);
}

/// The lines a shell would act on, behind the guard.
std::vector<std::string> acts(const std::string& script) {
    std::vector<std::string> list;
    std::istringstream lines(script.substr(script.rfind("fi\n") + 3));
    for (std::string line; std::getline(lines, line);)
        if (!line.empty() && line[0] != '#' && line.rfind("echo ", 0) != 0) list.push_back(line);
    return list;
}

TEST(FixScript, runs_the_commands_of_failures_in_order_and_says_what_they_interrupt) {
    const std::string text = script({finding("nic.link", Status::fail, "ens1f0np0", {"Bring the port up.", {"sudo ip link set ens1f0np0 up"}, {"nmcli connection up x"}, {"sudo ip link set ens1f0np0 down"}}),
                                     finding("dcb.pfc", Status::fail, "ens1f0np0", {"Switch PFC on.", {"dcb pfc set dev ens1f0np0 prio-pfc 3:on"}, {}, {}})});
    EXPECT_THAT(acts(text), testing::ElementsAre("sudo ip link set ens1f0np0 up", "dcb pfc set dev ens1f0np0 prio-pfc 3:on"));
    EXPECT_THAT(text, HasSubstr("# 1. nic.link (ens1f0np0), fail: seen"));
    EXPECT_THAT(text, HasSubstr("queue pairs on it are suspended"));
    EXPECT_THAT(text, HasSubstr("# To keep it over a reboot:\n#     nmcli connection up x\n"));
    EXPECT_THAT(text, HasSubstr("# To take it back:\n#     sudo ip link set ens1f0np0 down\n"));
}

TEST(FixScript, begins_with_a_guard_for_host_and_user) {
    const std::string text = script({});
    EXPECT_THAT(text, testing::StartsWith("#!/bin/bash\n"));
    EXPECT_THAT(text, HasSubstr("!= 'node7' ]"));
    EXPECT_THAT(text, HasSubstr("$(id -u)"));
    EXPECT_THAT(text, HasSubstr("Nothing to mend."));
}

TEST(FixScript, leaves_to_a_person_what_is_to_be_filled_in_edited_looked_at_or_only_advised) {
    EXPECT_THAT(acts(script({finding("nic.address", Status::fail, "p", {"s", {"sudo ip address add ADDRESS/PREFIX dev p"}, {}, {}}),
                             finding("env.file", Status::fail, "p", {"t", {"sudoedit /etc/default/minio"}, {}, {}}), finding("nic.driver", Status::fail, "p", {"u", {"lspci -nn", "ethtool p"}, {}, {}}),
                             finding("nic.mtu", Status::warn, "p", {"v", {"sudo ip link set p mtu 9000"}, {}, {}})})),
                IsEmpty());
}

TEST(FixScript, knows_a_word_in_capitals_inside_a_setting_from_a_gap) {
    EXPECT_THAT(script({finding("env.internode", Status::fail, "node", {"s", {"echo MINIO_RDMA_INTERNODE=on | sudo tee -a /etc/default/minio"}, {}, {}})}),
                HasSubstr("\necho MINIO_RDMA_INTERNODE=on | sudo tee"));
}

TEST(FixScript, acts_on_nothing_when_a_name_holds_what_a_shell_would_act_on) {
    for (const std::string name : {"a;reboot", "$(reboot)", "a`b`", "a|b", "a&b", "a>b", "a\nreboot"})
        EXPECT_THAT(acts(script({finding("nic.link", Status::fail, name, {"s", {"sudo ip link set " + name + " up"}, {}, {}})})), IsEmpty()) << name;
}

TEST(FixScript, keeps_observed_text_of_any_form_inside_its_comment) {
    Finding odd = finding("nic.link", Status::fail, "p", {"s", {"true"}, {}, {}});
    odd.observed = "first\nreboot\r\nreboot\x1b[0m";
    EXPECT_THAT(acts(script({odd})), testing::ElementsAre("true"));
    Finding quoted = finding("nic.link", Status::fail, "p", {"it's 'odd'; reboot", {"true"}, {}, {}});
    EXPECT_THAT(script({quoted}), HasSubstr("it'\\''s '\\''odd'\\''; reboot'"));
}

TEST(FixScript, has_no_step_for_waived_blocked_or_passing_findings) {
    Finding waived = finding("nic.link", Status::fail, "p", {"s", {"true"}, {}, {}});
    waived.waiver = Waiver{"known", "ops", "2027-01-01"};
    EXPECT_THAT(acts(script({waived, finding("nic.mtu", Status::blocked, "p", {"t", {"false"}, {}, {}}), finding("nic.ddp", Status::pass, "p", {"u", {"false"}, {}, {}})})), IsEmpty());
}

}  // namespace
}  // namespace preflight
