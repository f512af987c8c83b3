#include "preflight/engine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <span>

#include "facts/fleet_keys.h"
#include "facts/ports.h"
#include "preflight/waivers.h"

namespace preflight {
namespace {

using std::chrono::steady_clock;

constexpr std::pair<char, std::string_view> phase_titles[] = {
    {'A', "Base RDMA"}, {'B', "Lossless RoCE, host side"}, {'C', "GPUDirect and S3 over RDMA"}};

struct PathName {
    Path path;
    std::string_view key, will, whether, plain;
};
constexpr PathName path_names[] = {
    {internode, "internode_rdma", "Inter-node traffic", "inter-node traffic", "Inter-node RDMA"},
    {s3, "s3_over_rdma", "S3 requests", "S3 requests", "S3 over RDMA"},
};

bool matches(const std::vector<std::string>& globs, std::string_view id) {
    return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return fnmatch(glob.c_str(), std::string(id).c_str(), 0) == 0; });
}

std::string words_of(unsigned bits, const char* one, const char* two) {
    return bits == 1 ? one : bits == 2 ? two : fmt::format("{} or {}", one, two);
}

/// The reason why a check does not apply to this node at all, or empty.
std::string out_of_scope(const Check& check, const Facts& facts) {
    if (!(check.roles & facts.roles())) return fmt::format("only on a {} node (--role)", words_of(check.roles, "storage", "client"));
    if (!(check.deployments & facts.deployment()))
        return fmt::format("only where AIStor runs {} (--deployment)", words_of(check.deployments, "under systemd", "in a container"));
    if (!(check.paths & facts.want())) return fmt::format("only for {} (--want)", words_of(check.paths, "inter-node RDMA", "S3 over RDMA"));
    return {};
}

/// The findings so far, and where those of each check stand among them: a check's findings are contiguous.
struct Judged {
    const std::vector<Finding>& findings;
    std::map<std::string_view, std::pair<std::size_t, std::size_t>> ranges;

    std::span<const Finding> of(std::string_view id) const {
        const auto found = ranges.find(id);
        if (found == ranges.end()) return {};
        return {findings.data() + found->second.first, found->second.second - found->second.first};
    }
};

bool bad(const Finding& cause, Status consequence) {
    if (cause.status == Status::fail || cause.status == Status::blocked) return true;
    return consequence == Status::unknown && cause.status == Status::unknown;
}

/// The root causes of a bad finding among the earlier findings of the checks in `after`.
std::vector<std::string> causes_of(const Finding& finding, const Check& check, const Judged& earlier) {
    std::vector<std::string> roots;
    const auto add = [&](const std::string& id) {
        if (std::find(roots.begin(), roots.end(), id) == roots.end()) roots.push_back(id);
    };
    for (const auto after : check.after) {
        const auto causes = earlier.of(after);
        const bool all_bad = std::all_of(causes.begin(), causes.end(), [&](const Finding& cause) { return bad(cause, finding.status); });
        for (const Finding& cause : causes) {
            const bool explains = cause.subject.covers(finding.subject) || (finding.subject.whole_node() && all_bad);
            if (!bad(cause, finding.status) || !explains) continue;
            if (cause.status == Status::blocked) std::for_each(cause.blocked_by.begin(), cause.blocked_by.end(), add);
            else add(cause.id);
        }
    }
    return roots;
}

std::vector<Finding> run(const Check& check, const Facts& facts) {
    Findings found;
    const auto begin = steady_clock::now();
    if (const std::string reason = out_of_scope(check, facts); !reason.empty()) found.skip(node_subject(), reason);
    else check.judge(facts, found);
    if (found.list().empty()) found.unknown(node_subject(), "the check came to no conclusion", "Report this together with a snapshot (capture FILE).");
    const auto spent = std::chrono::duration_cast<std::chrono::microseconds>(steady_clock::now() - begin).count();
    std::vector<Finding> list = std::move(found.list());
    for (Finding& finding : list) {
        finding.id = check.id;
        finding.phase = check.phase;
        finding.title = check.title;
        if (finding.why.empty()) finding.why = check.why;
        finding.duration_us = std::getenv("SOURCE_DATE_EPOCH") ? 0 : spent;
    }
    std::stable_sort(list.begin(), list.end(), [](const Finding& a, const Finding& b) { return a.subject.text < b.subject.text; });
    return list;
}

