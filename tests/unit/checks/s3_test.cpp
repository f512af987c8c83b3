#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "facts/s3_client.h"
#include "facts/s3_endpoint.h"
#include "modules.h"
#include "preflight/facts.h"
#include "support/fake_host.h"

namespace preflight {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Report judged_s3(FakeHost& host, Options options = {}) {
    options.skip.push_back("s3.server");
    const Facts facts(host, std::move(options));
    return judge({s3_module()}, facts);
}

Options as(unsigned roles) {
    Options options;
    options.roles = roles;
    return options;
}

void environment(FakeHost& host, const std::vector<std::string>& variables, std::uint64_t memlock = ~0ull) { host.set("caller", "", Caller{variables, {memlock, memlock}}); }

FakeHost e810_client() {
    FakeHost host = e810_node();
    host.set("caller", "", Caller{{}, {~0ull, ~0ull}});
    for (const auto& [name, file] : {std::pair{"libs3rdma.so.0", "libs3rdma.so.0.3.3"}, {"libibverbs.so.1", "libibverbs.so.1.14.50.0"}, {"librdmacm.so.1", "librdmacm.so.1.3.50.0"}, {"libnuma.so.1", "libnuma.so.1.0.0"}})
        host.add_library("/usr/lib64", name, file);
    return host;
}

/// The cuObject generation alone, with this cufile.json.
FakeHost cuobject_client(const std::string& cufile_json) {
    FakeHost host = gpu_node();
    host.absent("info", "/usr/lib64/libs3rdma.so.0");
    host.add_library("/usr/local/cuda/lib64", "libcuobjclient.so.1", "libcuobjclient.so.1.0.0");
    host.add_library("/usr/local/cuda/lib64", "libcufile.so.0", "libcufile.so.1.18.0");
    host.text("/etc/ld.so.conf", "# local\ninclude ld.so.conf.d/*.conf\n");
    host.set("list", "/etc/ld.so.conf.d", std::vector<std::string>{"cuda.conf", "notes.txt"});
    host.text("/etc/ld.so.conf.d/cuda.conf", "/usr/local/cuda/lib64\n");
    if (!cufile_json.empty()) host.text("/etc/cufile.json", cufile_json);
    return host;
}
const std::string filled = "{\n  // of this node\n  \"properties\": { \"rdma_dev_addr_list\": [ \"192.0.2.11\", \"198.51.100.11\" ] }\n}\n";

TEST(S3Client, has_nothing_to_complain_about_on_a_good_gpu_node) {
    FakeHost host = gpu_node();
    for (const Finding& finding : judged_s3(host).findings) EXPECT_TRUE(finding.status == Status::pass || finding.status == Status::skip) << finding.id << ": " << finding.observed;
}

TEST(S3Transport, passes_with_dc_and_names_the_devices) {
    FakeHost host = gpu_node();
    EXPECT_THAT(only(judged_s3(host), "s3.transport").observed, HasSubstr("mlx5_0 and mlx5_1: DC"));
    FakeHost server = mlx5_node();
    EXPECT_EQ(only(judged_s3(server), "s3.transport").status, Status::pass);
}

// NIC-12.
TEST(S3Transport, fails_a_client_without_dc_calmly_and_with_its_sources) {
    FakeHost host = e810_client();
    const Finding finding = only(judged_s3(host, as(client)), "s3.transport");
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("irdma offers RC, UD and GSI queue pairs only"));
    EXPECT_THAT(finding.source, HasSubstr("libs3rdma 0.3.0"));
    EXPECT_THAT(finding.remedy.summary, HasSubstr("Ask MinIO support"));
    EXPECT_THAT(finding.remedy.summary, HasSubstr("Waive s3.transport"));
    EXPECT_THAT(finding.why, HasSubstr("no setting on this node lifts it"));
    EXPECT_THAT(finding.evidence, Contains(testing::Pair("libs3rdma here", EvidenceValue(std::string("/usr/lib64/libs3rdma.so.0.3.3")))));
}

