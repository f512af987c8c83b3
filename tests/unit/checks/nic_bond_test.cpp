#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace preflight {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

const Options bond0 = interfaces({"bond0"});

FakeHost bonded(FakeHost host, const std::string& mode) {
    host.add_bond("bond0", 10, mode, {"ens1f0np0", "ens1f1np1"});
    return host;
}

/// mlx5 merges both ports into one device on the first function.
void merge(FakeHost& host) {
    host.drop_rdma("mlx5_1");
    host.rdma_device("mlx5_0", [](RdmaDevice& device) { device.ports[0].netdev = 10; device.ports[0].netdev_name = "bond0"; });
}

TEST(NicBond, fails_for_lacp_over_two_irdma_devices_that_both_carry_the_bonds_gids) {
    FakeHost host = bonded(e810_node(), "802.3ad");
    const Finding finding = only(judged(host, bond0), "nic.bond");
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_EQ(finding.subject.text, "bond0");
    EXPECT_EQ(finding.subject.keys, (std::vector<std::string>{"0000:3b:00.0", "0000:3b:00.1"}));
    EXPECT_THAT(finding.observed, HasSubstr("flows hashed to the other port are lost"));
}

TEST(NicBond, fails_for_lacp_whose_gids_are_those_of_a_vlan_over_the_bond) {
    FakeHost host = bonded(e810_node(), "802.3ad");
    host.add_vlan("bond0.100", 11, 10);
    host.set_addresses("bond0", {});
    host.set_addresses("bond0.100", {"192.0.2.11"});
    for (const char* device : {"rocep59s0f0", "rocep59s0f1"}) host.set("rdma_gids", std::string(device) + "/1", GidTable{32, {roce_gid(0, ipv4_gid("192.0.2.11"), "bond0.100")}, {}});
    EXPECT_EQ(only(judged(host, bond0), "nic.bond").status, Status::fail);
}

TEST(NicBond, fails_for_lacp_over_connectx_ports_of_two_cards) {
    FakeHost host = mlx5_node();
    host.add_port({"ens2f0np0", 5, "0000:5e:00.0", 0x15b3, 0x101d, "mlx5_core", "mlx5_2", 1, "192.0.2.12", 8388608});
    host.add_bond("bond0", 10, "802.3ad", {"ens1f0np0", "ens2f0np0"});
    EXPECT_EQ(only(judged(host, bond0), "nic.bond").status, Status::fail);
}

TEST(NicBond, does_not_fail_for_lacp_while_one_member_is_outside_the_active_aggregator) {
    FakeHost host = bonded(e810_node(), "802.3ad");
    host.link("ens1f1np1", [](Link& link) { link.bond_port->aggregator = 2; });
    const Finding finding = only(judged(host, bond0), "nic.bond");
    EXPECT_EQ(finding.status, Status::warn);
    EXPECT_TRUE(finding.unproven);
}

TEST(NicBond, warns_unproven_for_lacp_over_a_driver_of_which_nothing_is_known) {
    FakeHost host = bare_node();
    host.add_port({"ens1f0np0", 3, "0000:3b:00.0", 0x14e4, 0x1750, "bnxt_en", "bnxt_re0", 6, "192.0.2.11", 1000});
    host.add_port({"ens1f1np1", 4, "0000:3b:00.1", 0x14e4, 0x1750, "bnxt_en", "bnxt_re1", 6, "192.0.2.12", 1000});
    host.add_bond("bond0", 10, "802.3ad", {"ens1f0np0", "ens1f1np1"});
    const Finding finding = only(judged(host, bond0), "nic.bond");
    EXPECT_EQ(finding.status, Status::warn);
    EXPECT_TRUE(finding.unproven);
}

TEST(NicBond, is_unknown_for_lacp_when_the_gid_tables_cannot_be_read) {
    FakeHost host = bonded(e810_node(), "802.3ad");
    host.unreadable("rdma_gids", "rocep59s0f1/1", "EACCES");
    EXPECT_EQ(only(judged(host, bond0), "nic.bond").status, Status::unknown);
}

