// What an attempt is told as: status, words and remedy.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "probe/address.h"
#include "probe/prober.h"

namespace preflight::probe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Attempt good() {
    Attempt attempt;
    attempt.wish.peer = "n2";
    attempt.wish.address = "192.0.2.12";
    attempt.wish.port = 5555;
    attempt.wish.max_bytes = 64u << 20;
    attempt.path = {
        "rocep59s0f0", 1, "192.0.2.11", "ens1f0np0", 1, "0000:0000:0000:0000:0000:ffff:c000:020b", "RoCE v2", 4096,
        104,           2};
    attempt.tcp = "connected";
    attempt.tcp_reached = true;
    attempt.srq = "created";
    attempt.pinned = 64u << 20;
    attempt.memlock = ~0ull;
    attempt.write = attempt.read = {64u << 20, {3.1, 5.2, 1000}, 92.4};
    return attempt;
}

Attempt failed(Cause cause, const std::string& step = "RDMA WRITE with immediate of 4096 bytes",
               const std::string& detail = "") {
    Attempt attempt = good();
    attempt.failure = Failure{cause, step, detail};
    attempt.write = attempt.read = {};
    return attempt;
}

Finding told(const Attempt& attempt) {
    Findings out;
    tell(attempt, 1, 1, out);
    return out.list().at(0);
}

std::string remedy_of(const Finding& finding) {
    std::string text = finding.remedy.summary;
    for (const std::string& command : finding.remedy.commands) text += "\n" + command;
    return text;
}

TEST(ProbeReport, shows_a_good_transfer_with_its_path) {
    const Finding finding = told(good());
    EXPECT_EQ(finding.status, Status::pass);
    EXPECT_EQ(finding.subject.text, "n2 by ens1f0np0");
    for (const char* words : {"64 MiB by WRITE and READ, every byte right", "rocep59s0f0/1 GID 1 (RoCE v2)",
                              "path MTU 4096", "ToS 104", "SL 2", "92.4 Gbit/s", "3.1 us (p99 5.2)"})
        EXPECT_THAT(finding.observed, HasSubstr(words));
    EXPECT_THAT(finding.observed, Not(HasSubstr("SRQ")));
}

TEST(ProbeReport, names_the_connection_where_there_are_several) {
    Findings out;
    tell(good(), 2, 2, out);
    EXPECT_EQ(out.list().at(0).subject.text, "n2 by ens1f0np0 (2 of 2)");
}

TEST(ProbeReport, passes_without_a_shared_receive_queue_and_says_so) {
    Attempt attempt = good();
    attempt.srq = "EOPNOTSUPP (Operation not supported); the device reports max_srq 0";
    EXPECT_EQ(told(attempt).status, Status::pass);
    EXPECT_THAT(told(attempt).observed, HasSubstr("no SRQ: EOPNOTSUPP"));
}

TEST(ProbeReport, warns_of_a_transfer_to_this_node_itself) {
    Attempt attempt = good();
    attempt.wish.own = true;
    EXPECT_EQ(told(attempt).status, Status::warn);
}

TEST(ProbeReport, calls_dropped_roce_by_its_port_when_tcp_is_answered) {
    const Finding finding = told(failed(Cause::no_answer, "the connection request"));
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("TCP to the same port is answered"));
    EXPECT_THAT(finding.why, HasSubstr("UDP port 4791"));
    EXPECT_THAT(finding.why, Not(HasSubstr("v1")));
    EXPECT_THAT(remedy_of(finding), HasSubstr("tcpdump -ni ens1f0np0 udp port 4791"));
}

TEST(ProbeReport, suspects_a_roce_v1_gid_when_nothing_comes_back) {
    Attempt attempt = failed(Cause::no_answer, "the connection request");
    attempt.path.gid_type = "IB/RoCE v1";
    EXPECT_THAT(told(attempt).why, HasSubstr("IB/RoCE v1"));
}

TEST(ProbeReport, calls_lost_full_packets_an_mtu_matter_and_lost_small_ones_not) {
    Attempt attempt = failed(Cause::silent);
    attempt.write.largest = 256;
    attempt.failed_bytes = 4096;
    EXPECT_THAT(told(attempt).observed, HasSubstr("256 bytes arrived, "));
    EXPECT_THAT(told(attempt).why, HasSubstr("path MTU of 4096, which needs 4192 bytes"));
    EXPECT_THAT(remedy_of(told(attempt)), HasSubstr("ping -M do -s 4164 -c 3 192.0.2.12"));
    attempt.write.largest = 65536;
    attempt.failed_bytes = 1u << 20;
    EXPECT_THAT(told(attempt).why, Not(HasSubstr("path MTU"))) << "full packets had arrived before";
    attempt.write.largest = 0;
    attempt.failed_bytes = 256;
    EXPECT_THAT(told(attempt).why, Not(HasSubstr("path MTU")));
}

