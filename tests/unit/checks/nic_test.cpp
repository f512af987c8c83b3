#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace preflight {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Options both = interfaces({"ens1f0np0", "ens1f1np1"});

// ------------------------------------------------------------------------------------------------ platform.os

struct Platform {
    std::string system, kernel, machine;
    Status status;
};
class PlatformOs : public testing::TestWithParam<Platform> {};

TEST_P(PlatformOs, is_judged_by_system_kernel_and_machine) {
    FakeHost host = e810_node();
    host.edit<Node>("node", "", [](Node& node) {
        node.system = GetParam().system;
        node.kernel = GetParam().kernel;
        node.architecture = GetParam().machine;
    });
    EXPECT_EQ(only(judged(host), "platform.os").status, GetParam().status);
}

INSTANTIATE_TEST_SUITE_P(Nodes, PlatformOs,
                         testing::Values(Platform{"Linux", "6.12.0-55.el10.x86_64", "x86_64", Status::pass}, Platform{"Linux", "5.4.0-26-generic", "aarch64", Status::pass},
                                         Platform{"Linux", "10.0.1", "x86_64", Status::pass}, Platform{"Linux", "5.3.18", "x86_64", Status::fail},
                                         Platform{"Linux", "4.18.0-553.el8_10.x86_64", "x86_64", Status::fail}, Platform{"Linux", "6.1.0", "i686", Status::fail},
                                         Platform{"Linux", "6.1.0", "ppc64le", Status::fail}, Platform{"FreeBSD", "14.0", "x86_64", Status::fail},
                                         Platform{"Linux", "custom", "x86_64", Status::unknown}));

TEST(PlatformOsUnread, is_unknown) {
    FakeHost host = e810_node();
    host.unreadable("node", "", "not-captured");
    EXPECT_EQ(only(judged(host), "platform.os").status, Status::unknown);
}

// ------------------------------------------------------------------------------------------------ nic.selected

TEST(NicSelected, warns_when_the_ports_were_guessed_among_several) {
    FakeHost host = e810_node();
    const Finding finding = only(judged(host), "nic.selected");
    EXPECT_EQ(finding.status, Status::warn);
    EXPECT_THAT(finding.observed, HasSubstr("ens1f0np0 and ens1f1np1"));
    EXPECT_THAT(finding.remedy.commands, Contains(HasSubstr("--interface ens1f0np0,ens1f1np1")));
}

TEST(NicSelected, passes_when_named) {
    FakeHost host = e810_node();
    EXPECT_EQ(only(judged(host, both), "nic.selected").status, Status::pass);
}

TEST(NicSelected, passes_when_there_is_one_choice_only) {
    FakeHost host = e810_node();
    host.set_addresses("ens1f1np1", {});
    EXPECT_EQ(only(judged(host), "nic.selected").status, Status::pass);
}

TEST(NicSelected, takes_the_members_of_one_bond_for_one_choice) {
    FakeHost host = mlx5_node();
    host.add_bond("bond0", 10, "802.3ad", {"ens1f0np0", "ens1f1np1"});
    EXPECT_EQ(only(judged(host), "nic.selected").status, Status::pass);
}

TEST(NicSelected, takes_a_bond_or_vlan_name_for_the_ports_below_it) {
    FakeHost host = mlx5_node();
    host.add_bond("bond0", 10, "802.3ad", {"ens1f0np0", "ens1f1np1"});
    host.add_vlan("bond0.100", 11, 10);
    EXPECT_EQ(only(judged(host, interfaces({"bond0.100"})), "nic.selected").observed.substr(0, 23), "ens1f0np0 and ens1f1np1");
}

TEST(NicSelected, fails_and_names_an_interface_that_is_not_here) {
    FakeHost host = e810_node();
    const Finding finding = only(judged(host, interfaces({"ens9"})), "nic.selected");
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("ens9"));
}

TEST(NicSelected, folds_every_port_check_when_there_is_no_rdma_capable_port) {
    FakeHost host = bare_node();
    host.add_port({"eno1", 2, "0000:01:00.0", 0x14e4, 0x165f, "tg3", "", 0, "203.0.113.11"});
    const Report report = judged(host);
    EXPECT_EQ(only(report, "nic.selected").status, Status::fail);
    for (const std::string id : {"nic.driver", "nic.link", "nic.address", "nic.mtu", "nic.bond", "rdma.device", "rdma.port", "rdma.gid"}) {
        EXPECT_EQ(only(report, id).status, Status::blocked) << id;
        EXPECT_THAT(only(report, id).blocked_by, Contains("nic.selected")) << id;
    }
}

