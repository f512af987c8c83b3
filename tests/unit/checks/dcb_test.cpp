#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lossless.h"
#include "support/lossless_ports.h"

namespace preflight {
namespace {

using namespace ports;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Site site(const std::string& traffic_class = "") {
    Site made;
    made.internode = class_setting(traffic_class);
    return made;
}

Site expecting(Expect expect) {
    Site made = site();
    made.expect = std::move(expect);
    return made;
}

Finding only(PortRule rule, const LosslessPort& port, const Site& of = site()) {
    Findings out;
    rule(port, of, out);
    EXPECT_EQ(out.list().size(), 1u);
    return out.list().at(0);
}

LosslessPort agent(unsigned negotiated) {
    auto port = with_dcb(e810_pcp(negotiated), [](Dcb& d) { d.dcbx = 0x0a; });
    port.flags = std::map<std::string, bool>{{"fw-lldp-agent", true}};
    return port;
}

// ------------------------------------------------------------------ four different answers

TEST(FourAnswers, no_dcb_is_a_failure_and_never_called_pfc_off) {
    const Finding finding = only(judge_pfc, without_dcb(e810()));
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("offers no DCB at all (EOPNOTSUPP)"));
}

TEST(FourAnswers, an_absent_attribute_is_unknown) {
    const Finding finding = only(judge_pfc, with_dcb(e810(), [](Dcb& d) { d.pfc.reset(); }));
    EXPECT_EQ(finding.status, Status::unknown);
    EXPECT_THAT(finding.observed, HasSubstr("sent no PFC attribute, which is not \"off\""));
}

TEST(FourAnswers, could_not_ask_is_unknown_with_a_way_to_know) {
    for (const PortRule rule : {judge_control, judge_pfc, judge_mode, judge_class, judge_chain, judge_ets}) {
        const Finding finding = only(rule, silent(e810()));
        EXPECT_EQ(finding.status, Status::unknown);
        EXPECT_EQ(finding.remedy.summary, "Run the tool as root.");
    }
}

TEST(FourAnswers, off_is_off) {
    const Finding finding = only(judge_pfc, with_dcb(e810(), [](Dcb& d) { d.pfc->enabled = 0; }));
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("PFC is off for every priority"));
}

// ------------------------------------------------------------------ dcb.control

TEST(Control, passes_for_the_host) {
    EXPECT_EQ(only(judge_control, e810()).status, Status::pass);
    EXPECT_EQ(only(judge_control, connectx()).status, Status::pass);
}

TEST(Control, fails_when_the_firmware_agent_has_negotiated_nothing) {
    const Finding finding = only(judge_control, agent(0));
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("fw-lldp-agent on"));
    EXPECT_EQ(finding.remedy.commands.front(), "sudo ethtool --set-priv-flags ens1f0np0 fw-lldp-agent off");
}

TEST(Control, warns_when_the_switch_has_negotiated_pfc) {
    EXPECT_EQ(only(judge_control, agent(8)).status, Status::warn);
}

TEST(Control, follows_the_policy) {
    Expect host, fabric;
    host.dcb_owner = "host";
    fabric.dcb_owner = "switch";
    EXPECT_EQ(only(judge_control, agent(8), expecting(host)).status, Status::fail);
    EXPECT_EQ(only(judge_control, agent(8), expecting(fabric)).status, Status::pass);
    EXPECT_EQ(only(judge_control, agent(0), expecting(fabric)).status, Status::fail);
    EXPECT_EQ(only(judge_control, e810(), expecting(fabric)).status, Status::fail);
}

TEST(Control, warns_of_two_owners_and_passes_a_willing_host) {
    EXPECT_EQ(only(judge_control, with_dcb(e810(), [](Dcb& d) { d.ets->willing = true; })).status, Status::pass);
    auto port = with_dcb(connectx(), [](Dcb& d) { d.dcbx = 0x0e; });
    EXPECT_EQ(only(judge_control, port).status, Status::warn);
}

TEST(Control, does_not_know_without_a_dcbx_attribute) {
    EXPECT_EQ(only(judge_control, with_dcb(connectx(), [](Dcb& d) { d.dcbx.reset(); })).status, Status::unknown);
}