TEST(S3Transport, leaves_the_outcome_of_a_storage_node_without_dc_open) {
    FakeHost host = e810_node();
    const Report report = judged_s3(host);
    EXPECT_EQ(only(report, "s3.transport").status, Status::warn);
    EXPECT_TRUE(only(report, "s3.transport").unproven);
    EXPECT_EQ(report.outcomes.at(1).answer, "unknown");
    EXPECT_THAT(report.outcomes.at(0).because, Not(Contains("s3.transport"))) << "inter-node RDMA does not rest on it";
}

TEST(S3Transport, takes_software_rdma_for_what_it_is) {
    FakeHost host = gpu_node();
    for (const char* device : {"mlx5_0", "mlx5_1"}) {
        host.rdma_device(device, [](RdmaDevice& known) { known.uverbs = RdmaChardev{"uverbs0", 14u}; });
        host.absent("resolve", std::string("/sys/class/infiniband/") + device + "/device");
    }
    EXPECT_THAT(only(judged_s3(host), "s3.transport").observed, HasSubstr("software"));
}

TEST(S3Transport, warns_a_client_whose_devices_are_of_both_kinds) {
    FakeHost host = gpu_node();
    host.rdma_device("mlx5_1", [](RdmaDevice& known) { known.uverbs = RdmaChardev{"uverbs1", 7u}; });
    const Finding finding = only(judged_s3(host), "s3.transport");
    EXPECT_EQ(finding.status, Status::warn);
    EXPECT_THAT(finding.remedy.commands, ElementsAre("export S3RDMA_DEVICE=mlx5_0"));
}

TEST(S3Transport, without_a_device_or_its_driver_is_unknown) {
    FakeHost host = gpu_node();
    host.drop_rdma("mlx5_0");
    host.drop_rdma("mlx5_1");
    EXPECT_EQ(only(judged_s3(host), "s3.transport").status, Status::unknown);
}

TEST(S3ClientLibraries, need_what_libs3rdma_loads_at_run_time) {
    FakeHost host = gpu_node();
    EXPECT_THAT(about(judged_s3(host), "s3.client", "libs3rdma").observed, HasSubstr("needs no configuration"));
    host.absent("info", "/usr/lib64/libnuma.so.1");
    const Finding finding = about(judged_s3(host), "s3.client", "libs3rdma");
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.remedy.commands, ElementsAre("sudo dnf install -y numactl-libs"));
    host.unreadable("info", "/lib64/libnuma.so.1", "EACCES");
    EXPECT_EQ(about(judged_s3(host), "s3.client", "libs3rdma").status, Status::unknown) << "a folder that cannot be read could hold it";
}

TEST(S3ClientLibraries, that_are_nowhere_are_not_known_to_be_missing) {
    FakeHost host = gpu_node();
    host.absent("info", "/usr/lib64/libs3rdma.so.0");
    const Finding finding = only(judged_s3(host), "s3.client");
    EXPECT_EQ(finding.status, Status::unknown);
    EXPECT_THAT(finding.remedy.summary, HasSubstr("LD_LIBRARY_PATH"));
}

TEST(S3ClientLibraries, are_found_in_the_order_of_the_loader) {
    FakeHost host = gpu_node();
    host.add_library("/opt/job/lib", "libs3rdma.so.0", "libs3rdma.so.0.3.0");
    environment(host, {"LD_LIBRARY_PATH=/opt/job/lib:relative:"});
    const Finding finding = about(judged_s3(host), "s3.client", "libs3rdma");
    EXPECT_EQ(finding.status, Status::warn);
    EXPECT_THAT(finding.observed, HasSubstr("/opt/job/lib/libs3rdma.so.0 is taken; /usr/lib64/libs3rdma.so.0 has the same name"));
}