TEST(NicSelected, is_unknown_when_the_interfaces_cannot_be_read) {
    FakeHost host = e810_node();
    host.unreadable("links", "", "EPERM");
    const Report report = judged(host);
    EXPECT_EQ(only(report, "nic.selected").status, Status::unknown);
    EXPECT_EQ(only(report, "nic.link").status, Status::blocked);
    EXPECT_EQ(report.verdict, Verdict::incomplete);
}

TEST(NicSelected, is_unknown_rather_than_failed_when_sysfs_is_not_mounted) {
    FakeHost host = e810_node();
    for (auto& [question, answer] : host.answers)
        if (question.argument.rfind("/sys/", 0) == 0) answer = Absent{};
    host.unreadable("rdma_devices", "", "ENOENT");
    const Report report = judged(host);
    EXPECT_EQ(only(report, "nic.selected").status, Status::unknown);
    for (const Finding& finding : report.findings) EXPECT_NE(finding.status, Status::fail) << finding.id << " " << finding.observed;
}

// ------------------------------------------------------------------------------------------------ who is never judged

TEST(PortsLeftOut, are_management_nics_vfs_down_and_unaddressed_ports) {
    FakeHost host = e810_node();
    host.add_port({"ens1f0v0", 5, "0000:3b:11.0", 0x8086, 0x1889, "iavf", "", 0, "192.0.2.50"});
    host.set("info", "/sys/bus/pci/devices/0000:3b:11.0/physfn", FileInfo{"dir", 0755, 0, 0, 0, 0});
    host.add_port({"ens2f0np0", 6, "0000:5e:00.0", 0x8086, 0x1592, "ice", "", 0, ""});
    host.link("ens2f0np0", [](Link& link) { link.flags = 0; link.operstate = "down"; link.carrier.reset(); });
    const Report report = judged(host);
    EXPECT_THAT(complaints(report), IsEmpty());
    EXPECT_THAT(only(report, "nic.selected").observed, Not(HasSubstr("ens2f0np0")));
}

TEST(PortsLeftOut, is_an_x710_though_i40e_also_drives_the_rdma_capable_x722) {
    FakeHost host = e810_node();
    host.add_port({"eno2", 7, "0000:19:00.0", 0x8086, 0x1572, "i40e", "", 0, "203.0.113.12"});
    EXPECT_THAT(complaints(judged(host)), IsEmpty());
}

TEST(PortsLeftOut, is_an_addressed_broadcom_without_rdma_beside_a_nic_with_it) {
    FakeHost host = e810_node();
    host.add_port({"eno3", 7, "0000:19:00.0", 0x14e4, 0x16d7, "bnxt_en", "", 0, "203.0.113.12"});
    const Report report = judged(host);
    EXPECT_THAT(complaints(report), IsEmpty());
    EXPECT_THAT(only(report, "nic.selected").observed, Not(HasSubstr("eno3")));
    EXPECT_EQ(only(report, "nic.selected").status, Status::warn);
}

TEST(PortsLeftOut, is_nobody_whom_the_operator_names) {
    FakeHost host = e810_node();
    host.add_port({"eno3", 7, "0000:19:00.0", 0x14e4, 0x16d7, "bnxt_en", "", 0, "203.0.113.12"});
    const Report report = judged(host, interfaces({"eno3"}));
    EXPECT_EQ(about(report, "rdma.modules", "eno3").status, Status::fail);
    EXPECT_EQ(about(report, "rdma.device", "eno3").blocked_by, std::vector<std::string>{"rdma.modules"});
}

TEST(PortsLeftOut, are_the_representors_that_share_the_pci_function_of_their_uplink) {
    FakeHost host = mlx5_node();
    host.edit<std::vector<Link>>("links", "", [](std::vector<Link>& links) {
        Link representor = links.back();
        representor.index = 40;
        representor.name = "ens1f1npf1vf0";
        links.push_back(representor);
    });
    host.text("/sys/class/net/ens1f1npf1vf0/phys_port_name", "pf1vf0\n");
    host.text("/sys/class/net/ens1f1np1/phys_port_name", "p1\n");
    const Report report = judged(host);
    EXPECT_THAT(complaints(report), IsEmpty());
    EXPECT_EQ(found(report, "nic.link").size(), 2u);
}

