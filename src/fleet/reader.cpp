#include "fleet/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "preflight/host.h"
#include "version.h"

namespace preflight::fleet {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_report_bytes = 64u << 20;
constexpr std::size_t first_piece = 64u << 10;  // what stands before the findings is smaller in nearly all reports

constexpr const char* needed[] = {"tool", "node", "run", "cluster", "verdict", "outcome", "compare_keys"};

/// Builds the members of the report's object one after the other, and stops at "findings" once it has what it needs: the contract's order puts
/// them last. Another tool may have sorted the members; then the findings are passed over.
class UpToFindings : public nlohmann::json_sax<Json> {
public:
    Json root = Json::object();
    bool stopped = false;
    std::string trouble;

    bool null() override { return put(nullptr); }
    bool boolean(bool value) override { return put(value); }
    bool number_integer(number_integer_t value) override { return put(value); }
    bool number_unsigned(number_unsigned_t value) override { return put(value); }
    bool number_float(number_float_t value, const string_t&) override { return put(value); }
    bool string(string_t& value) override { return put(std::move(value)); }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return open(Json::object()); }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override {
        if (open_.size() == 1) {
            skipping_ = name == "findings";
            stopped = skipping_ && std::all_of(std::begin(needed), std::end(needed), [&](const char* one) { return root.contains(one); });
        }
        key_ = std::move(name);
        return !stopped;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
        trouble = error.what();
        return false;
    }

private:
    static constexpr std::size_t max_depth = 32;

