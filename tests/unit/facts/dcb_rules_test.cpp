#include "facts/dcb_rules.h"

#include <gtest/gtest.h>

namespace preflight {
namespace {

// net/ipv4/route.c, ip_tos2prio[]; the vendor's guide gives the same 0/8/16/24 -> 0/2/6/4.
TEST(TosToPriority, follows_the_kernel_table) {
    EXPECT_EQ(tos_to_priority(0), 0u);
    EXPECT_EQ(tos_to_priority(8), 2u);
    EXPECT_EQ(tos_to_priority(16), 6u);
    EXPECT_EQ(tos_to_priority(24), 4u);
    EXPECT_EQ(tos_to_priority(96), 0u);   // DSCP 24
    EXPECT_EQ(tos_to_priority(104), 2u);  // DSCP 26
    EXPECT_EQ(tos_to_priority(106), 2u);  // DSCP 26 and ECT(0)
    EXPECT_EQ(tos_to_priority(112), 6u);  // DSCP 28
    EXPECT_EQ(tos_to_priority(120), 4u);  // DSCP 30
}

TEST(TosToPriority, reaches_no_odd_priority) {
    for (unsigned tos = 0; tos < 256; ++tos) EXPECT_EQ(tos_to_priority(tos) % 2, 0u) << tos;
}

TEST(IceDefaultMap, is_the_class_selector_with_eight_tcs) {
    EXPECT_EQ(ice_default_tc(26, 8), 3u);
    EXPECT_EQ(ice_default_tc(63, 8), 7u);
    EXPECT_EQ(ice_default_tc(64, 8), std::nullopt);
}

TEST(IceDefaultMap, leaves_code_points_unwritten_with_four_tcs) {
    EXPECT_EQ(ice_default_tc(3, 4), 0u);
    EXPECT_EQ(ice_default_tc(11, 4), 2u);
    EXPECT_EQ(ice_default_tc(19, 4), 3u);
    EXPECT_EQ(ice_default_tc(20, 4), std::nullopt);
    EXPECT_EQ(ice_default_tc(26, 4), std::nullopt);
    EXPECT_EQ(ice_default_tc(32, 4), 0u);
    EXPECT_EQ(ice_default_tc(51, 4), 3u);
    EXPECT_EQ(ice_default_tc(52, 4), std::nullopt);
}

TEST(DcbRules, give_l3_dscp_mode_to_the_six_e810_ids_only) {
    for (const unsigned id : {0x1591u, 0x1592u, 0x1593u, 0x1599u, 0x159au, 0x159bu})
        EXPECT_EQ(dcb_rules("ice", 0x8086, id).classifier, Classifier::ice_dscp) << id;
    EXPECT_EQ(dcb_rules("ice", 0x8086, 0x12d2).classifier, Classifier::ice_pcp);  // E830
    EXPECT_EQ(dcb_rules("ice", 0x8086, 0x1890).classifier, Classifier::ice_pcp);  // E822
    EXPECT_EQ(dcb_rules("mlx5_core", 0x15b3, 0x101d).classifier, Classifier::mlx5);
    EXPECT_EQ(dcb_rules("bnxt_en", 0x14e4, 0x1750).classifier, Classifier::standard);
}

TEST(CounterNames, hold_the_priority_where_the_driver_puts_it) {
    const auto priority_of = [](std::string_view driver, std::string_view name) {
        for (auto row = counter_rows_begin(); row != counter_rows_end(); ++row)
            if (row->driver == driver)
                if (const auto priority = counter_priority(*row, name)) return *priority;
        return 99u;
    };
    EXPECT_EQ(priority_of("ice", "tx_priority_3_xoff.nic"), 3u);
    EXPECT_EQ(priority_of("mlx5_core", "rx_prio7_pause"), 7u);
    EXPECT_EQ(priority_of("mlx5_core", "rx_prio7_pause_duration"), 99u);
    EXPECT_EQ(priority_of("mlx5_core", "rx_prio8_pause"), 99u);
    EXPECT_EQ(priority_of("mlx5_core", "out_of_buffer"), 8u);
}

}  // namespace
}  // namespace preflight