// ------------------------------------------------------------------------------------------------ nic.driver

TEST(NicDriver, fails_for_a_named_port_without_an_rdma_driver) {
    FakeHost host = e810_node();
    const Finding finding = about(judged(host, interfaces({"eno1"})), "nic.driver", "eno1");
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("tg3"));
}

TEST(NicDriver, names_an_rdma_capable_function_to_which_no_driver_is_bound) {
    FakeHost host = bare_node();
    host.add_pci("0000:3b:00.0", 0x020000, 0x8086, 0x1592);
    const Report report = judged(host);
    bool named = false;
    for (const Finding& finding : report.findings) named |= finding.observed.find("0000:3b:00.0") != std::string::npos || finding.subject.text == "0000:3b:00.0";
    EXPECT_TRUE(named);
    EXPECT_EQ(report.verdict, Verdict::fail);
}

TEST(NicDriver, fails_for_out_of_tree_ice_beside_in_tree_irdma_when_the_device_is_missing) {
    FakeHost host = e810_node();
    host.text("/sys/module/ice/taint", "OE\n");
    host.drop_rdma("rocep59s0f0");
    const Report report = judged(host, both);
    EXPECT_EQ(about(report, "nic.driver", "ens1f0np0").status, Status::fail);
    EXPECT_THAT(about(report, "nic.driver", "ens1f0np0").observed, HasSubstr("ice is out-of-tree and irdma is in-tree"));
    EXPECT_THAT(about(report, "rdma.device", "ens1f0np0").blocked_by, Contains("nic.driver"));
    EXPECT_EQ(about(report, "nic.driver", "ens1f1np1").status, Status::warn);
}

TEST(NicDriver, passes_when_both_drivers_are_out_of_tree) {
    FakeHost host = e810_node();
    host.text("/sys/module/ice/taint", "OE\n");
    host.text("/sys/module/irdma/taint", "OE\n");
    EXPECT_EQ(about(judged(host, both), "nic.driver", "ens1f0np0").status, Status::pass);
}

// ------------------------------------------------------------------------------------------------ nic.ddp

void safe_mode(FakeHost& host, const std::string& pci, const std::string& netdev, const std::string& rdma) {
    host.devlink_device(pci, [](DevlinkDevice& device) {
        DevlinkInfo info = *device.info;
        info.running.erase("fw.app.name");
        info.running["fw.app"] = "0.0.0.0";
        device.info = info;
    });
    host.set("ethtool_channels", netdev, EthtoolChannels{0, 0, 1, 0, 0, 1});
    host.absent("ethtool_private_flags", netdev, "EOPNOTSUPP");
    host.absent("dcb", netdev, "EOPNOTSUPP");
    host.drop_rdma(rdma);
}

TEST(NicDdp, fails_in_safe_mode_and_explains_the_missing_device) {
    FakeHost host = e810_node();
    safe_mode(host, "0000:3b:00.0", "ens1f0np0", "rocep59s0f0");
    const Report report = judged(host, both);
    EXPECT_EQ(about(report, "nic.ddp", "ens1f0np0").status, Status::fail);
    EXPECT_EQ(about(report, "nic.ddp", "ens1f1np1").status, Status::pass);
    EXPECT_EQ(about(report, "rdma.device", "ens1f0np0").blocked_by, std::vector<std::string>{"nic.ddp"});
    EXPECT_EQ(about(report, "rdma.device", "ens1f1np1").status, Status::pass);
}

TEST(NicDdp, names_the_firmware_package_of_the_distribution) {
    FakeHost host = e810_node();
    safe_mode(host, "0000:3b:00.0", "ens1f0np0", "rocep59s0f0");
    EXPECT_THAT(about(judged(host, both), "nic.ddp", "ens1f0np0").remedy.commands, Contains(HasSubstr("dnf install -y linux-firmware")));
    host.text("/etc/os-release", "ID=debian\n");
    EXPECT_THAT(about(judged(host, both), "nic.ddp", "ens1f0np0").remedy.commands, Contains(HasSubstr("apt-get install -y firmware-misc-nonfree")));
}

