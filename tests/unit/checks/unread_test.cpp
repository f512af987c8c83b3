#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace preflight {
namespace {

/// Each answer of a healthy node is taken away in turn: what could not be read may never fail a node, nor end the program.
void take_away(FakeHost whole, const Options& options) {
    for (const auto& [question, answer] : whole.answers) {
        if (!answer.has()) continue;
        FakeHost host = whole;
        host.unreadable(question.kind, question.argument, "EACCES");
        try {
            const Report report = judged(host, options);
            for (const Finding& finding : report.findings)
                EXPECT_NE(finding.status, Status::fail) << question.kind << " " << question.argument << " unreadable: " << finding.id << " " << finding.subject.text << ": " << finding.observed;
        } catch (const std::exception& error) {
            ADD_FAILURE() << question.kind << " " << question.argument << ": " << error.what();
        }
    }
}

TEST(UnreadAnswer, never_fails_a_healthy_e810_node) { take_away(e810_node(), interfaces({"ens1f0np0", "ens1f1np1"})); }

TEST(UnreadAnswer, never_fails_a_healthy_connectx_node) { take_away(mlx5_node(), {}); }

TEST(UnreadAnswer, never_ends_the_program_on_a_broken_node) {
    FakeHost broken = e810_node();
    broken.add_bond("bond0", 10, "802.3ad", {"ens1f0np0", "ens1f1np1"});
    broken.drop_rdma("rocep59s0f1");
    broken.unload("rdma_ucm");
    const FakeHost whole = broken;
    for (const auto& [question, answer] : whole.answers)
        for (const bool gone : {false, true}) {
            FakeHost host = whole;
            if (gone) host.absent(question.kind, question.argument, "EOPNOTSUPP");
            else host.unreadable(question.kind, question.argument, "EIO");
            EXPECT_NO_THROW(judged(host)) << question.kind << " " << question.argument;
        }
}

}  // namespace
}  // namespace preflight