TEST(S3ClientLibraries, survive_a_loader_configuration_that_includes_itself) {
    FakeHost host = gpu_node();
    host.text("/etc/ld.so.conf", "include /etc/ld.so.conf\n");
    host.set("list", "/etc", std::vector<std::string>{"ld.so.conf"});
    EXPECT_EQ(about(judged_s3(host), "s3.client", "libs3rdma").status, Status::pass);
}

TEST(CuobjectClient, needs_a_filled_address_list) {
    FakeHost good = cuobject_client(filled);
    EXPECT_EQ(about(judged_s3(good), "s3.client", "cuObject client").status, Status::pass);
    for (const auto& [text, says] : {std::pair<std::string, std::string>{"", "there is no /etc/cufile.json"}, {R"({"properties": {"rdma_dev_addr_list": []}})", "is empty"}, {R"({"properties": {}})", "has no rdma_dev_addr_list"},
                                     {R"({"properties": {"rdma_dev_addr_list": ["203.0.113.99"]}})", "203.0.113.99, which is no address"}}) {
        FakeHost host = cuobject_client(text);
        const Finding finding = about(judged_s3(host), "s3.client", "cuObject client");
        EXPECT_EQ(finding.status, Status::fail) << text;
        EXPECT_THAT(finding.observed, HasSubstr(says));
    }
    FakeHost broken = cuobject_client("{ properties");
    EXPECT_EQ(about(judged_s3(broken), "s3.client", "cuObject client").status, Status::unknown);
}

TEST(CuobjectClient, reads_the_file_that_the_environment_names) {
    FakeHost host = cuobject_client("");
    host.text("/opt/job/cufile.json", filled);
    environment(host, {"CUFILE_ENV_PATH_JSON=/opt/job/cufile.json"});
    EXPECT_EQ(about(judged_s3(host), "s3.client", "cuObject client").status, Status::pass);
}

TEST(CuobjectClient, beside_libs3rdma_only_warns) {
    FakeHost host = cuobject_client("");
    host.add_library("/usr/lib64", "libs3rdma.so.0", "libs3rdma.so.0.3.3");
    EXPECT_EQ(about(judged_s3(host), "s3.client", "cuObject client").status, Status::warn);
}

TEST(CuobjectClient, warns_of_an_old_cufile) {
    FakeHost host = cuobject_client(filled);
    host.add_library("/usr/local/cuda/lib64", "libcufile.so.0", "libcufile.so.1.15.1");
    EXPECT_EQ(about(judged_s3(host), "s3.client", "cuObject client").status, Status::warn);
    host.absent("info", "/usr/local/cuda/lib64/libcufile.so.0");
    EXPECT_EQ(about(judged_s3(host), "s3.client", "cuObject client").status, Status::fail);
}

TEST(Tokens, are_judged_against_the_release_that_was_named) {
    Options options;
    options.server_release = "RELEASE.2026-08-07T18-34-35Z";
    FakeHost current = gpu_node();
    EXPECT_EQ(about(judged_s3(current, options), "s3.client", "tokens").status, Status::pass);
    FakeHost old_client = cuobject_client(filled);
    EXPECT_EQ(about(judged_s3(old_client, options), "s3.client", "tokens").status, Status::warn);
    options.server_release = "EDGE.2026-06-06T01-00-00Z";
    EXPECT_EQ(about(judged_s3(current, options), "s3.client", "tokens").status, Status::warn);
    EXPECT_EQ(about(judged_s3(current), "s3.client", "tokens").status, Status::skip);
    EXPECT_EQ(release_date("RELEASE.2026-08-07T18-34-35Z"), "2026-08-07");
    EXPECT_EQ(release_date("latest"), "");
}

