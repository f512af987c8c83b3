#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace preflight {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Options both = interfaces({"ens1f0np0", "ens1f1np1"});

void no_rdma(FakeHost& host) {
    for (const char* device : {"rocep59s0f0", "rocep59s0f1"}) host.drop_rdma(device);
}

// ------------------------------------------------------------------------------------------------ rdma.modules

TEST(RdmaModules, fails_when_a_base_module_is_missing_and_says_how_to_load_it) {
    FakeHost host = e810_node();
    host.unload("rdma_ucm");
    const Finding finding = only(judged(host, both), "rdma.modules");
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("rdma_ucm"));
    EXPECT_THAT(finding.remedy.commands, Contains("sudo modprobe -a rdma_ucm"));
}

TEST(RdmaModules, names_the_kernel_command_line_that_keeps_a_module_away) {
    for (const char* argument : {"module_blacklist=nouveau,irdma", "modprobe.blacklist=irdma"}) {
        FakeHost host = e810_node();
        no_rdma(host);
        host.unload("irdma");
        host.blacklist(argument);
        const Report report = judged(host, both);
        const Finding finding = about(report, "rdma.modules", "ens1f0np0");
        EXPECT_EQ(finding.status, Status::fail);
        EXPECT_THAT(finding.observed, HasSubstr("kernel command line"));
        EXPECT_THAT(finding.remedy.commands, Not(Contains(HasSubstr("modprobe -a"))));
        EXPECT_EQ(about(report, "rdma.device", "ens1f0np0").blocked_by, std::vector<std::string>{"rdma.modules"});
    }
}

TEST(RdmaModules, passes_for_modules_built_into_a_kernel_that_has_no_loadable_ones) {
    FakeHost host = e810_node();
    host.absent("read", "/proc/modules");
    for (const char* name : {"irdma", "ib_core", "ib_uverbs", "rdma_ucm"}) host.absent("info", std::string("/sys/module/") + name);
    host.text("/lib/modules/6.12.0-55.el10.x86_64/modules.builtin",
              "kernel/drivers/infiniband/core/ib_core.ko\nkernel/drivers/infiniband/core/ib_uverbs.ko\nkernel/drivers/infiniband/core/rdma_ucm.ko\nkernel/drivers/infiniband/hw/irdma/irdma.ko\n");
    EXPECT_EQ(only(judged(host, both), "rdma.modules").status, Status::pass);
}

TEST(RdmaModules, is_unknown_not_failed_when_nothing_can_tell) {
    FakeHost host = e810_node();
    host.unload("rdma_ucm");
    host.absent("read", "/proc/modules");
    EXPECT_EQ(only(judged(host, both), "rdma.modules").status, Status::unknown);
}

TEST(RdmaModules, is_unknown_when_a_module_is_not_loaded_and_the_list_of_built_in_ones_is_missing) {
    FakeHost host = e810_node();
    host.unload("rdma_ucm");
    host.absent("read", "/lib/modules/6.12.0-55.el10.x86_64/modules.builtin");
    EXPECT_EQ(only(judged(host, both), "rdma.modules").status, Status::unknown);
}

// ------------------------------------------------------------------------------------------------ rdma.device

TEST(RdmaDevice, fails_when_everything_is_right_but_there_is_none) {
    FakeHost host = e810_node();
    no_rdma(host);
    const Report report = judged(host, both);
    EXPECT_EQ(about(report, "rdma.device", "ens1f0np0").status, Status::fail);
    for (const std::string id : {"rdma.protocol", "rdma.port", "rdma.gid", "rdma.mtu", "rdma.provider", "rdma.limits", "rdma.software"})
        EXPECT_EQ(about(report, id, "ens1f0np0").blocked_by, std::vector<std::string>{"rdma.device"}) << id;
}

TEST(RdmaDevice, is_found_by_pci_function_whatever_its_name) {
    FakeHost host = e810_node();
    host.rdma_device("rocep59s0f0", [](RdmaDevice& device) { device.ports[0].netdev.reset(); device.ports[0].netdev_name.clear(); });
    EXPECT_EQ(about(judged(host, both), "rdma.device", "ens1f0np0").observed, "rocep59s0f0");
}

