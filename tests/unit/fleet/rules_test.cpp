#include "fleet/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace preflight::fleet {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Four storage nodes of one cluster that agree in everything and reach each other.
class FleetRules : public testing::Test {
protected:
    FleetRules() {
        for (int i = 1; i <= 4; ++i) nodes.push_back(node(i));
    }
    static Node node(int number) {
        Node node;
        node.hostname = "host" + std::to_string(number);
        node.file = node.hostname + ".json";
        node.started_text = "2026-12-01T00:00:00Z";
        node.started = 1796083200;
        node.roles = {"storage"};
        node.verdict = "pass";
        node.keys["proof.rdma.limits"] = {"proof.rdma.limits", "set", "RELEASE; ice 6.12; 8086:1592 4.40", "rdma.limits"};
        node.cluster = {"f00d", {"n" + std::to_string(number)}, {"192.0.2." + std::to_string(number)}, {}};
        for (int other = 1; other <= 4; ++other)
            if (other != number) node.cluster.peers.push_back({"n" + std::to_string(other), "192.0.2." + std::to_string(other)});
        const auto set = [&](const std::string& key, const std::string& value) { node.keys[key] = {key, "set", value, key.rfind("env.", 0) == 0 ? "/etc/default/minio:3" : ""}; };
        set("env.MINIO_RDMA_INTERNODE", "on");
        set("env.MINIO_VOLUMES", "http://n{1...4}:9000/mnt/d");
        node.keys["env.MINIO_RDMA_POOL_COUNT"] = {"env.MINIO_RDMA_POOL_COUNT", "unset", "", ""};
        set("server.build", "RDMA build");
        set("server.release", "RELEASE.2026-08-07T18-34-35Z");
        set("server.libraries", "libs3rdma.so.0 of 4096 bytes");
        set("network.mtu", "9000");
        set("network.path_mtu", "4096");
        set("network.protocol", "RoCE");
        set("network.dcb", "classified by DSCP; PFC on 3");
        set("network.dscp", "26");
        set("network.driver", "ice 6.12 with irdma");
        set("network.firmware", "8086:1592 4.40");
        node.keys["peers.listener"] = {"peers.listener", "unset", "", ""};
        for (const Peer& peer : node.cluster.peers) set("peer." + peer.name, "refused");
        return node;
    }
    /// A node of another cluster, x1 or x2, with a setting of its own.
    static Node stranger(int number) {
        Node other = node(number);
        other.hostname = other.file = "other" + std::to_string(number);
        other.cluster = {"beef", {"x" + std::to_string(number)}, {"198.51.100." + std::to_string(number)}, {{"x" + std::to_string(3 - number), ""}}};
        other.keys["env.MINIO_RDMA_INTERNODE"].value = "off";
        return other;
    }
    CompareKey& key(int number, const std::string& name) { return nodes[static_cast<std::size_t>(number - 1)].keys[name]; }
    void value(int number, const std::string& name, const std::string& text) { key(number, name) = {name, "set", text, "/etc/default/minio:3"}; }
    Report report() { return compare(Fleet::of(nodes), policy); }
    std::vector<Finding> of(const std::string& id) {
        std::vector<Finding> list;
        for (const Finding& finding : report().findings)
            if (finding.id == id) list.push_back(finding);
        return list;
    }
    Finding only(const std::string& id) {
        const auto list = of(id);
        EXPECT_EQ(list.size(), 1u) << id;
        return list.empty() ? Finding{} : list.front();
    }

    std::vector<Node> nodes;
    Policy policy;
};

TEST_F(FleetRules, pass_where_all_nodes_agree) {
    for (const Finding& finding : report().findings)
        EXPECT_EQ(finding.status, finding.id == "fleet.proof" ? Status::skip : Status::pass) << finding.id << ": " << finding.observed;
    EXPECT_EQ(report().verdict, Verdict::pass);
}

TEST_F(FleetRules, never_pass_a_node_whose_own_report_does_not) {
    nodes[1].verdict = "fail";
    nodes[1].reason = "nic.ddp enp59s0f0np0: safe mode";
    EXPECT_EQ(only("fleet.nodes").status, Status::fail);
    EXPECT_THAT(only("fleet.nodes").observed, HasSubstr("nic.ddp enp59s0f0np0: safe mode"));
    EXPECT_EQ(report().verdict, Verdict::fail);
    nodes[1].verdict = "incomplete";
    EXPECT_EQ(only("fleet.nodes").status, Status::unknown);
    nodes[1].verdict = "splendid";  // of a later version
    EXPECT_EQ(only("fleet.nodes").status, Status::unknown);
    nodes[1].verdict = "not-applicable";
    EXPECT_EQ(only("fleet.nodes").status, Status::pass);
}