TEST(NicDdp, is_unknown_on_one_sign_alone) {
    FakeHost host = e810_node();
    safe_mode(host, "0000:3b:00.0", "ens1f0np0", "rocep59s0f0");
    host.set("ethtool_channels", "ens1f0np0", EthtoolChannels{0, 0, 64, 0, 0, 64});
    host.set("ethtool_private_flags", "ens1f0np0", std::map<std::string, bool>{{"fw-lldp-agent", true}});
    host.set("dcb", "ens1f0np0", Dcb{});
    EXPECT_EQ(about(judged(host, both), "nic.ddp", "ens1f0np0").status, Status::unknown);
}

TEST(NicDdp, is_unknown_when_devlink_cannot_be_read_though_other_signs_speak) {
    FakeHost host = e810_node();
    safe_mode(host, "0000:3b:00.0", "ens1f0np0", "rocep59s0f0");
    host.unreadable("devlink", "", "EPERM");
    EXPECT_EQ(about(judged(host, both), "nic.ddp", "ens1f0np0").status, Status::unknown);
}

TEST(NicDdp, passes_with_one_channel_while_the_package_is_named) {
    FakeHost host = e810_node();
    host.set("ethtool_channels", "ens1f0np0", EthtoolChannels{0, 0, 1, 0, 0, 1});
    EXPECT_EQ(about(judged(host, both), "nic.ddp", "ens1f0np0").status, Status::pass);
}

TEST(NicDdp, passes_where_an_rdma_device_proves_that_the_card_is_not_in_safe_mode) {
    FakeHost host = e810_node();
    host.absent("devlink", "");
    for (const std::string netdev : {"ens1f0np0", "ens1f1np1"}) {
        host.unreadable("ethtool_channels", netdev, "EPERM");
        host.unreadable("ethtool_private_flags", netdev, "EPERM");
        host.unreadable("dcb", netdev, "EPERM");
    }
    EXPECT_EQ(about(judged(host, both), "nic.ddp", "ens1f0np0").status, Status::pass);
}

TEST(NicDdp, skips_other_drivers) {
    FakeHost host = mlx5_node();
    EXPECT_EQ(only(judged(host), "nic.ddp").status, Status::skip);
    EXPECT_EQ(only(judged(host), "nic.functions").status, Status::skip);
}

// ------------------------------------------------------------------------------------------------ nic.functions

void eight_functions(FakeHost& host) {
    for (int function = 2; function < 8; ++function) host.add_pci("0000:3b:00." + std::to_string(function), 0x020000, 0x8086, 0x1593, "ice");
}

TEST(NicFunctions, fails_with_more_than_four_and_no_rdma_device) {
    FakeHost host = e810_node();
    eight_functions(host);
    host.drop_rdma("rocep59s0f0");
    host.drop_rdma("rocep59s0f1");
    const Report report = judged(host, both);
    EXPECT_EQ(only(report, "nic.functions").status, Status::fail);
    EXPECT_THAT(about(report, "rdma.device", "ens1f0np0").blocked_by, Contains("nic.functions"));
}

TEST(NicFunctions, passes_with_more_than_four_when_rdma_is_there) {
    FakeHost host = e810_node();
    eight_functions(host);
    EXPECT_EQ(only(judged(host, both), "nic.functions").status, Status::pass);
}

TEST(NicFunctions, does_not_count_virtual_functions) {
    FakeHost host = e810_node();
    for (int function = 2; function < 8; ++function) {
        const std::string address = "0000:3b:00." + std::to_string(function);
        host.add_pci(address, 0x020000, 0x8086, 0x1889, "iavf");
        host.set("info", "/sys/bus/pci/devices/" + address + "/physfn", FileInfo{"dir", 0755, 0, 0, 0, 0});
    }
    host.drop_rdma("rocep59s0f0");
    host.drop_rdma("rocep59s0f1");
    EXPECT_EQ(only(judged(host, both), "nic.functions").status, Status::pass);
}

TEST(NicFunctions, is_unknown_with_more_than_four_when_rdma_devices_cannot_be_listed) {
    FakeHost host = e810_node();
    eight_functions(host);
    host.unreadable("rdma_devices", "", "EPERM");
    host.unreadable("list", "/sys/class/infiniband", "EACCES");
    EXPECT_EQ(only(judged(host, both), "nic.functions").status, Status::unknown);
}

// ------------------------------------------------------------------------------------------------ nic.link