TEST(RdmaDevice, is_unknown_when_devices_cannot_be_listed) {
    FakeHost host = e810_node();
    host.unreadable("rdma_devices", "", "EPERM");
    host.unreadable("list", "/sys/class/infiniband", "EACCES");
    const Report report = judged(host, both);
    EXPECT_EQ(about(report, "rdma.device", "ens1f0np0").status, Status::unknown);
    for (const Finding& finding : report.findings) EXPECT_NE(finding.status, Status::fail) << finding.id;
}

TEST(RdmaDevice, is_read_from_sysfs_when_nldev_does_not_answer) {
    FakeHost host = e810_node();
    host.unreadable("rdma_devices", "", "EPROTONOSUPPORT");
    for (int i = 0; i < 2; ++i) {
        const std::string name = "rocep59s0f" + std::to_string(i), folder = "/sys/class/infiniband/" + name + "/";
        host.text(folder + "node_type", "1: CA\n");
        host.set("list", folder + "ports", std::vector<std::string>{"1"});
        host.text(folder + "ports/1/state", "4: ACTIVE\n");
        host.text(folder + "ports/1/phys_state", "5: LinkUp\n");
        host.text(folder + "ports/1/link_layer", "Ethernet\n");
        host.set("list", folder + "device/infiniband_verbs", std::vector<std::string>{"uverbs" + std::to_string(i)});
    }
    host.set("verbs", "", Verbs{});
    const Report report = judged(host, both);
    for (const char* id : {"rdma.device", "rdma.protocol", "rdma.port", "rdma.gid", "rdma.access"})
        for (const Finding& finding : found(report, id)) EXPECT_EQ(finding.status, Status::pass) << id << ": " << finding.observed;
}

TEST(RdmaDevice, of_a_sub_function_is_hardware_of_its_pci_function) {
    FakeHost host = mlx5_node();
    host.set("resolve", "/sys/class/infiniband/mlx5_0/device", std::string("/sys/devices/pci0000:3a/0000:3b:00.0/mlx5_core.sf.4"));
    EXPECT_THAT(complaints(judged(host, both)), IsEmpty());
}

// ------------------------------------------------------------------------------------------------ rdma.protocol

void iwarp(FakeHost& host) {
    host.rdma_device("rocep59s0f0", [](RdmaDevice& device) { device.protocol = "iw"; device.node_type = "RNIC"; });
    host.set("rdma_gids", "rocep59s0f0/1", GidTable{1, {roce_gid(0, "b496:91a6:0003:0000:0000:0000:0000:0000", "ens1f0np0", "IB/RoCE v1")}, {}});
}

TEST(RdmaProtocol, fails_for_iwarp_and_explains_the_gid) {
    FakeHost host = e810_node();
    iwarp(host);
    const Report report = judged(host, both);
    EXPECT_EQ(about(report, "rdma.protocol", "rocep59s0f0").status, Status::fail);
    EXPECT_EQ(about(report, "rdma.protocol", "rocep59s0f1").status, Status::pass);
    EXPECT_EQ(about(report, "rdma.gid", "rocep59s0f0/1").blocked_by, std::vector<std::string>{"rdma.protocol"});
}

TEST(RdmaProtocol, switches_iwarp_off_before_roce_on_where_devlink_does_it) {
    FakeHost host = e810_node();
    iwarp(host);
    const auto commands = about(judged(host, both), "rdma.protocol", "rocep59s0f0").remedy.commands;
    ASSERT_EQ(commands.size(), 2u);
    EXPECT_EQ(commands[0], "sudo devlink dev param set pci/0000:3b:00.0 name enable_iwarp value false cmode runtime");
    EXPECT_EQ(commands[1], "sudo devlink dev param set pci/0000:3b:00.0 name enable_roce value true cmode runtime");
}

TEST(RdmaProtocol, offers_the_module_option_where_the_driver_has_one) {
    FakeHost host = e810_node();
    iwarp(host);
    host.text("/sys/module/irdma/parameters/roce_ena", "0\n");
    EXPECT_THAT(about(judged(host, both), "rdma.protocol", "rocep59s0f0").remedy.commands, Contains(HasSubstr("roce_ena=1")));
}

