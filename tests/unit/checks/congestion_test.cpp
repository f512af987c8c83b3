#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/answer.h"
#include "lossless.h"
#include "support/lossless_ports.h"

namespace preflight {
namespace {

using namespace ports;
using testing::HasSubstr;
using testing::Not;

/// A node where irdma is loaded, in-tree or not.
struct IrdmaHost : Host {
    bool foreign = false;
    std::string dcqcn;

    Answer answer(const Question& question) override {
        if (question.argument == "/sys/module/irdma/taint") return {Json(foreign ? "O\n" : "\n")};
        if (question.argument == "/sys/module/irdma/parameters/dcqcn_enable" && !dcqcn.empty()) return {Json(dcqcn)};
        return {Absent{}};
    }
};

Finding judged(const LosslessPort& port, const Site& site = {}, IrdmaHost host = {}) {
    Findings out;
    const Facts facts(host, {});
    judge_ecn(facts, port, site, out);
    return out.list().at(0);
}

LosslessPort with_knobs(const std::string& np, const std::string& rp) {
    auto port = connectx();
    port.ecn = {{"roce_np", {{3, np}}}, {"roce_rp", {{3, rp}}}};
    return port;
}

TEST(Congestion, of_in_tree_irdma_is_a_warning_and_never_unknown) {
    const Finding finding = judged(e810());
    EXPECT_EQ(finding.status, Status::warn);
    EXPECT_THAT(finding.observed, HasSubstr("never runs DCQCN"));
}

TEST(Congestion, of_in_tree_irdma_names_cleared_ect_bits_of_an_explicit_class) {
    Site site;
    site.internode = class_setting(std::string("104"));
    EXPECT_THAT(judged(e810(), site).observed, HasSubstr("=104 has no ECT bit"));
    site.internode = class_setting(std::string("106"));
    EXPECT_THAT(judged(e810(), site).observed, Not(HasSubstr("ECT bit")));
}

TEST(Congestion, of_out_of_tree_irdma_passes_when_dcqcn_is_on) {
    IrdmaHost host;
    host.foreign = true;
    host.dcqcn = "Y\n";
    EXPECT_EQ(judged(e810(), {}, host).status, Status::pass);
    host.dcqcn = "N\n";
    EXPECT_EQ(judged(e810(), {}, host).status, Status::warn);
}

TEST(Congestion, of_a_connectx_is_judged_by_the_knobs_of_the_lossless_priority) {
    EXPECT_EQ(judged(with_knobs("1\n", "1\n")).status, Status::pass);
    const Finding off = judged(with_knobs("1\n", "0\n"));
    EXPECT_EQ(off.status, Status::fail);
    EXPECT_THAT(off.remedy.commands, testing::ElementsAre("echo 1 | sudo tee /sys/class/net/ens2f0np0/ecn/roce_rp/enable/3"));
}

TEST(Congestion, of_a_connectx_without_the_vendors_knobs_is_a_warning_and_not_off) {
    const Finding finding = judged(connectx());
    EXPECT_EQ(finding.status, Status::warn);
    EXPECT_THAT(finding.observed, HasSubstr("which is not \"off\""));
}

TEST(Congestion, of_another_nic_or_soft_roce_is_a_warning) {
    auto port = e810();
    port.rdma_driver = "rdma_rxe";
    EXPECT_THAT(judged(port).observed, HasSubstr("software RDMA"));
    port.rdma_driver = "bnxt_re";
    EXPECT_EQ(judged(port).status, Status::warn);
}

}  // namespace
}  // namespace preflight
