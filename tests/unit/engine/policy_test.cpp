#include "preflight/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "preflight/host.h"

namespace preflight {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& text) {
    try {
        parse_policy(text, "site.json");
    } catch (const InputError& error) {
        return error.message;
    }
    return "accepted";
}

const std::string schema = R"("schema": "aistor-rdma-check/policy/1")";

TEST(Policy, is_read_with_its_comments) {
    const Policy policy = parse_policy("{ // the storage site\n" + schema + R"(,
        "expect": {"priority": 3, "dscp": 26, "mtu": 9000, "dcb_owner": "host", "driver": {"ice": "6.12.*"}, "firmware": {"8086:1592": "4.40 *"}},
        "attest": {"switch": {"who": "net team", "when": "2026-11-02", "what": "PFC 3, DSCP 26"}},
        /* until the new NVM */
        "waivers": [{"id": "nic.*", "scope": "ens1f0*", "reason": "r", "owner": "o", "expires": "2026-12-31"}]})", "site.json");
    EXPECT_EQ(policy.expect.priority, 3u);
    EXPECT_EQ(policy.expect.dscp, 26u);
    EXPECT_EQ(policy.expect.mtu, 9000u);
    EXPECT_EQ(policy.expect.dcb_owner, "host");
    EXPECT_EQ(policy.expect.driver.at("ice"), "6.12.*");
    EXPECT_EQ(policy.expect.firmware.at("8086:1592"), "4.40 *");
    EXPECT_EQ(policy.attested_switch->who, "net team");
    ASSERT_EQ(policy.waivers.size(), 1u);
    EXPECT_EQ(policy.waivers[0].scope, "ens1f0*");
}

TEST(Policy, of_the_schema_alone_expects_nothing) {
    const Policy policy = parse_policy("{" + schema + "}", "site.json");
    EXPECT_FALSE(policy.expect.priority || policy.attested_switch);
    EXPECT_TRUE(policy.waivers.empty());
}

TEST(Policy, that_is_malformed_is_refused_with_the_place) {
    EXPECT_THAT(refusal("{\n" + schema + ",\n  \"expect\": {\"priority\" 3}}"), HasSubstr("line 3"));
    EXPECT_THAT(refusal(""), HasSubstr("not valid JSON"));
    EXPECT_THAT(refusal("[]"), HasSubstr("write an object"));
    EXPECT_THAT(refusal("{}"), HasSubstr("schema: write"));
    EXPECT_THAT(refusal(R"({"schema": "aistor-rdma-check/policy/2"})"), HasSubstr("schema: write"));
    EXPECT_THAT(refusal(std::string(40, '[')), HasSubstr("nested deeper"));
}

TEST(Policy, with_an_unknown_or_doubled_member_is_refused) {
    EXPECT_THAT(refusal("{" + schema + R"(, "expects": {}})"), HasSubstr("expects: no such member"));
    EXPECT_THAT(refusal("{" + schema + R"(, "expect": {"prio": 3}})"), HasSubstr("expect.prio: no such member"));
    EXPECT_THAT(refusal("{" + schema + R"(, "expect": {"priority": 3, "priority": 4}})"), HasSubstr("priority: is there twice"));
}

TEST(Policy, with_an_impossible_value_is_refused) {
    EXPECT_THAT(refusal("{" + schema + R"(, "expect": {"priority": 8}})"), HasSubstr("expect.priority: write a number from 0 to 7"));
    EXPECT_THAT(refusal("{" + schema + R"(, "expect": {"priority": -1}})"), HasSubstr("expect.priority"));
    EXPECT_THAT(refusal("{" + schema + R"(, "expect": {"dscp": "26"}})"), HasSubstr("expect.dscp"));
    EXPECT_THAT(refusal("{" + schema + R"(, "expect": {"dcb_owner": "me"}})"), HasSubstr("expect.dcb_owner"));
    EXPECT_THAT(refusal("{" + schema + R"(, "expect": {"firmware": {"E810": "4.*"}}})"), HasSubstr("expect.firmware.E810"));
    EXPECT_THAT(refusal("{" + schema + R"(, "expect": {"driver": {"ice": 6}}})"), HasSubstr("expect.driver.ice"));
    EXPECT_THAT(refusal("{" + schema + R"(, "attest": {"switch": {"who": "a", "when": "yesterday", "what": "b"}}})"), HasSubstr("attest.switch.when"));
}

TEST(Policy, with_a_waiver_nobody_answers_for_is_refused) {
    EXPECT_THAT(refusal("{" + schema + R"(, "waivers": [{"id": "a.b", "owner": "o", "expires": "2026-12-31"}]})"), HasSubstr("waivers[0].reason"));
    EXPECT_THAT(refusal("{" + schema + R"(, "waivers": [{"id": "a.b", "reason": "r", "owner": "", "expires": "2026-12-31"}]})"), HasSubstr("waivers[0].owner"));
    EXPECT_THAT(refusal("{" + schema + R"(, "waivers": [{"id": "a.b", "reason": "r", "owner": "o", "expires": "2026-02-30"}]})"),
                HasSubstr("waivers[0].expires: \"2026-02-30\" is no date"));
}

TEST(Policy, that_is_not_a_file_is_refused) {
    EXPECT_THROW(read_policy("/nonexistent/policy.json"), InputError);
    EXPECT_THROW(read_policy("/"), InputError);
}

}  // namespace
}  // namespace preflight