TEST(RdmaProtocol, is_told_by_the_node_type_on_kernels_that_do_not_send_it) {
    FakeHost host = e810_node();
    host.rdma_device("rocep59s0f0", [](RdmaDevice& device) { device.protocol.clear(); device.node_type = "RNIC"; });
    host.rdma_device("rocep59s0f1", [](RdmaDevice& device) { device.protocol.clear(); });
    const Report report = judged(host, both);
    EXPECT_EQ(about(report, "rdma.protocol", "rocep59s0f0").status, Status::fail);
    EXPECT_EQ(about(report, "rdma.protocol", "rocep59s0f1").status, Status::pass);
}

TEST(RdmaProtocol, does_not_take_irdmas_lid_of_1_for_infiniband) {
    FakeHost host = e810_node();
    host.rdma_device("rocep59s0f0", [](RdmaDevice& device) { device.protocol.clear(); });
    EXPECT_EQ(about(judged(host, both), "rdma.protocol", "rocep59s0f0").observed, "RoCE v2");
    EXPECT_NE(about(judged(host, both), "nic.mtu", "ens1f0np0").status, Status::skip);
}

// ------------------------------------------------------------------------------------------------ rdma.port

TEST(RdmaPort, fails_when_a_storage_port_is_down) {
    FakeHost host = e810_node();
    host.rdma_device("rocep59s0f0", [](RdmaDevice& device) { device.ports[0].state = "DOWN"; device.ports[0].physical_state = "DISABLED"; });
    EXPECT_EQ(about(judged(host, both), "rdma.port", "rocep59s0f0/1").status, Status::fail);
}

TEST(RdmaPort, with_sample_warns_when_the_state_differs_at_the_second_reading) {
    FakeHost host = e810_node();
    host.sample_again();
    EXPECT_EQ(about(judged(host, sampling(both)), "rdma.port", "rocep59s0f0/1").status, Status::pass);
    host.edit<std::vector<RdmaDevice>>("rdma_devices", "@1", [](auto& devices) {
        for (RdmaDevice& device : devices)
            if (device.name == "rocep59s0f0") device.ports[0].state = "DOWN";
    });
    const Report report = judged(host, sampling(both));
    EXPECT_EQ(about(report, "rdma.port", "rocep59s0f0/1").status, Status::warn);
    EXPECT_THAT(about(report, "rdma.port", "rocep59s0f0/1").observed, HasSubstr("DOWN"));
    EXPECT_EQ(about(report, "rdma.port", "rocep59s0f1/1").status, Status::pass);
    host.unreadable("rdma_devices", "@1", "EPERM");
    EXPECT_EQ(about(judged(host, sampling(both)), "rdma.port", "rocep59s0f0/1").status, Status::unknown);
}

TEST(RdmaPort, does_not_judge_an_unused_port_that_is_down) {
    FakeHost host = bare_node();
    host.add_port({"ens1f0np0", 3, "0000:3b:00.0", 0x14e4, 0x1750, "bnxt_en", "bnxt_re0", 6, "192.0.2.11", 1000});
    host.add_port({"ens1f1np1", 4, "0000:3b:00.1", 0x14e4, 0x1750, "bnxt_en", "bnxt_re1", 6, "", 1000});
    host.link("ens1f1np1", [](Link& link) { link.flags = 0x1; link.carrier = false; link.operstate = "down"; });
    host.rdma_device("bnxt_re1", [](RdmaDevice& device) { device.ports[0].state = "DOWN"; device.ports[0].physical_state = "DISABLED"; });
    host.text("/proc/modules", "ib_core 1 0 - Live 0x0\nib_uverbs 1 0 - Live 0x0\nrdma_ucm 1 0 - Live 0x0\nbnxt_re 1 0 - Live 0x0\n");
    EXPECT_THAT(complaints(judged(host)), IsEmpty());
}

// ------------------------------------------------------------------------------------------------ rdma.gid

using Gids = std::vector<Gid>;

Finding gid_of(FakeHost& host, Gids gids, std::vector<std::string> unreadable = {}) {
    host.set("rdma_gids", "rocep59s0f0/1", GidTable{32, std::move(gids), std::move(unreadable)});
    return about(judged(host, both), "rdma.gid", "rocep59s0f0/1");
}

const std::string link_local = "fe80:0000:0000:0000:b696:91ff:fea6:0003";

