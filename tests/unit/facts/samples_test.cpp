#include "facts/samples.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "preflight/facts.h"

namespace preflight {
namespace {

using Json = nlohmann::json;

/// The healthy E810 node of the cases with two readings of its first port.
class SampledSnapshot : public testing::Test {
protected:
    void SetUp() override {
        Json snapshot = Json::parse(std::ifstream(TESTS_DIR "/cases/bases/e810-healthy.json"));
        Json& answers = snapshot["answers"];
        for (const char* port : {"enp59s0f0np0", "enp59s0f1np1"}) {
            answers["ethtool_statistics"][port] = {{"tx_priority_3_xoff.nic", 1}, {"rx_dropped.nic", 0}};
            answers["ethtool_statistics"][std::string(port) + "@1"] = {{"tx_priority_3_xoff.nic", 6}, {"rx_dropped.nic", 0}};
            answers["dcb"][std::string(port) + "@1"] = answers["dcb"][port];
            answers["dcb"][std::string(port) + "@1"]["pfc"]["requests"][3] = 5;
        }
        for (const char* device : {"rocep59s0f0/1", "rocep59s0f1/1"})
            for (const char* number : {"", "@1"}) answers["rdma_counters"][std::string(device) + number] = {{"TxUDP", 0}};
        path = testing::TempDir() + "sampled.json";
        std::ofstream(path) << snapshot;
    }

    Samples read(std::optional<double> seconds) {
        const auto host = snapshot_host(path);
        Options options;
        options.from_snapshot = true;
        options.sample_seconds = seconds;
        options.interfaces = {"enp59s0f0np0", "enp59s0f1np1"};
        return Samples::read(Facts(*host, options));
    }

    std::string path;
};

TEST_F(SampledSnapshot, is_judged_without_waiting) {
    const auto begin = std::chrono::steady_clock::now();
    const Samples samples = read(60);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    ASSERT_EQ(samples.ports.size(), 2u);
    EXPECT_EQ(samples.of("0000:3b:00.0")->ethtool.delta("tx_priority_3_xoff.nic"), 5u);
    EXPECT_EQ(samples.of("0000:3b:00.0")->pfc.delta("requests 3"), 5u);
    EXPECT_EQ(samples.of("0000:3b:00.0")->ethtool.delta("no such"), std::nullopt);
}

TEST_F(SampledSnapshot, is_not_read_unless_asked_for) {
    EXPECT_TRUE(read(std::nullopt).ports.empty());
}

TEST_F(SampledSnapshot, of_an_e810_is_never_closer_than_the_drivers_refresh) {
    EXPECT_EQ(read(0.5).seconds, 2.5);
    EXPECT_EQ(read(10).seconds, 10);
}

}  // namespace
}  // namespace preflight