// ------------------------------------------------------------------ dcb.pfc

TEST(Pfc, passes_with_exactly_one_lossless_priority) {
    EXPECT_EQ(only(judge_pfc, e810()).status, Status::pass);
    EXPECT_THAT(only(judge_pfc, e810()).observed, HasSubstr("TC 3"));
    EXPECT_THAT(only(judge_pfc, connectx()).observed, HasSubstr("priority 3"));
}

TEST(Pfc, warns_of_several_and_fails_for_all_eight) {
    EXPECT_EQ(only(judge_pfc, with_dcb(e810(), [](Dcb& d) { d.pfc->enabled = 0x18; })).status, Status::warn);
    EXPECT_EQ(only(judge_pfc, with_dcb(e810(), [](Dcb& d) { d.pfc->enabled = 0xff; })).status, Status::fail);
}

TEST(Pfc, fails_for_another_priority_than_the_policys) {
    Expect expect;
    expect.priority = 4;
    EXPECT_EQ(only(judge_pfc, e810(), expecting(expect)).status, Status::fail);
    expect.priority = 3;
    EXPECT_EQ(only(judge_pfc, e810(), expecting(expect)).status, Status::pass);
}

// ------------------------------------------------------------------ dcb.mode, dcb.chain: the first trap

TEST(Traps, dscp_26_on_ice_in_pcp_mode_lands_in_priority_2_while_pfc_protects_3) {
    for (const char* traffic_class : {"", "104"}) {
        const Finding mode = only(judge_mode, e810_pcp(8), site(traffic_class));
        EXPECT_EQ(mode.status, Status::fail);
        EXPECT_THAT(mode.observed, HasSubstr("DSCP 26 lands in priority 2 while PFC protects 3"));
        EXPECT_EQ(mode.remedy.commands.front(), "sudo dcb app add dev ens1f0np0 dscp-prio 26:3");
    }
    const Finding chain = only(judge_chain, e810_pcp(8), site("104"));
    EXPECT_EQ(chain.status, Status::fail);
    EXPECT_THAT(chain.observed, HasSubstr("the first broken link is PFC: priority 2 is not lossless; PFC protects 3"));
}

TEST(Traps, after_entering_dscp_mode_all_bandwidth_sits_on_tc_0) {
    const Finding finding = only(judge_ets, with_dcb(e810(), [](Dcb& d) { d.ets->tx_bandwidth = {100, 0, 0, 0, 0, 0, 0, 0}; }));
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("all bandwidth sits on TC 0 (100/0/0…), as ice leaves it on entering L3 DSCP mode"));
    EXPECT_THAT(finding.remedy.commands, testing::ElementsAre(HasSubstr("dcb ets set dev ens1f0np0")));
}

TEST(Mode, passes_with_dscp_on_both_drivers) {
    EXPECT_EQ(only(judge_mode, e810()).status, Status::pass);
    EXPECT_EQ(only(judge_mode, connectx()).status, Status::pass);
}

TEST(Mode, passes_in_pcp_mode_where_a_vlans_egress_map_closes_the_chain) {
    EXPECT_EQ(only(judge_mode, over_vlan(e810_pcp(8), {{2, 3}}), site("104")).status, Status::pass);
    EXPECT_EQ(only(judge_mode, over_vlan(e810_pcp(8), {{2, 2}}), site("104")).status, Status::fail);
}

TEST(Mode, warns_where_priority_tags_close_the_chain_on_an_untagged_e830) {
    const Finding finding = only(judge_mode, e830(1u << 2), site("104"));
    EXPECT_EQ(finding.status, Status::warn);
    EXPECT_THAT(finding.observed, HasSubstr("priority tags of VLAN 0"));
}

TEST(Mode, fails_on_an_e830_that_is_set_up_like_an_e810) {
    const Finding finding = only(judge_mode, e830(8));
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("E82x/E830 has no L3 DSCP mode"));
    EXPECT_THAT(finding.remedy.summary, HasSubstr("MINIO_RDMA_INTERNODE_TRAFFIC_CLASS=104"));
}

