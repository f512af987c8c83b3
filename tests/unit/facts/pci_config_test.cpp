#include "facts/pci_config.h"

#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace preflight {
namespace {

PciConfig with(PciConfig config, std::size_t at, std::initializer_list<unsigned> bytes) {
    for (const unsigned byte : bytes) config.bytes[at++] = static_cast<char>(byte);
    return config;
}

std::string error_of(const PciConfig& config) {
    const auto acs = acs_control(config);
    return acs.unreadable() ? acs.why().error : acs.absent() ? "absent" : "value";
}

TEST(AcsControl, is_found_behind_other_capabilities) { EXPECT_EQ(acs_control(pcie_config(0x1d)), Fact<unsigned>(0x1du)); }

TEST(AcsControl, is_absent_without_the_capability) { EXPECT_TRUE(acs_control(pcie_config({})).absent()); }

TEST(AcsControl, is_absent_on_a_conventional_bridge_which_has_no_extended_space) {
    PciConfig config{std::string(256, '\0')};
    config = with(config, 0, {0x86, 0x80});
    EXPECT_TRUE(acs_control(config).absent());
}

// pci_read_config gives 64 bytes to a caller without CAP_SYS_ADMIN.
TEST(AcsControl, is_not_known_from_the_64_bytes_of_an_ordinary_user) { EXPECT_EQ(error_of({pcie_config(0x1d).bytes.substr(0, 64)}), "short"); }

TEST(AcsControl, is_not_known_when_a_pci_express_function_shows_256_bytes) { EXPECT_EQ(error_of({pcie_config(0x1d).bytes.substr(0, 256)}), "short"); }

TEST(AcsControl, is_not_known_from_an_empty_file) { EXPECT_EQ(error_of({""}), "short"); }

TEST(AcsControl, is_not_known_of_a_function_that_sleeps) { EXPECT_EQ(error_of({std::string(4096, '\xff')}), "no-answer"); }

TEST(AcsControl, survives_lists_that_lead_in_a_circle_or_out_of_the_space) {
    EXPECT_EQ(error_of(with(pcie_config({}), 0x100, {0x01, 0x00, 0x02, 0x10})), "malformed");         // next = itself
    EXPECT_EQ(error_of(with(pcie_config({}), 0x100, {0x01, 0x00, 0xc2, 0xff})), "malformed");         // next = 0xffc
    EXPECT_EQ(error_of(with(pcie_config({}), 0x100, {0x01, 0x00, 0x02, 0x04})), "malformed");         // next = 0x40
    EXPECT_EQ(error_of(with(pcie_config({}), 0x40, {0x01, 0x40})), "malformed");
    EXPECT_EQ(error_of(with(pcie_config({}), 0x40, {0x01, 0x10})), "malformed");
    EXPECT_EQ(error_of(with(pcie_config({}), 0x100, {0xff, 0xff, 0xff, 0xff})), "no-answer");
    EXPECT_EQ(error_of(with(pcie_config({}), 0x100, {0, 0, 0, 0})), "absent");
}

// Field case GPU-04 prints this line.
TEST(AcsText, is_what_lspci_prints) { EXPECT_EQ(acs_text(0x1d), "SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-"); }

TEST(PciConfigInASnapshot, comes_back_byte_by_byte_and_can_be_edited) {
    const PciConfig config = pcie_config(0x1d);
    Json json = config;
    EXPECT_EQ(json["size"], 4096);
    EXPECT_EQ(json["rows"].size(), 6u);
    EXPECT_EQ(json["rows"]["140"], "00 00 00 00 00 00 00 00 0d 00 01 00 5f 00 1d 00");
    EXPECT_EQ(json.get<PciConfig>().bytes, config.bytes);
    json["rows"]["14e"] = "01";
    EXPECT_EQ(acs_control(json.get<PciConfig>()), Fact<unsigned>(1u));
}

TEST(PciConfigInASnapshot, refuses_what_no_function_has) {
    for (const char* text : {R"({"size": 5000, "rows": {}})", R"({"size": 64, "rows": {"40": "00"}})", R"({"size": 64, "rows": {"zz": "00"}})", R"({"size": 64, "rows": {"00": "123"}})",
                             R"({"size": 64, "rows": {"00": "0 0  1"}})", R"({"size": -1, "rows": {}})", R"({"rows": {}})", R"({"size": 64, "rows": {"00": 7}})"})
        EXPECT_THROW(Json::parse(text).get<PciConfig>(), Json::exception) << text;
}

}  // namespace
}  // namespace preflight