TEST(NicLink, fails_without_carrier_and_explains_the_dead_rdma_port) {
    FakeHost host = e810_node();
    host.link("ens1f0np0", [](Link& link) { link.flags = 0x1; link.carrier = false; link.operstate = "down"; });
    host.rdma_device("rocep59s0f0", [](RdmaDevice& device) { device.ports[0].state = "DOWN"; device.ports[0].physical_state = "DISABLED"; });
    const Report report = judged(host, both);
    EXPECT_EQ(about(report, "nic.link", "ens1f0np0").status, Status::fail);
    EXPECT_EQ(about(report, "nic.link", "ens1f1np1").status, Status::pass);
    EXPECT_EQ(about(report, "rdma.port", "rocep59s0f0/1").blocked_by, std::vector<std::string>{"nic.link"});
}

TEST(NicLink, fails_when_a_named_port_is_down_and_says_how_to_raise_it) {
    FakeHost host = e810_node();
    host.link("ens1f0np0", [](Link& link) { link.flags = 0; link.carrier.reset(); link.operstate = "down"; });
    const Finding finding = about(judged(host, both), "nic.link", "ens1f0np0");
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.remedy.commands, Contains("sudo ip link set ens1f0np0 up"));
}

TEST(NicLink, with_sample_passes_a_steady_carrier_and_warns_of_one_that_changed) {
    FakeHost host = e810_node();
    host.sample_again();
    EXPECT_THAT(about(judged(host, sampling(both)), "nic.link", "ens1f0np0").observed, HasSubstr("steady"));
    host.edit<std::vector<Link>>("links", "@1", [](auto& links) {
        for (Link& link : links)
            if (link.name == "ens1f0np0") *link.carrier_changes += 4;
    });
    const Report report = judged(host, sampling(both));
    EXPECT_EQ(about(report, "nic.link", "ens1f0np0").status, Status::warn);
    EXPECT_THAT(about(report, "nic.link", "ens1f0np0").observed, HasSubstr("4 carrier changes"));
    EXPECT_EQ(about(report, "nic.link", "ens1f1np1").status, Status::pass);
}

TEST(NicLink, with_sample_fails_when_the_carrier_is_lost_meanwhile_and_is_unknown_without_a_second_reading) {
    FakeHost host = e810_node();
    host.sample_again();
    host.edit<std::vector<Link>>("links", "@1", [](auto& links) {
        for (Link& link : links)
            if (link.name == "ens1f0np0") link.flags = 0x1;
        std::erase_if(links, [](const Link& link) { return link.name == "ens1f1np1"; });
    });
    const Report report = judged(host, sampling(both));
    EXPECT_EQ(about(report, "nic.link", "ens1f0np0").status, Status::fail);
    EXPECT_EQ(about(report, "nic.link", "ens1f1np1").status, Status::fail);
    host.unreadable("links", "@1", "not-captured");
    EXPECT_EQ(about(judged(host, sampling(both)), "nic.link", "ens1f0np0").status, Status::unknown);
}

TEST(NicLink, warns_for_a_member_down_while_the_bond_lives_on_the_other) {
    FakeHost host = mlx5_node();
    host.add_bond("bond0", 10, "802.3ad", {"ens1f0np0", "ens1f1np1"});
    host.link("ens1f1np1", [](Link& link) { link.flags = 0x1; link.carrier = false; link.operstate = "down"; });
    host.rdma_device("mlx5_1", [](RdmaDevice& device) { device.ports[0].state = "DOWN"; device.ports[0].physical_state = "DISABLED"; });
    const Report report = judged(host, interfaces({"bond0"}));
    EXPECT_EQ(about(report, "nic.link", "ens1f1np1").status, Status::warn);
    EXPECT_EQ(about(report, "rdma.port", "mlx5_1/1").status, Status::warn);
}

// ------------------------------------------------------------------------------------------------ nic.address

TEST(NicAddress, fails_with_only_a_link_local_address_and_explains_the_missing_gid) {
    FakeHost host = e810_node();
    host.set_addresses("ens1f0np0", {"169.254.7.9", "fe80::1"});
    host.set("rdma_gids", "rocep59s0f0/1", GidTable{32, {roce_gid(0, "fe80:0000:0000:0000:0000:0000:0000:0001", "ens1f0np0"), roce_gid(1, ipv4_gid("169.254.7.9"), "ens1f0np0")}, {}});
    const Report report = judged(host, both);
    EXPECT_EQ(about(report, "nic.address", "ens1f0np0").status, Status::fail);
    EXPECT_EQ(about(report, "rdma.gid", "rocep59s0f0/1").blocked_by, std::vector<std::string>{"nic.address"});
}

