#include "facts/probe_result.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "preflight/host.h"
#include "version.h"

namespace preflight {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_report_bytes = 64u << 20;

Status status_of(const std::string& word) {
    for (const Status status : {Status::pass, Status::warn, Status::fail, Status::unknown, Status::skip, Status::blocked})
        if (word == name(status)) return status;
    throw Json::other_error::create(501, "no such status: " + word.substr(0, 40), nullptr);
}

std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw InputError{fmt::format("--probe-result {}: {}", path, std::strerror(errno))};
    std::string text(max_report_bytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad() || (file.gcount() == 0 && !file.eof())) throw InputError{fmt::format("--probe-result {}: cannot be read", path)};
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > max_report_bytes) throw InputError{fmt::format("--probe-result {}: more than the {} bytes read at most", path, max_report_bytes)};
    return text;
}

}  // namespace

ProbeResult ProbeResult::read(const std::string& path) {
    ProbeResult result;
    result.file = path;
    const std::string text = text_of(path);
    try {
        const Json report = Json::parse(text);
        if (report.at("schema").get<std::string>() != report_schema)
            throw InputError{fmt::format("--probe-result {}: schema is \"{}\", this version reads \"{}\"", path, report["schema"].get<std::string>().substr(0, 80), report_schema)};
        result.hostname = report.at("node").at("hostname").get<std::string>();
        result.boot_id = report.at("node").at("boot_id").get<std::string>();
        result.started = report.at("run").at("started").get<std::string>();
        for (const Json& finding : report.at("findings")) {
            if (finding.at("id").get<std::string>() != "peers.rdma") continue;
            Transfer transfer;
            transfer.subject = finding.at("subject").get<std::string>();
            transfer.status = status_of(finding.at("status").get<std::string>());
            transfer.observed = finding.at("observed").get<std::string>();
            transfer.why = finding.value("why", "");
            if (finding.contains("remedy")) {
                const Json& remedy = finding.at("remedy");
                transfer.remedy = {remedy.at("summary").get<std::string>(), remedy.at("commands").get<std::vector<std::string>>(),
                                   remedy.at("persist").get<std::vector<std::string>>(), remedy.at("undo").get<std::vector<std::string>>()};
            }
            result.transfers.push_back(std::move(transfer));
        }
    } catch (const Json::exception& error) {
        throw InputError{fmt::format("--probe-result {}: not the report of a probe: {}", path, error.what())};
    }
    if (result.transfers.empty()) throw InputError{fmt::format("--probe-result {}: holds no peers.rdma finding", path)};
    return result;
}

}  // namespace preflight
