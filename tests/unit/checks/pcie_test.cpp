#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modules.h"
#include "preflight/facts.h"
#include "support/fake_host.h"

namespace preflight {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Report judged_pcie(FakeHost& host, Options options = {}) {
    const Facts facts(host, std::move(options));
    return judge({pcie_module()}, facts);
}

// ACSCtl: SrcValid+ ReqRedir+ CmpltRedir+ UpstreamFwd+ (field case GPU-04).
constexpr unsigned set_by_firmware = 0x1d;

void add_unit(FakeHost& host, const std::string& text, bool enabled, bool ran) {
    host.set("list", "/etc/systemd/system", std::vector<std::string>{"disable-pcie-acs.service", "multi-user.target.wants"});
    host.set("list", "/etc/systemd/system/multi-user.target.wants", enabled ? std::vector<std::string>{"disable-pcie-acs.service"} : std::vector<std::string>{});
    host.set("unit_file", "/etc/systemd/system/disable-pcie-acs.service", text);
    if (ran) host.set("link_target", "/run/systemd/units/invocation:disable-pcie-acs.service", std::string("0f0e0d0c0b0a09080706050403020100"));
}
const std::string good_unit = "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/usr/local/sbin/no-acs\n[Install]\nWantedBy=multi-user.target\n";
const std::string cyclic_unit = "[Unit]\nBefore=basic.target\n" + good_unit;

TEST(PcieAcs, passes_with_source_validation_alone_and_without_the_capability) {
    FakeHost host = gpu_node();
    host.add_bridge("0000:17:01.0", {});
    EXPECT_EQ(only(judged_pcie(host), "pcie.acs").status, Status::pass);
}

// GPU-04.
TEST(PcieAcs, fails_on_a_redirect_bit_between_gpu_and_nic_and_clears_only_that_bit) {
    for (const unsigned bits : {0x04u, 0x08u, set_by_firmware}) {
        FakeHost host = gpu_node();
        host.add_bridge("0000:17:00.0", bits);
        const Finding finding = only(judged_pcie(host), "pcie.acs");
        EXPECT_EQ(finding.status, Status::fail) << bits;
        EXPECT_THAT(finding.observed, HasSubstr("0000:17:00.0"));
        EXPECT_THAT(finding.remedy.commands, ElementsAre("sudo setpci -s 0000:17:00.0 ECAP_ACS+6.w=0:c"));
        EXPECT_THAT(finding.remedy.undo, Contains("sudo setpci -s 0000:17:00.0 ECAP_ACS+6.w=" + fmt::format("{:x}", bits & 0xc) + ":c"));
    }
}

TEST(PcieAcs, does_not_mind_the_common_bridge_nor_those_above_it) {
    FakeHost host = gpu_node();
    for (const char* bridge : {"0000:15:01.0", "0000:16:00.0"}) host.add_bridge(bridge, set_by_firmware);
    EXPECT_EQ(only(judged_pcie(host), "pcie.acs").status, Status::pass);
}

TEST(PcieAcs, judges_root_ports_where_the_way_leads_through_the_root_complex) {
    FakeHost host = gpu_node();
    for (const char* nic : {"0000:3b:00.0", "0000:3b:00.1"}) host.place(nic, "pci0000:3a", {"0000:3a:00.0"});
    host.add_bridge("0000:3a:00.0", set_by_firmware);
    EXPECT_EQ(only(judged_pcie(host), "pcie.acs").status, Status::fail);
}

TEST(PcieAcs, on_the_way_to_a_nic_further_away_warns) {
    FakeHost host = gpu_node();
    host.place("0000:3b:00.1", "pci0000:ba", {"0000:ba:00.0"}, 1);
    host.add_bridge("0000:ba:00.0", set_by_firmware);
    const Finding finding = only(judged_pcie(host), "pcie.acs");
    EXPECT_EQ(finding.status, Status::warn);
    EXPECT_THAT(finding.observed, HasSubstr("0000:ba:00.0"));
}

TEST(PcieAcs, read_short_is_unknown_and_asks_for_root) {
    FakeHost host = gpu_node();
    host.set("config_space", "0000:17:00.0", PciConfig{pcie_config(set_by_firmware).bytes.substr(0, 64)});
    const Finding finding = only(judged_pcie(host), "pcie.acs");
    EXPECT_EQ(finding.status, Status::unknown);
    EXPECT_THAT(finding.remedy.summary, HasSubstr("as root"));
}

TEST(PcieAcs, is_unknown_without_configuration_space_or_where_the_firmware_tables_are_hidden) {
    FakeHost host = gpu_node();
    host.absent("config_space", "0000:17:00.0");
    EXPECT_EQ(only(judged_pcie(host), "pcie.acs").status, Status::unknown);
    FakeHost hidden = gpu_node();
    hidden.unreadable("read", "/sys/class/dmi/id/sys_vendor", "EACCES");
    EXPECT_EQ(only(judged_pcie(hidden), "pcie.acs").status, Status::unknown);
}

TEST(PcieAcs, set_on_one_bridge_fails_although_another_could_not_be_read) {
    FakeHost host = gpu_node();
    host.add_bridge("0000:17:01.0", set_by_firmware);
    host.unreadable("config_space", "0000:17:00.0", "EIO");
    EXPECT_EQ(only(judged_pcie(host), "pcie.acs").status, Status::fail);
}

TEST(PcieAcs, in_a_virtual_machine_is_not_known_from_its_own_tree) {
    FakeHost host = gpu_node();
    host.place("0000:18:00.0", "pci0000:00", {});
    for (const char* nic : {"0000:3b:00.0", "0000:3b:00.1"}) host.place(nic, "pci0000:00", {});
    EXPECT_EQ(only(judged_pcie(host), "pcie.acs").status, Status::pass) << "no bridge between";
    host.text("/sys/class/dmi/id/sys_vendor", "QEMU\n");
    const Finding finding = only(judged_pcie(host), "pcie.acs");
    EXPECT_EQ(finding.status, Status::unknown);
    EXPECT_THAT(finding.observed, HasSubstr("virtual machine"));
    host.text("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
    host.text("/sys/class/dmi/id/product_name", "p5.48xlarge\n");
    EXPECT_EQ(only(judged_pcie(host), "pcie.acs").status, Status::unknown);
    host.text("/sys/class/dmi/id/product_name", "i3.metal\n");
    EXPECT_EQ(only(judged_pcie(host), "pcie.acs").status, Status::pass);
}

// UNIT-07.
TEST(AcsUnit, that_is_enabled_but_never_ran_is_named_with_the_ordering_cycle) {
    FakeHost host = gpu_node();
    host.add_bridge("0000:17:00.0", set_by_firmware);
    add_unit(host, cyclic_unit, true, false);
    const Finding cyclic = only(judged_pcie(host), "pcie.acs");
    EXPECT_EQ(cyclic.status, Status::fail);
    EXPECT_THAT(cyclic.observed, HasSubstr("\"Before=basic.target\" makes an ordering cycle"));
    for (const std::string& line : cyclic.remedy.persist) EXPECT_THAT(line, Not(HasSubstr("Before=")));
    EXPECT_THAT(cyclic.remedy.undo, Contains(HasSubstr("disable-pcie-acs.service.before-rdma"))) << "the unit of the administrator comes back";
    add_unit(host, good_unit, true, false);
    EXPECT_THAT(only(judged_pcie(host), "pcie.acs").observed, HasSubstr("did not run in this boot"));
    add_unit(host, good_unit, true, true);
    EXPECT_THAT(only(judged_pcie(host), "pcie.acs").observed, HasSubstr("ran in this boot and left them set"));
}

TEST(AcsUnit, that_leaves_the_default_ordering_out_makes_no_cycle) {
    FakeHost host = gpu_node();
    add_unit(host, "[Unit]\nDefaultDependencies=no\nBefore=basic.target\n" + good_unit, true, true);
    EXPECT_EQ(only(judged_pcie(host), "pcie.acs").status, Status::pass);
}

TEST(AcsUnit, matters_for_the_next_boot_when_the_bits_are_clear) {
    FakeHost host = gpu_node();
    add_unit(host, good_unit, true, true);
    EXPECT_EQ(only(judged_pcie(host), "pcie.acs").status, Status::pass);
    add_unit(host, good_unit, false, true);
    EXPECT_EQ(only(judged_pcie(host), "pcie.acs").status, Status::warn);
    add_unit(host, cyclic_unit, true, false);
    EXPECT_EQ(only(judged_pcie(host), "pcie.acs").status, Status::warn);
}

TEST(AcsUnit, without_remain_after_exit_leaves_no_trace_and_is_not_blamed) {
    FakeHost host = gpu_node();
    const std::string forgets = "[Service]\nType=oneshot\nExecStart=/usr/local/sbin/no-acs\n";
    add_unit(host, forgets, true, false);
    host.answers.erase({"link_target", "/run/systemd/units/invocation:disable-pcie-acs.service"});
    EXPECT_EQ(only(judged_pcie(host), "pcie.acs").status, Status::pass);
    host.add_bridge("0000:17:00.0", set_by_firmware);
    EXPECT_THAT(only(judged_pcie(host), "pcie.acs").observed, HasSubstr("whether it ran in this boot does not show"));
}

void group(FakeHost& host, const std::string& address, const std::string& number, const std::string& type) {
    host.set("link_target", "/sys/bus/pci/devices/" + address + "/iommu_group", "../../../../kernel/iommu_groups/" + number);
    if (!type.empty()) host.text("/sys/kernel/iommu_groups/" + number + "/type", type + "\n");
}

TEST(PcieIommu, off_or_identity_is_right) {
    FakeHost host = gpu_node();
    EXPECT_EQ(only(judged_pcie(host), "pcie.iommu").observed, "off");
    group(host, "0000:18:00.0", "7", "identity");
    group(host, "0000:3b:00.0", "8", "identity");
    group(host, "0000:3b:00.1", "8", "identity");
    const Finding finding = only(judged_pcie(host), "pcie.iommu");
    EXPECT_EQ(finding.status, Status::pass);
    EXPECT_THAT(finding.observed, HasSubstr("identity"));
}

TEST(PcieIommu, that_translates_one_of_them_warns_and_names_it) {
    for (const char* type : {"DMA", "DMA-FQ"}) {
        FakeHost host = gpu_node();
        group(host, "0000:18:00.0", "7", "identity");
        group(host, "0000:3b:00.1", "9", type);
        const Finding finding = only(judged_pcie(host), "pcie.iommu");
        EXPECT_EQ(finding.status, Status::warn);
        EXPECT_THAT(finding.observed, HasSubstr("0000:3b:00.1"));
        EXPECT_THAT(finding.remedy.commands, Contains("sudo grubby --update-kernel=ALL --args=iommu=pt"));
    }
}

TEST(PcieIommu, is_unknown_where_the_kernel_does_not_say_and_a_warning_for_vfio) {
    FakeHost host = gpu_node();
    group(host, "0000:18:00.0", "7", "");
    EXPECT_EQ(only(judged_pcie(host), "pcie.iommu").status, Status::unknown);
    group(host, "0000:18:00.0", "7", "unmanaged");
    EXPECT_THAT(only(judged_pcie(host), "pcie.iommu").observed, HasSubstr("vfio"));
}

void link_speed(FakeHost& host, const std::string& current, const std::string& width, const std::string& most = "32.0 GT/s PCIe", const std::string& most_width = "16") {
    for (const char* port : {"0000:3b:00.0", "0000:3b:00.1"}) {
        const std::string folder = std::string("/sys/bus/pci/devices/") + port + "/";
        host.text(folder + "current_link_speed", current + "\n");
        host.text(folder + "current_link_width", width + "\n");
        host.text(folder + "max_link_speed", most + "\n");
        host.text(folder + "max_link_width", most_width + "\n");
    }
}

TEST(PcieLink, warns_when_speed_or_width_is_below_what_the_nic_can_do) {
    FakeHost host = gpu_node();
    link_speed(host, "32.0 GT/s PCIe", "16");
    EXPECT_EQ(about(judged_pcie(host), "pcie.link", "ens1f0np0").status, Status::pass);
    link_speed(host, "32.0 GT/s PCIe", "8");
    EXPECT_THAT(about(judged_pcie(host), "pcie.link", "ens1f0np0").observed, HasSubstr("32.0 GT/s x8, the NIC can do 32.0 GT/s x16"));
    link_speed(host, "8.0 GT/s PCIe", "16");
    EXPECT_EQ(about(judged_pcie(host), "pcie.link", "ens1f1np1").status, Status::warn);
}

TEST(PcieLink, never_speaks_of_a_gpu_whose_link_idles) {
    FakeHost host = gpu_node();
    link_speed(host, "16.0 GT/s", "16", "16.0 GT/s");
    host.text("/sys/bus/pci/devices/0000:18:00.0/current_link_speed", "2.5 GT/s PCIe\n");
    host.text("/sys/bus/pci/devices/0000:18:00.0/max_link_speed", "32.0 GT/s PCIe\n");
    for (const Finding& finding : found(judged_pcie(host), "pcie.link")) EXPECT_EQ(finding.status, Status::pass);
}

TEST(PcieLink, without_a_link_of_its_own_skips) {
    FakeHost host = gpu_node();
    EXPECT_EQ(about(judged_pcie(host), "pcie.link", "ens1f0np0").status, Status::skip);
    link_speed(host, "Unknown", "0");
    EXPECT_EQ(about(judged_pcie(host), "pcie.link", "ens1f0np0").status, Status::skip);
    link_speed(host, "fast", "wide");
    EXPECT_EQ(about(judged_pcie(host), "pcie.link", "ens1f0np0").status, Status::unknown);
}

TEST(Pcie, skips_on_a_storage_node_and_on_a_client_without_gpu) {
    FakeHost host = mlx5_node();
    EXPECT_EQ(only(judged_pcie(host), "pcie.acs").status, Status::skip);
    Options as_client;
    as_client.roles = client;
    FakeHost without = mlx5_node();
    const Report report = judged_pcie(without, as_client);
    EXPECT_EQ(only(report, "pcie.acs").status, Status::skip);
    EXPECT_EQ(only(report, "pcie.iommu").status, Status::skip);
}

}  // namespace
}  // namespace preflight
