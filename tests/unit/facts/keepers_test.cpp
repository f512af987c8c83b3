#include "facts/keepers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace preflight {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// A node's files below a folder of their own, read by the live host's real sources.
class KeepersOfANode : public testing::Test {
protected:
    void SetUp() override {
        root = testing::TempDir() + "keepers.XXXXXX";
        ASSERT_NE(mkdtemp(root.data()), nullptr);
    }
    void TearDown() override { fs::remove_all(root); }

    void put(const std::string& path, const std::string& text) {
        fs::create_directories(fs::path(root + path).parent_path());
        std::ofstream(root + path) << text;
    }
    void link(const std::string& path, const std::string& target) {
        fs::create_directories(fs::path(root + path).parent_path());
        fs::create_symlink(target, root + path);
    }
    Keepers read() {
        const auto host = live_host(root);
        return Keepers::read(*host);
    }

    std::string root;
};

const std::string oneshot = "[Unit]\nDescription=x\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=dcb pfc set dev ens1f0np0 prio-pfc 3:on\n";

TEST_F(KeepersOfANode, find_a_unit_that_is_enabled_and_active) {
    put("/etc/systemd/system/roce.service", oneshot);
    link("/etc/systemd/system/multi-user.target.wants/roce.service", "../roce.service");
    link("/run/systemd/units/invocation:roce.service", "0123456789abcdef0123456789abcdef");
    const Keepers keepers = read();
    ASSERT_EQ(keepers.of("ens1f0np0").size(), 1u);
    const Keeper& unit = *keepers.of("ens1f0np0").front();
    EXPECT_TRUE(unit.enabled && unit.stays_active && unit.active && *unit.active);
    EXPECT_TRUE(keepers.of("ens1f1np1").empty());
}

TEST_F(KeepersOfANode, tell_a_unit_that_did_not_run) {
    put("/etc/systemd/system/roce.service", oneshot);
    link("/etc/systemd/system/multi-user.target.wants/roce.service", "../roce.service");
    const Keepers keepers = read();
    EXPECT_FALSE(*keepers.list.at(0).active);
    EXPECT_TRUE(keepers.list.at(0).enabled);
}

TEST_F(KeepersOfANode, follow_the_script_that_a_unit_starts) {
    put("/etc/systemd/system/roce.service", "[Service]\nType=oneshot\nExecStart=-/usr/local/sbin/roce.sh --token secret\n");
    put("/usr/local/sbin/roce.sh", "#!/bin/sh\nPASSWORD=secret\nmlnx_qos -i ens2f0np0 --trust dscp\n");
    const Keepers keepers = read();
    ASSERT_EQ(keepers.list.size(), 1u);
    EXPECT_TRUE(keepers.list[0].names("ens2f0np0"));
    EXPECT_FALSE(keepers.list[0].stays_active);
    EXPECT_THAT(keepers.list[0].lines, Not(Contains(HasSubstr("secret"))));
}

TEST_F(KeepersOfANode, take_the_instances_of_a_template) {
    put("/etc/systemd/system/roce@.service", "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=dcb pfc set dev %i prio-pfc 3:on\n");
    link("/etc/systemd/system/multi-user.target.wants/roce@ens1f0np0.service", "../roce@.service");
    const Keepers keepers = read();
    EXPECT_EQ(keepers.of("ens1f0np0").size(), 1u);
    EXPECT_TRUE(keepers.of("ens1f1np1").empty());
}

TEST_F(KeepersOfANode, pass_over_units_and_comments_that_do_not_set_dcb) {
    put("/etc/systemd/system/minio.service", "[Service]\nEnvironment=MINIO_ROOT_PASSWORD=secret\nExecStart=/usr/local/bin/minio.rdma server\n");
    put("/etc/systemd/system/old.service", "[Service]\n# dcb pfc set dev ens1f0np0 prio-pfc 3:on\nExecStart=/bin/true\n");
    EXPECT_TRUE(read().list.empty());
}

TEST_F(KeepersOfANode, see_udev_rules_and_profiles_without_their_secrets) {
    put("/etc/udev/rules.d/80-roce.rules", "ACTION==\"add\", SUBSYSTEM==\"net\", KERNEL==\"ens1f0np0\", RUN+=\"/usr/sbin/ethtool --set-priv-flags ens1f0np0 fw-lldp-agent off\"\n");
    put("/etc/NetworkManager/system-connections/storage.nmconnection", "[connection]\nid=storage\ninterface-name=ens1f0np0\n[802-1x]\npassword=secret\n[dcb]\npriority-flow-control=0,0,0,1,0,0,0,0\n");
    const Keepers keepers = read();
    EXPECT_EQ(keepers.of("ens1f0np0").size(), 2u);
    for (const Keeper& keeper : keepers.list) EXPECT_THAT(keeper.lines, Not(Contains(HasSubstr("secret"))));
}

TEST_F(KeepersOfANode, find_lldpad_by_the_netdev_in_its_file) {
    put("/var/lib/lldpad/lldpad.conf", "lldp : {\n ens1f0np0 : {\n tlvid0080c20b : { enabled = \"3\"; };\n };\n};\n");
    EXPECT_EQ(read().of("ens1f0np0").size(), 1u);
}

TEST_F(KeepersOfANode, name_what_could_not_be_read) {
    link("/etc/udev/rules.d", "rules.d");  // a loop
    const Keepers keepers = read();
    ASSERT_EQ(keepers.unreadable.size(), 1u);
    EXPECT_EQ(keepers.unreadable[0].first, "/etc/udev/rules.d");
    EXPECT_EQ(keepers.unreadable[0].second.error, "ELOOP");
}

}  // namespace
}  // namespace preflight
