// The text report: what an operator reads first comes first. Outcome, the next step, then each phase with its failures,
// consequences folded under their cause, passes in a line per module, and the numbered plan at the end.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "preflight/report.h"
#include "report/plan.h"
#include "report/wrap.h"
#include "version.h"

namespace preflight {
namespace {

struct Look {
    std::string_view word, colour;
};

Look look(const Finding& finding) {
    if (finding.waiver) return {"WAIVED", "36"};
    switch (finding.status) {
        case Status::pass: return {"pass", "32"};
        case Status::warn: return {"WARN", "33"};
        case Status::fail: return {"FAIL", "31;1"};
        case Status::unknown: return {"UNKNOWN", "35;1"};
        case Status::skip: return {"skip", "2"};
        case Status::blocked: return {"BLOCKED", "2"};
    }
    return {"?", "0"};
}

std::string module_of(const std::string& id) {
    return id.substr(0, id.find('.'));
}

std::string rule_of(const std::string& id) {
    return id.substr(id.find('.') + 1);
}

class TextReport {
public:
    TextReport(const Report& report, const TextStyle& style) : report_(report), style_(style) {}

    std::string render() {
        if (!report_.compared) {
            header();
            outcomes();
        } else {
            compared_nodes();
        }
        first_step();
        for (const PhaseResult& phase : report_.phases) phase_part(phase);
        plan();
        table("GPU and NIC, as nvidia-smi topo -m names the distance", report_.topology);
        table("Storage ports", report_.chain);
        for (const std::string& note : report_.notes) field("note", note, 0);
        return std::move(out_);
    }

private:
    static constexpr int label_width = 10;

    std::string colour(std::string_view text, std::string_view code) const {
        return style_.color ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
    }
    std::string clean(std::string_view text) const { return printable(text, !style_.unicode); }

    void line(std::string_view text = {}) {
        out_ += text;
        out_ += '\n';
    }

    /// "  label     text", wrapped below the text.
    void field(std::string_view label, std::string_view text, int indent) {
        if (text.empty()) return;
        const int column = indent + label_width;
        line(fmt::format("{:{}}{:<{}}{}", "", indent, label, label_width, wrap(clean(text), style_.width, column, column)));
    }

    /// Commands are never wrapped: they are to be copied.
    void commands(std::string_view label, const std::vector<std::string>& list, int indent) {
        for (std::size_t i = 0; i < list.size(); ++i)
            line(fmt::format("{:{}}{:<{}}{}", "", indent, i == 0 ? label : "", label_width, clean(list[i])));
    }

    void header() {
        const auto join = [](const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, "+")); };
        line(clean(fmt::format("{} {}   {}   {}", tool_name, tool_version, report_.node.hostname, report_.run.started)));
        line(wrap(clean(fmt::format("{}, kernel {}, {}; {} node, {}{}", report_.node.os.empty() ? "unknown system" : report_.node.os, report_.node.kernel,
                               report_.node.architecture, join(report_.run.roles), report_.run.deployment,
                               report_.run.source == "snapshot" ? "; from a snapshot" : "")), style_.width, 0, 0));
        if (report_.run.source == "live" && report_.run.effective_uid != 0)
            line("Run as an ordinary user: some answers need root. Each says so below.");
        line();
    }

    void compared_nodes() {
        line(clean(fmt::format("{} {}   {} nodes compared", tool_name, tool_version, report_.compared->size())));
        line();
        std::size_t width = 4;
        for (const ComparedNode& node : *report_.compared) width = std::max(width, node.name.size());
        line(fmt::format("  {:<{}}  {:<10}  {:<14}  {:<10}  {:<10}  {}", "node", width, "role", "verdict", "inter-node", "S3", "of"));
        for (const ComparedNode& node : *report_.compared) {
            const auto answer = [&](const char* path) {
                const auto found = node.answers.find(path);
                return found == node.answers.end() ? std::string("-") : found->second;
            };
            line(clean(fmt::format("  {:<{}}  {:<10}  {:<14}  {:<10}  {:<10}  {}", node.name, width, fmt::join(node.roles, "+"), node.verdict, answer("internode_rdma"), answer("s3_over_rdma"), node.started)));
        }
        line();
    }

