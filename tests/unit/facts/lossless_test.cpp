#include "facts/lossless.h"

#include <gtest/gtest.h>

#include "support/lossless_ports.h"

namespace preflight {
namespace {

using namespace ports;

const ClassSetting automatic = class_setting(Absent{});

ClassSetting explicitly(const std::string& text) {
    return class_setting(text);
}

Chain only(const LosslessPort& port, unsigned tos) {
    return trace(port, port.uppers.front(), tos, "test");
}

// ------------------------------------------------------------------ the setting

TEST(TrafficClassSetting, is_automatic_when_unset_empty_zero_or_dropped) {
    for (const char* text : {"", "0", "abc", "256", "-1", "0x68", "104 "}) EXPECT_EQ(explicitly(text).kind, ClassSetting::automatic) << text;
    EXPECT_EQ(class_setting(Absent{}).kind, ClassSetting::automatic);
    EXPECT_EQ(class_setting(Fact<std::string>()).kind, ClassSetting::automatic);
    EXPECT_EQ(explicitly("104").number, 104u);
}

TEST(TrafficClassSetting, is_not_known_when_the_environment_could_not_be_read) {
    EXPECT_EQ(class_setting(Unreadable{"EACCES", "/etc/default/minio: permission denied"}).kind, ClassSetting::unreadable);
}

// ------------------------------------------------------------------ E810 in L3 DSCP mode

TEST(ChainOnE810, closes_by_the_explicit_entry_whose_priority_is_the_tc) {
    const Chain chain = only(e810(), 104);
    EXPECT_EQ(chain.state(), LinkState::closed);
    EXPECT_EQ(chain.text(), "ToS 104 -> DSCP 26 -> TC 3 -> PFC on");
    EXPECT_EQ(chain.tc, 3u);
}

TEST(ChainOnE810, treats_ecn_bits_as_no_part_of_the_code_point) {
    EXPECT_EQ(only(e810(), 106).state(), LinkState::closed);
}

TEST(ChainOnE810, is_ambiguous_where_only_the_hidden_default_map_leads_on) {
    const auto port = with_dcb(e810(), [](Dcb& d) { d.apps = {{5, 6, 48}}; });
    const Chain chain = only(port, 104);
    EXPECT_EQ(chain.state(), LinkState::ambiguous);
    EXPECT_EQ(chain.first_bad()->what, "TC");
    EXPECT_EQ(chain.tc, 3u);
}

TEST(ChainOnE810, is_sure_where_default_and_deleted_map_agree) {
    const auto port = with_dcb(e810(), [](Dcb& d) { d.apps = {{5, 6, 48}}; });
    EXPECT_EQ(only(port, 27u << 2).state(), LinkState::closed);  // 27 >> 3 == 27 % 8 == 3
}

TEST(ChainOnE810, cannot_be_seen_with_four_tcs_and_no_entry) {
    const auto port = with_dcb(e810(), [](Dcb& d) {
        d.apps = {{5, 3, 48}};
        d.ets->tcs = 4;
    });
    EXPECT_EQ(only(port, 104).state(), LinkState::unseen);
}

TEST(ChainOnE810, breaks_at_pfc_when_another_tc_is_protected) {
    const auto port = with_dcb(e810(), [](Dcb& d) { d.pfc->enabled = 1u << 4; });
    const Chain chain = only(port, 104);
    EXPECT_EQ(chain.state(), LinkState::broken);
    EXPECT_EQ(chain.first_bad()->what, "PFC");
    EXPECT_EQ(chain.first_bad()->note, "TC 3 is not lossless; PFC protects 4");
}

// ------------------------------------------------------------------ E810 in PCP mode

TEST(ChainOnE810, dscp_26_in_pcp_mode_lands_in_priority_2_while_pfc_protects_3) {
    const Chain chain = only(e810_pcp(1u << 3), 104);
    EXPECT_EQ(chain.state(), LinkState::broken);
    EXPECT_EQ(chain.text(), "ToS 104 -> DSCP 26 -> priority 2 -> TC 2 -> PFC off");
    EXPECT_EQ(chain.first_bad()->note, "priority 2 is not lossless; PFC protects 3");
}

TEST(ChainOnE810, closes_in_pcp_mode_when_pfc_protects_the_priority_of_the_tos_table) {
    EXPECT_EQ(only(e810_pcp(1u << 2), 104).state(), LinkState::closed);
}

TEST(ChainOnE810, closes_in_pcp_mode_by_the_egress_map_of_a_vlan) {
    EXPECT_EQ(only(over_vlan(e810_pcp(1u << 3), {{2, 3}}), 104).state(), LinkState::closed);
}

TEST(ChainOnE810, breaks_over_a_vlan_that_does_not_list_the_priority) {
    const Chain chain = only(over_vlan(e810_pcp(1u << 3), {{4, 3}}), 104);
    EXPECT_EQ(chain.state(), LinkState::broken);
    EXPECT_EQ(chain.priority, 0u);
}

TEST(ChainOnE810, ignores_the_egress_map_in_dscp_mode) {
    EXPECT_EQ(only(over_vlan(e810(), {{2, 5}}), 104).text(), "ToS 104 -> DSCP 26 -> TC 3 -> PFC on");
}

TEST(ChainOnE830, stays_in_pcp_mode_whatever_the_app_table_holds) {
    const auto port = with_dcb(e830(1u << 3), [](Dcb& d) { d.apps = {{5, 3, 26}}; });
    EXPECT_EQ(mode(port, port.uppers.front()), Mode::pcp);
    EXPECT_EQ(only(port, 104).priority, 2u);
}

// ------------------------------------------------------------------ ConnectX

TEST(ChainOnConnectX, closes_by_priority_and_the_crossed_tcs_of_the_driver) {
    const auto port = with_dcb(connectx(), [](Dcb& d) {
        d.apps = {{5, 1, 26}};
        d.pfc->enabled = 1u << 1;
    });
    const Chain chain = only(port, 104);
    EXPECT_EQ(chain.state(), LinkState::closed);
    EXPECT_EQ(chain.text(), "ToS 104 -> DSCP 26 -> priority 1 -> TC 0 -> PFC on");
}

TEST(ChainOnConnectX, untagged_with_pcp_trust_lands_in_priority_0) {
    const auto port = with_dcb(connectx(), [](Dcb& d) { d.apps = std::vector<DcbApp>{}; });
    const Chain chain = only(port, 104);
    EXPECT_EQ(chain.state(), LinkState::broken);
    EXPECT_EQ(chain.priority, 0u);
}

TEST(ChainOnConnectX, cannot_be_seen_for_a_code_point_without_entry) {
    EXPECT_EQ(only(connectx(), 96).state(), LinkState::unseen);
}

TEST(ChainOnConnectX, is_ambiguous_when_a_code_point_has_two_entries) {
    const auto port = with_dcb(connectx(), [](Dcb& d) { d.apps = {{5, 3, 26}, {5, 4, 26}}; });
    EXPECT_EQ(only(port, 104).first_bad()->state, LinkState::ambiguous);
}

// ------------------------------------------------------------------ what is not there

TEST(ChainWithMissingAttributes, is_not_seen_rather_than_broken) {
    for (const auto& port : {with_dcb(e810(), [](Dcb& d) { d.pfc.reset(); }), with_dcb(e810(), [](Dcb& d) { d.apps.reset(); }),
                             with_dcb(connectx(), [](Dcb& d) { d.ets.reset(); })})
        EXPECT_EQ(only(port, 104).state(), LinkState::unseen);
}

TEST(ChainWithMissingAttributes, still_breaks_where_pfc_is_seen_off) {
    const auto port = with_dcb(connectx(), [](Dcb& d) {
        d.ets.reset();
        d.pfc->enabled = 0;
    });
    EXPECT_EQ(only(port, 104).state(), LinkState::broken);
}

TEST(ChainOfAnotherDriver, is_seen_only_with_a_trust_table) {
    auto port = e810();
    port.driver = "bnxt_en";
    port.vendor = 0x14e4;
    EXPECT_EQ(only(port, 104).state(), LinkState::unseen);
    EXPECT_EQ(only(with_dcb(port, [](Dcb& d) { d.trust = {5}; }), 104).state(), LinkState::closed);
}

// ------------------------------------------------------------------ automatic detection, alternatives

TEST(Detection, finds_the_dscp_entries_of_lossless_priorities) {
    const auto port = with_dcb(e810(), [](Dcb& d) { d.apps = {{5, 6, 48}, {5, 3, 26}}; });
    const Detection found = detect(port);
    EXPECT_EQ(found.state, LinkState::closed);
    EXPECT_EQ(found.entries, (std::vector<DscpEntry>{{26, 3}}));
}

TEST(Detection, finds_nothing_without_pfc_without_entries_or_with_entries_elsewhere) {
    EXPECT_EQ(detect(with_dcb(e810(), [](Dcb& d) { d.pfc->enabled = 0; })).state, LinkState::broken);
    EXPECT_EQ(detect(e810_pcp(8)).state, LinkState::broken);
    EXPECT_EQ(detect(with_dcb(e810(), [](Dcb& d) { d.apps = {{5, 6, 48}}; })).why, "no DSCP APP entry leads to lossless priority 3");
    EXPECT_EQ(detect(without_dcb(e810())).state, LinkState::broken);
}

TEST(Detection, does_not_know_where_the_tables_cannot_be_seen) {
    EXPECT_EQ(detect(silent(e810())).state, LinkState::unseen);
    EXPECT_EQ(detect(with_dcb(e810(), [](Dcb& d) { d.apps.reset(); })).state, LinkState::unseen);
}

TEST(Alternatives, close_when_detection_finds_the_lossless_class) {
    EXPECT_EQ(chains(e810(), automatic).state, LinkState::closed);
}

TEST(Alternatives, of_a_value_below_64_are_a_tos_byte_and_a_dscp) {
    const Chains both = chains(e810(), explicitly("26"));
    EXPECT_EQ(both.list.size(), 2u);
    EXPECT_EQ(both.state, LinkState::ambiguous);  // as DSCP 26 it closes; as ToS 26 it is DSCP 6
}

TEST(Alternatives, of_a_value_from_64_on_are_a_tos_byte_alone) {
    EXPECT_EQ(chains(e810(), explicitly("104")).state, LinkState::closed);
    EXPECT_EQ(chains(e810_pcp(8), explicitly("104")).state, LinkState::broken);
    EXPECT_EQ(chains(e810(), explicitly("184")).state, LinkState::broken);
}

TEST(Alternatives, are_ambiguous_when_only_one_of_two_vlans_closes) {
    auto port = e810_pcp(1u << 3);
    port.uppers = {{"bond0.100", {{{2, 3}}}}, {"bond0.200", {{{2, 2}}}}};
    EXPECT_EQ(chains(port, explicitly("104")).state, LinkState::ambiguous);
}

TEST(BandwidthOfTheLosslessClass, is_judged_only_where_ets_schedules_it) {
    EXPECT_EQ(bandwidth(e810(), 3).text, "50 %");
    EXPECT_EQ(bandwidth(with_dcb(e810(), [](Dcb& d) { d.ets->tx_bandwidth = {100, 0, 0, 0, 0, 0, 0, 0}; }), 3).state, LinkState::broken);
    EXPECT_EQ(bandwidth(connectx(), 3).state, LinkState::closed);  // vendor
    const auto strict = with_dcb(e810(), [](Dcb& d) {
        d.ets->tsa.assign(8, 0);
        d.ets->tx_bandwidth.assign(8, 0);
    });
    EXPECT_EQ(bandwidth(strict, 3).state, LinkState::closed);
    EXPECT_EQ(bandwidth(with_dcb(e810(), [](Dcb& d) { d.ets.reset(); }), 3).state, LinkState::unseen);
}

TEST(OwnerOfDcb, is_the_agent_by_private_flag_or_dcbx_mode) {
    auto port = e810();
    EXPECT_EQ(owner(port), Owner::host);
    port.flags = std::map<std::string, bool>{{"fw-lldp-agent", true}};
    EXPECT_EQ(owner(port), Owner::agent);
    EXPECT_EQ(owner(with_dcb(e810(), [](Dcb& d) { d.dcbx = 0x0a; })), Owner::agent);
    EXPECT_EQ(owner(with_dcb(e810(), [](Dcb& d) { d.dcbx.reset(); })), Owner::host);
    EXPECT_EQ(owner(with_dcb(connectx(), [](Dcb& d) { d.dcbx.reset(); })), Owner::unseen);
}

}  // namespace
}  // namespace preflight
