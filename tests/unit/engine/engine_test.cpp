#include "preflight/engine.h"

#include <gtest/gtest.h>

#include "host/answer.h"

namespace preflight {
namespace {

/// A node that answers nothing: these tests bring their own checks.
struct SilentHost : Host {
    Answer answer(const Question&) override { return {Unreadable{"not-asked", "silent"}}; }
};

const Subject port_a{"ens1f0", {"0000:3b:00.0"}}, port_b{"ens1f1", {"0000:3b:00.1"}};

using Judge = std::function<void(const Facts&, Findings&)>;

Check check(std::string_view id, char phase, Judge judge, std::vector<std::string_view> after = {}) {
    Check made{};
    made.id = id;
    made.phase = phase;
    made.title = "title";
    made.why = "why";
    made.after = std::move(after);
    made.judge = std::move(judge);
    return made;
}

Judge says(Status status, Subject subject = node_subject()) {
    return [=](const Facts&, Findings& out) { out.add(status, subject, "seen"); };
}

Options storage_node() {
    Options options;
    options.roles = storage;
    options.deployment = systemd;
    return options;
}

Report judged(std::vector<Check> checks, Options options = storage_node()) {
    SilentHost host;
    return judge({Module{"m", "", std::move(checks)}}, Facts(host, std::move(options)));
}

Verdict verdict_of(std::vector<std::pair<Status, bool>> list) {
    std::vector<Finding> findings(list.size());
    std::vector<const Finding*> pointers;
    for (std::size_t i = 0; i < list.size(); ++i) {
        findings[i].status = list[i].first;
        if (list[i].second) findings[i].waiver = Waiver{"r", "o", "2099-01-01"};
        pointers.push_back(&findings[i]);
    }
    return phase_verdict(pointers);
}

TEST(PhaseVerdict, fails_when_an_unwaived_check_failed_whatever_else_there_is) {
    EXPECT_EQ(verdict_of({{Status::pass, false}, {Status::unknown, false}, {Status::blocked, false}, {Status::fail, false}}), Verdict::fail);
}

TEST(PhaseVerdict, is_incomplete_when_an_unwaived_check_is_unknown) {
    EXPECT_EQ(verdict_of({{Status::pass, false}, {Status::unknown, false}}), Verdict::incomplete);
}

TEST(PhaseVerdict, is_never_pass_with_anything_blocked_even_if_its_cause_is_waived) {
    EXPECT_EQ(verdict_of({{Status::fail, true}, {Status::blocked, false}, {Status::pass, false}}), Verdict::incomplete);
}

TEST(PhaseVerdict, does_not_count_waived_failures_and_unknowns) {
    EXPECT_EQ(verdict_of({{Status::fail, true}, {Status::unknown, true}, {Status::pass, false}}), Verdict::pass);
}

TEST(PhaseVerdict, stays_incomplete_when_a_blocked_finding_itself_is_waived) {
    EXPECT_EQ(verdict_of({{Status::blocked, true}}), Verdict::incomplete);
}

TEST(PhaseVerdict, is_not_applicable_when_all_skipped_or_nothing_ran) {
    EXPECT_EQ(verdict_of({{Status::skip, false}, {Status::skip, false}}), Verdict::not_applicable);
    EXPECT_EQ(verdict_of({}), Verdict::not_applicable);
}

TEST(PhaseVerdict, passes_with_warnings_and_skips) {
    EXPECT_EQ(verdict_of({{Status::pass, false}, {Status::warn, false}, {Status::skip, false}}), Verdict::pass);
}

TEST(WholeVerdict, orders_fail_over_incomplete_over_pass_over_not_applicable) {
    const auto whole = [](std::vector<Verdict> verdicts) {
        std::vector<PhaseResult> phases;
        for (const Verdict verdict : verdicts) phases.push_back({'A', "", verdict, {}});
        return whole_verdict(phases);
    };
    EXPECT_EQ(whole({Verdict::pass, Verdict::incomplete, Verdict::fail}), Verdict::fail);
    EXPECT_EQ(whole({Verdict::pass, Verdict::incomplete, Verdict::not_applicable}), Verdict::incomplete);
    EXPECT_EQ(whole({Verdict::not_applicable, Verdict::pass}), Verdict::pass);
    EXPECT_EQ(whole({Verdict::not_applicable}), Verdict::not_applicable);
}

TEST(ExitCode, follows_the_contract) {
    Report report;
    report.verdict = Verdict::fail;
    EXPECT_EQ(exit_code(report, false), Exit::failed);
    report.verdict = Verdict::incomplete;
    EXPECT_EQ(exit_code(report, false), Exit::incomplete);
    report.verdict = Verdict::not_applicable;
    EXPECT_EQ(exit_code(report, false), Exit::ok);
    report.verdict = Verdict::pass;
    report.findings.emplace_back().status = Status::warn;
    EXPECT_EQ(exit_code(report, false), Exit::ok);
    EXPECT_EQ(exit_code(report, true), Exit::failed);
    report.findings.back().waiver = Waiver{};
    EXPECT_EQ(exit_code(report, true), Exit::ok) << "a waived warning does not fail a strict run";
}

TEST(Folding, blocks_a_failure_under_the_failed_cause_of_the_same_port_only) {
    const Report report = judged({check("m.link", 'A', says(Status::fail, port_a)), check("m.port", 'A',
                                                                                          [](const Facts&, Findings& out) {
                                                                                              out.fail(port_a, "down");
                                                                                              out.fail(port_b, "down");
                                                                                          },
                                                                                          {"m.link"})});
    ASSERT_EQ(report.findings.size(), 3u);
    EXPECT_EQ(report.findings[1].status, Status::blocked);
    EXPECT_EQ(report.findings[1].blocked_by, std::vector<std::string>{"m.link"});
    EXPECT_EQ(report.findings[2].status, Status::fail);
}

TEST(Folding, names_the_root_cause_through_a_chain) {
    const Report report = judged({check("m.a", 'A', says(Status::fail)), check("m.b", 'A', says(Status::fail), {"m.a"}),
                                  check("m.c", 'A', says(Status::unknown, port_a), {"m.b"})});
    EXPECT_EQ(report.findings[2].status, Status::blocked);
    EXPECT_EQ(report.findings[2].blocked_by, std::vector<std::string>{"m.a"});
}

TEST(Folding, leaves_passes_and_warnings_alone) {
    const Report report = judged({check("m.a", 'A', says(Status::fail)), check("m.b", 'A', says(Status::pass), {"m.a"}),
                                  check("m.c", 'A', says(Status::warn), {"m.a"})});
    EXPECT_EQ(report.findings[1].status, Status::pass);
    EXPECT_EQ(report.findings[2].status, Status::warn);
}

TEST(Folding, does_not_hide_a_failure_under_something_merely_unknown) {
    const Report report = judged({check("m.a", 'A', says(Status::unknown)), check("m.b", 'A', says(Status::fail), {"m.a"})});
    EXPECT_EQ(report.findings[1].status, Status::fail);
}

TEST(Folding, blocks_an_unknown_under_an_unknown) {
    const Report report = judged({check("m.a", 'A', says(Status::unknown)), check("m.b", 'A', says(Status::unknown), {"m.a"})});
    EXPECT_EQ(report.findings[1].status, Status::blocked);
}

TEST(Folding, explains_a_finding_about_the_node_only_when_every_port_is_bad) {
    const auto ports = [](Status first, Status second) {
        return [=](const Facts&, Findings& out) {
            out.add(first, port_a, "a");
            out.add(second, port_b, "b");
        };
    };
    EXPECT_EQ(judged({check("m.a", 'A', ports(Status::fail, Status::pass)), check("m.b", 'A', says(Status::fail), {"m.a"})}).findings[2].status,
              Status::fail);
    EXPECT_EQ(judged({check("m.a", 'A', ports(Status::fail, Status::fail)), check("m.b", 'A', says(Status::fail), {"m.a"})}).findings[2].status,
              Status::blocked);
}

TEST(Engine, never_takes_silence_for_a_pass) {
    const Report report = judged({check("m.a", 'A', [](const Facts&, Findings&) {})});
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].status, Status::unknown);
    EXPECT_EQ(report.verdict, Verdict::incomplete);
}