    void outcomes() {
        for (const PathOutcome& outcome : report_.outcomes) {
            const bool internode = outcome.key == "internode_rdma";
            static const std::map<std::string_view, Look> looks = {
                {"yes", {"YES", "32;1"}}, {"no", {"NO", "31;1"}}, {"unknown", {"NOT KNOWN", "35;1"}}, {"off", {"OFF", "33"}}};
            const auto known = looks.find(outcome.answer);
            const Look answer = known == looks.end() ? Look{outcome.answer, "0"} : known->second;
            line(fmt::format("{:<17} {}", internode ? "Inter-node RDMA" : "S3 over RDMA", colour(answer.word, answer.colour)));
            line(fmt::format("  {}", wrap(clean(outcome.sentence), style_.width, 2, 2)));
            if (outcome.now != "unknown") line(fmt::format("  The running server uses it now: {}.", outcome.now));
        }
        line();
    }

    void first_step() {
        const auto steps = plan_steps(report_);
        if (steps.empty() || steps.front()->status == Status::warn) return;
        const Finding& first = *steps.front();
        line(fmt::format("{} {}", colour("Do this first:", "1"), wrap(clean(fmt::format("{} ({})", first.remedy.summary, first.id)), style_.width, 2, 15)));
        commands("", first.remedy.commands, 0);
        line();
    }

