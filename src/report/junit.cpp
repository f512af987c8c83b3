#include "report/junit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/wrap.h"
#include "version.h"

namespace preflight {
namespace {

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : printable(text, false)) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            default: out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
        }
    }
    return out;
}

/// Line by line, escaped.
std::string details(const Finding& finding) {
    std::string text = fmt::format("observed: {}\n", escaped(finding.observed));
    const std::pair<const char*, const std::string*> parts[] = {{"expected", &finding.expected}, {"source", &finding.source}, {"why", &finding.why}, {"do", &finding.remedy.summary}};
    for (const auto& [label, value] : parts)
        if (!value->empty()) text += fmt::format("{}: {}\n", label, escaped(*value));
    for (const std::string& command : finding.remedy.commands) text += "    " + escaped(command) + "\n";
    return text;
}

std::string verdict_element(const Finding& finding) {
    const std::string message = escaped(finding.observed);
    if (finding.waiver) return fmt::format("      <skipped message=\"waived by {} until {}: {}; {}\"/>\n", escaped(finding.waiver->owner), escaped(finding.waiver->expires), escaped(finding.waiver->reason), message);
    switch (finding.status) {
        case Status::pass: return {};
        case Status::warn: return fmt::format("      <system-out>WARN {}</system-out>\n", details(finding));
        case Status::fail: return fmt::format("      <failure type=\"fail\" message=\"{}\">{}</failure>\n", message, details(finding));
        case Status::unknown: return fmt::format("      <error type=\"unknown\" message=\"{}\">{}</error>\n", message, details(finding));
        case Status::skip: return fmt::format("      <skipped message=\"{}\"/>\n", message);
        case Status::blocked: return fmt::format("      <skipped message=\"blocked by {}\"/>\n", escaped(fmt::format("{}", fmt::join(finding.blocked_by, ", "))));
    }
    return {};
}

}  // namespace

std::string to_junit(const Report& report) {
    const std::string host = report.compared ? fmt::format("{} nodes", report.compared->size()) : report.node.hostname;
    std::string out = fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\">\n", tool_name);
    for (const PhaseResult& phase : report.phases) {
        std::string cases;
        int tests = 0, failures = 0, errors = 0, skipped = 0;
        for (const Finding& finding : report.findings) {
            if (finding.phase != phase.letter) continue;
            const std::string element = verdict_element(finding);
            ++tests;
            failures += element.find("<failure ") != std::string::npos;
            errors += element.find("<error ") != std::string::npos;
            skipped += element.find("<skipped ") != std::string::npos;
            const std::string open = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.6f}\"", finding.id.substr(0, finding.id.find('.')), escaped(finding.id + " " + finding.subject.text),
                                                 static_cast<double>(finding.duration_us) / 1e6);
            cases += element.empty() ? open + "/>\n" : open + ">\n" + element + "    </testcase>\n";
        }
        out += fmt::format("  <testsuite name=\"{}\" hostname=\"{}\" timestamp=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n{}  </testsuite>\n",
                           escaped(phase.letter == 'F' ? phase.title : fmt::format("Phase {} {}", phase.letter, phase.title)), escaped(host), escaped(report.run.started), tests, failures, errors, skipped, cases);
    }
    return out + "</testsuites>\n";
}

}  // namespace preflight