TEST(Engine, orders_findings_by_catalogue_then_subject) {
    const Report report = judged({check("m.z", 'A',
                                        [](const Facts&, Findings& out) {
                                            out.pass(port_b, "b");
                                            out.pass(port_a, "a");
                                        }),
                                  check("m.a", 'A', says(Status::pass))});
    EXPECT_EQ(report.findings[0].subject.text, "ens1f0");
    EXPECT_EQ(report.findings[1].subject.text, "ens1f1");
    EXPECT_EQ(report.findings[2].id, "m.a");
}

TEST(Selection, lets_a_check_outside_it_neither_run_nor_block) {
    Options options = storage_node();
    options.skip = {"m.a"};
    const Report report = judged({check("m.a", 'A', says(Status::fail)), check("m.b", 'A', says(Status::fail), {"m.a"})}, options);
    ASSERT_EQ(report.findings.size(), 1u);
    EXPECT_EQ(report.findings[0].status, Status::fail);
}

TEST(Selection, knows_phases_and_globs) {
    const Check one = check("nic.link", 'A', says(Status::pass));
    Options options;
    EXPECT_TRUE(selected(one, options));
    options.phases = {'B'};
    EXPECT_FALSE(selected(one, options));
    options.phases = {'A'};
    options.only = {"nic.*"};
    EXPECT_TRUE(selected(one, options));
    options.only = {"rdma.*"};
    EXPECT_FALSE(selected(one, options));
}

