#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace preflight {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(HealthyNode, has_nothing_failed_or_unknown_on_e810) {
    FakeHost host = e810_node();
    EXPECT_THAT(complaints(judged(host)), IsEmpty());
}

TEST(HealthyNode, has_nothing_failed_or_unknown_on_connectx) {
    FakeHost host = mlx5_node();
    EXPECT_THAT(complaints(judged(host)), IsEmpty());
}

TEST(HealthyNode, warns_on_e810_only_of_what_is_guessed_or_unproven) {
    FakeHost host = e810_node();
    const Report report = judged(host);
    std::set<std::string> warned;
    for (const Finding& finding : report.findings)
        if (finding.status == Status::warn) warned.insert(finding.id);
    EXPECT_EQ(warned, (std::set<std::string>{"nic.selected", "rdma.limits"}));
}

TEST(HealthyNode, warns_of_nothing_on_connectx_when_the_ports_are_named) {
    FakeHost host = mlx5_node();
    for (const Finding& finding : judged(host, interfaces({"ens1f0np0", "ens1f1np1"})).findings) EXPECT_NE(finding.status, Status::warn) << finding.id << ": " << finding.observed;
}

TEST(HealthyNode, gives_every_check_a_conclusion_of_its_own) {
    FakeHost host = e810_node();
    for (const Finding& finding : judged(host).findings) EXPECT_NE(finding.observed, "the check came to no conclusion") << finding.id;
}

/// What a bad finding owes its reader: why, what would be right, where it was read, and what to do.
TEST(EveryBadFinding, says_what_is_expected_and_what_to_do) {
    FakeHost broken = e810_node();
    broken.link("ens1f0np0", [](Link& link) { link.flags = 0; link.mtu = 1500; link.carrier = false; });
    broken.set_addresses("ens1f1np1", {});
    broken.drop_rdma("rocep59s0f1");
    broken.rdma_device("rocep59s0f0", [](RdmaDevice& device) { device.protocol = "iw"; device.node_type = "RNIC"; device.ports[0].state = "DOWN"; });
    broken.unload("rdma_ucm");
    broken.absent("info", "/dev/infiniband/rdma_cm");
    for (const Finding& finding : judged(broken, interfaces({"ens1f0np0", "ens1f1np1"})).findings) {
        if (finding.status != Status::fail && finding.status != Status::warn) continue;
        EXPECT_FALSE(finding.expected.empty()) << finding.id;
        EXPECT_FALSE(finding.source.empty()) << finding.id;
        EXPECT_FALSE(finding.why.empty()) << finding.id;
        EXPECT_FALSE(finding.remedy.summary.empty()) << finding.id;
    }
}

}  // namespace
}  // namespace preflight