TEST(RdmaGid, passes_at_any_index) {
    FakeHost host = e810_node();
    EXPECT_THAT(gid_of(host, {roce_gid(0, link_local, "ens1f0np0", "IB/RoCE v1"), roce_gid(1, link_local, "ens1f0np0"), roce_gid(2, ipv4_gid("192.0.2.11"), "ens1f0np0", "IB/RoCE v1"),
                              roce_gid(3, ipv4_gid("192.0.2.11"), "ens1f0np0")})
                    .observed,
                HasSubstr("GID 3"));
    EXPECT_EQ(gid_of(host, {roce_gid(27, ipv4_gid("192.0.2.11"), "ens1f0np0")}).status, Status::pass);
}

TEST(RdmaGid, takes_private_ranges_for_routable) {
    FakeHost host = e810_node();
    host.set_addresses("ens1f0np0", {"10.102.9.101"});
    EXPECT_EQ(gid_of(host, {roce_gid(0, link_local, "ens1f0np0"), roce_gid(1, "0000:0000:0000:0000:0000:ffff:0a66:0965", "ens1f0np0")}).status, Status::pass);
}

TEST(RdmaGid, fails_when_only_a_v1_gid_carries_the_address) {
    FakeHost host = e810_node();
    const Finding finding = gid_of(host, {roce_gid(0, link_local, "ens1f0np0"), roce_gid(2, ipv4_gid("192.0.2.11"), "ens1f0np0", "IB/RoCE v1")});
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("v1"));
}

TEST(RdmaGid, fails_when_all_are_zero_or_link_local_or_of_another_address) {
    FakeHost host = e810_node();
    EXPECT_EQ(gid_of(host, {}).observed, "all GIDs are zero");
    EXPECT_EQ(gid_of(host, {roce_gid(0, link_local, "ens1f0np0")}).status, Status::fail);
    EXPECT_EQ(gid_of(host, {roce_gid(0, ipv4_gid("169.254.1.2"), "ens1f0np0")}).status, Status::fail);
    EXPECT_THAT(gid_of(host, {roce_gid(0, ipv4_gid("192.0.2.77"), "ens1f0np0")}).observed, HasSubstr("192.0.2.77"));
}

TEST(RdmaGid, is_unknown_when_the_table_a_needed_slot_or_the_type_cannot_be_read) {
    FakeHost host = e810_node();
    EXPECT_EQ(gid_of(host, {roce_gid(0, link_local, "ens1f0np0")}, {"1: EIO"}).status, Status::unknown);
    Gid untyped = roce_gid(1, ipv4_gid("192.0.2.11"), "ens1f0np0");
    untyped.type = Unreadable{"EIO", "gid_attrs/types/1"};
    EXPECT_EQ(gid_of(host, {untyped}).status, Status::unknown);
    host.unreadable("rdma_gids", "rocep59s0f0/1", "EACCES");
    EXPECT_EQ(about(judged(host, both), "rdma.gid", "rocep59s0f0/1").status, Status::unknown);
}

TEST(RdmaGid, passes_though_another_slot_could_not_be_read) {
    FakeHost host = e810_node();
    EXPECT_EQ(gid_of(host, {roce_gid(1, ipv4_gid("192.0.2.11"), "ens1f0np0")}, {"7: EIO"}).status, Status::pass);
}

// ------------------------------------------------------------------------------------------------ rdma.mtu

TEST(RdmaMtu, warns_of_the_trap_where_the_port_shows_4096_and_connections_take_2048) {
    FakeHost host = e810_node();
    for (const char* netdev : {"ens1f0np0", "ens1f1np1"}) host.link(netdev, [](Link& link) { link.mtu = 4100; });
    const Finding finding = about(judged(host, both), "rdma.mtu", "rocep59s0f0/1");
    EXPECT_EQ(finding.status, Status::warn);
    EXPECT_THAT(finding.observed, HasSubstr("active MTU 4096, but connections take 2048"));
}

TEST(RdmaMtu, warns_at_1024_and_passes_at_4096) {
    FakeHost host = e810_node();
    host.link("ens1f0np0", [](Link& link) { link.mtu = 1500; });
    host.verbs_device("rocep59s0f0", [](VerbsDevice& device) { device.ports[0].active_mtu = 1024; });
    const Report report = judged(host, both);
    EXPECT_EQ(about(report, "rdma.mtu", "rocep59s0f0/1").status, Status::warn);
    EXPECT_EQ(about(report, "rdma.mtu", "rocep59s0f1/1").status, Status::pass);
}