void count(Counts& counts, const Finding& finding) {
    if (finding.waiver) {
        ++counts.waived;
        return;
    }
    int* const fields[] = {&counts.pass, &counts.warn, &counts.fail, &counts.unknown, &counts.skip, &counts.blocked};
    ++*fields[static_cast<std::size_t>(finding.status)];
}

/// A warning that the policy attests to be proven for this release and driver passes; one for another setup is noted.
void apply_proofs(Finding& finding, const Facts& facts) {
    if (!finding.unproven || finding.status != Status::warn) return;
    for (const AttestedProof& proof : facts.options().policy.proofs) {
        if (fnmatch(proof.id.c_str(), finding.id.c_str(), 0) != 0) continue;
        const std::string release = server_release(facts);
        bool fits = !release.empty() && fnmatch(proof.release.c_str(), release.c_str(), 0) == 0;
        std::string driver;
        for (const Port* port : facts.ports().storage()) {
            if (!finding.subject.whole_node() && !finding.subject.covers(port->subject())) continue;
            driver = driver_text(facts, *port);
            fits = fits && !driver.empty() && fnmatch(proof.driver.c_str(), driver.c_str(), 0) == 0;
        }
        fits = fits && !driver.empty();  // a setup that is not told is no setup it was attested for
        const std::string by = fmt::format("attested by {} on {}: {}", proof.by.who, proof.by.when, proof.by.what);
        if (!fits) {
            finding.evidence.emplace_back("attested for another setup", fmt::format("{} ({}, {}); here {}, {}", by, proof.release, proof.driver,
                                                                                    release.empty() ? "release not told" : release, driver));
            continue;
        }
        finding.status = Status::pass;
        finding.unproven = false;
        finding.observed += "; " + by;
        finding.source = facts.options().policy.path;
        return;
    }
}

struct Bearing {
    const Check* check;
    const Finding* finding;
};

std::string reason_of(const Finding& finding) {
    const bool node = finding.subject.whole_node() || finding.observed.find(finding.subject.text) != std::string::npos;
    return fmt::format("{}{} ({})", node ? "" : finding.subject.text + ": ", finding.observed, finding.id);
}

/// " To prove it, …." where nothing but proof is missing; else empty.
std::string proof_left(const std::vector<const Finding*>& open) {
    std::vector<std::string> orders;
    for (const Finding* finding : open) {
        if (!finding->unproven || finding->proof_left.empty()) return {};
        if (std::find(orders.begin(), orders.end(), finding->proof_left) == orders.end()) orders.push_back(finding->proof_left);
    }
    return fmt::format(" To prove it, {}.", fmt::join(orders, "; then "));
}

PathOutcome outcome_of(const PathName& path, const std::vector<Bearing>& all, bool wanted, bool complete) {
    PathOutcome outcome{std::string(path.key), "yes", "unknown", {}, {}};
    std::vector<const Finding*> off, failed, open;
    for (const auto& [check, finding] : all) {
        if (!(check->paths & path.path)) continue;
        if (finding->now) outcome.now = *finding->now;
        if (finding->switched_off) off.push_back(finding);
        else if (finding->status == Status::fail) failed.push_back(finding);
        else if (finding->status == Status::unknown || (finding->status == Status::warn && finding->unproven)) open.push_back(finding);
        else if (finding->status == Status::blocked && failed.empty()) open.push_back(finding);
    }
    const auto because = [&](const std::vector<const Finding*>& list) {
        for (const Finding* finding : list)
            for (const std::string& id : finding->status == Status::blocked ? finding->blocked_by : std::vector<std::string>{finding->id})
                if (std::find(outcome.because.begin(), outcome.because.end(), id) == outcome.because.end()) outcome.because.push_back(id);
    };
    const auto more = [&] {
        const std::size_t rest = outcome.because.size() - 1;
        return rest == 0 ? std::string() : fmt::format("; {} more {}", rest, rest == 1 ? "reason" : "reasons");
    };
    if (!wanted) {
        outcome.answer = "off";
        outcome.sentence = fmt::format("{} was not asked for on this node (--want).", path.plain);
    } else if (!off.empty()) {
        outcome.answer = "off";
        because(off);
        outcome.sentence = fmt::format("{} is switched off on this node: {}.", path.plain, reason_of(*off.front()));
    } else if (!failed.empty()) {
        outcome.answer = "no";
        because(failed);
        outcome.sentence = fmt::format("{} will NOT reliably use RDMA at the next start: {}{}.", path.will, reason_of(*failed.front()), more());
    } else if (!open.empty()) {
        outcome.answer = "unknown";
        because(open);
        outcome.sentence = fmt::format("Whether {} will use RDMA at the next start is NOT KNOWN: {}{}.{}", path.whether, reason_of(*open.front()), more(), proof_left(open));
    } else if (!complete) {
        outcome.answer = "unknown";
        outcome.sentence = fmt::format("Whether {} will use RDMA at the next start is NOT KNOWN: only some of the checks were asked for.", path.whether);
    } else {
        outcome.sentence = fmt::format("{} will use RDMA at the next start.", path.will);
    }
    return outcome;
}

}  // namespace