TEST(Mode, fails_on_a_connectx_that_trusts_pcp_without_a_vlan) {
    const Finding finding = only(judge_mode, with_dcb(connectx(), [](Dcb& d) { d.apps = std::vector<DcbApp>{}; }));
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("lands in priority 0 while PFC protects 3"));
}

// ------------------------------------------------------------------ dcb.class

TEST(Class, passes_when_the_detection_finds_one) {
    const Finding finding = only(judge_class, e810());
    EXPECT_EQ(finding.status, Status::pass);
    EXPECT_EQ(finding.observed, "the automatic detection finds DSCP 26 in TC 3");
}

TEST(Class, fails_when_there_is_nothing_to_find_although_pfc_is_on) {
    const Finding finding = only(judge_class, with_dcb(e810(), [](Dcb& d) { d.apps = {{5, 6, 48}}; }));
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("no DSCP APP entry leads to lossless priority 3"));
    EXPECT_EQ(finding.remedy.commands.front(), "sudo dcb app add dev ens1f0np0 dscp-prio 26:3");
}

TEST(Class, fails_for_an_explicit_value_only_when_no_reading_is_lossless) {
    EXPECT_EQ(only(judge_class, e810(), site("104")).status, Status::pass);
    EXPECT_EQ(only(judge_class, e810(), site("26")).status, Status::warn);   // DSCP 26, or ToS 26
    EXPECT_EQ(only(judge_class, e810(), site("184")).status, Status::fail);  // DSCP 46
    EXPECT_EQ(only(judge_class, with_dcb(connectx(), [](Dcb& d) { d.apps = {{5, 0, 46}}; }), site("184")).status, Status::fail);
}

TEST(Class, fails_when_the_policy_expects_another_dscp) {
    Expect expect;
    expect.dscp = 46;
    EXPECT_EQ(only(judge_class, e810(), expecting(expect)).status, Status::fail);
}

TEST(Class, warns_when_the_two_settings_look_confused) {
    Site confused = site();
    confused.s3 = class_setting(std::string("104"));
    EXPECT_EQ(only(judge_class, e810(), confused).status, Status::warn);
}

TEST(Class, is_unknown_when_the_environment_could_not_be_read) {
    Site hidden = site();
    hidden.internode = class_setting(Unreadable{"EACCES", "/etc/default/minio: permission denied"});
    EXPECT_EQ(only(judge_class, e810(), hidden).status, Status::unknown);
}

// ------------------------------------------------------------------ dcb.chain

TEST(ChainRule, prints_every_link_with_its_source) {
    const Finding finding = only(judge_chain, e810());
    EXPECT_EQ(finding.status, Status::pass);
    EXPECT_EQ(finding.observed, "ToS 104 -> DSCP 26 -> TC 3 -> PFC on -> bandwidth 50 %");
    const auto& links = std::get<std::vector<std::string>>(finding.evidence.front().second);
    EXPECT_THAT(links, Contains("TC 3: APP entry 26:3, L3 DSCP mode"));
    EXPECT_THAT(links, Contains("ToS 104: found by the automatic detection"));
}

TEST(ChainRule, says_that_the_first_link_is_broken_when_nothing_is_detected) {
    EXPECT_THAT(only(judge_chain, e810_pcp(8)).observed, HasSubstr("breaks at its first link, the traffic class"));
}

TEST(ChainRule, is_unknown_at_a_link_that_cannot_be_seen) {
    EXPECT_EQ(only(judge_chain, connectx(), site("96")).status, Status::unknown);
}

TEST(ChainRule, warns_of_a_code_point_with_two_entries) {
    EXPECT_EQ(only(judge_chain, with_dcb(connectx(), [](Dcb& d) { d.apps = {{5, 3, 26}, {5, 4, 26}}; }), site("104")).status, Status::warn);
}

TEST(ChainRule, shows_the_default_tos_of_rdma_cm_where_its_folder_exists) {
    auto port = e810();
    port.cm_tos = std::string("104\n");
    const Finding finding = only(judge_chain, port);
    EXPECT_THAT(finding.evidence, Contains(testing::Pair("rdma_cm default ToS", EvidenceValue(std::string("104")))));
}

