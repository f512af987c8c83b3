#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "host/live.h"

namespace preflight {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
namespace fs = std::filesystem;

constexpr const char* zero = "0000:0000:0000:0000:0000:0000:0000:0000";

/// A node's /sys below a temporary root, with the class folder as the links it is on a real one.
struct RdmaSysfs : testing::Test {
    fs::path root = fs::path(testing::TempDir()) / ("rdma-sysfs-" + std::to_string(getpid()) + "-" +
                                                     testing::UnitTest::GetInstance()->current_test_info()->name());

    ~RdmaSysfs() override { fs::remove_all(root); }

    fs::path device(const std::string& name) {
        const fs::path real = root / "sys/devices/pci0000:3a/0000:3b:00.0/infiniband" / name;
        const fs::path link = root / "sys/class/infiniband" / name;
        fs::create_directories(real / "ports/1");
        fs::create_directories(link.parent_path());
        if (!fs::exists(fs::symlink_status(link)))
            fs::create_directory_symlink("../../devices/pci0000:3a/0000:3b:00.0/infiniband/" + name, link);
        return real / "ports/1";
    }
    void write(const fs::path& file, const std::string& text) {
        fs::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    void gid(const fs::path& port, int slot, const std::string& value, const std::string& type = "", const std::string& ndev = "") {
        const std::string name = std::to_string(slot);
        write(port / "gids" / name, value + "\n");
        if (!type.empty()) write(port / "gid_attrs/types" / name, type + "\n");
        if (!ndev.empty()) write(port / "gid_attrs/ndevs" / name, ndev + "\n");
    }
    Fact<GidTable> gids(const std::string& device_name, int port = 1) { return live::rdma_gids(root, device_name, port); }
    Fact<std::map<std::string, std::uint64_t>> counters(const std::string& name) { return live::rdma_counters(root, name, 1); }
};

TEST_F(RdmaSysfs, reads_a_table_of_irdma_and_leaves_empty_slots_out) {
    const auto port = device("rocep59s0f0");
    for (int slot = 0; slot < 32; ++slot) gid(port, slot, zero);
    gid(port, 0, "fe80:0000:0000:0000:b696:91ff:fea6:0001", "RoCE v2", "ens1f0np0");
    gid(port, 1, "0000:0000:0000:0000:0000:ffff:c000:020b", "RoCE v2", "ens1f0np0.100");
    const auto table = gids("rocep59s0f0");
    ASSERT_TRUE(table.has());
    EXPECT_EQ(table->length, 32);
    ASSERT_EQ(table->gids.size(), 2u);
    EXPECT_EQ(table->gids[0].gid, "fe80:0000:0000:0000:b696:91ff:fea6:0001");
    EXPECT_EQ(table->gids[1].index, 1);
    EXPECT_EQ(table->gids[1].gid, "0000:0000:0000:0000:0000:ffff:c000:020b");
    EXPECT_EQ(*table->gids[1].type, "RoCE v2");
    EXPECT_EQ(*table->gids[1].netdev, "ens1f0np0.100");
    EXPECT_THAT(table->unreadable, IsEmpty());
}

TEST_F(RdmaSysfs, reads_a_classic_mlx5_table_in_the_order_of_its_slots) {
    const auto port = device("mlx5_0");
    for (int slot = 0; slot < 255; ++slot) gid(port, slot, zero);
    for (int slot = 0; slot < 12; ++slot)
        gid(port, slot, "0000:0000:0000:0000:0000:ffff:c000:0201", slot % 2 ? "RoCE v2" : "IB/RoCE v1", "ens2np0");
    const auto table = gids("mlx5_0");
    ASSERT_TRUE(table.has());
    EXPECT_EQ(table->length, 255);
    ASSERT_EQ(table->gids.size(), 12u);
    for (int slot = 0; slot < 12; ++slot) {
        EXPECT_EQ(table->gids[static_cast<std::size_t>(slot)].index, slot);
        EXPECT_EQ(*table->gids[static_cast<std::size_t>(slot)].type, slot % 2 ? "RoCE v2" : "IB/RoCE v1");
    }
}

TEST_F(RdmaSysfs, a_table_of_zeros_is_a_table_without_gids) {
    const auto port = device("mlx5_0");
    for (int slot = 0; slot < 16; ++slot) gid(port, slot, zero);
    const auto table = gids("mlx5_0");
    ASSERT_TRUE(table.has());
    EXPECT_EQ(table->length, 16);
    EXPECT_THAT(table->gids, IsEmpty());
    EXPECT_THAT(table->unreadable, IsEmpty());
}

TEST_F(RdmaSysfs, a_slot_that_cannot_be_read_is_named_and_hides_no_other) {
    const auto port = device("irdma0");
    gid(port, 0, "fe80:0000:0000:0000:b696:91ff:fea6:0001", "RoCE v2", "ens1f0np0");
    fs::create_directories(port / "gids/7");
    const auto table = gids("irdma0");
    ASSERT_TRUE(table.has());
    EXPECT_EQ(table->length, 2);
    EXPECT_EQ(table->gids.size(), 1u);
    EXPECT_THAT(table->unreadable, ElementsAre("7: EISDIR"));
}

TEST_F(RdmaSysfs, an_attribute_of_a_gid_that_cannot_be_read_keeps_the_gid) {
    const auto port = device("irdma0");
    gid(port, 0, "fe80:0000:0000:0000:b696:91ff:fea6:0001");
    gid(port, 1, "fe80:0000:0000:0000:b696:91ff:fea6:0002");
    fs::create_directories(port / "gid_attrs/types/0");
    fs::create_directories(port / "gid_attrs/ndevs");
    const auto table = gids("irdma0");
    ASSERT_EQ(table->gids.size(), 2u);
    ASSERT_TRUE(table->gids[0].type.unreadable());
    EXPECT_EQ(table->gids[0].type.why().error, "EISDIR");
    EXPECT_NE(table->gids[0].type.why().cause.find("gid_attrs/types/0"), std::string::npos);
    EXPECT_TRUE(table->gids[0].netdev.absent());
    EXPECT_TRUE(table->gids[1].type.absent());
}

TEST_F(RdmaSysfs, says_absent_for_a_device_or_port_that_is_not_there) {
    device("irdma0");
    EXPECT_TRUE(gids("irdma1").absent());
    EXPECT_TRUE(gids("irdma0", 2).absent());
    EXPECT_TRUE(gids("irdma0", 1).absent()) << "a port without a gids folder";
    EXPECT_TRUE(counters("irdma1").absent());
}

TEST_F(RdmaSysfs, never_leaves_the_root_through_a_link) {
    fs::create_directories(root / "sys/class/infiniband");
    const fs::path outside = root.string() + "-outside";
    write(outside / "ports/1/gids/0", "fe80:0000:0000:0000:0000:0000:0000:0001\n");
    fs::create_directory_symlink(outside, root / "sys/class/infiniband/evil");
    EXPECT_TRUE(gids("evil").absent());
    fs::remove_all(outside);
}

TEST_F(RdmaSysfs, merges_both_counter_folders_by_name) {
    const auto port = device("mlx5_0");
    write(port / "hw_counters/out_of_sequence", "12\n");
    write(port / "hw_counters/np_cnp_sent", "18446744073709551615\n");
    write(port / "hw_counters/lifespan", "10\n");
    write(port / "counters/port_xmit_discards", "3\n");
    EXPECT_THAT(*counters("mlx5_0"), ElementsAre(Pair("np_cnp_sent", UINT64_MAX), Pair("out_of_sequence", 12), Pair("port_xmit_discards", 3)))
        << "lifespan is a setting, not a counter";
}

TEST_F(RdmaSysfs, leaves_out_a_counter_without_a_number) {
    const auto port = device("rxe0");
    write(port / "counters/VL15_dropped", "N/A (no PMA)\n");
    write(port / "counters/empty", "");
    write(port / "counters/symbol_error", "0\n");
    fs::create_directories(port / "counters/folder");
    EXPECT_THAT(*counters("rxe0"), ElementsAre(Pair("symbol_error", 0)));
}

TEST_F(RdmaSysfs, tells_no_counters_offered_none_there_and_none_readable_apart) {
    const auto none = device("a");
    EXPECT_TRUE(counters("a").absent());
    fs::create_directories(none / "hw_counters");
    ASSERT_TRUE(counters("a").has());
    EXPECT_THAT(*counters("a"), IsEmpty());
    fs::create_directories(none / "hw_counters/broken");
    ASSERT_TRUE(counters("a").unreadable());
    EXPECT_EQ(counters("a").why().error, "EISDIR");
}

}  // namespace
}  // namespace preflight
