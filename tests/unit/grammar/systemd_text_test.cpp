#include "grammar/systemd_text.h"

#include <gtest/gtest.h>

#include <random>

#include "grammar/env_file.h"
#include "support/systemd_oracle.h"

namespace preflight {
namespace {

using namespace systemd_text;

std::optional<std::vector<std::string>> words_of(std::string_view text, unsigned rules) {
    std::vector<std::string> out;
    for (;;) {
        Word word = next_word(text, rules);
        if (word.kind == Word::malformed) return std::nullopt;
        if (word.kind == Word::end) return out;
        out.push_back(word.text);
    }
}

using List = std::vector<std::string>;

TEST(SystemdText, groups_words_by_quotes_as_the_manager_does) {
    EXPECT_EQ(words_of(R"(a "b c" 'd "e' f"g h"i)", unquote), (List{"a", "b c", "d \"e", "fg hi"}));
    EXPECT_EQ(words_of("\"open", unquote), std::nullopt);
    EXPECT_EQ(words_of("\"open x", unquote | relax), (List{"open x"}));
    EXPECT_EQ(words_of("\"\"", unquote), (List{""})) << "an empty quoted word is a word";
}

TEST(SystemdText, splits_an_unbraced_variable_and_keeps_a_braced_one) {
    const Variables variables = {{"V", "http://n1/d1  http://n2/d2"}, {"Q", "--address \":9000\"\"\""}};
    EXPECT_EQ(expand_argument("$V", variables).words, (List{"http://n1/d1", "http://n2/d2"}));
    EXPECT_EQ(expand_argument("${V}", variables).words, (List{"http://n1/d1  http://n2/d2"}));
    EXPECT_EQ(expand_argument("$Q", variables).words, (List{"--address", ":9000"}));
    EXPECT_EQ(expand_argument("$$V", variables).words, (List{"$V"}));
    EXPECT_EQ(expand_argument("\\$V", variables).words, (List{"\\$V"}));
    EXPECT_EQ(expand_argument("x$V", variables).words, (List{"x$V"})) << "inside a word only braces expand";
    EXPECT_EQ(expand_argument("$NO", variables).words, List{});
    EXPECT_EQ(expand_argument("$NO", variables).unset, (List{"NO"}));
}

TEST(SystemdText, reads_memlock_limits_and_refuses_near_misses) {
    EXPECT_EQ(parse_byte_limit("infinity"), (Limit{infinity, infinity}));
    EXPECT_EQ(parse_byte_limit("64M"), (Limit{64u << 20, 64u << 20}));
    EXPECT_EQ(parse_byte_limit("8388608:infinity"), (Limit{8388608, infinity}));
    EXPECT_EQ(parse_byte_limit("1.5G"), (Limit{1610612736, 1610612736}));
    for (const char* refused : {"Infinity", "-1", "infinity # rdma", "unlimited", "", "64 MB", "infinity:8M", "64m"})
        EXPECT_EQ(parse_byte_limit(refused), std::nullopt) << refused;
}

struct AgainstSystemd : testing::Test {
    void SetUp() override {
        if (!systemd_oracle::available()) GTEST_SKIP() << "systemd's shared library is not installed";
    }
    std::mt19937 random{20261201};

    std::string pick(const std::vector<std::string>& parts, std::size_t most) {
        std::string text;
        for (std::size_t n = random() % (most + 1); n; --n) text += parts[random() % parts.size()];
        return text;
    }
};

TEST_F(AgainstSystemd, environment_files_read_alike) {
    const std::vector<std::string> parts = {
        "MINIO_RDMA_INTERNODE", "=", "on", "\n", "\n", " ", "\"", "'", "\\", "#", ";", "\r\n", "\r", "export ", "A=1\n", "B = 2\n", "$", "`", "\t", "\xc3\xa4",
        "\xef\xbb\xbf", "\\\n", " # note", "C=\"x", "D='y z'", "=", "1F=3\n", "x"};
    for (int i = 0; i < 60000; ++i) {
        std::string text = pick(parts, 14);
        if (i % 50 == 0) text += "\xff";
        if (i % 70 == 0) text.insert(text.size() / 2, 1, '\0');
        const auto theirs = systemd_oracle::load_env_file(text);
        const EnvFile ours = read_env_file(text);
        ASSERT_EQ(theirs.has_value(), ours.refused.empty()) << testing::PrintToString(text);
        if (!theirs) continue;
        const auto variables = ours.variables();
        ASSERT_EQ(*theirs, (std::map<std::string, std::string>(variables.begin(), variables.end()))) << testing::PrintToString(text);
    }
}

TEST_F(AgainstSystemd, words_split_alike) {
    const std::vector<std::string> parts = {"a", "b", " ", "\"", "'", "\\", "\t", "n", "x41", "101", "u00e4", "U0001f600", "s", "$V", "#", "x00", "777", "\n"};
    for (int i = 0; i < 60000; ++i) {
        const std::string text = pick(parts, 10);
        // extract-word.h: EXTRACT_RELAX 1, EXTRACT_CUNESCAPE 2, EXTRACT_UNESCAPE_RELAX 4, EXTRACT_UNQUOTE 32
        const struct { unsigned theirs, ours; } modes[] = {
            {32, unquote}, {32 | 1, unquote | relax}, {32 | 2, unquote | unescape}, {32 | 2 | 4, unquote | unescape | keep_unknown}};
        for (const auto& mode : modes) ASSERT_EQ(systemd_oracle::words(text, mode.theirs), words_of(text, mode.ours)) << testing::PrintToString(text) << mode.ours;
    }
}

TEST_F(AgainstSystemd, command_lines_expand_alike) {
    const std::vector<std::string> parts = {"$", "{", "}", "V", "W", "x", "\\", "$V", "${W}", "$$", " ", "\""};
    const std::map<std::string, std::string> variables = {{"V", "a  'b c' \"d"}, {"W", "e f"}, {"x", ""}};
    for (int i = 0; i < 60000; ++i) {
        const std::string argument = pick(parts, 6);
        ASSERT_EQ(systemd_oracle::expand({argument}, variables), expand_argument(argument, {variables.begin(), variables.end()}).words)
            << testing::PrintToString(argument);
    }
}

TEST_F(AgainstSystemd, sizes_read_alike) {
    const std::vector<std::string> parts = {"1", "64", ".5", "K", "M", "G", "E", "B", " ", "-", "+", "18446744073709551615", "x", "."};
    for (int i = 0; i < 60000; ++i) {
        const std::string text = pick(parts, 5);
        ASSERT_EQ(systemd_oracle::parse_size(text), parse_size(text)) << testing::PrintToString(text);
    }
}

}  // namespace
}  // namespace preflight
