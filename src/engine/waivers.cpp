#include "preflight/waivers.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

namespace preflight {
namespace {

bool fits(const std::string& glob, const std::string& text) {
    return fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

bool can_be_waived(Status status) {
    return status == Status::warn || status == Status::fail || status == Status::unknown;
}

bool in_scope(const WaiverRule& rule, const Subject& subject) {
    return rule.scope.empty() || fits(rule.scope, subject.text) ||
           std::any_of(subject.keys.begin(), subject.keys.end(), [&](const std::string& key) { return fits(rule.scope, key); });
}

std::string named(const WaiverRule& rule) {
    return fmt::format("the waiver for \"{}\"{} by {}", rule.id, rule.scope.empty() ? "" : fmt::format(" on \"{}\"", rule.scope), rule.owner);
}

}  // namespace

void apply_waivers(Report& report, const std::vector<WaiverRule>& rules, const std::string& today, const std::vector<Module>& catalogue) {
    for (const WaiverRule& rule : rules) {
        bool known = false;
        for (const Module& module : catalogue)
            for (const Check& check : module.checks) known |= fits(rule.id, std::string(check.id));
        if (!known) {
            report.notes.push_back(fmt::format("{} names no check of this version", named(rule)));
            continue;
        }
        const bool expired = rule.expires < today;  // both are YYYY-MM-DD
        bool ran = false, used = false;
        for (Finding& finding : report.findings) {
            if (!fits(rule.id, finding.id)) continue;
            ran = true;
            if (!can_be_waived(finding.status) || finding.waiver || !in_scope(rule, finding.subject)) continue;
            used = true;
            if (expired) finding.evidence.emplace_back("waiver", fmt::format("expired on {} ({}, {})", rule.expires, rule.reason, rule.owner));
            else finding.waiver = Waiver{rule.reason, rule.owner, rule.expires};
        }
        if (expired) report.notes.push_back(fmt::format("{} expired on {}{}", named(rule), rule.expires, used ? "; its finding counts again" : ""));
        else if (ran && !used) report.notes.push_back(fmt::format("{} waives nothing in this report", named(rule)));
    }
}

std::string today() {
    std::time_t now = std::time(nullptr);
    if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH")) now = static_cast<std::time_t>(std::strtoll(epoch, nullptr, 10));
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[16];
    std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
    return text;
}

}  // namespace preflight
