// The report as JSON, in the order the contract gives. Nothing is computed here.

#include <nlohmann/json.hpp>

#include "preflight/report.h"
#include "report/json.h"
#include "version.h"

namespace preflight {
namespace {

using Json = nlohmann::ordered_json;

Json remedy_json(const Remedy& remedy) {
    return {{"summary", remedy.summary}, {"commands", remedy.commands}, {"persist", remedy.persist}, {"undo", remedy.undo}};
}

Json finding_json(const Finding& finding) {
    Json json;
    json["id"] = finding.id;
    json["phase"] = std::string(1, finding.phase);
    json["status"] = name(finding.status);
    json["subject"] = finding.subject.text;
    const bool peer = !finding.subject.whole_node() && finding.subject.keys.front().rfind("peer:", 0) == 0;
    if (finding.subject.keys.size() == 1 && !peer) json["port"] = finding.subject.keys.front();
    if (finding.subject.keys.size() > 1) json["ports"] = finding.subject.keys;
    json["title"] = finding.title;
    json["observed"] = finding.observed;
    json["expected"] = finding.expected;
    json["source"] = finding.source;
    const bool brief = finding.status == Status::pass || finding.status == Status::skip;
    if (!brief) json["why"] = finding.why;
    if (!brief) json["remedy"] = remedy_json(finding.remedy);
    if (!brief || !finding.evidence.empty()) {
        json["evidence"] = Json::object();
        for (const auto& [key, value] : finding.evidence)
            std::visit([&, &at = key](const auto& plain) { json["evidence"][at] = plain; }, value);
    }
    json["blocked_by"] = finding.blocked_by;
    if (finding.waiver) json["waiver"] = {{"reason", finding.waiver->reason}, {"owner", finding.waiver->owner}, {"expires", finding.waiver->expires}};
    else json["waiver"] = nullptr;
    json["duration_us"] = finding.duration_us;
    return json;
}

Json run_json(const RunInfo& run) {
    Json options = Json::object(), unreadable = Json::array();
    for (const auto& [key, value] : run.options) options[key] = value;
    for (const auto& [what, error] : run.unreadable) unreadable.push_back({{"what", what}, {"errno", error}});
    return {{"started", run.started},
            {"duration_ms", run.duration_ms},
            {"source", run.source},
            {"stage", run.stage},
            {"roles", run.roles},
            {"deployment", run.deployment},
            {"want", run.want},
            {"selection", {{"phases", run.phases}, {"only", run.only}, {"skip", run.skip}}},
            {"options", options},
            {"effective_uid", run.effective_uid},
            {"capabilities", run.capabilities},
            {"unreadable", unreadable}};
}

Json cluster_json(const Cluster& cluster) {
    Json peers = Json::array();
    for (const Peer& peer : cluster.peers) peers.push_back({{"name", peer.name}, {"address", peer.address}});
    return {{"fingerprint", cluster.fingerprint}, {"self", cluster.self}, {"addresses", cluster.addresses}, {"peers", peers}};
}

Json counts_json(const Counts& counts) {
    return {{"pass", counts.pass}, {"warn", counts.warn}, {"fail", counts.fail}, {"unknown", counts.unknown}, {"skip", counts.skip}, {"blocked", counts.blocked}, {"waived", counts.waived}};
}

std::string compare_json(const Report& report) {
    Json json;
    json["schema"] = compare_schema;
    json["tool"] = {{"version", tool_version}, {"commit", tool_commit}};
    json["nodes"] = Json::array();
    for (const ComparedNode& node : *report.compared)
        json["nodes"].push_back({{"name", node.name}, {"hostname", node.hostname}, {"file", node.file}, {"started", node.started}, {"roles", node.roles}, {"verdict", node.verdict}, {"outcome", node.answers}});
    json["verdict"] = name(report.verdict);
    json["counts"] = counts_json(report.phases.front().counts);
    json["findings"] = Json::array();
    for (const Finding& finding : report.findings) json["findings"].push_back(finding_json(finding));
    json["notes"] = report.notes;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string to_json(const Report& report) {
    if (report.compared) return compare_json(report);
    Json json;
    json["schema"] = report_schema;
    json["tool"] = {{"version", tool_version}, {"commit", tool_commit}};
    json["node"] = {{"hostname", report.node.hostname},
                    {"boot_id", report.node.boot_id},
                    {"kernel", report.node.kernel},
                    {"os", report.node.os},
                    {"architecture", report.node.architecture}};
    json["run"] = run_json(report.run);
    json["cluster"] = cluster_json(report.cluster);
    json["verdict"] = name(report.verdict);
    json["outcome"] = Json::object();
    for (const PathOutcome& outcome : report.outcomes)
        json["outcome"][outcome.key] = {{"answer", outcome.answer}, {"now", outcome.now}, {"because", outcome.because}, {"sentence", outcome.sentence}};
    json["phases"] = Json::object();
    for (const PhaseResult& phase : report.phases) {
        json["phases"][std::string(1, phase.letter)] = {{"title", phase.title}, {"verdict", name(phase.verdict)}, {"counts", counts_json(phase.counts)}};
    }
    json["compare_keys"] = Json::object();
    for (const CompareKey& key : report.compare_keys)
        json["compare_keys"][key.key] = {{"state", key.state}, {"value", key.value}, {"origin", key.origin}};
    json["findings"] = Json::array();
    for (const Finding& finding : report.findings) json["findings"].push_back(finding_json(finding));
    json["notes"] = report.notes;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string checks_to_json(const std::vector<Module>& catalogue) {
    const auto names = [](unsigned bits, const char* one, const char* two) {
        Json list = Json::array();
        if (bits & 1) list.push_back(one);
        if (bits & 2) list.push_back(two);
        return list;
    };
    Json json = Json::array();
    for (const Module& module : catalogue)
        for (const Check& check : module.checks)
            json.push_back({{"id", check.id},
                            {"phase", std::string(1, check.phase)},
                            {"module", module.name},
                            {"title", check.title},
                            {"why", check.why},
                            {"judges", check.judges},
                            {"remedy", check.remedy},
                            {"evidence", check.evidence},
                            {"paths", names(check.paths, "internode", "s3")},
                            {"roles", names(check.roles, "storage", "client")},
                            {"deployments", names(check.deployments, "systemd", "container")},
                            {"after", check.after},
                            {"unproven", check.unproven}});
    return json.dump(2) + "\n";
}

}  // namespace preflight
