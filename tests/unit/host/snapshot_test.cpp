#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "host/answer.h"
#include "version.h"

namespace preflight {
namespace {

struct Snapshot : testing::Test {
    std::string path = testing::TempDir() + "snapshot-" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";

    void write(const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
    std::unique_ptr<Host> with(const std::string& answers) {
        write(R"({"schema":"aistor-rdma-check/snapshot/1","tool":{"version":"1.2.3","commit":""},"answers":)" + answers + "}");
        return snapshot_host(path);
    }
    std::string refusal() {
        try {
            snapshot_host(path);
        } catch (const InputError& error) {
            return error.message;
        }
        return "accepted";
    }
    ~Snapshot() override { std::remove(path.c_str()); }
};

TEST_F(Snapshot, tells_absent_unreadable_empty_and_not_captured_apart) {
    const auto host = with(R"({"read":{"/a":"","/b":null,"/c":{"error":"EACCES","cause":"/c: Permission denied"}}})");
    EXPECT_EQ(host->read("/a"), Fact<std::string>(std::string()));
    EXPECT_TRUE(host->read("/b").absent());
    EXPECT_EQ(host->read("/c").why().error, "EACCES");
    EXPECT_EQ(host->read("/d").why().error, "not-captured");
    EXPECT_NE(host->read("/d").why().cause.find("1.2.3"), std::string::npos) << "names the capturing version";
}

TEST_F(Snapshot, keeps_what_the_kernel_said_beside_an_absence) {
    const auto host = with(R"({"dcb":{"ens1f0":{"absent":"EOPNOTSUPP"}}})");
    EXPECT_EQ(host->dcb("ens1f0").gone().detail, "EOPNOTSUPP");
}

TEST_F(Snapshot, keeps_an_attribute_that_was_not_sent_apart_from_zero) {
    const auto host = with(R"({"dcb":{"a":{"dcbx":9},"b":{"pfc":{"enabled":0}}}})");
    EXPECT_FALSE(host->dcb("a")->pfc.has_value());
    ASSERT_TRUE(host->dcb("b")->pfc.has_value());
    EXPECT_EQ(host->dcb("b")->pfc->enabled, 0u);
}

TEST_F(Snapshot, refuses_an_answer_of_the_wrong_form_and_names_it) {
    const auto host = with(R"({"links":{"":[{"name":7}]}})");
    try {
        host->links();
        FAIL() << "accepted";
    } catch (const InputError& error) {
        EXPECT_NE(error.message.find("links"), std::string::npos);
    }
}

TEST_F(Snapshot, refuses_a_truncated_file_with_the_place) {
    write("{\"schema\":\"aistor-rdma-check/snapshot/1\",\n\"answers\":{");
    EXPECT_NE(refusal().find("line 2"), std::string::npos) << refusal();
}

TEST_F(Snapshot, refuses_another_schema_version) {
    write(R"({"schema":"aistor-rdma-check/snapshot/9","answers":{}})");
    EXPECT_NE(refusal().find("snapshot/9"), std::string::npos);
}

TEST_F(Snapshot, refuses_binary_empty_and_missing_files) {
    write(std::string(1000, '\0'));
    EXPECT_NE(refusal().find("not valid JSON"), std::string::npos);
    write("");
    EXPECT_NE(refusal().find("empty"), std::string::npos);
    std::remove(path.c_str());
    EXPECT_NE(refusal().find("No such file"), std::string::npos);
}

TEST_F(Snapshot, refuses_deep_nesting_before_it_costs_anything) {
    write(R"({"schema":"aistor-rdma-check/snapshot/1","answers":{"read":{"/a":)" + std::string(200000, '[') + std::string(200000, ']') + "}}}");
    EXPECT_NE(refusal().find("nested deeper"), std::string::npos) << refusal().substr(0, 200);
}

struct Bytes : Host {
    std::string text;
    Answer answer(const Question&) override { return {text_to_json(text)}; }
};

TEST_F(Snapshot, replays_any_bytes_of_a_file) {
    for (const std::string& text : {std::string("plain\n"), std::string("caf\xc3\xa9"), std::string("\xff\x00\xfe", 3), std::string("a\x80"), std::string(1, '\0')}) {
        Bytes live;
        live.text = text;
        Recorder recorder(live);
        EXPECT_EQ(*recorder.read("/x"), text);
        write(recorder.snapshot());
        EXPECT_EQ(*snapshot_host(path)->read("/x"), text);
    }
}

TEST_F(Snapshot, asks_the_node_each_question_once) {
    Bytes live;
    Recorder recorder(live);
    recorder.read("/x");
    recorder.read("/x");
    recorder.read("/y");
    EXPECT_EQ(recorder.asked(), 2u);
}

}  // namespace
}  // namespace preflight
