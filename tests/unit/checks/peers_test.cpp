#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "facts/peers.h"
#include "modules.h"
#include "support/fake_host.h"

namespace preflight {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// The E810 node: 192.0.2.11 on ens1f0np0 (interface 2), 198.51.100.11 on ens1f1np1; n1 is this node, n2 the other one.
class Peers : public testing::Test {
protected:
    Peers() {
        host.add_service({"minio-user", 990, 990, "/", "/sbin/nologin", {990}});
        for (const char* kind : {"service_manager", "loaded_unit"}) host.absent(kind, kind[0] == 'l' ? "minio.service" : "", "systemd does not manage this node");
        resolves("n1", {"192.0.2.11"});
        resolves("n2", {"192.0.2.12"});
        route("192.0.2.12", {"unicast", link_index("ens1f0np0"), "192.0.2.11", "", 254});
        answers("192.0.2.12:5555", "connected");
        answers("192.0.2.12:9000", "connected");
        host.set("listening", "5555", std::vector<ListeningSocket>{});
        for (const char* device : {"rocep59s0f0", "rocep59s0f1"}) host.set("rdma_resources", device, std::vector<RdmaResource>{});
        options = interfaces({"ens1f0np0", "ens1f1np1"});
        options.peers = std::vector<std::string>{"n1", "n2"};
    }

    void resolves(const std::string& name, const std::vector<std::string>& addresses) { host.set("resolve_name", name, addresses); }
    void route(const std::string& address, const Route& route) { host.set("route", address, route); }
    void answers(const std::string& target, const std::string& outcome, const std::string& error = {}, const std::string& icmp = {}) {
        host.set("tcp_probe", target, TcpProbe{outcome, 5, error, icmp});
    }
    int link_index(const std::string& name) {
        int index = 0;
        host.link(name, [&](Link& link) { index = link.index; });
        return index;
    }
    Report report() {
        const Facts facts(host, options);
        return judge({platform_module(), nic_module(), rdma_module(), peers_module()}, facts);
    }
    Finding list() { return only(report(), "peers.list"); }
    Finding name() { return about(report(), "peers.names", "n2"); }
    Finding way() { return only(report(), "peers.route"); }
    Finding port() { return only(report(), "peers.port"); }
    Finding listener() { return only(report(), "peers.listener"); }
    void listens(const ListeningSocket& socket) { host.set("listening", "5555", std::vector{socket}); }

