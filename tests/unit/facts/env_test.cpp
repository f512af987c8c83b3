// What systemd and the server make of the same lines. Expected values: measured on systemd 252 (env_file), the community
// server's source (server_env, volumes).

#include <gtest/gtest.h>

#include "grammar/env_file.h"
#include "facts/server_env.h"
#include "facts/settings.h"
#include "facts/volumes.h"

namespace preflight {
namespace {

std::string systemd_value(std::string_view text, std::string_view name = "MINIO_RDMA_INTERNODE") {
    const auto variables = read_env_file(text).variables();
    const auto found = variables.find(name);
    return found == variables.end() ? "(unset)" : found->second;
}

std::string server_value(std::string_view text, std::string_view name = "MINIO_RDMA_INTERNODE") {
    const ServerEnv env = read_server_env(text);
    if (env.malformed_line) return "(stops)";
    const ServerEnvLine* line = env.find(name);
    return line ? line->value : "(unset)";
}

TEST(EnvFile, keeps_a_comment_after_a_value_in_the_value) {
    EXPECT_EQ(systemd_value("MINIO_RDMA_INTERNODE=on # east-west\n"), "on # east-west");
    EXPECT_TRUE(read_env_file("MINIO_RDMA_INTERNODE=on # east-west\n").lines[0].note_in_value);
    EXPECT_FALSE(read_env_file("MINIO_VOLUMES=http://n1/d#1\n").lines[0].note_in_value) << "no blank before it: no comment was meant";
    EXPECT_EQ(systemd_value("MINIO_RDMA_INTERNODE=\"on\" # note\n"), "on# note");
    EXPECT_TRUE(read_env_file("MINIO_RDMA_INTERNODE=\"on\" # note\n").lines[0].text_after_quote);
}

TEST(EnvFile, drops_an_exported_name_and_says_which) {
    const EnvFile file = read_env_file("A=1\nexport MINIO_RDMA_INTERNODE=on\n");
    ASSERT_EQ(file.dropped.size(), 1u);
    EXPECT_EQ(file.dropped[0].why, EnvDropped::exported);
    EXPECT_EQ(file.dropped[0].name, "MINIO_RDMA_INTERNODE");
    EXPECT_EQ(file.dropped[0].line, 2);
    EXPECT_EQ(file.lines.size(), 1u);
}

TEST(EnvFile, loses_the_line_after_a_comment_that_ends_in_a_backslash) {
    const char* text = "# pools \\\nMINIO_RDMA_INTERNODE=on\n";
    EXPECT_EQ(systemd_value(text), "(unset)");
    const EnvFile file = read_env_file(text);
    ASSERT_EQ(file.dropped.size(), 1u);
    EXPECT_EQ(file.dropped[0].why, EnvDropped::comment);
    EXPECT_EQ(file.dropped[0].name, "MINIO_RDMA_INTERNODE");
    EXPECT_EQ(file.dropped[0].line, 2);
    EXPECT_EQ(read_env_file(text, CommentContinues::no).variables().at("MINIO_RDMA_INTERNODE"), "on") << "systemd 254 and later";
}

TEST(EnvFile, takes_harmless_oddities_as_they_are_meant) {
    for (const char* text : {"MINIO_RDMA_INTERNODE = on\n", "MINIO_RDMA_INTERNODE=on\r\n", "  MINIO_RDMA_INTERNODE=on  \n", "MINIO_RDMA_INTERNODE='on'\n",
                             "MINIO_RDMA_INTERNODE=\"on\"  \n", "MINIO_RDMA_INTERNODE=on", "; note\nMINIO_RDMA_INTERNODE=on\n", "MINIO_RDMA_INTERNODE=o\\\nn\n"})
        EXPECT_EQ(systemd_value(text), "on") << text;
    EXPECT_EQ(systemd_value("MINIO_RDMA_INTERNODE=\"on \"\n"), "on ") << "a blank inside quotes stays";
}

TEST(EnvFile, lets_the_last_assignment_hold_and_counts_lines) {
    const EnvFile file = read_env_file("# x\r\n\r\nA=1\r\nA=\"2\n3\"\nA=\n");
    ASSERT_EQ(file.lines.size(), 3u);
    EXPECT_EQ(file.lines[0].line, 3);
    EXPECT_EQ(file.lines[1].line, 4);
    EXPECT_EQ(file.lines[1].value, "2\n3");
    EXPECT_EQ(file.lines[2].line, 6);
    EXPECT_EQ(file.variables().at("A"), "");
}

TEST(EnvFile, names_what_an_unclosed_quote_swallowed) {
    const EnvFile file = read_env_file("MINIO_VOLUMES=\"http://n1/d\nMINIO_RDMA_INTERNODE=on\nexport B=1\n");
    ASSERT_EQ(file.lines.size(), 1u);
    EXPECT_TRUE(file.lines[0].unclosed_quote);
    EXPECT_EQ(file.lines[0].swallowed, (std::vector<std::string>{"MINIO_RDMA_INTERNODE", "B"}));
}

TEST(EnvFile, refuses_what_the_manager_refuses_whole) {
    EXPECT_EQ(read_env_file("A=1\nB=\xff\n").refused, "a value that is not UTF-8");
    EXPECT_EQ(read_env_file("A=1\nB=\xff\n").refused_line, 2);
    EXPECT_EQ(read_env_file(std::string_view("A=1\0B=2", 7)).refused, "a NUL byte");
    EXPECT_EQ(read_env_file("\xef\xbb\xbfMINIO_RDMA_INTERNODE=on\nB=1\n").dropped[0].name, "MINIO_RDMA_INTERNODE") << "a byte order mark";
}

TEST(ServerEnv, reads_the_same_lines_its_own_way) {
    EXPECT_EQ(server_value("export MINIO_RDMA_INTERNODE=on\n"), "on");
    EXPECT_EQ(server_value("MINIO_RDMA_INTERNODE=on # note\n"), "on # note");
    EXPECT_EQ(server_value("MINIO_RDMA_INTERNODE=\"on\"\n"), "on");
    EXPECT_EQ(server_value("MINIO_RDMA_INTERNODE=\"on\" # note\n"), "\"on\" # note");
    EXPECT_EQ(server_value("MINIO_RDMA_INTERNODE =on\n"), "(unset)") << "the key keeps its blank";
    EXPECT_EQ(server_value("  MINIO_RDMA_INTERNODE=on  \r\n"), "on");
    EXPECT_EQ(server_value("MINIO_RDMA_INTERNODE=off\nMINIO_RDMA_INTERNODE=on\n"), "on");
    EXPECT_EQ(server_value("; note\nMINIO_RDMA_INTERNODE=on\n"), "(stops)");
    EXPECT_EQ(server_value("MINIO_RDMA_INTERNODE\n"), "(stops)");
    EXPECT_EQ(read_server_env("A=1\n\nB\n").malformed_line, 3);
    EXPECT_EQ(server_value("MINIO_VOLUMES=\"http://192.0.2.1/d1 \\\n  http://192.0.2.2/d1\"\nMINIO_RDMA_INTERNODE=on\n"), "(stops)");
}

std::string error_of(std::string_view value) {
    const Volumes volumes = parse_volumes(value);
    return volumes.errors.empty() ? "" : volumes.errors[0].message;
}

TEST(Volumes, multiplies_ranges_and_counts_pools) {
    const Volumes volumes = parse_volumes("https://n{1...4}.example.net:9000/mnt/disk{1...4}/minio https://n{5...12}.example.net:9000/mnt/disk{1...8}/minio");
    EXPECT_TRUE(volumes.errors.empty());
    EXPECT_EQ(volumes.hosts.size(), 12u);
    EXPECT_EQ(volumes.pools, 2u);
    EXPECT_EQ(volumes.drives, 80u);
    EXPECT_EQ(volumes.hosts[11], (VolumeHost{"n12.example.net", 9000}));
}

TEST(Volumes, pads_and_counts_in_hexadecimal_as_minio_does) {
    std::vector<VolumeError> errors;
    EXPECT_EQ(expand_ellipses("n{01...03}", 0, errors), (std::vector<std::string>{"n01", "n02", "n03"}));
    EXPECT_EQ(expand_ellipses("n{1...03}", 0, errors), (std::vector<std::string>{"n01", "n02", "n03"}));
    EXPECT_EQ(expand_ellipses("n{9...b}", 0, errors), (std::vector<std::string>{"n9", "na", "nb"}));
    EXPECT_EQ(expand_ellipses("n{0...1}d{1...2}", 0, errors), (std::vector<std::string>{"n0d1", "n0d2", "n1d1", "n1d2"}));
    EXPECT_TRUE(errors.empty());
}

TEST(Volumes, takes_a_plain_list_as_one_pool) {
    const Volumes volumes = parse_volumes("http://192.0.2.1/d1   http://192.0.2.1/d2 http://[2001:db8::2]:9010/d1");
    EXPECT_TRUE(volumes.errors.empty());
    EXPECT_EQ(volumes.hosts, (std::vector<VolumeHost>{{"192.0.2.1", 0}, {"2001:db8::2", 9010}}));
    EXPECT_EQ(volumes.pools, 1u);
    EXPECT_TRUE(parse_volumes("/mnt/data{1...2}").single_node());
}

TEST(Volumes, points_at_what_does_not_expand) {
    const Volumes dots = parse_volumes("http://n{01..10}:9000/mnt/disk1");
    ASSERT_EQ(dots.errors.size(), 1u);
    EXPECT_EQ(dots.errors[0].column, 8u);
    EXPECT_EQ(dots.errors[0].width, 8u);
    EXPECT_NE(dots.errors[0].message.find("{01...10}"), std::string::npos);
    EXPECT_NE(error_of("http://n{1...2:9000/mnt/data{1...24}/minio}").find("not closed"), std::string::npos);
    EXPECT_NE(error_of("http://n{1,2,3}:9000/d{1...4}").find("comma list"), std::string::npos);
    EXPECT_NE(error_of("$BASE/d{1...4}").find("unexpanded"), std::string::npos);
    EXPECT_NE(error_of("http://n{1...4}/d http://n5/d").find("mixed"), std::string::npos);
    EXPECT_NE(error_of("http://n{1...4}/d # all").find("comment"), std::string::npos);
    EXPECT_NE(error_of("http://n{4...1}/d").find("starts at 4"), std::string::npos);
    EXPECT_NE(error_of("http://n1:9000").find("path"), std::string::npos);
    EXPECT_NE(error_of("http://n{1...4}/d} x").find("closing brace"), std::string::npos);
    EXPECT_NE(error_of("http://n{1...99999999999}/d").find("more than"), std::string::npos);
    EXPECT_NE(error_of("http://n{0...18446744073709551615}/d").find("more than"), std::string::npos);
}

TEST(Settings, judges_values_by_what_is_public) {
    const auto kind = [](std::string_view name, std::string_view value) { return read_setting(*find_setting(name), value).kind; };
    EXPECT_EQ(kind("MINIO_RDMA_POOL_COUNT", "256"), SettingValue::good);
    EXPECT_EQ(kind("MINIO_RDMA_POOL_COUNT", "0"), SettingValue::out_of_range);
    EXPECT_EQ(kind("MINIO_RDMA_POOL_COUNT", "-1"), SettingValue::unparsable);
    EXPECT_EQ(kind("MINIO_RDMA_POOL_COUNT", "many"), SettingValue::unparsable);
    EXPECT_EQ(kind("MINIO_RDMA_POOL_BUF_SIZE", "64MiB"), SettingValue::doubtful);
    EXPECT_EQ(kind("MINIO_RDMA_POOL_BUF_SIZE", "67108864"), SettingValue::good);
    EXPECT_EQ(kind("MINIO_RDMA_PEER_PORT", "70000"), SettingValue::out_of_range);
    EXPECT_EQ(kind("MINIO_RDMA_PEER_PORT", ""), SettingValue::empty);
    EXPECT_EQ(kind("MINIO_RDMA_INTERNODE_INFLIGHT_BYTES", "0"), SettingValue::good) << "0 means automatic";
    EXPECT_EQ(kind("MINIO_RDMA_INTERNODE_TRAFFIC_CLASS", "0"), SettingValue::good);
    EXPECT_EQ(kind("MINIO_RDMA_TRAFFIC_CLASS", "300"), SettingValue::doubtful);
}

TEST(Settings, suggests_the_name_that_was_meant) {
    ASSERT_NE(nearest_setting("MINIO_RDMA_INTER_NODE"), nullptr);
    EXPECT_EQ(nearest_setting("MINIO_RDMA_INTER_NODE")->name, "MINIO_RDMA_INTERNODE");
    EXPECT_EQ(nearest_setting("MINIO_ROOT_PASSWORD"), nullptr);
}

}  // namespace
}  // namespace preflight
