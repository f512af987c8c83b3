#include "lossless_remedy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/lossless_ports.h"

namespace preflight {
namespace {

using namespace ports;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const ClassSetting automatic = class_setting(Absent{});
const LosslessPlan recipe{3, 26};

const std::string ice_ets = "sudo dcb ets set dev ens1f0np0 tc-tsa all:ets tc-bw 0:20 1:5 2:5 3:50 4:5 5:5 6:5 7:5";
const std::string ice_pfc = "sudo dcb pfc set dev ens1f0np0 prio-pfc all:off 3:on";

TEST(LosslessCommands, of_an_e810_enter_dscp_mode_first_and_then_set_bandwidth_and_pfc_again) {
    EXPECT_THAT(lossless_commands(e810_pcp(8), recipe), ElementsAre("sudo dcb app add dev ens1f0np0 dscp-prio 26:3", ice_ets, ice_pfc));
}

TEST(LosslessCommands, of_an_e810_switch_the_firmware_agent_off_before_anything_else) {
    auto port = with_dcb(e810_pcp(0), [](Dcb& d) { d.dcbx = 0x0a; });
    port.flags = std::map<std::string, bool>{{"fw-lldp-agent", true}};
    EXPECT_THAT(lossless_commands(port, recipe),
                ElementsAre("sudo ethtool --set-priv-flags ens1f0np0 fw-lldp-agent off", "sudo dcb app add dev ens1f0np0 dscp-prio 26:3", ice_ets, ice_pfc));
}

TEST(LosslessCommands, leave_out_what_is_right_already) {
    EXPECT_THAT(lossless_commands(e810(), recipe), IsEmpty());
    EXPECT_THAT(lossless_commands(connectx(), recipe), IsEmpty());
    EXPECT_THAT(lossless_commands(with_dcb(e810(), [](Dcb& d) { d.ets->tx_bandwidth = {100, 0, 0, 0, 0, 0, 0, 0}; }), recipe), ElementsAre(ice_ets));
}

// ice refuses a code point that is mapped; deleting the last entry leaves DSCP mode and resets the port.
TEST(LosslessCommands, of_an_e810_delete_a_wrong_entry_before_adding_the_right_one) {
    const auto port = with_dcb(e810(), [](Dcb& d) { d.apps = {{5, 2, 26}}; });
    EXPECT_THAT(lossless_commands(port, recipe),
                ElementsAre("sudo dcb app del dev ens1f0np0 dscp-prio 26:2", "sudo dcb app add dev ens1f0np0 dscp-prio 26:3", ice_ets, ice_pfc));
}

TEST(LosslessCommands, of_a_connectx_leave_the_vendors_scheduler_alone) {
    const auto port = with_dcb(connectx(), [](Dcb& d) {
        d.apps = std::vector<DcbApp>{};
        d.pfc->enabled = 0;
    });
    EXPECT_THAT(lossless_commands(port, recipe), ElementsAre("sudo dcb app add dev ens2f0np0 dscp-prio 26:3", "sudo dcb pfc set dev ens2f0np0 prio-pfc all:off 3:on"));
}

TEST(LosslessCommands, of_an_e830_protect_the_priority_of_the_tos_table) {
    EXPECT_THAT(lossless_commands(e830(8), recipe), Contains("sudo dcb pfc set dev ens1f0np0 prio-pfc all:off 2:on"));
}

TEST(LosslessCommands, of_an_e830_below_a_vlan_mend_its_egress_map) {
    EXPECT_THAT(lossless_commands(over_vlan(e830(8), {{4, 3}}), recipe), ElementsAre("sudo ip link set dev storage.100 type vlan egress-qos-map 2:3"));
}

TEST(LosslessCommands, switch_link_pause_off_before_pfc_on) {
    auto port = e810_pcp(0);
    port.pause = EthtoolPause{true, true, true};
    EXPECT_EQ(lossless_commands(port, recipe).front(), "sudo ethtool -A ens1f0np0 autoneg off rx off tx off");
}

TEST(LosslessCommands, share_out_all_bandwidth_whatever_the_class) {
    for (unsigned priority = 0; priority < 8; ++priority) {
        const auto commands = lossless_commands(e810_pcp(0), {priority, 8 * priority});
        const std::string& ets = commands[1];
        int sum = 0, classes = 0;
        for (auto at = ets.find("tc-bw"); (at = ets.find(':', at + 1)) != std::string::npos; ++classes) sum += std::stoi(ets.substr(at + 1));
        EXPECT_EQ(sum, 100) << ets;
        EXPECT_EQ(classes, 8) << ets;
        EXPECT_THAT(ets, HasSubstr(std::to_string(priority) + ":5")) << ets;
    }
}

TEST(LosslessPlanOfAPort, is_the_policys_else_what_the_port_has_else_the_recipe) {
    EXPECT_EQ(plan_for(e810_pcp(0), automatic, {}).dscp, 26u);
    EXPECT_EQ(plan_for(e810_pcp(1u << 4), automatic, {}).priority, 4u);
    EXPECT_EQ(plan_for(e810_pcp(1u << 4), automatic, {}).dscp, 32u);
    Expect site;
    site.priority = 5;
    site.dscp = 46;
    EXPECT_EQ(plan_for(e810(), automatic, site).priority, 5u);
    EXPECT_EQ(plan_for(e810(), automatic, site).dscp, 46u);
    EXPECT_EQ(plan_for(e810_pcp(8), class_setting(std::string("104")), {}).dscp, 26u);
}

TEST(LosslessUnit, sets_the_port_up_before_the_network_and_reads_it_back) {
    auto port = e810();
    port.netdev = "eth-storage";
    const auto lines = lossless_unit(port, recipe);
    ASSERT_EQ(lines.size(), 3u);
    const std::string& unit = lines.front();
    EXPECT_THAT(unit, testing::StartsWith("printf '%s\\n' '[Unit]' 'Description=Lossless RoCE on eth-storage' "));
    EXPECT_THAT(unit, testing::EndsWith(" | sudo tee /etc/systemd/system/lossless-eth-storage.service"));
    for (const char* line : {"'BindsTo=sys-subsystem-net-devices-eth\\x2dstorage.device'", "'Before=network-pre.target'", "'RemainAfterExit=yes'",
                             "'ExecStart=dcb app add dev eth-storage dscp-prio 26:3'", "'ExecStart=sh -c \"dcb pfc show dev eth-storage prio-pfc | grep -q 3:on\"'"})
        EXPECT_THAT(unit, HasSubstr(line));
    EXPECT_LT(unit.find("ethtool --set-priv-flags"), unit.find("dcb app add"));
    EXPECT_LT(unit.find("dcb app add"), unit.find("dcb ets set"));
    EXPECT_LT(unit.find("dcb ets set"), unit.find("dcb pfc set"));
    EXPECT_EQ(lines.back(), "sudo systemctl enable --now lossless-eth-storage.service");
}

}  // namespace
}  // namespace preflight