// ------------------------------------------------------------------------------------------------ rdma.access

TEST(RdmaAccess, fails_without_a_node_and_needs_no_umad_or_issm) {
    FakeHost host = e810_node();
    EXPECT_EQ(only(judged(host, both), "rdma.access").status, Status::pass);
    host.absent("info", "/dev/infiniband/uverbs1");
    EXPECT_THAT(only(judged(host, both), "rdma.access").observed, HasSubstr("uverbs1"));
    EXPECT_EQ(only(judged(host, both), "rdma.access").status, Status::fail);
}

TEST(RdmaAccess, is_unknown_when_closed_to_others_or_not_readable) {
    FakeHost host = e810_node();
    host.set("info", "/dev/infiniband/rdma_cm", FileInfo{"char", 0660, 0, 109, 0, 0});
    EXPECT_EQ(only(judged(host, both), "rdma.access").status, Status::unknown);
    host.unreadable("info", "/dev/infiniband/rdma_cm", "EACCES");
    EXPECT_EQ(only(judged(host, both), "rdma.access").status, Status::unknown);
}

TEST(RdmaAccess, judges_closed_nodes_by_the_user_of_the_service) {
    FakeHost host = e810_node();
    host.set("info", "/dev/infiniband/rdma_cm", FileInfo{"char", 0660, 0, 109, 0, 0});
    host.add_service({"minio-user", 990, 990, "/", "/sbin/nologin", {990}});
    const Finding closed = only(judged(host, both), "rdma.access");
    EXPECT_EQ(closed.status, Status::fail);
    EXPECT_THAT(closed.remedy.commands, Contains("sudo chmod 0666 /dev/infiniband/rdma_cm"));
    host.add_service({"minio-user", 990, 990, "/", "/sbin/nologin", {990, 109}});
    EXPECT_EQ(only(judged(host, both), "rdma.access").status, Status::pass);
    host.add_service({"root", 0, 0, "/root", "/bin/sh", {0}});
    EXPECT_EQ(only(judged(host, both), "rdma.access").status, Status::pass);
}

TEST(RdmaAccess, does_not_ask_for_the_node_of_a_device_that_is_not_used_for_storage) {
    FakeHost host = e810_node();
    host.absent("info", "/dev/infiniband/uverbs1");
    EXPECT_EQ(only(judged(host, interfaces({"ens1f0np0"})), "rdma.access").status, Status::pass);
}

// ------------------------------------------------------------------------------------------------ rdma.provider

TEST(RdmaProvider, ignores_warnings_about_the_providers_of_absent_nics) {
    FakeHost host = e810_node();
    host.edit<Verbs>("verbs", "", [](Verbs& verbs) { verbs.warnings = {"libibverbs: Warning: couldn't load driver 'libmana-rdmav34.so'", "libibverbs: Warning: couldn't load driver 'libvmw_pvrdma-rdmav34.so'"}; });
    EXPECT_THAT(complaints(judged(host, both)), IsEmpty());
}

TEST(RdmaProvider, fails_for_a_missing_provider_and_names_its_package) {
    FakeHost host = e810_node();
    host.drop_verbs("rocep59s0f0");
    const Report report = judged(host, both);
    EXPECT_EQ(about(report, "rdma.provider", "rocep59s0f0").status, Status::fail);
    EXPECT_THAT(about(report, "rdma.provider", "rocep59s0f0").remedy.commands, Contains("sudo dnf install -y libibverbs"));
    EXPECT_EQ(about(report, "rdma.limits", "rocep59s0f0").blocked_by, std::vector<std::string>{"rdma.provider"});
    EXPECT_EQ(about(report, "rdma.provider", "rocep59s0f1").status, Status::pass);
}

TEST(RdmaModules, is_unknown_when_the_folder_of_a_module_cannot_be_looked_at) {
    FakeHost host = e810_node();
    host.unload("rdma_ucm");
    host.unreadable("info", "/sys/module/rdma_ucm", "EACCES");
    EXPECT_EQ(only(judged(host, both), "rdma.modules").status, Status::unknown);
}