TEST(ChainRule, never_fails_for_the_s3_path_alone_whose_marking_is_not_public) {
    Site s3 = site();
    s3.wants_internode = false;
    EXPECT_NE(only(judge_chain, e810_pcp(8), s3).status, Status::fail);
    EXPECT_EQ(only(judge_class, e810_pcp(8), s3).status, Status::skip);
}

// ------------------------------------------------------------------ dcb.ets

TEST(Ets, passes_for_shared_strict_and_vendor_scheduling) {
    EXPECT_EQ(only(judge_ets, e810()).status, Status::pass);
    EXPECT_EQ(only(judge_ets, connectx()).status, Status::pass);
    EXPECT_EQ(only(judge_ets, with_dcb(connectx(), [](Dcb& d) { d.ets->tsa.assign(8, 0); })).status, Status::pass);
}

TEST(Ets, fails_without_bandwidth_only_where_ets_schedules_the_class) {
    const auto starved = with_dcb(connectx(), [](Dcb& d) {
        d.ets->tsa.assign(8, 2);
        d.ets->tx_bandwidth = {50, 50, 0, 0, 0, 0, 0, 0};
    });
    EXPECT_EQ(only(judge_ets, starved).status, Status::fail);
}

TEST(Ets, fails_for_a_gap_among_the_tcs_of_ice_and_not_of_others) {
    const std::vector<int> gap = {0, 0, 2, 2, 0, 0, 0, 0};
    EXPECT_THAT(only(judge_ets, with_dcb(e830(4), [&](Dcb& d) { d.ets->priority_tc = gap; })).observed, HasSubstr("not contiguous"));
    EXPECT_EQ(only(judge_ets, with_dcb(connectx(), [](Dcb& d) { d.ets->priority_tc = {1, 1, 1, 3, 1, 1, 1, 1}; })).status, Status::pass);
}

TEST(Ets, warns_when_lossy_priorities_share_the_tc) {
    EXPECT_EQ(only(judge_ets, with_dcb(connectx(), [](Dcb& d) { d.ets->priority_tc.assign(8, 0); })).status, Status::warn);
}

TEST(Ets, is_unknown_without_the_attribute) {
    EXPECT_EQ(only(judge_ets, with_dcb(e810(), [](Dcb& d) { d.ets.reset(); })).status, Status::unknown);
}

// ------------------------------------------------------------------ pause.global

TEST(Pause, passes_when_off_and_fails_beside_pfc) {
    EXPECT_EQ(only(judge_pause, e810()).status, Status::pass);
    auto port = connectx();
    port.pause = EthtoolPause{false, true, false};
    const Finding finding = only(judge_pause, port);
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("on (received), beside PFC"));
    EXPECT_THAT(finding.remedy.commands, testing::ElementsAre("sudo ethtool -A ens2f0np0 rx off tx off"));
}

TEST(Pause, on_an_e810_says_that_it_shows_only_without_pfc) {
    auto port = e810_pcp(0);
    port.pause = EthtoolPause{false, true, true};
    EXPECT_THAT(only(judge_pause, port).observed, HasSubstr("only while PFC is off"));
}

TEST(Pause, is_fine_where_the_driver_has_none_and_unknown_where_it_could_not_be_read) {
    auto port = e810();
    port.pause = Absent{"EOPNOTSUPP"};
    EXPECT_EQ(only(judge_pause, port).status, Status::pass);
    port.pause = Unreadable{"EIO", "ethtool: EIO"};
    EXPECT_EQ(only(judge_pause, port).status, Status::unknown);
}

// ------------------------------------------------------------------ dcb.ports

Finding compared(std::vector<LosslessPort> ports, bool guessed = false) {
    Findings out;
    judge_same_plan(ports, guessed, site(), out);
    return out.list().at(0);
}

LosslessPort second(LosslessPort port) {
    port.netdev = "ens1f1np1";
    port.key = "0000:3b:00.1";
    return port;
}

