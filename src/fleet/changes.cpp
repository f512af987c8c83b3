#include "fleet/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "fleet/reader.h"
#include "preflight/host.h"

namespace preflight::fleet {
namespace {

using Json = nlohmann::json;

struct Report {
    Node node;
    std::string kernel, tool;
    std::map<std::pair<std::string, std::string>, std::pair<std::string, std::string>> findings;  ///< id, subject -> status, observed
};

Report read(const std::string& path) {
    const Fact<Node> node = read_report(path);
    if (!node) throw InputError{node.why().cause};
    Report report{*node, {}, node->tool, {}};
    std::ifstream file(path, std::ios::binary);
    try {
        const Json json = Json::parse(file);
        report.kernel = json.at("node").at("kernel");
        for (const Json& finding : json.at("findings")) report.findings[{finding.at("id"), finding.at("subject")}] = {finding.at("status"), finding.at("observed")};
    } catch (const Json::exception& error) {
        throw InputError{fmt::format("{}: {}", path, error.what())};
    }
    return report;
}

bool bad(const std::string& status) {
    return status == "fail" || status == "unknown";
}

/// How bad a verdict is; one of a later version counts as the worst.
int rank(const std::string& verdict) {
    static constexpr const char* order[] = {"pass", "not-applicable", "incomplete", "fail"};
    return static_cast<int>(std::find(std::begin(order), std::end(order), verdict) - std::begin(order));
}

std::string shown(const std::map<std::string, CompareKey>& keys, const std::string& key) {
    const auto found = keys.find(key);
    if (found == keys.end()) return "not told";
    if (found->second.state == "unknown") return "not known";
    return found->second.state == "set" ? "\"" + found->second.value + "\"" : "unset";
}

}  // namespace

std::string Changes::text() const {
    std::string out = fmt::format("{}: {} to {}\n", node, older, newer);
    if (lines.empty()) return out + "  nothing changed\n";
    for (const std::string& line : lines) out += "  " + line + "\n";
    return out;
}

Changes changes(const std::string& older, const std::string& newer) {
    const Report before = read(older), after = read(newer);
    if (before.node.hostname != after.node.hostname) throw InputError{fmt::format("{} is of {}, {} is of {}: give two reports of one node", older, before.node.hostname, newer, after.node.hostname)};
    if (before.node.started && after.node.started && after.node.started < before.node.started)
        throw InputError{fmt::format("{} is older than {}: give the older report first", newer, older)};
    Changes out{after.node.name(), before.node.started_text, after.node.started_text, {}, false};
    const auto changed = [&](const std::string& what, const std::string& from, const std::string& to) {
        if (from != to) out.lines.push_back(fmt::format("{}: {} before, {} now", what, from, to));
    };
    changed("verdict", before.node.verdict, after.node.verdict);
    for (const auto& [path, answer] : after.node.answers)
        if (const auto old = before.node.answers.find(path); old != before.node.answers.end()) changed(path == "internode_rdma" ? "inter-node RDMA" : "S3 over RDMA", old->second, answer);

    std::vector<std::string> worse, better, other;
    std::set<std::pair<std::string, std::string>> keys;
    for (const auto* report : {&before, &after})
        for (const auto& [key, finding] : report->findings) keys.insert(key);
    for (const auto& key : keys) {
        const auto old = before.findings.find(key), now = after.findings.find(key);
        const std::string was = old == before.findings.end() ? "not there" : old->second.first, is = now == after.findings.end() ? "not there" : now->second.first;
        if (was == is) continue;
        const std::string line = fmt::format("{} {}: {} before, {} now{}", key.first, key.second, was, is, now == after.findings.end() ? "" : ": " + now->second.second);
        const bool looked_at = std::any_of(after.findings.begin(), after.findings.end(), [&](const auto& one) { return one.first.first == key.first; });
        const bool lost = now == after.findings.end() && !looked_at && bad(was);  // nobody looked again
        (lost || (bad(is) && !bad(was)) ? worse : bad(was) && !bad(is) ? better : other).push_back(line);
    }
    out.worse = !worse.empty() || rank(after.node.verdict) > rank(before.node.verdict);
    for (const auto& [path, answer] : before.node.answers)
        if (const auto now = after.node.answers.find(path); answer == "yes" && (now == after.node.answers.end() || now->second != "yes")) out.worse = true;
    for (const auto* list : {&worse, &better, &other}) out.lines.insert(out.lines.end(), list->begin(), list->end());

    std::set<std::string> names;
    for (const auto* report : {&before, &after})
        for (const auto& [name, key] : report->node.keys) names.insert(name);
    for (const std::string& name : names) changed(name.rfind("env.", 0) == 0 ? name.substr(4) : name, shown(before.node.keys, name), shown(after.node.keys, name));
    changed("kernel", before.kernel, after.kernel);
    changed("version of the tool", before.tool, after.tool);
    if (before.node.boot_id != after.node.boot_id) out.lines.push_back("the node was rebooted between both");
    return out;
}

}  // namespace preflight::fleet