TEST(RdmaProvider, names_an_abi_mismatch_as_such) {
    FakeHost host = bare_node();
    host.text("/proc/modules", "ib_core 1 0 - Live 0x0\nib_uverbs 1 0 - Live 0x0\nrdma_ucm 1 0 - Live 0x0\nbnxt_re 1 0 - Live 0x0\n");
    host.add_port({"ens1f0np0", 3, "0000:3b:00.0", 0x14e4, 0x1750, "bnxt_en", "bnxt_re0", 6, "192.0.2.11", 1000});
    host.drop_verbs("bnxt_re0");
    host.edit<Verbs>("verbs", "", [](Verbs& verbs) { verbs.warnings = {"libibverbs: Warning: Driver bnxt_re does not support the kernel ABI of 6 (supports 1 to 1) for device /sys/class/infiniband/bnxt_re0"}; });
    const Finding finding = about(judged(host), "rdma.provider", "bnxt_re0");
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("do not fit"));
}

TEST(RdmaProvider, fails_without_libibverbs_and_is_unknown_when_it_cannot_be_asked) {
    FakeHost host = e810_node();
    host.absent("verbs", "");
    EXPECT_EQ(about(judged(host, both), "rdma.provider", "rocep59s0f0").status, Status::fail);
    host.unreadable("verbs", "", "not-captured");
    EXPECT_EQ(about(judged(host, both), "rdma.provider", "rocep59s0f0").status, Status::unknown);
}

TEST(RdmaProvider, is_unknown_for_a_user_who_may_not_open_the_device_and_failed_for_root) {
    FakeHost host = e810_node();
    host.verbs_device("rocep59s0f0", [](VerbsDevice& device) { device.opened = Unreadable{"EACCES", "ibv_open_device"}; });
    EXPECT_EQ(about(judged(host, both), "rdma.provider", "rocep59s0f0").status, Status::fail);
    host.edit<Node>("node", "", [](Node& node) { node.effective_uid = 1000; });
    EXPECT_EQ(about(judged(host, both), "rdma.provider", "rocep59s0f0").status, Status::unknown);
}

TEST(RdmaProvider, is_judged_by_files_below_another_root_whatever_the_abi_suffix) {
    FakeHost host = e810_node();
    Options options = both;
    options.root = "/mnt/image";
    host.unreadable("verbs", "", "not-asked");
    EXPECT_EQ(about(judged(host, options), "rdma.provider", "rocep59s0f0").status, Status::fail);
    host.set("list", "/usr/lib64/libibverbs", std::vector<std::string>{"libirdma-rdmav59.so"});
    EXPECT_EQ(about(judged(host, options), "rdma.provider", "rocep59s0f0").status, Status::pass);
}

// ------------------------------------------------------------------------------------------------ rdma.limits, rdma.software

TEST(RdmaLimits, warns_unproven_without_shared_receive_queues_for_inter_node_traffic_only) {
    FakeHost host = e810_node();
    const Report report = judged(host, both);
    EXPECT_EQ(about(report, "rdma.limits", "rocep59s0f0").status, Status::warn);
    EXPECT_TRUE(about(report, "rdma.limits", "rocep59s0f0").unproven);
    EXPECT_EQ(report.outcomes[0].answer, "unknown");
    EXPECT_EQ(report.outcomes[1].answer, "yes");
}

FakePort software_port() { return {"eth0", 3, "0000:00:03.0", 0x1af4, 0x1000, "virtio-pci", "rxe0", 14, "192.0.2.11", 1000}; }

TEST(RdmaSoftware, fails_when_only_a_software_device_carries_storage_traffic) {
    FakeHost host = bare_node();
    host.add_port(software_port());
    host.absent("resolve", "/sys/class/infiniband/rxe0/device");
    const Report report = judged(host);
    EXPECT_EQ(about(report, "rdma.software", "rxe0").status, Status::fail);
    EXPECT_EQ(about(report, "nic.driver", "eth0").status, Status::pass) << "the software device is the fault, not the driver";
}

TEST(RdmaSoftware, passes_for_rxe_beside_real_devices) {
    FakeHost host = e810_node();
    host.add_port(software_port());
    host.absent("resolve", "/sys/class/infiniband/rxe0/device");
    const Report report = judged(host, both);
    for (const Finding& finding : found(report, "rdma.software")) EXPECT_EQ(finding.status, Status::pass);
    EXPECT_THAT(only(report, "rdma.strays").observed, HasSubstr("rxe0"));
}