TEST_F(FleetRules, say_what_a_node_was_not_asked) {
    nodes[2].narrowed = "stage ready --only nic.*";
    EXPECT_EQ(only("fleet.nodes").status, Status::pass);
    EXPECT_THAT(only("fleet.nodes").observed, HasSubstr("n3 (stage ready --only nic.*)"));
}

TEST_F(FleetRules, take_a_proof_for_nodes_of_the_same_setup_only) {
    for (Node& node : nodes) node.keys.erase("proof.rdma.limits");
    EXPECT_EQ(only("fleet.proof").status, Status::skip);
    for (std::size_t i : {0u, 1u, 2u}) nodes[i].keys["unproven.rdma.limits"] = {"unproven.rdma.limits", "set", "A; ice; 4.40", ""};
    EXPECT_EQ(only("fleet.proof").status, Status::warn);
    nodes[3].keys["proof.rdma.limits"] = {"proof.rdma.limits", "set", "A; ice; 4.40", ""};
    EXPECT_EQ(only("fleet.proof").status, Status::pass);
    nodes[3].keys["proof.rdma.limits"].value = "B; ice; 4.40";
    EXPECT_EQ(only("fleet.proof").status, Status::warn);
    for (Node& node : nodes) node.keys.erase("proof.rdma.limits");
    nodes[0].keys["unproven.rdma.limits"] = {"unproven.rdma.limits", "unknown", "its release is not told", ""};
    nodes[3].keys["proof.rdma.limits"] = {"proof.rdma.limits", "unknown", "its release is not told", ""};
    for (std::size_t i : {1u, 2u}) nodes[i].keys.erase("unproven.rdma.limits");
    EXPECT_EQ(only("fleet.proof").status, Status::warn) << "two setups that are not known are not the same";
}

TEST_F(FleetRules, name_the_odd_node_its_raw_value_and_origin) {
    value(3, "env.MINIO_RDMA_INTERNODE", "ON");
    const Finding finding = only("fleet.settings");
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_EQ(finding.subject.text, "MINIO_RDMA_INTERNODE");
    EXPECT_THAT(finding.observed, AllOf(HasSubstr("n3: \"ON\""), HasSubstr("on the other 3")));
    EXPECT_THAT(std::get<std::vector<std::string>>(finding.evidence.front().second), Contains("n3: \"ON\" (/etc/default/minio:3)"));
}

TEST_F(FleetRules, say_a_tie_is_a_tie) {
    value(1, "env.MINIO_RDMA_INTERNODE", "off");
    value(2, "env.MINIO_RDMA_INTERNODE", "off");
    EXPECT_THAT(only("fleet.settings").observed, AllOf(HasSubstr("no majority"), HasSubstr("n1, n2"), HasSubstr("n3, n4")));
}

TEST_F(FleetRules, take_a_default_that_is_written_out_as_equal) {
    for (Node& node : nodes) node.keys["env.MINIO_RDMA_PEER_PORT"] = {"env.MINIO_RDMA_PEER_PORT", "unset", "", ""};
    value(2, "env.MINIO_RDMA_PEER_PORT", "5555");
    EXPECT_EQ(only("fleet.settings").status, Status::pass);
    value(2, "env.MINIO_RDMA_PEER_PORT", "5556");
    EXPECT_EQ(only("fleet.settings").status, Status::fail);
}

TEST_F(FleetRules, only_warn_of_settings_that_each_node_may_tune) {
    value(2, "env.MINIO_RDMA_POOL_COUNT", "256");
    EXPECT_EQ(only("fleet.settings").status, Status::pass);
    value(2, "env.MINIO_RDMA_POOL_COUNT", "128");
    EXPECT_EQ(only("fleet.settings").status, Status::warn);
}

TEST_F(FleetRules, never_pass_what_one_node_could_not_tell) {
    for (const char* name : {"env.MINIO_RDMA_INTERNODE", "server.build", "server.libraries", "network.protocol", "network.path_mtu", "network.dcb", "network.driver", "network.firmware"}) {
        nodes.clear();
        for (int i = 1; i <= 4; ++i) nodes.push_back(node(i));
        key(2, name) = {name, "unknown", "EACCES", ""};
        EXPECT_EQ(report().verdict, Verdict::incomplete) << name;
        nodes[1].keys.erase(name);
        // A variable that is not listed beside others that were read is not set.
        EXPECT_EQ(report().verdict, std::string(name).rfind("env.", 0) == 0 ? Verdict::fail : Verdict::incomplete) << name << " not told";
    }
}

