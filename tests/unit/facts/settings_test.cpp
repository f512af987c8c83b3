#include "facts/settings.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace preflight {
namespace {

TEST(Settings, are_documented_as_the_program_knows_them) {
    std::ifstream file(TESTS_DIR "/../docs/settings.md");
    ASSERT_TRUE(file) << "docs/settings.md is missing";
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_NE(text.str().find(settings_table()), std::string::npos) << "docs/settings.md should hold this table:\n" << settings_table();
}

}  // namespace
}  // namespace preflight