TEST(ProbeReport, compares_a_lost_read_with_reads_only) {
    Attempt attempt = failed(Cause::silent, "RDMA READ of 4096 bytes");
    attempt.failed_reading = true;
    attempt.write.largest = 4096;
    attempt.read.largest = 256;
    attempt.failed_bytes = 4096;
    EXPECT_THAT(told(attempt).why, HasSubstr("path MTU of 4096"));
}

TEST(ProbeReport, fails_by_a_memory_limit_only_when_it_was_the_services_own) {
    Attempt attempt = failed(Cause::memlock, "pinning 67108864 bytes", "ENOMEM (Cannot allocate memory)");
    attempt.memlock = 8u << 20;
    EXPECT_EQ(told(attempt).status, Status::unknown);
    EXPECT_THAT(told(attempt).remedy.summary, HasSubstr("--as-service"));
    attempt.wish.as_service = true;
    EXPECT_EQ(told(attempt).status, Status::fail);
    EXPECT_THAT(told(attempt).observed, HasSubstr("64 MiB could not be pinned as the service"));
    EXPECT_THAT(told(attempt).observed, HasSubstr("memlock limit 8 MiB"));
    EXPECT_THAT(told(attempt).remedy.summary, HasSubstr("LimitMEMLOCK=infinity"));
}

TEST(ProbeReport, does_not_fail_the_node_for_what_proves_nothing_against_it) {
    for (const Cause cause : {Cause::no_library, Cause::no_access, Cause::no_listener, Cause::refused, Cause::ended,
                              Cause::protocol, Cause::system})
        EXPECT_EQ(told(failed(cause)).status, Status::unknown) << static_cast<int>(cause);
    for (const Cause cause : {Cause::no_rdma, Cause::provider, Cause::no_rdma_route, Cause::no_neighbour, Cause::iwarp,
                              Cause::rejected, Cause::no_answer, Cause::silent, Cause::denied, Cause::wrong_bytes})
        EXPECT_EQ(told(failed(cause)).status, Status::fail) << static_cast<int>(cause);
}

TEST(ProbeReport, says_why_and_what_to_do_for_every_cause) {
    for (int cause = 0; cause <= static_cast<int>(Cause::system); ++cause) {
        const Finding finding = told(failed(static_cast<Cause>(cause), "the step", "the detail"));
        EXPECT_FALSE(finding.observed.empty() || finding.why.empty() || finding.remedy.summary.empty()) << cause;
    }
}

TEST(ProbeSizes, begin_below_any_path_mtu_and_end_with_the_largest) {
    EXPECT_THAT(transfer_sizes(64u << 20), ElementsAre(256u, 4096u, 65536u, 1u << 20, 16u << 20, 64u << 20));
    EXPECT_THAT(transfer_sizes(4096), ElementsAre(256u, 4096u));
    EXPECT_THAT(transfer_sizes(100), ElementsAre(100u));
}

TEST(ProbeLatency, is_the_median_and_the_99th_percentile) {
    std::vector<double> micros;
    for (int i = 100; i >= 0; --i) micros.push_back(i);
    const Latency latency = latency_of(micros);
    EXPECT_EQ(latency.median_us, 50);
    EXPECT_EQ(latency.p99_us, 99);
    EXPECT_EQ(latency.samples, 101u);
    std::vector<double> none, one{7};
    EXPECT_EQ(latency_of(none).samples, 0u);
    EXPECT_EQ(latency_of(one).p99_us, 7);
}

TEST(ProbeAddress, is_numeric_and_written_as_peers_are) {
    EXPECT_TRUE(SocketAddress("n2", 5555).empty());
    EXPECT_TRUE(SocketAddress("", 5555).empty());
    EXPECT_EQ(text_of(SocketAddress("192.0.2.12", 5555).get()), "192.0.2.12");
    EXPECT_EQ(text_of(SocketAddress("2001:db8::12", 5555).get()), "2001:db8::12");
    EXPECT_EQ(text_of(SocketAddress("::ffff:192.0.2.12", 1).get()), "192.0.2.12");
}

}  // namespace
}  // namespace preflight::probe
