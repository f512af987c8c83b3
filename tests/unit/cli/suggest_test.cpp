#include "cli/suggest.h"

#include <gtest/gtest.h>

namespace preflight {
namespace {

const std::vector<std::string> words = {"--snapshot", "--stage", "--strict", "nic.link"};

TEST(Suggest, finds_the_nearest_word) {
    EXPECT_EQ(nearest("--snpashot", words), "--snapshot");
    EXPECT_EQ(nearest("nic.lnk", words), "nic.link");
}

TEST(Suggest, says_nothing_when_nothing_is_near) {
    EXPECT_EQ(nearest("--colour-of-the-sky", words), "");
    EXPECT_EQ(did_you_mean("xyzzy", words), "");
}

TEST(Suggest, stays_quiet_about_absurdly_long_words) {
    EXPECT_EQ(nearest(std::string(100000, 'a'), words), "");
}

}  // namespace
}  // namespace preflight