// ------------------------------------------------------------------------------------------------ rdma.namespace, rdma.strays

TEST(RdmaNamespace, fails_for_exclusive_mode_with_pods_and_passes_for_a_service_of_the_host) {
    FakeHost host = e810_node();
    host.set("rdma_netns_mode", "", std::string("exclusive"));
    EXPECT_EQ(only(judged(host, both), "rdma.namespace").status, Status::pass);
    Options pod = both;
    pod.deployment = container;
    EXPECT_EQ(only(judged(host, pod), "rdma.namespace").status, Status::fail);
    host.set("rdma_netns_mode", "", std::string("shared"));
    EXPECT_EQ(only(judged(host, pod), "rdma.namespace").status, Status::pass);
}

TEST(RdmaNamespace, is_unknown_on_a_kernel_that_does_not_say) {
    FakeHost host = e810_node();
    host.absent("rdma_netns_mode", "");
    EXPECT_EQ(only(judged(host, both), "rdma.namespace").status, Status::unknown);
}

TEST(RdmaStrays, warns_of_an_active_device_that_is_not_a_storage_port_and_ignores_one_that_is_down) {
    FakeHost host = e810_node();
    EXPECT_EQ(only(judged(host, both), "rdma.strays").status, Status::pass);
    EXPECT_THAT(only(judged(host, interfaces({"ens1f0np0"})), "rdma.strays").observed, HasSubstr("rocep59s0f1"));
    host.rdma_device("rocep59s0f1", [](RdmaDevice& device) { device.ports[0].state = "DOWN"; });
    EXPECT_EQ(only(judged(host, interfaces({"ens1f0np0"})), "rdma.strays").status, Status::pass);
}

// ------------------------------------------------------------------------------------------------ InfiniBand

FakeHost infiniband_node() {
    FakeHost host = bare_node();
    host.add_port({"ib0", 3, "0000:3b:00.0", 0x15b3, 0x101b, "mlx5_core", "mlx5_0", 1, "192.0.2.11", 8388608});
    // What the kernel says of the port's own IPoIB netdev.
    host.link("ib0", [](Link& link) { link.arphrd = 32; link.kind = "ipoib"; link.mtu = 2044; });
    host.rdma_device("mlx5_0", [](RdmaDevice& device) { device.protocol = "ib"; device.ports[0].netdev.reset(); device.ports[0].netdev_name.clear(); });
    host.verbs_device("mlx5_0", [](VerbsDevice& device) { device.ports[0].link_layer = "InfiniBand"; });
    Gid gid = roce_gid(0, "fe80:0000:0000:0000:b83f:d203:00a6:0003", "", "IB/RoCE v1");
    gid.netdev = Absent{"EINVAL"};
    host.set("rdma_gids", "mlx5_0/1", GidTable{8, {gid}, {}});
    return host;
}

TEST(InfiniBand, is_judged_without_the_roce_rules) {
    FakeHost host = infiniband_node();
    const Report report = judged(host);
    EXPECT_THAT(complaints(report), IsEmpty());
    EXPECT_EQ(about(report, "nic.mtu", "ib0").status, Status::skip);
    EXPECT_THAT(about(report, "rdma.gid", "mlx5_0/1").observed, HasSubstr("subnet prefix"));
}

TEST(InfiniBand, does_not_make_an_ethernet_port_beside_it_differ_in_mtu) {
    FakeHost host = infiniband_node();
    host.add_port({"ens2f0np0", 5, "0000:5e:00.0", 0x15b3, 0x101d, "mlx5_core", "mlx5_1", 1, "198.51.100.11", 8388608});
    EXPECT_EQ(about(judged(host, interfaces({"ib0", "ens2f0np0"})), "nic.mtu", "ens2f0np0").status, Status::pass);
}

// ------------------------------------------------------------------------------------------------ the outcome

TEST(Outcome, is_no_when_a_storage_port_has_no_rdma_device) {
    FakeHost host = mlx5_node();
    host.drop_rdma("mlx5_0");
    EXPECT_EQ(judged(host, both).outcomes[0].answer, "no");
}

}  // namespace
}  // namespace preflight