    FakeHost host = e810_node();
    Options options;
};

// ------------------------------------------------------------------------------------------------ peers.list

TEST_F(Peers, are_known_with_this_node_among_them_by_address) {
    EXPECT_EQ(list().status, Status::pass);
    EXPECT_THAT(list().observed, HasSubstr("this one is n1 (192.0.2.11)"));
}

TEST_F(Peers, warn_when_this_node_is_not_among_them_and_when_one_is_named_twice) {
    options.peers = std::vector<std::string>{"n2"};
    EXPECT_EQ(list().status, Status::warn);
    options.peers = std::vector<std::string>{"n1", "n2", "n3"};
    resolves("n3", {"192.0.2.12"});
    EXPECT_EQ(list().status, Status::warn);
    EXPECT_THAT(list().observed, HasSubstr("n2 and n3 are both 192.0.2.12"));
}

TEST_F(Peers, are_unknown_while_this_node_may_be_one_that_does_not_resolve_or_nobody_names_them) {
    host.unreadable("resolve_name", "n1", "timeout");
    EXPECT_EQ(list().status, Status::unknown);
    options.peers.reset();
    EXPECT_EQ(list().status, Status::unknown);
}

TEST_F(Peers, are_skipped_where_they_were_not_asked_for) {
    options.peers.reset();
    options.no_peers = true;
    for (const char* id : {"peers.list", "peers.names", "peers.route", "peers.port", "peers.rdma"}) EXPECT_EQ(only(report(), id).status, Status::skip) << id;
}

// ------------------------------------------------------------------------------------------------ peers.names

TEST_F(Peers, fail_by_a_name_that_does_not_resolve_or_is_loopback) {
    host.absent("resolve_name", "n2", "EAI_NONAME");
    EXPECT_EQ(name().status, Status::fail);
    resolves("n2", {"127.0.1.1"});
    EXPECT_EQ(name().status, Status::fail);
    EXPECT_THAT(name().observed, HasSubstr("loopback"));
}

TEST_F(Peers, are_unknown_when_the_resolver_gives_no_answer_in_time) {
    host.unreadable("resolve_name", "n2", "timeout");
    EXPECT_EQ(name().status, Status::unknown);
    EXPECT_NE(port().status, Status::pass);
}

TEST_F(Peers, fail_on_the_management_network_but_only_warn_beside_a_storage_address_or_for_guessed_ports) {
    host.set_addresses("eno1", {"203.0.113.5"});
    resolves("n2", {"203.0.113.6"});
    route("203.0.113.6", {"unicast", link_index("eno1"), "203.0.113.5", "", 254});
    answers("203.0.113.6:5555", "connected");
    answers("203.0.113.6:9000", "connected");
    EXPECT_EQ(name().status, Status::fail);
    EXPECT_THAT(name().observed, HasSubstr("eno1"));
    resolves("n2", {"192.0.2.12", "203.0.113.6"});
    EXPECT_EQ(name().status, Status::warn);
    resolves("n2", {"203.0.113.6"});
    options.interfaces.clear();
    EXPECT_EQ(name().status, Status::warn);
}

TEST_F(Peers, may_be_routed_to_and_of_both_families) {
    resolves("n2", {"10.9.9.77", "2001:db8::12"});
    for (const char* address : {"10.9.9.77", "2001:db8::12"}) route(address, {"unicast", link_index("ens1f0np0"), "192.0.2.11", "192.0.2.1", 254});
    EXPECT_EQ(name().status, Status::pass);
}

TEST_F(Peers, of_another_address_family_than_the_gids_warn) {
    EXPECT_EQ(about(report(), "rdma.gid", "rocep59s0f0/1").status, Status::pass);
    resolves("n2", {"2001:db8::12"});
    route("2001:db8::12", {"unicast", link_index("ens1f0np0"), "", "", 254});
    const Finding gid = about(report(), "rdma.gid", "rocep59s0f0/1");
    EXPECT_EQ(gid.status, Status::warn);
    EXPECT_THAT(gid.observed, HasSubstr("n2 (2001:db8::12)"));
    resolves("n2", {"2001:db8::12", "192.0.2.12"});
    EXPECT_EQ(about(report(), "rdma.gid", "rocep59s0f0/1").status, Status::pass);
}

// ------------------------------------------------------------------------------------------------ peers.route

TEST_F(Peers, are_reached_by_a_storage_port_or_the_route_is_wrong) {
    EXPECT_EQ(way().status, Status::pass);
    route("192.0.2.12", {"unicast", link_index("eno1"), "203.0.113.5", "", 254});
    EXPECT_EQ(way().status, Status::fail);
    EXPECT_THAT(way().observed, HasSubstr("leaves by eno1"));
    route("192.0.2.12", {"prohibit", 0, "", "", 254});
    EXPECT_EQ(way().status, Status::fail);
    host.absent("route", "192.0.2.12", "ENETUNREACH");
    EXPECT_EQ(way().status, Status::fail);
    host.unreadable("route", "192.0.2.12", "EPERM");
    EXPECT_EQ(way().status, Status::unknown);
}

TEST_F(Peers, warn_of_a_source_address_that_is_not_the_storage_ports) {
    route("192.0.2.12", {"unicast", link_index("ens1f0np0"), "203.0.113.5", "", 254});
    EXPECT_EQ(way().status, Status::warn);
}

TEST_F(Peers, may_be_reached_by_the_vlan_over_a_storage_port) {
    host.add_vlan("ens1f0np0.100", 20, link_index("ens1f0np0"));
    host.set_addresses("ens1f0np0.100", {"192.0.2.111"});
    route("192.0.2.12", {"unicast", 20, "192.0.2.111", "", 254});
    EXPECT_EQ(way().status, Status::fail) << "no GID of the source address";
    host.edit<GidTable>("rdma_gids", "rocep59s0f0/1", [](GidTable& table) { table.gids.push_back(roce_gid(9, ipv4_gid("192.0.2.111"), "ens1f0np0.100")); });
    EXPECT_EQ(way().status, Status::pass);
}

// ------------------------------------------------------------------------------------------------ peers.port

TEST_F(Peers, are_reachable_when_connected_and_when_refused_before_aistor_runs) {
    EXPECT_EQ(port().status, Status::pass);
    answers("192.0.2.12:5555", "refused", "ECONNREFUSED");
    EXPECT_EQ(port().status, Status::pass);
    EXPECT_THAT(port().observed, HasSubstr("nothing listens yet"));
}

TEST_F(Peers, warn_when_refused_although_aistor_listens_here_by_tcp_but_not_by_rdma_cm) {
    answers("192.0.2.12:5555", "refused", "ECONNREFUSED");
    listens({"0.0.0.0", 5555, 990, 4711, "minio", "/usr/local/bin/minio.rdma"});
    EXPECT_EQ(port().status, Status::warn);
    host.set("rdma_resources", "rocep59s0f0", std::vector<RdmaResource>{{"cm_id", 1, 4711, "", "TCP", "LISTEN", "0.0.0.0:5555", "", 0}});
    host.set("link_target", "/proc/4711/exe", std::string("/usr/local/bin/minio.rdma"));
    EXPECT_EQ(port().status, Status::pass);
}

TEST_F(Peers, tell_a_blocked_port_from_a_host_that_is_down) {
    answers("192.0.2.12:5555", "timed-out", "ETIMEDOUT");
    EXPECT_EQ(port().status, Status::fail);
    EXPECT_THAT(port().observed, HasSubstr("the host is up and this port is blocked"));
    EXPECT_THAT(port().remedy.commands, Contains(HasSubstr("5555")));
    answers("192.0.2.12:9000", "timed-out", "ETIMEDOUT");
    EXPECT_THAT(port().observed, HasSubstr("the host is down"));
    EXPECT_THAT(port().remedy.commands, testing::Not(Contains(HasSubstr("5555"))));
}

TEST_F(Peers, name_the_firewall_and_the_missing_route) {
    answers("192.0.2.12:5555", "prohibited", "EHOSTUNREACH", "type 3 code 13 from 192.0.2.12");
    EXPECT_EQ(port().status, Status::fail);
    EXPECT_THAT(port().observed, HasSubstr("firewall"));
    answers("192.0.2.12:5555", "prohibited", "EACCES");
    EXPECT_THAT(port().observed, HasSubstr("this node's own firewall"));
    answers("192.0.2.12:5555", "no-route", "ENETUNREACH");
    EXPECT_EQ(port().status, Status::fail);
    answers("192.0.2.12:5555", "reset", "ECONNRESET");
    EXPECT_EQ(port().status, Status::warn);
    host.unreadable("tcp_probe", "192.0.2.12:5555", "timeout");
    EXPECT_EQ(port().status, Status::unknown);
}

TEST_F(Peers, need_one_good_address_and_are_told_of_the_bad_one) {
    resolves("n2", {"192.0.2.12", "192.0.2.13"});
    route("192.0.2.13", {"unicast", link_index("ens1f0np0"), "192.0.2.11", "", 254});
    answers("192.0.2.13:5555", "timed-out", "ETIMEDOUT");
    answers("192.0.2.13:9000", "timed-out", "ETIMEDOUT");
    EXPECT_EQ(port().status, Status::warn);
    EXPECT_THAT(port().observed, HasSubstr("192.0.2.13"));
}

TEST_F(Peers, are_tried_on_the_port_that_is_named) {
    options.peers = std::vector<std::string>{"n1", "n2:5556"};
    answers("192.0.2.12:5556", "connected");
    EXPECT_THAT(port().observed, HasSubstr("192.0.2.12:5556"));
}

// ------------------------------------------------------------------------------------------------ peers.listener

TEST_F(Peers, find_the_local_port_free_or_held_by_aistor) {
    EXPECT_EQ(listener().status, Status::pass);
    listens({"0.0.0.0", 5555, 990, 4711, "minio", "/usr/local/bin/minio.rdma (deleted)"});
    EXPECT_EQ(listener().status, Status::pass);
    EXPECT_THAT(listener().observed, HasSubstr("minio.rdma"));
}

TEST_F(Peers, fail_when_another_program_holds_the_local_port_by_tcp_or_rdma_cm) {
    listens({"192.0.2.11", 5555, 0, 99, "nginx", "/usr/sbin/nginx"});
    EXPECT_EQ(listener().status, Status::fail);
    EXPECT_THAT(listener().observed, HasSubstr("nginx"));
    listens({"127.0.0.1", 5555, 0, 99, "nginx", "/usr/sbin/nginx"});
    EXPECT_EQ(listener().status, Status::warn) << "loopback is no storage address";
    host.set("listening", "5555", std::vector<ListeningSocket>{});
    host.set("rdma_resources", "rocep59s0f1", std::vector<RdmaResource>{{"cm_id", 1, 77, "", "TCP", "LISTEN", "0.0.0.0:5555", "", 0}});
    host.set("link_target", "/proc/77/exe", std::string("/usr/bin/rping"));
    EXPECT_EQ(listener().status, Status::fail);
    EXPECT_THAT(listener().observed, HasSubstr("rping"));
}

TEST_F(Peers, leave_the_local_port_unknown_where_its_holder_cannot_be_seen) {
    listens({"0.0.0.0", 5555, 990, std::nullopt, "", ""});
    EXPECT_EQ(listener().status, Status::unknown);
    host.set("listening", "5555", std::vector<ListeningSocket>{});
    host.unreadable("rdma_resources", "rocep59s0f0", "EPERM");
    EXPECT_EQ(listener().status, Status::unknown);
    host.unreadable("listening", "5555", "EACCES");
    EXPECT_EQ(listener().status, Status::unknown);
}

// ------------------------------------------------------------------------------------------------ a probe's report

class ProbedBond : public testing::Test {
protected:
    ProbedBond() {
        host.add_bond("bond0", 10, "802.3ad", {"ens1f0np0", "ens1f1np1"});
        host.text("/proc/sys/kernel/random/boot_id", "3f1c\n");
        options = interfaces({"bond0"});
    }
    void probed(const std::string& boot, const std::vector<std::string>& subjects) {
        Json findings = Json::array();
        for (const std::string& subject : subjects) findings.push_back({{"id", "peers.rdma"}, {"subject", subject}, {"status", "pass"}, {"observed", "64 MiB, every byte right"}});
        const std::string path = testing::TempDir() + testing::UnitTest::GetInstance()->current_test_info()->name() + ".json";
        std::ofstream(path) << Json{{"schema", "aistor-rdma-check/report/1"}, {"node", {{"hostname", "node1"}, {"boot_id", boot}}}, {"run", {{"started", "2026-12-01T00:00:00Z"}}}, {"findings", findings}};
        options.probe_result = path;
    }
    Status bond() { return only(judged(host, options), "nic.bond").status; }