TEST(DeviceGrammar, knows_every_form_of_the_header) {
    struct Form {
        const char *text, *name;
        DeviceChoice::Kind kind;
        std::optional<int> port, gid;
    };
    for (const Form& form : {Form{"192.0.2.11", "192.0.2.11", DeviceChoice::address, {}, {}}, {"2001:DB8::1", "2001:db8::1", DeviceChoice::address, {}, {}}, {"[2001:db8::1]:9000", "2001:db8::1", DeviceChoice::address, {}, {}},
                             {"fe80::1%ens1", "fe80::1", DeviceChoice::address, {}, {}}, {"mlx5_0", "mlx5_0", DeviceChoice::device, {}, {}}, {"mlx5_0:3", "mlx5_0", DeviceChoice::device, {}, 3},
                             {"mlx5_0:1:3", "mlx5_0", DeviceChoice::device, 1, 3}, {"0.0.0.0", "0.0.0.0", DeviceChoice::wildcard, {}, {}}, {"::", "::", DeviceChoice::wildcard, {}, {}},
                             {"mlx5_0:1:256", "mlx5_0:1:256", DeviceChoice::device, {}, {}}, {"mlx5_0:x", "mlx5_0:x", DeviceChoice::device, {}, {}}}) {
        const auto choices = parse_device_choice(form.text);
        ASSERT_EQ(choices.size(), 1u) << form.text;
        EXPECT_EQ(choices[0].name, form.name);
        EXPECT_EQ(choices[0].kind, form.kind) << form.text;
        EXPECT_EQ(choices[0].port, form.port) << form.text;
        EXPECT_EQ(choices[0].gid, form.gid) << form.text;
    }
    EXPECT_EQ(parse_device_choice("mlx5_0, mlx5_1,,").size(), 2u);
    EXPECT_TRUE(parse_device_choice(" ").empty());
}

Status device_status(FakeHost& host, const std::string& value, const std::string& says = {}) {
    environment(host, {"S3RDMA_DEVICE=" + value});
    const Finding finding = only(judged_s3(host), "s3.device");
    EXPECT_THAT(finding.observed, HasSubstr(says)) << value;
    return finding.status;
}

TEST(S3Device, passes_unset_and_for_what_is_here) {
    FakeHost host = gpu_node();
    EXPECT_EQ(only(judged_s3(host), "s3.device").status, Status::pass);
    for (const char* value : {"", "mlx5_0", "mlx5_0:1", "mlx5_0:1:1", "192.0.2.11"}) EXPECT_EQ(device_status(host, value), Status::pass) << value;
}

TEST(S3Device, fails_for_what_is_not_here_and_says_why) {
    FakeHost host = gpu_node();
    EXPECT_EQ(device_status(host, "mlx5_7", "no RDMA device"), Status::fail);
    EXPECT_EQ(device_status(host, "ens1f0np0", "its RDMA device is mlx5_0"), Status::fail);
    EXPECT_EQ(device_status(host, "mlx5_0:1:256", "takes it whole"), Status::fail);
    EXPECT_EQ(device_status(host, "mlx5_0:2:1", "no port 2"), Status::fail);
    EXPECT_EQ(device_status(host, "mlx5_0:1:9", "GID 9 of mlx5_0 is empty"), Status::fail);
    EXPECT_EQ(device_status(host, "192.0.2.99", "no address of this node"), Status::fail);
    EXPECT_EQ(device_status(host, "203.0.113.11", "eno1 has no RDMA device"), Status::fail);
    EXPECT_EQ(device_status(host, "fe80::1", "zone"), Status::fail);
    host.rdma_device("mlx5_0", [](RdmaDevice& device) { device.ports[0].state = "DOWN"; });
    EXPECT_EQ(device_status(host, "mlx5_0", "DOWN"), Status::fail);
}

TEST(S3Device, warns_of_a_wildcard_beside_a_device) {
    FakeHost host = gpu_node();
    environment(host, {"S3RDMA_DEVICE=mlx5_0,0.0.0.0"});
    const Report report = judged_s3(host);
    EXPECT_EQ(about(report, "s3.device", "0.0.0.0").status, Status::warn);
    EXPECT_EQ(about(report, "s3.device", "mlx5_0").status, Status::pass);
}

TEST(S3Device, is_unknown_when_the_environment_could_not_be_read) {
    FakeHost host = gpu_node();
    host.answers.erase({"caller", ""});
    EXPECT_EQ(only(judged_s3(host), "s3.device").status, Status::unknown);
    EXPECT_EQ(only(judged_s3(host), "s3.memlock").status, Status::unknown);
}