TEST_F(FleetRules, skip_a_node_alone) {
    nodes.resize(1);
    nodes[0].cluster.peers.clear();
    EXPECT_EQ(only("fleet.settings").status, Status::skip);
    EXPECT_EQ(only("fleet.mtu").status, Status::skip);
}

TEST_F(FleetRules, compare_server_settings_among_storage_nodes_and_networks_among_all) {
    nodes[3].roles = {"client"};
    nodes[3].keys.erase("env.MINIO_RDMA_INTERNODE");
    nodes[3].keys.erase("server.build");
    EXPECT_EQ(only("fleet.settings").status, Status::pass);
    value(4, "network.path_mtu", "1024");
    EXPECT_EQ(of("fleet.mtu").back().status, Status::fail);
}

TEST_F(FleetRules, fail_other_releases_builds_libraries_and_protocols) {
    value(1, "server.build", "standard build");
    EXPECT_THAT(of("fleet.build"), Contains(testing::Field(&Finding::status, Status::fail)));
    value(1, "server.libraries", "libs3rdma.so.0 of 5000 bytes");
    EXPECT_EQ(only("fleet.library").status, Status::fail);
    value(1, "network.protocol", "iWARP");
    EXPECT_EQ(only("fleet.protocol").status, Status::fail);
}

TEST_F(FleetRules, only_warn_of_netdev_mtus_where_the_path_mtu_is_the_same) {
    value(1, "network.mtu", "9216");
    EXPECT_THAT(of("fleet.mtu"), Contains(AllOf(testing::Field(&Finding::status, Status::warn), testing::Field(&Finding::observed, HasSubstr("9216")))));
    EXPECT_EQ(report().verdict, Verdict::pass);
    value(1, "network.path_mtu", "1024");
    EXPECT_EQ(report().verdict, Verdict::fail);
}

TEST_F(FleetRules, fail_another_trust_mode_and_a_dscp_that_is_not_lossless_everywhere) {
    value(2, "network.dcb", "classified by PCP; PFC on 3");
    EXPECT_THAT(of("fleet.dcb").front().observed, HasSubstr("n2"));
    value(2, "network.dcb", "classified by DSCP; PFC on 3");
    // A longer table of another NIC that holds the same DSCP is right.
    value(2, "network.dscp", "24, 25, 26, 27");
    EXPECT_EQ(only("fleet.dcb").status, Status::pass);
    value(2, "network.dscp", "24");
    EXPECT_THAT(of("fleet.dcb").back().observed, HasSubstr("no DSCP"));
}

TEST_F(FleetRules, compare_drivers_and_firmware_of_one_kind_of_nic_only) {
    value(4, "network.driver", "mlx5_core 6.12 with mlx5_ib");
    value(4, "network.firmware", "15b3:101d 22.43");
    for (const char* id : {"fleet.driver", "fleet.firmware"})
        for (const Finding& finding : of(id)) EXPECT_EQ(finding.status, Status::pass) << finding.observed;
    value(3, "network.firmware", "8086:1592 4.20");
    EXPECT_THAT(of("fleet.firmware"), Contains(testing::Field(&Finding::status, Status::warn)));
    EXPECT_EQ(report().verdict, Verdict::pass);
}

TEST_F(FleetRules, set_no_two_nics_of_different_kinds_side_by_side) {
    nodes.resize(2);
    value(2, "network.driver", "mlx5_core 6.12 with mlx5_ib");
    EXPECT_EQ(only("fleet.driver").status, Status::skip);
    for (Node& node : nodes) node.keys["network.firmware"] = {"network.firmware", "unset", "", ""};  // no storage port was selected
    EXPECT_EQ(only("fleet.firmware").status, Status::skip);
}

TEST_F(FleetRules, leave_a_network_without_any_lossless_dscp_to_the_nodes) {
    for (Node& node : nodes) node.keys["network.dscp"] = {"network.dscp", "unset", "", ""};
    nodes.push_back(stranger(1));
    EXPECT_EQ(only("fleet.dcb").status, Status::pass);
}

TEST_F(FleetRules, warn_of_a_variable_that_only_one_node_has) {
    value(2, "env.MINIO_RDMA_SOMETHING_NEW", "1");
    EXPECT_EQ(only("fleet.settings").status, Status::warn);
    EXPECT_THAT(only("fleet.settings").observed, AllOf(HasSubstr("n2: \"1\""), HasSubstr("unset on the other 3")));
}