    FakeHost host = e810_node();
    Options options;
};

TEST_F(ProbedBond, fails_over_two_devices_until_a_probe_of_this_boot_moved_data_over_each_member) {
    EXPECT_EQ(bond(), Status::fail);
    probed("3f1c", {"n2 by ens1f0np0"});
    EXPECT_EQ(bond(), Status::fail);
    probed("0000", {"n2 by ens1f0np0", "n2 by ens1f1np1"});
    EXPECT_EQ(bond(), Status::fail) << "from before this boot";
    probed("3f1c", {"n2 by ens1f0np0", "n2 by ens1f1np1"});
    EXPECT_EQ(bond(), Status::warn);
}

TEST_F(ProbedBond, refuses_a_file_that_is_no_probes_report) {
    probed("3f1c", {});
    EXPECT_THROW(bond(), InputError);
}

// ------------------------------------------------------------------------------------------------ peers.rdma, and the list's grammar

TEST_F(Peers, skip_the_transfer_that_nobody_asked_for) { EXPECT_EQ(only(report(), "peers.rdma").status, Status::skip); }

TEST(PeerText, is_a_host_with_or_without_a_port) {
    const auto text = [](const char* peer) -> std::string {
        const auto read = parse_peer(peer);
        return read ? read->name + " " + std::to_string(read->port) : "none";
    };
    EXPECT_EQ(text("n2"), "n2 0");
    EXPECT_EQ(text("n2.example.net:5556"), "n2.example.net 5556");
    EXPECT_EQ(text("2001:db8::12"), "2001:db8::12 0");
    EXPECT_EQ(text("[2001:db8::12]:5555"), "2001:db8::12 5555");
    for (const char* bad : {"", ":5555", "n2:", "n2:0", "n2:65536", "n2:x", "http://n2", "[n2]:5", "[2001:db8::12", "a b", "1:2:3"}) EXPECT_EQ(text(bad), "none") << bad;
}

}  // namespace
}  // namespace preflight