TEST(S3Memlock, warns_of_a_finite_limit) {
    FakeHost host = gpu_node();
    EXPECT_EQ(only(judged_s3(host), "s3.memlock").status, Status::pass);
    environment(host, {}, 8u << 20);
    EXPECT_THAT(only(judged_s3(host), "s3.memlock").observed, HasSubstr("8 MiB"));
    EXPECT_EQ(only(judged_s3(host), "s3.memlock").status, Status::warn);
}

Finding endpoint(FakeHost& host, const std::string& url) {
    Options options;
    options.endpoint = url;
    return only(judged_s3(host, options), "s3.endpoint");
}

TEST(S3Endpoint, is_skipped_until_one_is_named) {
    FakeHost host = gpu_node();
    EXPECT_EQ(only(judged_s3(host), "s3.endpoint").status, Status::skip);
}

TEST(S3Endpoint, fails_without_a_route_or_in_another_family) {
    FakeHost host = gpu_node();
    host.absent("route", "192.0.2.50", "ENETUNREACH");
    EXPECT_EQ(endpoint(host, "http://192.0.2.50:9000").status, Status::fail);
    host.set("route", "192.0.2.50", Route{"prohibit", 0, "", "", 254});
    EXPECT_EQ(endpoint(host, "http://192.0.2.50:9000").status, Status::fail);
    host.set("route", "2001:db8::50", Route{"unicast", 3, "2001:db8::11", "", 254});
    EXPECT_THAT(endpoint(host, "https://[2001:db8::50]").observed, HasSubstr("is IPv6, and the RDMA ports have only 192.0.2.11"));
}

TEST(S3Endpoint, by_another_interface_warns_and_by_an_rdma_port_must_answer) {
    FakeHost host = gpu_node();
    host.set("route", "203.0.113.50", Route{"unicast", 2, "203.0.113.11", "", 254});
    EXPECT_THAT(endpoint(host, "http://203.0.113.50:9000").observed, HasSubstr("leaves by eno1"));
    host.set("resolve_name", "s3.example.net", std::vector<std::string>{"2001:db8::50", "192.0.2.50"});
    host.set("route", "192.0.2.50", Route{"unicast", 3, "192.0.2.11", "", 254});
    const auto answers = [&](const std::string& outcome) {
        host.set("tcp_probe", "192.0.2.50:9000", TcpProbe{outcome, 1, "", ""});
        return endpoint(host, "http://s3.example.net:9000/bucket").status;
    };
    EXPECT_EQ(answers("connected"), Status::pass);
    EXPECT_EQ(answers("refused"), Status::warn);
    EXPECT_EQ(answers("timed-out"), Status::fail);
    host.unreadable("tcp_probe", "192.0.2.50:9000", "EMFILE");
    EXPECT_EQ(endpoint(host, "http://s3.example.net:9000/bucket").status, Status::unknown);
    EXPECT_EQ(endpoint(host, "http://elsewhere.example.net").status, Status::unknown) << "the resolver was not asked";
    host.absent("resolve_name", "elsewhere.example.net", "EAI_NONAME");
    EXPECT_EQ(endpoint(host, "http://elsewhere.example.net").status, Status::fail);
}

TEST(EndpointUrl, is_taken_apart_or_refused) {
    EXPECT_EQ(parse_endpoint("https://n1")->port, 443);
    EXPECT_EQ(parse_endpoint("http://[2001:db8::1]:9000/")->host, "2001:db8::1");
    for (const char* bad : {"n1:9000", "ftp://n1", "http://", "http://n1:0", "http://n1:70000", "http://n1:x", "http://[::1", "http://[x]:1", "http://user@n1", "http://n1:"})
        EXPECT_FALSE(parse_endpoint(bad)) << bad;
}

}  // namespace
}  // namespace preflight