TEST_F(FleetRules, name_a_node_without_a_report_by_its_name_among_the_endpoints) {
    nodes.erase(nodes.begin() + 1);
    const Finding finding = only("fleet.missing");
    EXPECT_EQ(finding.status, Status::unknown);
    EXPECT_EQ(finding.subject.text, "n2");
    EXPECT_THAT(finding.observed, HasSubstr("192.0.2.2"));
}

TEST_F(FleetRules, know_a_peer_by_its_address_where_its_name_differs) {
    nodes[1].cluster.self = {"storage-2.example.net"};
    EXPECT_EQ(only("fleet.missing").status, Status::pass);
}

TEST_F(FleetRules, count_a_file_that_is_no_report_as_a_gap) {
    Fleet fleet = Fleet::of(nodes);
    fleet.broken.emplace_back("n9.json", Unreadable{"not-json", "n9.json is not JSON"});
    EXPECT_EQ(compare(fleet, policy).verdict, Verdict::incomplete);
}

TEST_F(FleetRules, warn_of_old_reports_and_keep_the_newest_of_one_node) {
    nodes[0].started -= 3 * 24 * 3600;
    EXPECT_EQ(only("fleet.stale").status, Status::warn);
    Node again = node(1);
    again.file = "again.json";
    nodes.push_back(again);
    EXPECT_EQ(only("fleet.stale").status, Status::pass);
    EXPECT_THAT(report().notes, ElementsAre(HasSubstr("host1.json is an older report")));
}

TEST_F(FleetRules, keep_a_foreign_report_out_of_the_comparison) {
    nodes.push_back(stranger(1));
    EXPECT_EQ(only("fleet.foreign").status, Status::fail);
    EXPECT_EQ(only("fleet.foreign").subject.text, "x1");
    EXPECT_EQ(only("fleet.settings").status, Status::pass);
}

TEST_F(FleetRules, keep_out_a_smaller_cluster_whose_nodes_name_each_other) {
    for (int i : {1, 2}) nodes.push_back(stranger(i));
    for (const Finding& finding : of("fleet.foreign")) EXPECT_THAT(finding.subject.text, testing::StartsWith("x"));
    EXPECT_EQ(of("fleet.foreign").size(), 2u);
    EXPECT_EQ(only("fleet.settings").status, Status::pass);
    EXPECT_EQ(only("fleet.missing").status, Status::pass);
}

TEST_F(FleetRules, compare_nothing_where_no_cluster_has_the_most_reports) {
    for (int i : {1, 2, 3, 4}) nodes.push_back(stranger(i));
    EXPECT_EQ(of("fleet.foreign").size(), 8u);
    EXPECT_THAT(of("fleet.foreign").front().observed, HasSubstr("no cluster has the most reports"));
    EXPECT_EQ(only("fleet.settings").status, Status::skip);
}

TEST_F(FleetRules, tell_two_clusters_with_the_same_short_names_apart) {
    for (int i : {1, 2}) {
        nodes.push_back(stranger(i));
        nodes.back().cluster.self = {"n" + std::to_string(i)};
        nodes.back().cluster.peers = {{"n" + std::to_string(3 - i), ""}};
    }
    for (const Finding& finding : of("fleet.foreign")) EXPECT_THAT(finding.observed, testing::StartsWith("other"));
    EXPECT_EQ(of("fleet.foreign").size(), 2u);
    EXPECT_EQ(only("fleet.settings").status, Status::pass);
}

TEST_F(FleetRules, keep_clients_apart_that_all_call_themselves_localhost) {
    for (int i : {1, 2}) {
        Node client = stranger(i);
        client.cluster = {};
        client.roles = {"client"};
        client.hostname = "localhost.localdomain";
        client.boot_id = std::to_string(i);
        nodes.push_back(client);
    }
    nodes.back().keys["network.path_mtu"].value = "1024";
    EXPECT_EQ(of("fleet.mtu").back().status, Status::fail);
    EXPECT_THAT(report().notes, IsEmpty());
}

TEST_F(FleetRules, keep_a_node_that_the_others_name_though_its_endpoints_differ) {
    nodes[2].cluster.fingerprint = "beef";
    value(3, "env.MINIO_VOLUMES", "http://n{1...3}:9000/mnt/d");
    EXPECT_EQ(only("fleet.foreign").status, Status::pass);
    EXPECT_EQ(only("fleet.settings").subject.text, "MINIO_VOLUMES");
}

