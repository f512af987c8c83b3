#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lossless.h"
#include "support/lossless_ports.h"

namespace preflight {
namespace {

using namespace ports;
using testing::Contains;
using testing::HasSubstr;

struct Reading {
    Counters ethtool, rdma, pfc;
};

PortSamples samples(const Reading& first, const Reading& second) {
    return {"0000:3b:00.0", {first.ethtool, second.ethtool}, {first.rdma, second.rdma}, {first.pfc, second.pfc}};
}

Finding pauses(const LosslessPort& port, const PortSamples& of) {
    Findings out;
    judge_pause_counters(port, view_counters(port, of, 2.5), of, out);
    return out.list().at(0);
}

Finding losses(const LosslessPort& port, const PortSamples& of) {
    Findings out;
    judge_loss_counters(port, view_counters(port, of, 2.5), out);
    return out.list().at(0);
}

// DCB-08: rx_prio3_pause 100 -> 900, out_of_buffer 7 -> 7.
const PortSamples healthy_incast = samples({{{"rx_prio3_pause", 100}}, {{"out_of_buffer", 7}}, {}}, {{{"rx_prio3_pause", 900}}, {{"out_of_buffer", 7}}, {}});

TEST(PauseCounters, on_the_lossless_priority_are_healthy) {
    const Finding finding = pauses(connectx(), healthy_incast);
    EXPECT_EQ(finding.status, Status::pass);
    EXPECT_THAT(finding.observed, HasSubstr("rx_prio3_pause +800 (320.0/s)"));
}

TEST(PauseCounters, elsewhere_or_of_the_whole_link_are_a_warning_that_names_them) {
    EXPECT_THAT(pauses(connectx(), samples({{{"rx_prio0_pause", 1}}, {}, {}}, {{{"rx_prio0_pause", 2}}, {}, {}})).observed, HasSubstr("rx_prio0_pause +1"));
    const Finding link = pauses(e810(), samples({{{"link_xoff_rx.nic", 0}}, {}, {}}, {{{"link_xoff_rx.nic", 5}}, {}, {}}));
    EXPECT_EQ(link.status, Status::warn);
}

TEST(PauseCounters, come_from_the_pfc_attribute_as_well) {
    EXPECT_EQ(pauses(e810(), samples({{}, {}, {{"requests 3", 0}}}, {{}, {}, {{"requests 3", 4}}})).status, Status::pass);
    EXPECT_EQ(pauses(e810(), samples({{}, {}, {{"indications 5", 0}}}, {{}, {}, {{"indications 5", 4}}})).status, Status::warn);
}

TEST(PauseCounters, that_stand_still_prove_nothing_and_say_so) {
    const Finding finding = pauses(e810(), samples({{{"tx_priority_3_xoff.nic", 9}}, {}, {}}, {{{"tx_priority_3_xoff.nic", 9}}, {}, {}}));
    EXPECT_EQ(finding.status, Status::pass);
    EXPECT_THAT(finding.observed, HasSubstr("without load this proves nothing; ice refreshes its counters"));
}

TEST(PauseCounters, that_could_not_be_read_are_unknown) {
    PortSamples hidden = healthy_incast;
    hidden.ethtool.second = Unreadable{"not-captured", "not captured"};
    const Finding finding = pauses(connectx(), hidden);
    EXPECT_EQ(finding.status, Status::unknown);
    EXPECT_THAT(finding.remedy.summary, HasSubstr("--sample"));
}

TEST(LossCounters, that_stay_flat_pass_and_list_what_the_driver_lacks) {
    const Finding finding = losses(connectx(), healthy_incast);
    EXPECT_EQ(finding.status, Status::pass);
    EXPECT_THAT(finding.evidence, Contains(testing::Pair("flat", EvidenceValue(std::vector<std::string>{"out_of_buffer"}))));
    bool lists_missing = false;
    for (const auto& [key, value] : finding.evidence)
        if (key == "not offered by this driver") lists_missing = !std::get<std::vector<std::string>>(value).empty();
    EXPECT_TRUE(lists_missing);
}

TEST(LossCounters, that_grow_warn_and_under_load_fail) {
    const auto grown = [](std::uint64_t packets) {
        return samples({{{"tx_vport_rdma_unicast_packets", 0}}, {{"packet_seq_err", 1}}, {}}, {{{"tx_vport_rdma_unicast_packets", packets}}, {{"packet_seq_err", 6}}, {}});
    };
    const Finding idle = losses(connectx(), grown(10));
    EXPECT_EQ(idle.status, Status::warn);
    EXPECT_THAT(idle.observed, HasSubstr("packet_seq_err +5 (2.0/s), sequence errors"));
    EXPECT_EQ(losses(connectx(), grown(1000000)).status, Status::fail);
}

TEST(LossCounters, since_boot_are_no_loss_now) {
    EXPECT_EQ(losses(e810(), samples({{{"rx_dropped.nic", 123456}}, {}, {}}, {{{"rx_dropped.nic", 123456}}, {}, {}})).status, Status::pass);
}

TEST(LossCounters, that_started_anew_count_what_they_show_since) {
    EXPECT_THAT(losses(e810(), samples({{{"rx_dropped.nic", 500}}, {}, {}}, {{{"rx_dropped.nic", 3}}, {}, {}})).observed, HasSubstr("rx_dropped.nic +3"));
}

TEST(LossCounters, of_a_driver_without_rows_are_unknown) {
    auto port = e810();
    port.driver = "bnxt_en";
    EXPECT_EQ(losses(port, samples({{{"x", 1}}, {}, {}}, {{{"x", 2}}, {}, {}})).status, Status::unknown);
}

TEST(LossCounters, of_soft_roce_are_its_own) {
    auto port = e810();
    port.rdma_driver = "rdma_rxe";
    EXPECT_THAT(losses(port, samples({{}, {{"completer_retry_err", 0}}, {}}, {{}, {{"completer_retry_err", 2}}, {}})).observed, HasSubstr("completer_retry_err +2"));
}

}  // namespace
}  // namespace preflight