    Json* place(Json value) {
        if (skipping_) return &passed_;
        if (open_.empty()) {
            root = std::move(value);
            return &root;
        }
        Json& top = *open_.back();
        if (top.is_array()) {
            top.push_back(std::move(value));
            return &top.back();
        }
        return &(top[key_] = std::move(value));
    }
    bool put(Json value) {
        place(std::move(value));
        return true;
    }
    bool open(Json value) {
        if (open_.size() == max_depth) {
            trouble = "nested too deeply";
            return false;
        }
        open_.push_back(place(std::move(value)));
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    std::vector<Json*> open_;
    std::string key_;
    bool skipping_ = false;
    Json passed_;
};

std::int64_t seconds_of(const std::string& time) {
    std::tm utc{};
    const char* end = strptime(time.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return end && !*end ? timegm(&utc) : 0;
}

std::vector<std::string> words(const Json& json) {
    return json.is_array() ? json.get<std::vector<std::string>>() : std::vector<std::string>{};
}

/// What a run was asked short of everything: "stage ready, phase A, --only nic.*".
std::string narrowed(const Json& run) {
    std::vector<std::string> parts;
    if (const std::string stage = run.value("stage", "on"); stage != "on") parts.push_back("stage " + stage);
    const Json selection = run.value("selection", Json::object());
    const auto add = [&](const char* key, const char* option) {
        const auto list = words(selection.value(key, Json::array()));
        if (!list.empty()) parts.push_back(fmt::format("{} {}", option, fmt::join(list, ",")));
    };
    // A whole run names all phases.
    if (words(selection.value("phases", Json::array())).size() < 3) add("phases", "--phase");
    add("only", "--only");
    add("skip", "--skip");
    return fmt::format("{}", fmt::join(parts, " "));
}

/// The first finding that made the verdict what it is, from the whole text of a report.
std::string first_reason(const std::string& text, const std::string& verdict) {
    const auto findings_alone = [](int depth, Json::parse_event_t event, Json& parsed) {
        return depth != 1 || event != Json::parse_event_t::key || parsed == "findings";
    };
    const Json report = Json::parse(text, findings_alone, false);
    const auto findings = report.is_object() ? report.find("findings") : report.end();
    if (!report.is_object() || findings == report.end() || !findings->is_array()) return {};
    for (const Json& finding : *findings) {
        if (!finding.is_object()) continue;
        const auto text_of = [&](const char* key) {
            const auto member = finding.find(key);
            return member != finding.end() && member->is_string() ? member->get<std::string>() : "";
        };
        const auto waiver = finding.find("waiver");
        const std::string status = text_of("status");
        const bool waived = waiver != finding.end() && !waiver->is_null();
        const bool decides = verdict == "fail" ? status == "fail" : status == "unknown" || status == "blocked";
        if (!decides || (waived && status != "blocked")) continue;
        return fmt::format("{} {}: {}", text_of("id"), text_of("subject"), text_of("observed"));
    }
    return {};
}

Node node_of(const Json& json, const std::string& path) {
    Node node;
    node.file = path;
    node.tool = json.at("tool").at("version");
    node.hostname = json.at("node").at("hostname");
    node.boot_id = json.at("node").at("boot_id");
    node.started_text = json.at("run").at("started");
    node.started = seconds_of(node.started_text);
    node.roles = words(json.at("run").at("roles"));
    const Json& cluster = json.at("cluster");
    node.cluster.fingerprint = cluster.at("fingerprint");
    node.cluster.self = words(cluster.at("self"));
    node.cluster.addresses = words(cluster.at("addresses"));
    for (const Json& peer : cluster.at("peers")) node.cluster.peers.push_back({peer.at("name"), peer.at("address")});
    node.verdict = json.at("verdict");
    node.narrowed = narrowed(json.at("run"));
    for (const auto& [path_name, outcome] : json.at("outcome").items()) node.answers[path_name] = outcome.at("answer");
    for (const auto& [key, value] : json.at("compare_keys").items()) node.keys[key] = {key, value.at("state"), value.at("value"), value.at("origin")};
    return node;
}

void read_piece(std::ifstream& file, std::string& text) {
    const std::size_t before = text.size();
    text.resize(before + first_piece);
    file.read(text.data() + before, first_piece);
    text.resize(before + static_cast<std::size_t>(file.gcount()));
}

/// Reads on until `text` holds the findings' beginning, or to the end of the file: mostly one piece is enough.
void read_head(std::ifstream& file, std::string& text) {
    static const std::string findings = "\n  \"findings\"";
    std::size_t looked = 0;
    while (file && text.size() < max_report_bytes &&
           text.find(findings, looked) == std::string::npos) {
        looked = text.size() - std::min(text.size(), findings.size());
        read_piece(file, text);
    }
}

void read_rest(std::ifstream& file, std::string& text) {
    while (file && text.size() < max_report_bytes) read_piece(file, text);
}

}  // namespace

bool is_fifo(const std::string& path) {
    // A shell's <(…) is a pipe with a writer; a FIFO of the file system may have none, and opening it would wait for ever.
    std::error_code error;
    return path.rfind("/dev/", 0) != 0 && path.rfind("/proc/", 0) != 0 && std::filesystem::is_fifo(path, error);
}

bool Node::storage() const {
    return std::find(roles.begin(), roles.end(), "storage") != roles.end();
}

Fact<Node> parse_report(const std::string& text, const std::string& path) {
    static const std::string kind = "aistor-rdma-check/report/";
    UpToFindings sax;
    const bool whole = Json::sax_parse(text, &sax, Json::input_format_t::json, false);
    const auto schema = sax.root.is_object() ? sax.root.find("schema") : sax.root.end();
    const std::string named = sax.root.is_object() && schema != sax.root.end() && schema->is_string() ? schema->get<std::string>() : "";
    if (named.empty() && !whole && !sax.stopped) return Unreadable{"not-json", fmt::format("{} is not JSON{}", path, text.empty() ? ": it is empty" : "")};
    if (named.rfind(kind, 0) != 0) return Unreadable{"not-a-report", fmt::format("{} is no report of {}", path, tool_name)};
    if (named != kind + "1") return Unreadable{"newer", fmt::format("{} is of schema {}, which this version does not read", path, named)};
    if (!whole && !sax.stopped) return Unreadable{"truncated", fmt::format("{} ends too early or is damaged: {}", path, sax.trouble)};
    try {
        return node_of(sax.root, path);
    } catch (const Json::exception& error) {
        return Unreadable{"malformed", fmt::format("{}: {}", path, error.what())};
    }
}

Fact<Node> read_report(const std::string& path) {
    if (is_fifo(path)) return Unreadable{"not-a-file", fmt::format("{} is a FIFO", path)};
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) return Unreadable{"unreadable", fmt::format("{}: {}", path, std::strerror(errno ? errno : EIO))};
    std::string text;
    read_head(file, text);
    auto parsed = parse_report(text, path);
    if (!parsed && file) {  // another order of the members, or another layout
        read_rest(file, text);
        parsed = parse_report(text, path);
    }
    return parsed.then([&](Node node) {
        const bool decided = node.verdict == "fail" || node.verdict == "incomplete";
        if (decided) read_rest(file, text);
        if (decided) node.reason = first_reason(text, node.verdict);
        return node;
    });
}

std::vector<std::string> report_files(const std::string& path) {
    namespace fs = std::filesystem;
    std::error_code error;
    if (!fs::exists(path, error)) throw InputError{fmt::format("{}: {}", path, error ? error.message() : "does not exist")};
    if (!fs::is_directory(path, error)) return {path};
    std::vector<std::string> files;
    const auto add = [&](const fs::path& folder) {
        for (const auto& entry : fs::directory_iterator(folder))
            if (entry.path().extension() == ".json" && entry.is_regular_file()) files.push_back(entry.path());
    };
    try {
        add(path);
        for (const auto& entry : fs::directory_iterator(path))
            if (entry.is_directory()) add(entry.path());
    } catch (const fs::filesystem_error& problem) {
        throw InputError{fmt::format("{}: {}", path, problem.code().message())};
    }
    if (files.empty()) throw InputError{fmt::format("{}: holds no report (*.json)", path)};
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace preflight::fleet