    void phase_part(const PhaseResult& phase) {
        const Counts& counts = phase.counts;
        std::string tally;
        const std::pair<int, const char*> parts[] = {{counts.fail, "fail"}, {counts.unknown, "unknown"}, {counts.blocked, "blocked"}, {counts.warn, "warn"},
                                                     {counts.waived, "waived"}, {counts.pass, "pass"}, {counts.skip, "skip"}};
        for (const auto& [number, word] : parts)
            if (number) tally += fmt::format("{}{} {}", tally.empty() ? "" : ", ", number, word);
        std::string verdict(name(phase.verdict));
        std::transform(verdict.begin(), verdict.end(), verdict.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        static const std::map<Verdict, std::string_view> colours = {
            {Verdict::pass, "32;1"}, {Verdict::fail, "31;1"}, {Verdict::incomplete, "35;1"}, {Verdict::not_applicable, "2"}};
        line(fmt::format("{}  {}  {}", colour(phase.letter == 'F' ? phase.title : fmt::format("Phase {}  {}", phase.letter, phase.title), "1"), colour(verdict, colours.at(phase.verdict)),
                         tally.empty() ? "" : "(" + tally + ")"));
        for (const Status status : {Status::fail, Status::unknown, Status::warn})
            for (const Finding& finding : report_.findings)
                if (finding.phase == phase.letter && finding.status == status) problem(finding);
        if (!style_.failures_only) quiet_lines(phase);
        line();
    }

    void problem(const Finding& finding) {
        if (style_.failures_only && finding.status != Status::fail) return;
        const Look shown = look(finding);
        line(fmt::format("  {}  {}  {}", colour(fmt::format("{:<7}", shown.word), shown.colour), colour(finding.id, "1"), clean(finding.subject.text)));
        field("title", finding.title, 11);
        field("observed", finding.observed, 11);
        field("expected", finding.expected, 11);
        field("source", finding.source, 11);
        field("why", finding.why, 11);
        if (finding.waiver)
            field("waived", fmt::format("{} ({}, until {})", finding.waiver->reason, finding.waiver->owner, finding.waiver->expires), 11);
        field("do", finding.remedy.summary, 11);
        commands("", finding.remedy.commands, 11);
        commands("persist", finding.remedy.persist, 11);
        consequences(finding);
        if (style_.facts) facts(finding);
    }

    void facts(const Finding& finding) {
        for (const auto& [key, value] : finding.evidence) field("fact", fmt::format("{} = {}", key, value_text(value)), 11);
    }

    /// A pass in full, where the facts are asked for.
    void passed(const Finding& finding) {
        line(fmt::format("  {}  {}  {}", colour("pass   ", "32"), colour(finding.id, "1"), clean(finding.subject.text)));
        field("observed", finding.observed, 11);
        facts(finding);
    }

    static std::string value_text(const EvidenceValue& value) {
        return std::visit(
            [](const auto& plain) -> std::string {
                using T = std::decay_t<decltype(plain)>;
                if constexpr (std::is_same_v<T, std::vector<std::string>>) return fmt::format("{}", fmt::join(plain, ", "));
                else return fmt::format("{}", plain);
            },
            value);
    }

    /// What waits for this finding, named under the first finding of its id.
    void consequences(const Finding& cause) {
        const auto first = std::find_if(report_.findings.begin(), report_.findings.end(),
                                        [&](const Finding& finding) { return finding.id == cause.id && finding.status == cause.status; });
        if (&*first != &cause) return;
        std::vector<std::string> ids;
        for (const Finding& finding : report_.findings)
            if (finding.status == Status::blocked && std::find(finding.blocked_by.begin(), finding.blocked_by.end(), cause.id) != finding.blocked_by.end() &&
                std::find(ids.begin(), ids.end(), finding.id) == ids.end())
                ids.push_back(finding.id);
        if (!ids.empty()) field("blocks", fmt::format("{}", fmt::join(ids, " ")), 11);
    }

    /// A line per module for what passed, what was skipped with its reasons.
    void quiet_lines(const PhaseResult& phase) {
        std::vector<std::pair<std::string, std::string>> passes;
        std::vector<std::pair<std::string, std::string>> skips;
        const auto add = [](auto& list, const std::string& key, const std::string& rule) {
            const auto found = std::find_if(list.begin(), list.end(), [&](const auto& entry) { return entry.first == key; });
            if (found == list.end()) list.emplace_back(key, rule);
            else if ((" " + found->second + " ").find(" " + rule + " ") == std::string::npos) found->second += " " + rule;
        };
        for (const Finding& finding : report_.findings) {
            if (finding.phase != phase.letter) continue;
            if (finding.status == Status::pass && style_.facts) passed(finding);
            else if (finding.status == Status::pass) add(passes, module_of(finding.id), rule_of(finding.id));
            if (finding.status == Status::skip) add(skips, finding.observed, finding.id);
        }
        for (const auto& [module, rules] : passes)
            line(fmt::format("  {}  {}", colour("pass   ", "32"), wrap(clean(fmt::format("{}: {}", module, rules)), style_.width, 11, 11)));
        for (const auto& [reason, ids] : skips)
            line(fmt::format("  {}  {}", colour("skip   ", "2"), wrap(clean(fmt::format("{}: {}", ids, reason)), style_.width, 11, 11)));
    }

    void plan() {
        const auto steps = plan_steps(report_);
        if (steps.empty() || style_.failures_only) return;
        line(colour("Fix plan", "1"));
        int number = 0;
        for (const Finding* step : steps) {
            line(fmt::format("{:>3}. {}", ++number, wrap(clean(fmt::format("{} ({}{})", step->remedy.summary, step->id, step->subject.whole_node() ? "" : ", " + step->subject.text)),
                                                          style_.width, 5, 5)));
            commands("", step->remedy.commands, 0);
            commands("  persist", step->remedy.persist, 0);
        }
        line();
    }

    void table(std::string_view title, std::string_view rest) {
        if (rest.empty() || style_.failures_only) return;
        line(colour(title, "1"));
        while (!rest.empty()) {
            const auto end = rest.find('\n');
            line("  " + clean(rest.substr(0, end)));
            rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        }
    }

    const Report& report_;
    const TextStyle& style_;
    std::string out_;
};

}  // namespace

std::string to_text(const Report& report, const TextStyle& style) {
    return TextReport(report, style).render();
}

}  // namespace preflight