TEST(NicBond, warns_unproven_for_active_backup_and_leaves_the_backup_member_without_gids_alone) {
    FakeHost host = bonded(e810_node(), "active-backup");
    const Report report = judged(host, bond0);
    EXPECT_EQ(only(report, "nic.bond").status, Status::warn);
    EXPECT_TRUE(only(report, "nic.bond").unproven);
    EXPECT_EQ(about(report, "rdma.gid", "rocep59s0f0/1").status, Status::pass);
    EXPECT_EQ(about(report, "rdma.gid", "rocep59s0f1/1").status, Status::skip);
    EXPECT_THAT(complaints(report), IsEmpty());
}

TEST(NicBond, passes_for_a_merged_mlx5_device_that_serves_both_members) {
    FakeHost host = bonded(mlx5_node(), "802.3ad");
    merge(host);
    const Report report = judged(host, bond0);
    EXPECT_EQ(only(report, "nic.bond").status, Status::pass);
    EXPECT_EQ(about(report, "rdma.device", "ens1f1np1").status, Status::pass);
    EXPECT_THAT(complaints(report), IsEmpty());
}

TEST(NicBond, passes_for_a_merged_device_of_which_nldev_names_a_member_instead_of_the_bond) {
    FakeHost host = bonded(mlx5_node(), "802.3ad");
    merge(host);
    host.rdma_device("mlx5_0", [](RdmaDevice& device) { device.ports[0].netdev = 4; device.ports[0].netdev_name = "ens1f1np1"; });
    EXPECT_THAT(complaints(judged(host, bond0)), IsEmpty());
}

TEST(NicBond, is_the_cause_when_no_member_has_an_rdma_device_any_more) {
    FakeHost host = bonded(e810_node(), "802.3ad");
    host.drop_rdma("rocep59s0f0");
    host.drop_rdma("rocep59s0f1");
    const Report report = judged(host, bond0);
    EXPECT_EQ(only(report, "nic.bond").status, Status::fail);
    EXPECT_EQ(about(report, "rdma.device", "ens1f0np0").blocked_by, std::vector<std::string>{"nic.bond"});
}

TEST(NicBond, is_not_blamed_for_a_driver_that_is_not_loaded) {
    FakeHost host = bonded(e810_node(), "802.3ad");
    host.drop_rdma("rocep59s0f0");
    host.drop_rdma("rocep59s0f1");
    host.unload("irdma");
    EXPECT_NE(only(judged(host, bond0), "nic.bond").status, Status::fail);
}

TEST(NicBond, is_unknown_when_rdma_devices_cannot_be_listed) {
    FakeHost host = bonded(e810_node(), "802.3ad");
    host.unreadable("rdma_devices", "", "EPERM");
    host.unreadable("list", "/sys/class/infiniband", "EACCES");
    EXPECT_EQ(only(judged(host, bond0), "nic.bond").status, Status::unknown);
}

TEST(NicBond, passes_for_out_of_tree_roce_lag_only_when_all_its_conditions_hold) {
    FakeHost host = bonded(e810_node(), "active-backup");
    host.drop_rdma("rocep59s0f1");
    EXPECT_NE(only(judged(host, bond0), "nic.bond").status, Status::pass);
    host.text("/sys/module/ice/taint", "OE\n");
    host.text("/sys/module/irdma/taint", "OE\n");
    EXPECT_NE(only(judged(host, bond0), "nic.bond").status, Status::pass) << "the default package has no LAG";
    host.devlink_device("0000:3b:00.0", [](DevlinkDevice& device) {
        DevlinkInfo info = *device.info;
        info.running["fw.app.name"] = "ICE LAG Package";
        device.info = info;
    });
    const Report report = judged(host, bond0);
    EXPECT_EQ(only(report, "nic.bond").status, Status::pass);
    EXPECT_THAT(complaints(report), IsEmpty()) << "the other member has no device of its own by design";
}

TEST(NicBond, fails_for_a_port_that_left_its_bond_but_kept_the_bonds_gids) {
    FakeHost host = bonded(e810_node(), "802.3ad");
    host.link("ens1f1np1", [](Link& link) { link.master.reset(); link.bond_port.reset(); });
    host.set_addresses("ens1f1np1", {"198.51.100.11"});
    EXPECT_EQ(about(judged(host, interfaces({"ens1f1np1"})), "nic.bond", "ens1f1np1").status, Status::fail);
}

TEST(NicBond, skips_without_a_bond) {
    FakeHost host = e810_node();
    EXPECT_EQ(only(judged(host), "nic.bond").status, Status::skip);
}

}  // namespace
}  // namespace preflight
