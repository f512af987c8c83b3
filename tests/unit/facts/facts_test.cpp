#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "facts/drivers.h"
#include "facts/kernel_modules.h"
#include "facts/node.h"
#include "facts/pci.h"
#include "facts/ports.h"
#include "facts/rdma.h"
#include "facts/role.h"
#include "preflight/facts.h"
#include "support/fake_host.h"

namespace preflight {
namespace {

using testing::HasSubstr;

TEST(KernelVersion, is_the_two_leading_numbers_of_a_release) {
    EXPECT_EQ(kernel_version("6.12.0-55.el10.x86_64"), (std::pair{6, 12}));
    EXPECT_EQ(kernel_version("5.4"), (std::pair{5, 4}));
    for (const char* text : {"", "6", "six.four", ".4", "6."}) EXPECT_EQ(kernel_version(text), (std::pair{0, 0})) << text;
}

TEST(OsRelease, is_read_with_and_without_quotes_and_ignores_comments) {
    const auto values = parse_os_release("# a comment=1\nID=rocky\nID_LIKE=\"rhel centos fedora\"\nNAME='Rocky Linux'\nbroken\n");
    EXPECT_EQ(values.at("ID"), "rocky");
    EXPECT_EQ(values.at("ID_LIKE"), "rhel centos fedora");
    EXPECT_EQ(values.at("NAME"), "Rocky Linux");
    EXPECT_EQ(values.size(), 3u);
}

TEST(PackageNames, follow_the_distribution_or_its_relatives) {
    const auto install = [](const std::string& os_release) {
        FakeHost host = bare_node();
        host.text("/etc/os-release", os_release);
        return NodeFacts::read(host).install("providers");
    };
    EXPECT_EQ(install("ID=rocky\nID_LIKE=\"rhel centos fedora\"\n"), "sudo dnf install -y libibverbs");
    EXPECT_EQ(install("ID=pop\nID_LIKE=\"ubuntu debian\"\n"), "sudo apt-get install -y ibverbs-providers");
    EXPECT_EQ(install("ID=void\n").front(), '#') << "an unknown distribution gets no command to paste";
}

TEST(PciAddress, is_the_last_one_in_a_device_path) {
    EXPECT_EQ(pci_address_in("/sys/devices/pci0000:3a/0000:3a:02.0/0000:3b:00.0"), "0000:3b:00.0");
    EXPECT_EQ(pci_address_in("/sys/devices/pci0000:00/0000:00:03.0/virtio0"), "0000:00:03.0");
    EXPECT_EQ(pci_address_in("/sys/devices/pci0000:3a/0000:3b:00.0/mlx5_core.sf.4"), "0000:3b:00.0");
    EXPECT_EQ(pci_address_in("10001:02:00.0"), "10001:02:00.0") << "VMD domains have five digits";
    for (const char* path : {"", "/", "/sys/devices/virtual/infiniband/rxe0", "/sys/devices/platform/fec00000.ethernet"}) EXPECT_EQ(pci_address_in(path), "") << path;
}

TEST(SysfsNumber, tells_malformed_from_absent) {
    EXPECT_EQ(*sysfs_number(std::string("0x8086\n")), 0x8086);
    EXPECT_EQ(*sysfs_number(std::string("-1\n")), -1);
    for (const char* text : {"", "\n", "0x", "12abc", "0xzz"}) EXPECT_TRUE(sysfs_number(std::string(text)).unreadable()) << text;
    EXPECT_TRUE(sysfs_number(Absent{}).absent());
}

TEST(GidAddress, is_compared_by_value_and_knows_link_local_in_both_families) {
    EXPECT_EQ(gid_address("0000:0000:0000:0000:0000:ffff:c000:020b")->text, "192.0.2.11");
    EXPECT_EQ(gid_address("0000:0000:0000:0000:0000:ffff:c000:020b")->kind, GidKind::ipv4);
    EXPECT_EQ(gid_address("0000:0000:0000:0000:0000:ffff:a9fe:0102")->kind, GidKind::link_local);
    EXPECT_EQ(gid_address("fe80:0000:0000:0000:b696:91ff:fea6:0003")->kind, GidKind::link_local);
    EXPECT_EQ(gid_address("2001:0db8:0000:0000:0000:0000:0000:0011")->text, "2001:db8::11");
    EXPECT_EQ(gid_address("0000:0000:0000:0000:0000:0000:0000:0000")->kind, GidKind::zero);
    for (const char* text : {"", "fe80::1", "192.0.2.11", "zz80:0000:0000:0000:0000:0000:0000:0001"}) EXPECT_FALSE(gid_address(text)) << text;
}

TEST(DriverFamily, is_known_by_pci_id_where_no_driver_is_bound) {
    EXPECT_EQ(family_of_pci(0x8086, 0x1592)->netdev, "ice");
    EXPECT_EQ(family_of_pci(0x8086, 0x37d2)->netdev, "i40e");
    EXPECT_EQ(family_of_pci(0x15b3, 0x1021)->netdev, "mlx5_core");
    EXPECT_EQ(family_of_pci(0x8086, 0x1572), nullptr) << "an X710 has no RDMA";
    EXPECT_EQ(family_of_pci(0x8086, 0x1889), nullptr) << "a VF is no port to judge";
    EXPECT_EQ(family_of_pci(0x14e4, 0x165f), nullptr);
}

TEST(Modules, take_dash_and_underscore_alike) {
    FakeHost host = bare_node();
    host.text("/lib/modules/6.12.0-55.el10.x86_64/modules.builtin", "kernel/drivers/infiniband/core/ib-uverbs.ko\n");
    const NodeFacts node = NodeFacts::read(host);
    const Modules modules = Modules::read(host, node);
    EXPECT_EQ(modules.state("ib_uverbs"), ModuleState::loaded);
    EXPECT_EQ(modules.state("rdma-ucm"), ModuleState::loaded);
    EXPECT_EQ(modules.state("siw"), ModuleState::not_loaded);
}

TEST(Modules, are_out_of_tree_by_the_taint_flag_not_by_any_other) {
    FakeHost host = bare_node();
    host.text("/sys/module/ice/taint", "OE\n");
    host.text("/sys/module/irdma/taint", "E\n");
    const NodeFacts node = NodeFacts::read(host);
    const Modules modules = Modules::read(host, node);
    EXPECT_TRUE(*modules.out_of_tree("ice"));
    EXPECT_FALSE(*modules.out_of_tree("irdma"));
    EXPECT_TRUE(modules.out_of_tree("bnxt_re").absent());
}

// ------------------------------------------------------------------------------------------------ role

unsigned roles_of(FakeHost& host) { return Facts(host, Options{}).roles(); }

TEST(Role, is_storage_without_any_trace_so_that_absences_fail) {
    FakeHost host = bare_node();
    EXPECT_EQ(roles_of(host), storage);
}

TEST(Role, is_client_with_a_gpu_or_a_client_library_and_no_trace_of_the_server) {
    FakeHost host = bare_node();
    host.add_pci("0000:17:00.0", 0x030200, 0x10de, 0x2330);
    EXPECT_EQ(roles_of(host), client);
    FakeHost other = bare_node();
    other.set("info", "/usr/lib64/libcuobjclient.so.1", FileInfo{"file", 0755, 0, 0, 1, 0});
    EXPECT_EQ(roles_of(other), client);
}

TEST(Role, is_storage_with_a_gpu_beside_any_trace_of_the_server_or_one_that_could_not_be_looked_at) {
    for (const char* path : {"/etc/default/minio", "/usr/local/bin/minio.rdma", "/usr/lib/systemd/system/minio.service"}) {
        FakeHost host = bare_node();
        host.add_pci("0000:17:00.0", 0x030200, 0x10de, 0x2330);
        host.set("info", path, FileInfo{"file", 0644, 0, 0, 1, 0});
        EXPECT_EQ(roles_of(host), storage) << path;
        host.unreadable("info", path, "EACCES");
        EXPECT_EQ(roles_of(host), storage) << path;
    }
}

TEST(Want, is_both_paths_on_a_storage_node_and_s3_on_a_client) {
    FakeHost host = bare_node();
    EXPECT_EQ(Facts(host, Options{}).want(), internode | s3);
    Options options;
    options.roles = client;
    EXPECT_EQ(Facts(host, options).want(), s3);
}

// ------------------------------------------------------------------------------------------------ the chain

TEST(Chain, shows_each_link_from_netdev_to_address) {
    FakeHost host = e810_node();
    const Facts facts(host, interfaces({"ens1f0np0"}));
    const std::string chain = facts.ports().chain(facts.rdma());
    for (const char* part : {"ens1f0np0", "0000:3b:00.0", "NUMA 0", "rocep59s0f0/1", "GID 1", "192.0.2.11"}) EXPECT_THAT(chain, HasSubstr(part));
}

TEST(Ports, are_all_classed_with_a_reason) {
    FakeHost host = e810_node();
    host.add_port({"ens1f0v0", 5, "0000:3b:11.0", 0x8086, 0x1889, "iavf", "", 0, ""});
    host.add_port({"ens2f0np0", 6, "0000:5e:00.0", 0x8086, 0x1592, "ice", "", 0, ""});
    const Facts facts(host, Options{});
    const auto classed = [&](const char* netdev) { return facts.ports().find(netdev)->classed; };
    EXPECT_EQ(classed("ens1f0np0"), PortClass::storage);
    EXPECT_EQ(classed("eno1"), PortClass::management);
    EXPECT_EQ(classed("ens1f0v0"), PortClass::vf);
    EXPECT_EQ(classed("ens2f0np0"), PortClass::unused);
    for (const Port& port : facts.ports().all) EXPECT_FALSE(port.why.empty()) << port.link.name;
    EXPECT_EQ(facts.ports().find("lo"), nullptr);
}

TEST(Ports, survive_interfaces_that_point_at_themselves_or_at_nothing) {
    FakeHost host = e810_node();
    host.edit<std::vector<Link>>("links", "", [](std::vector<Link>& links) {
        Link loop;
        loop.index = 30;
        loop.name = "loop0";
        loop.kind = "vlan";
        loop.lower = 30;
        loop.master = 30;
        links.push_back(loop);
        Link dangling = loop;
        dangling.index = 31;
        dangling.name = "dangling0";
        dangling.lower = 999;
        dangling.master = 998;
        links.push_back(dangling);
    });
    EXPECT_EQ(only(judged(host, interfaces({"loop0", "dangling0"})), "nic.selected").status, Status::fail);
}

}  // namespace
}  // namespace preflight
