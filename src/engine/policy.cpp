// A policy decides what passes, so nothing in it is guessed at: an unknown member, a wrong type, an impossible date or a
// waiver without reason or owner ends the run before any check.

#include "preflight/policy.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "preflight/host.h"
#include "version.h"

namespace preflight {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uintmax_t max_policy_bytes = 1u << 20;
constexpr int max_depth = 16;

bool is_date(const std::string& text) {
    int year = 0;
    unsigned month = 0, day = 0;
    int used = 0;
    if (std::sscanf(text.c_str(), "%4d-%2u-%2u%n", &year, &month, &day, &used) != 3 || used != 10 || text.size() != 10) return false;
    return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) || c == '-'; }) &&
           std::chrono::year_month_day(std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)).ok();
}

/// Walks the document; each refusal names the member.
class Reader {
public:
    explicit Reader(const std::string& path) : path_(path) {}

    Policy read(const std::string& text) {
        const Json document = parse(text);
        members(document, "", {"schema", "expect", "attest", "waivers"});
        if (!document.contains("schema") || document["schema"] != policy_schema)
            refuse("schema", fmt::format("write \"{}\"", policy_schema));
        Policy policy;
        policy.path = path_;
        if (document.contains("expect")) policy.expect = expect(document["expect"]);
        if (document.contains("attest")) attest(document["attest"], policy);
        if (document.contains("waivers")) policy.waivers = waivers(document["waivers"]);
        return policy;
    }

private:
    [[noreturn]] void refuse(const std::string& place, const std::string& why) const {
        throw InputError{fmt::format("policy {}: {}{}", path_, place.empty() ? "" : place + ": ", why)};
    }