TEST(NicAddress, passes_with_an_ipv6_address_alone) {
    FakeHost host = e810_node();
    host.set_addresses("ens1f0np0", {"2001:db8::11"});
    host.set("rdma_gids", "rocep59s0f0/1", GidTable{32, {roce_gid(3, "2001:0db8:0000:0000:0000:0000:0000:0011", "ens1f0np0")}, {}});
    EXPECT_THAT(complaints(judged(host, both)), IsEmpty());
}

TEST(NicAddress, is_unknown_when_addresses_cannot_be_read_and_so_is_the_gid) {
    FakeHost host = e810_node();
    host.unreadable("addresses", "", "EPERM");
    const Report report = judged(host, both);
    EXPECT_EQ(about(report, "nic.address", "ens1f0np0").status, Status::unknown);
    EXPECT_EQ(about(report, "rdma.gid", "rocep59s0f0/1").status, Status::blocked);
    for (const Finding& finding : report.findings) EXPECT_NE(finding.status, Status::fail) << finding.id;
}

TEST(NicAddress, takes_the_address_of_a_vlan_over_the_port) {
    FakeHost host = e810_node();
    host.set_addresses("ens1f0np0", {});
    host.add_vlan("ens1f0np0.100", 20, 3);
    host.set_addresses("ens1f0np0.100", {"192.0.2.11"});
    host.set("rdma_gids", "rocep59s0f0/1", GidTable{32, {roce_gid(0, ipv4_gid("192.0.2.11"), "ens1f0np0.100")}, {}});
    EXPECT_THAT(complaints(judged(host)), IsEmpty());
}

// ------------------------------------------------------------------------------------------------ nic.mtu

struct Mtu {
    int first, second;
    bool named;
    Status status;
};
class NicMtu : public testing::TestWithParam<Mtu> {};

TEST_P(NicMtu, is_judged_by_the_path_mtu_it_leaves_and_by_agreement) {
    FakeHost host = e810_node();
    host.link("ens1f0np0", [](Link& link) { link.mtu = GetParam().first; });
    host.link("ens1f1np1", [](Link& link) { link.mtu = GetParam().second; });
    EXPECT_EQ(about(judged(host, GetParam().named ? both : Options{}), "nic.mtu", "ens1f0np0").status, GetParam().status);
}

INSTANTIATE_TEST_SUITE_P(Ports, NicMtu,
                         testing::Values(Mtu{9000, 9000, true, Status::pass}, Mtu{4200, 4200, true, Status::pass}, Mtu{4192, 4192, true, Status::pass}, Mtu{4191, 4191, true, Status::warn},
                                         Mtu{1500, 1500, true, Status::warn}, Mtu{1500, 9000, true, Status::fail}, Mtu{1500, 9000, false, Status::warn}));

TEST(NicMtuWords, give_the_path_mtu_that_connections_get) {
    FakeHost host = e810_node();
    for (const char* netdev : {"ens1f0np0", "ens1f1np1"}) host.link(netdev, [](Link& link) { link.mtu = 1500; });
    EXPECT_THAT(about(judged(host, both), "nic.mtu", "ens1f0np0").observed, HasSubstr("1024"));
    for (const char* netdev : {"ens1f0np0", "ens1f1np1"}) host.link(netdev, [](Link& link) { link.mtu = 4100; });
    EXPECT_THAT(about(judged(host, both), "nic.mtu", "ens1f0np0").observed, HasSubstr("2048"));
}

TEST(NicMtuOfPolicy, is_the_one_that_the_policy_expects) {
    FakeHost host = e810_node();
    Options options = both;
    options.policy.expect.mtu = 9000;
    EXPECT_EQ(about(judged(host, options), "nic.mtu", "ens1f0np0").status, Status::pass);
    options.policy.expect.mtu = 4200;
    const Finding finding = about(judged(host, options), "nic.mtu", "ens1f0np0");
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.expected, HasSubstr("4200 (policy)"));
    EXPECT_THAT(finding.remedy.commands, Contains("sudo ip link set ens1f0np0 mtu 4200"));
}