TEST(Scope, skips_with_the_reason_what_does_not_apply_to_this_node) {
    Check gpu = check("gpu.present", 'C', says(Status::fail));
    gpu.roles = client;
    const Report report = judged({gpu});
    EXPECT_EQ(report.findings[0].status, Status::skip);
    EXPECT_NE(report.findings[0].observed.find("--role"), std::string::npos);
    EXPECT_EQ(report.verdict, Verdict::not_applicable);
}

std::string answer_of(std::vector<Check> checks, Options options = storage_node(), std::string path = "internode_rdma") {
    for (const PathOutcome& outcome : judged(std::move(checks), std::move(options)).outcomes)
        if (outcome.key == path) return outcome.answer;
    return "none";
}

TEST(Outcome, is_yes_only_when_everything_that_bears_on_the_path_is_right) {
    EXPECT_EQ(answer_of({check("m.a", 'A', says(Status::pass)), check("m.b", 'B', says(Status::warn)), check("m.c", 'C', says(Status::skip))}), "yes");
}

TEST(Outcome, is_no_when_a_check_that_bears_on_it_failed) {
    EXPECT_EQ(answer_of({check("m.a", 'A', says(Status::unknown)), check("m.b", 'A', says(Status::fail))}), "no");
}

TEST(Outcome, ignores_what_bears_on_the_other_path_only) {
    Check other = check("m.a", 'C', says(Status::fail));
    other.paths = s3;
    EXPECT_EQ(answer_of({other}), "yes");
    EXPECT_EQ(answer_of({other}, storage_node(), "s3_over_rdma"), "no");
}

TEST(Outcome, is_unknown_for_unknown_blocked_and_unproven) {
    EXPECT_EQ(answer_of({check("m.a", 'A', says(Status::unknown))}), "unknown");
    EXPECT_EQ(answer_of({check("m.a", 'A', [](const Facts&, Findings& out) { out.warn(node_subject(), "nobody has tried").unproven("try it"); })}), "unknown");
    Check cause = check("m.a", 'A', says(Status::fail));
    cause.paths = s3;
    EXPECT_EQ(answer_of({cause, check("m.b", 'A', says(Status::fail), {"m.a"})}), "unknown") << "blocked by a cause of the other path";
}

TEST(Outcome, is_off_when_not_wanted_or_switched_off_even_if_something_failed) {
    Options only_s3 = storage_node();
    only_s3.want = s3;
    EXPECT_EQ(answer_of({check("m.a", 'A', says(Status::fail))}, only_s3), "off");
    EXPECT_EQ(answer_of({check("m.a", 'A', says(Status::fail)),
                         check("m.env", 'A', [](const Facts&, Findings& out) { out.fail(node_subject(), "absent").switched_off(); })}),
              "off");
}

TEST(Outcome, never_says_yes_when_only_a_part_of_the_checks_ran) {
    Options part = storage_node();
    part.phases = {'A'};
    EXPECT_EQ(answer_of({check("m.a", 'A', says(Status::pass)), check("m.b", 'B', says(Status::pass))}, part), "unknown");
}

TEST(Outcome, names_the_deciding_checks_and_speaks_in_a_sentence) {
    const Report report = judged({check("m.a", 'A', says(Status::fail, port_a)), check("m.b", 'A', says(Status::fail, port_a), {"m.a"}),
                                  check("m.c", 'A', says(Status::fail))});
    EXPECT_EQ(report.outcomes[0].because, (std::vector<std::string>{"m.a", "m.c"}));
    EXPECT_NE(report.outcomes[0].sentence.find("NOT"), std::string::npos);
    EXPECT_NE(report.outcomes[0].sentence.find("ens1f0"), std::string::npos);
}

TEST(Outcome, takes_now_from_the_finding_that_saw_the_process) {
    const Report report = judged({check("m.a", 'A', [](const Facts&, Findings& out) { out.pass(node_subject(), "owns 12 QPs").now("yes"); })});
    EXPECT_EQ(report.outcomes[0].now, "yes");
}

}  // namespace
}  // namespace preflight