    Json parse(const std::string& text) const {
        std::vector<std::vector<std::string>> keys;  // of each open object: a member given twice would hide the first
        const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
            if (depth > max_depth) refuse("", fmt::format("nested deeper than {} levels", max_depth));
            if (event == Json::parse_event_t::object_start) keys.emplace_back();
            else if (event == Json::parse_event_t::object_end) keys.pop_back();
            else if (event == Json::parse_event_t::key) {
                const auto key = value.get<std::string>();
                if (std::find(keys.back().begin(), keys.back().end(), key) != keys.back().end()) refuse(key, "is there twice");
                keys.back().push_back(key);
            }
            return true;
        };
        try {
            return Json::parse(text, watch, true, true);
        } catch (const Json::parse_error& error) {
            const auto end = std::min<std::size_t>(error.byte, text.size());
            const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n') + 1;
            refuse(fmt::format("line {}, byte {}", line, error.byte), "not valid JSON (comments are allowed)");
        }
    }

    void members(const Json& object, const std::string& place, std::initializer_list<const char*> known) const {
        if (!object.is_object()) refuse(place, "write an object");
        for (const auto& member : object.items())
            if (std::none_of(known.begin(), known.end(), [&](const char* name) { return member.key() == name; }))
                refuse(join(place, member.key()), fmt::format("no such member; known: {}", fmt::join(known, ", ")));
    }

    static std::string join(const std::string& place, const std::string& key) { return place.empty() ? key : place + "." + key; }

    std::optional<unsigned> number(const Json& object, const std::string& place, const char* key, unsigned least, unsigned most) const {
        if (!object.contains(key)) return std::nullopt;
        const Json& value = object[key];
        if (!value.is_number_integer() || value < least || value > most) refuse(join(place, key), fmt::format("write a number from {} to {}", least, most));
        return value.get<unsigned>();
    }

    std::string text(const Json& object, const std::string& place, const char* key) const {
        if (!object.contains(key) || !object[key].is_string() || object[key].get<std::string>().empty()) refuse(join(place, key), "write a text");
        return object[key].get<std::string>();
    }

    std::string date(const Json& object, const std::string& place, const char* key) const {
        const std::string value = text(object, place, key);
        if (!is_date(value)) refuse(join(place, key), fmt::format("\"{}\" is no date; write one like 2026-12-31", value));
        return value;
    }

    Expect expect(const Json& object) const {
        members(object, "expect", {"priority", "dscp", "mtu", "dcb_owner", "driver", "firmware"});
        Expect result;
        result.priority = number(object, "expect", "priority", 0, 7);
        result.dscp = number(object, "expect", "dscp", 0, 63);
        result.mtu = number(object, "expect", "mtu", 576, 65535);
        if (object.contains("dcb_owner")) {
            result.dcb_owner = text(object, "expect", "dcb_owner");
            if (*result.dcb_owner != "host" && *result.dcb_owner != "switch") refuse("expect.dcb_owner", "write \"host\" or \"switch\"");
        }
        result.driver = globs(object, "driver");
        result.firmware = globs(object, "firmware");
        for (const auto& [ids, glob] : result.firmware)
            if (ids.size() != 9 || ids[4] != ':' || ids.find_first_not_of("0123456789abcdef:") != std::string::npos) refuse("expect.firmware." + ids, "write vendor and device id, like 8086:1592");
        return result;
    }

    std::map<std::string, std::string> globs(const Json& object, const char* key) const {
        std::map<std::string, std::string> result;
        if (!object.contains(key)) return result;
        const std::string place = join("expect", key);
        if (!object[key].is_object()) refuse(place, "write an object");
        for (const auto& member : object[key].items()) result[member.key()] = text(object[key], place, member.key().c_str());
        return result;
    }

    Attestation attestation(const Json& object, const std::string& place) const {
        return {text(object, place, "who"), date(object, place, "when"), text(object, place, "what")};
    }

    void attest(const Json& object, Policy& policy) const {
        members(object, "attest", {"switch", "proven"});
        if (object.contains("switch")) {
            members(object["switch"], "attest.switch", {"who", "when", "what"});
            policy.attested_switch = attestation(object["switch"], "attest.switch");
        }
        if (!object.contains("proven")) return;
        const Json& list = object["proven"];
        if (!list.is_array()) refuse("attest.proven", "write a list");
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::string place = fmt::format("attest.proven[{}]", i);
            members(list[i], place, {"id", "release", "driver", "who", "when", "what"});
            policy.proofs.push_back({text(list[i], place, "id"), text(list[i], place, "release"), text(list[i], place, "driver"),
                                     attestation(list[i], place)});
        }
    }

    std::vector<WaiverRule> waivers(const Json& list) const {
        if (!list.is_array()) refuse("waivers", "write a list");
        std::vector<WaiverRule> result;
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::string place = fmt::format("waivers[{}]", i);
            members(list[i], place, {"id", "scope", "reason", "owner", "expires"});
            WaiverRule rule{text(list[i], place, "id"), "", text(list[i], place, "reason"), text(list[i], place, "owner"), date(list[i], place, "expires")};
            if (list[i].contains("scope")) rule.scope = text(list[i], place, "scope");
            result.push_back(std::move(rule));
        }
        return result;
    }

    const std::string& path_;
};

}  // namespace

Policy parse_policy(const std::string& text, const std::string& path) {
    return Reader(path).read(text);
}

Policy read_policy(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) throw InputError{fmt::format("policy {}: {}", path, std::strerror(errno))};
    if (!S_ISREG(status.st_mode)) throw InputError{fmt::format("policy {}: not a regular file", path)};
    if (static_cast<std::uintmax_t>(status.st_size) > max_policy_bytes)
        throw InputError{fmt::format("policy {}: {} bytes, more than the {} read at most", path, status.st_size, max_policy_bytes)};
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!file || (status.st_size > 0 && !(text << file.rdbuf()))) throw InputError{fmt::format("policy {}: {}", path, std::strerror(errno))};
    return parse_policy(text.str(), path);
}

}  // namespace preflight