bool selected(const Check& check, const Options& options) {
    if (!options.phases.empty() && std::find(options.phases.begin(), options.phases.end(), check.phase) == options.phases.end()) return false;
    if (!options.only.empty() && !matches(options.only, check.id)) return false;
    return !matches(options.skip, check.id);
}

Verdict phase_verdict(const std::vector<const Finding*>& findings) {
    bool incomplete = false, all_skipped = true;
    for (const Finding* finding : findings) {
        if (finding->status == Status::fail && !finding->waiver) return Verdict::fail;
        incomplete |= finding->status == Status::blocked || (finding->status == Status::unknown && !finding->waiver);
        all_skipped &= finding->status == Status::skip;
    }
    return incomplete ? Verdict::incomplete : all_skipped ? Verdict::not_applicable : Verdict::pass;
}

Verdict whole_verdict(const std::vector<PhaseResult>& phases) {
    for (const Verdict verdict : {Verdict::fail, Verdict::incomplete, Verdict::pass})
        if (std::any_of(phases.begin(), phases.end(), [&](const PhaseResult& phase) { return phase.verdict == verdict; })) return verdict;
    return Verdict::not_applicable;
}

Report judge(const std::vector<Module>& catalogue, const Facts& facts) {
    Report report;
    Judged judged{report.findings, {}};
    std::vector<const Check*> checks;  // of each finding
    bool complete = true;
    for (const Module& module : catalogue)
        for (const Check& check : module.checks) {
            if (!selected(check, facts.options())) {
                complete = false;
                continue;
            }
            std::vector<Finding> found = run(check, facts);
            for (Finding& finding : found) {
                if (finding.status != Status::fail && finding.status != Status::unknown) continue;
                finding.blocked_by = causes_of(finding, check, judged);
                if (!finding.blocked_by.empty()) finding.status = Status::blocked;
            }
            for (Finding& finding : found) apply_proofs(finding, facts);
            const std::size_t first = report.findings.size();
            for (Finding& finding : found) {
                checks.push_back(&check);
                report.findings.push_back(std::move(finding));
            }
            judged.ranges[check.id] = {first, report.findings.size()};
        }

    apply_waivers(report, facts.options().policy.waivers, today(), catalogue);

    const auto& asked = facts.options().phases;
    for (const auto& [letter, title] : phase_titles)
        if (asked.empty() || std::find(asked.begin(), asked.end(), letter) != asked.end()) report.phases.push_back(phase_result(letter, std::string(title), report.findings));
    report.verdict = whole_verdict(report.phases);

    std::vector<Bearing> bearings;
    for (std::size_t i = 0; i < report.findings.size(); ++i) bearings.push_back({checks[i], &report.findings[i]});
    for (const PathName& path : path_names) report.outcomes.push_back(outcome_of(path, bearings, facts.want() & path.path, complete));
    return report;
}

PhaseResult phase_result(char letter, std::string title, const std::vector<Finding>& findings) {
    std::vector<const Finding*> of_phase;
    PhaseResult phase{letter, std::move(title), Verdict::not_applicable, {}};
    for (const Finding& finding : findings)
        if (finding.phase == letter) {
            of_phase.push_back(&finding);
            count(phase.counts, finding);
        }
    phase.verdict = phase_verdict(of_phase);
    return phase;
}

Exit exit_code(const Report& report, bool strict) {
    if (report.verdict == Verdict::fail) return Exit::failed;
    const bool warned = std::any_of(report.findings.begin(), report.findings.end(),
                                    [](const Finding& finding) { return finding.status == Status::warn && !finding.waiver; });
    if (strict && warned) return Exit::failed;
    return report.verdict == Verdict::incomplete ? Exit::incomplete : Exit::ok;
}

std::string_view name(Verdict verdict) {
    switch (verdict) {
        case Verdict::pass: return "pass";
        case Verdict::fail: return "fail";
        case Verdict::incomplete: return "incomplete";
        case Verdict::not_applicable: return "not-applicable";
    }
    return "fail";
}

}  // namespace preflight
