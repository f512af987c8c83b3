#include "report/wrap.h"

#include <gtest/gtest.h>

namespace preflight {
namespace {

TEST(Wrap, breaks_at_blanks_and_indents_the_following_lines) {
    EXPECT_EQ(wrap("aaaa bbbb cccc", 11, 2, 2), "aaaa bbbb\n  cccc");
}

TEST(Wrap, leaves_a_word_wider_than_the_line_whole) {
    EXPECT_EQ(wrap("a /very/long/path b", 8, 0, 0), "a\n/very/long/path\nb");
}

TEST(Printable, lets_nothing_move_the_cursor) {
    EXPECT_EQ(printable("a\033[31mb\x7f\xc2\x9b" "c\r", false), "a?[31mb??c?");
}

TEST(Printable, replaces_bytes_that_are_not_utf8) {
    EXPECT_EQ(printable("a\xff\xc3", false), "a??");
}

TEST(Printable, has_a_plain_form_for_terminals_without_utf8) {
    EXPECT_EQ(printable("\u2265 4192 \u2192 caf\u00e9", true), ">= 4192 -> caf?");
    EXPECT_EQ(printable("caf\u00e9", false), "caf\u00e9");
}

TEST(Columns, counts_characters) {
    EXPECT_EQ(columns("\u2265 1"), 3);
}

}  // namespace
}  // namespace preflight
