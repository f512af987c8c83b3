#include <fmt/format.h>

#include "facts/fleet_keys.h"
#include "facts/node.h"
#include "facts/pci_paths.h"
#include "facts/ports.h"
#include "facts/rdma.h"
#include "facts/role.h"
#include "preflight/engine.h"

namespace preflight {
namespace {

std::vector<std::string> letters(const std::vector<char>& phases) {
    std::vector<std::string> list;
    for (const char phase : phases) list.emplace_back(1, phase);
    return list.empty() ? std::vector<std::string>{"A", "B", "C"} : list;
}

std::vector<std::string> words(unsigned bits, const char* one, const char* two) {
    std::vector<std::string> list;
    if (bits & 1) list.emplace_back(one);
    if (bits & 2) list.emplace_back(two);
    return list;
}

/// Of each check that may leave the outcome open: whether it was proven here, and for which setup. The value is
/// proven_setup(), so that another node of the same setup can rest on it.
std::vector<CompareKey> proof_keys(const Report& report, const Facts& facts) {
    std::map<std::string, bool> open;  // by check: whether any subject is unproven
    for (const Finding& finding : report.findings)
        if (finding.unproven || finding.proven) open[finding.id] |= finding.unproven;
    std::vector<CompareKey> keys;
    for (const auto& [id, unproven] : open) {
        const std::string setup = proven_setup(facts);
        const std::string name = (unproven ? "unproven." : "proof.") + id;
        if (setup.empty()) keys.push_back({name, "unknown", "server release, driver or firmware is not told", ""});
        else keys.push_back({name, "set", setup, id});
    }
    return keys;
}

}  // namespace

void describe(Report& report, const Facts& facts) {
    const Options& options = facts.options();
    const NodeFacts& node = facts.node();
    if (node.self) {
        report.node.hostname = node.self->hostname;
        report.node.kernel = node.self->kernel;
        report.node.architecture = node.self->architecture;
        report.run.effective_uid = node.self->effective_uid;
        report.run.capabilities = node.self->capabilities;
        report.run.started = node.self->started;
    }
    if (report.run.started.empty()) report.run.started = "1970-01-01T00:00:00Z";
    report.node.boot_id = node.boot_id.value_or("");
    report.node.os = node.os_release ? node.os_name() : "";
    report.run.source = options.from_snapshot ? "snapshot" : "live";
    report.run.stage = options.stage == Stage::ready ? "ready" : "on";
    report.run.roles = words(facts.roles(), "storage", "client");
    report.run.deployment = facts.deployment() == systemd ? "systemd" : "container";
    report.run.want = words(facts.want(), "internode", "s3");
    report.run.phases = letters(options.phases);
    report.run.only = options.only;
    report.run.skip = options.skip;
    const auto option = [&](const char* name, const std::string& value, const std::string& otherwise) {
        if (value != otherwise) report.run.options.emplace_back(name, value);
    };
    option("interface", fmt::format("{}", fmt::join(options.interfaces, ",")), "");
    option("service", options.service, "minio.service");
    option("env_file", options.env_file.value_or(""), "");
    option("binary", options.binary.value_or(""), "");
    option("run_binary", options.run_binary ? "true" : "", "");
    option("endpoint", options.endpoint.value_or(""), "");
    if (options.peers) option("peers", fmt::format("{}", fmt::join(*options.peers, ",")), "");
    option("no_peers", options.no_peers ? "true" : "", "");
    option("timeout", fmt::format("{}", options.timeout_seconds), "5");
    option("probe_result", options.probe_result.value_or(""), "");
    option("server_release", options.server_release.value_or(""), "");
    option("root", options.root, "/");
    if (facts.roles() & client) report.topology = facts.pci_paths().table();
    report.cluster = cluster_of(facts);
    report.compare_keys = compare_keys(facts);
    for (CompareKey& key : proof_keys(report, facts)) report.compare_keys.push_back(std::move(key));
    report.chain = facts.ports().chain(facts.rdma());
}

}  // namespace preflight