TEST(NicVersionsOfPolicy, are_the_ones_that_the_policy_expects) {
    FakeHost host = e810_node();
    host.set("ethtool_driver", "ens1f0np0", EthtoolDriver{"ice", "6.12.0", "4.40 0x8001c967 1.3534.0", "0000:3b:00.0"});
    Options options = both;
    options.policy.expect.driver = {{"ice", "6.12.*"}, {"mlx5_core", "5.*"}};
    options.policy.expect.firmware = {{"8086:1592", "4.40 *"}};
    EXPECT_EQ(about(judged(host, options), "nic.driver", "ens1f0np0").status, Status::pass);
    EXPECT_EQ(about(judged(host, options), "nic.firmware", "ens1f0np0").status, Status::pass);
    options.policy.expect.driver["ice"] = "6.13.*";
    options.policy.expect.firmware["8086:1592"] = "4.50 *";
    EXPECT_EQ(about(judged(host, options), "nic.driver", "ens1f0np0").status, Status::fail);
    options.policy.expect.driver.clear();
    EXPECT_EQ(about(judged(host, options), "nic.firmware", "ens1f0np0").status, Status::fail);
    host.unreadable("ethtool_driver", "ens1f0np0", "EPERM");
    EXPECT_EQ(about(judged(host, options), "nic.firmware", "ens1f0np0").status, Status::unknown);
}

TEST(NicMtuOfMember, fails_when_it_differs_from_its_bond) {
    FakeHost host = mlx5_node();
    host.add_bond("bond0", 10, "802.3ad", {"ens1f0np0", "ens1f1np1"});
    host.link("ens1f1np1", [](Link& link) { link.mtu = 1500; });
    EXPECT_EQ(about(judged(host, interfaces({"bond0"})), "nic.mtu", "ens1f1np1").status, Status::fail);
}

// ------------------------------------------------------------------------------------------------ nic.firmware, nic.health

TEST(NicFirmware, warns_when_an_update_waits_for_activation) {
    FakeHost host = e810_node();
    host.devlink_device("0000:3b:00.0", [](DevlinkDevice& device) {
        DevlinkInfo info = *device.info;
        info.stored["fw.psid.api"] = "4.80";
        device.info = info;
    });
    const Report report = judged(host, both);
    EXPECT_EQ(about(report, "nic.firmware", "ens1f0np0").status, Status::warn);
    EXPECT_THAT(about(report, "nic.firmware", "ens1f0np0").observed, HasSubstr("running 4.40, stored 4.80"));
    EXPECT_EQ(about(report, "nic.firmware", "ens1f1np1").status, Status::pass);
}

TEST(NicFirmware, is_unknown_while_the_device_resets_and_skips_where_devlink_is_not_offered) {
    FakeHost host = e810_node();
    host.devlink_device("0000:3b:00.0", [](DevlinkDevice& device) { device.info = Unreadable{"EBUSY", "resetting"}; });
    EXPECT_EQ(about(judged(host, both), "nic.firmware", "ens1f0np0").status, Status::unknown);
    host.absent("devlink", "");
    EXPECT_EQ(about(judged(host, both), "nic.firmware", "ens1f0np0").status, Status::skip);
}

TEST(NicHealth, warns_of_hmc_errors_in_this_boots_log_for_the_port_they_name) {
    FakeHost host = e810_node();
    host.set("kernel_log", "", std::vector<std::string>{"ice 0000:3b:00.0: PTP reset successful", "ice 0000:3b:00.1: HMC Error", "ice 0000:3b:00.1: OICR event notification: oicr = 0x04000003"});
    const Report report = judged(host, both);
    EXPECT_EQ(about(report, "nic.health", "ens1f0np0").status, Status::pass);
    EXPECT_EQ(about(report, "nic.health", "ens1f1np1").status, Status::warn);
}

TEST(NicHealth, skips_when_the_log_cannot_be_read_but_heeds_devlink_health) {
    FakeHost host = e810_node();
    host.unreadable("kernel_log", "", "EPERM");
    host.devlink_device("0000:3b:00.1", [](DevlinkDevice& device) { device.health = std::vector<DevlinkHealth>{{"fw_fatal", false, 1, 0}}; });
    const Report report = judged(host, both);
    EXPECT_EQ(about(report, "nic.health", "ens1f0np0").status, Status::skip);
    EXPECT_EQ(about(report, "nic.health", "ens1f1np1").status, Status::warn);
}

}  // namespace
}  // namespace preflight