TEST(SamePlan, passes_for_equal_ports_even_of_different_drivers) {
    EXPECT_EQ(compared({e810(), second(e810())}).status, Status::pass);
    EXPECT_EQ(compared({e810(), connectx()}).status, Status::pass);
}

TEST(SamePlan, fails_when_trust_drifts_and_warns_when_the_ports_were_guessed) {
    const Finding finding = compared({e810(), second(e810_pcp(8))});
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("classification: DSCP on ens1f0np0; PCP on ens1f1np1"));
    EXPECT_THAT(finding.remedy.commands.front(), HasSubstr("dcb app add dev ens1f1np1 dscp-prio 26:3"));
    EXPECT_EQ(compared({e810(), second(e810_pcp(8))}, true).status, Status::warn);
}

TEST(SamePlan, does_not_compare_what_is_not_there_or_could_not_be_read) {
    EXPECT_EQ(compared({e810()}).status, Status::skip);
    EXPECT_EQ(compared({e810(), second(silent(e810()))}).status, Status::unknown);
    EXPECT_EQ(compared({e810(), second(without_dcb(e810()))}).status, Status::fail);
    auto infiniband = second(e810());
    infiniband.infiniband = true;
    EXPECT_EQ(compared({e810(), infiniband}).status, Status::skip);
}

// ------------------------------------------------------------------ dcb.persistence

Finding kept(Keepers keepers, const LosslessPort& port = e810()) {
    Findings out;
    judge_persistence(port, site(), keepers, out);
    return out.list().at(0);
}

Keeper unit() {
    return {"systemd unit", "/etc/systemd/system/roce.service", "roce.service", {"Type=oneshot", "ExecStart=dcb pfc set dev ens1f0np0 prio-pfc 3:on"}, true, true, true};
}

TEST(Persistence, passes_for_an_enabled_unit_that_ran_in_this_boot) {
    EXPECT_EQ(kept({{unit()}, {}}).status, Status::pass);
}

TEST(Persistence, warns_of_a_unit_that_is_enabled_and_never_ran) {
    Keeper idle = unit();
    idle.active = false;
    const Finding finding = kept({{idle}, {}});
    EXPECT_EQ(finding.status, Status::warn);
    EXPECT_THAT(finding.observed, HasSubstr("enabled, but it did NOT run in this boot"));
}

TEST(Persistence, warns_when_nothing_is_found_and_gives_a_unit) {
    const Finding finding = kept({});
    EXPECT_EQ(finding.status, Status::warn);
    EXPECT_THAT(finding.remedy.persist, Contains(HasSubstr("[Unit]")));
    EXPECT_THAT(finding.remedy.commands, testing::IsEmpty());
}

TEST(Persistence, does_not_count_a_unit_of_another_port) {
    Keeper other = unit();
    other.lines = {"ExecStart=dcb pfc set dev ens1f0np01 prio-pfc 3:on"};
    EXPECT_THAT(kept({{other}, {}}).observed, HasSubstr("nothing was found"));
}

TEST(Persistence, counts_a_template_by_its_instance) {
    Keeper instance = unit();
    instance.unit = "roce@ens1f0np0.service";
    instance.lines = {"Type=oneshot", "ExecStart=dcb pfc set dev %i prio-pfc 3:on"};
    EXPECT_EQ(kept({{instance}, {}}).status, Status::pass);
}

TEST(Persistence, names_what_could_not_be_read) {
    const Finding finding = kept({{}, {{"/etc/NetworkManager/system-connections", {"EACCES", "permission denied"}}}});
    EXPECT_EQ(finding.status, Status::warn);
    EXPECT_THAT(finding.observed, HasSubstr("not readable: /etc/NetworkManager/system-connections (EACCES)"));
}

TEST(Persistence, passes_for_the_firmware_agent_and_skips_where_nothing_is_set) {
    EXPECT_EQ(kept({}, agent(8)).status, Status::pass);
    EXPECT_EQ(kept({}, e810_pcp(0)).status, Status::skip);
}

}  // namespace
}  // namespace preflight