TEST_F(FleetRules, find_a_peer_that_is_reached_in_one_direction_only) {
    value(1, "peer.n2", "timed-out");
    EXPECT_EQ(only("fleet.reach").subject.text, "n1 to n2");
    value(2, "peer.n1", "timed-out");
    EXPECT_EQ(only("fleet.reach").status, Status::pass);  // both ways: peers.port of the nodes says so
}

TEST_F(FleetRules, never_call_reach_fine_where_only_one_side_was_asked) {
    for (const char* peer : {"n2", "n3", "n4"}) nodes[0].keys.erase(std::string("peer.") + peer);
    EXPECT_EQ(only("fleet.reach").status, Status::unknown);
    EXPECT_EQ(only("fleet.reach").subject.text, "n1");
    nodes.resize(2);
    for (Node& node : nodes) node.cluster.peers.clear();
    EXPECT_EQ(only("fleet.reach").status, Status::skip);
}

TEST_F(FleetRules, find_a_refusal_where_aistor_listens) {
    value(2, "peers.listener", "AIStor, by TCP");
    EXPECT_THAT(of("fleet.listener"), Contains(testing::Field(&Finding::status, Status::fail)));
    value(2, "peers.listener", "AIStor, by rdma_cm");
    EXPECT_EQ(only("fleet.listener").status, Status::pass);
}

TEST_F(FleetRules, are_waived_by_the_policy) {
    value(3, "env.MINIO_RDMA_INTERNODE", "ON");
    policy.waivers = {{"fleet.settings", "MINIO_RDMA_INTERNODE", "rollout", "storage", "2999-01-01"}};
    EXPECT_EQ(report().verdict, Verdict::pass);
    EXPECT_TRUE(only("fleet.settings").waiver);
}

// ---------------------------------------------------------------------------------------------------- reading

const std::string good = R"({"schema": "aistor-rdma-check/report/1", "tool": {"version": "1", "commit": ""}, "node": {"hostname": "h", "boot_id": "b"}, "run": {"started": "2026-12-01T00:00:00Z", "roles": ["storage"]},
"cluster": {"fingerprint": "f", "self": ["n1"], "addresses": ["192.0.2.1"], "peers": [{"name": "n2", "address": ""}]}, "verdict": "pass", "outcome": {"internode_rdma": {"answer": "yes"}},
"compare_keys": {"env.A": {"state": "set", "value": "x", "origin": "f:1"}}, "findings": [{"id": )";

TEST(ReportReader, reads_up_to_the_findings_and_no_further) {
    const auto node = parse_report(good + "this is no JSON any more", "n1.json");
    ASSERT_TRUE(node.has()) << node.why().cause;
    EXPECT_EQ(node->name(), "n1");
    EXPECT_EQ(node->started, 1796083200);
    EXPECT_EQ(node->keys.at("env.A").value, "x");
    EXPECT_EQ(node->answers.at("internode_rdma"), "yes");
}

TEST(ReportReader, reads_a_report_whose_members_another_tool_has_sorted) {
    const nlohmann::json sorted = nlohmann::json::parse(good + R"("nic.mtu", "evidence": {"a": [1, {"b": null}]}}]})");
    const auto node = parse_report(sorted.dump(), "n1.json");
    ASSERT_TRUE(node.has()) << node.why().cause;
    EXPECT_EQ(node->name(), "n1");
    EXPECT_EQ(node->keys.at("env.A").value, "x");
}

TEST(ReportReader, says_what_a_file_is_instead) {
    const auto error = [](const std::string& text) { return parse_report(text, "n1.json").why().error; };
    EXPECT_EQ(error(""), "not-json");
    EXPECT_EQ(error("hello"), "not-json");
    EXPECT_EQ(error("[]"), "not-a-report");
    EXPECT_EQ(error(R"({"schema": "aistor-rdma-check/snapshot/1"})"), "not-a-report");
    EXPECT_EQ(error(R"({"schema": "aistor-rdma-check/report/2"})"), "newer");
    EXPECT_EQ(error(good.substr(0, 200)), "truncated");
    EXPECT_EQ(error(R"({"schema": "aistor-rdma-check/report/1"})"), "malformed");
    EXPECT_EQ(error(R"({"schema": "aistor-rdma-check/report/1", "tool": )" + std::string(100, '[') + std::string(100, ']') + "}"), "truncated");
    EXPECT_THAT(parse_report("hello", "n1.json").why().cause, HasSubstr("n1.json"));
}

TEST(ReportReader, takes_each_truncated_beginning_without_harm) {
    for (std::size_t size = 0; size < good.size() - 14; ++size) EXPECT_TRUE(parse_report(good.substr(0, size), "n1.json").unreadable()) << size;
}

}  // namespace
}  // namespace preflight::fleet
