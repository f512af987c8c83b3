#pragma once
// The report: everything an output format may show. Formats are pure functions of it.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "preflight/finding.h"

namespace preflight {

enum class Verdict { pass, fail, incomplete, not_applicable };
std::string_view name(Verdict verdict);

/// The exit codes of the contract. They never change meaning.
enum class Exit { ok = 0, failed = 1, incomplete = 2, usage = 3, internal = 70 };

struct Counts {
    int pass = 0, warn = 0, fail = 0, unknown = 0, skip = 0, blocked = 0, waived = 0;
};

struct PhaseResult {
    char letter = 'A';
    std::string title;
    Verdict verdict = Verdict::not_applicable;
    Counts counts;
};

/// What will happen on one RDMA path of AIStor.
struct PathOutcome {
    std::string key;     ///< "internode_rdma", "s3_over_rdma"
    std::string answer;  ///< "yes", "no", "unknown", "off": at the next start
    std::string now;     ///< "yes", "no", "unknown", "not-running": the running process
    std::vector<std::string> because;  ///< ids that decided, root causes first
    std::string sentence;
};

struct CompareKey {
    std::string key;
    std::string state;  ///< "set", "unset", "unknown"
    std::string value;
    std::string origin;
};

struct Peer {
    std::string name, address;
};

/// Who this node is among the AIStor nodes.
struct Cluster {
    std::string fingerprint;
    std::vector<std::string> self, addresses;
    std::vector<Peer> peers;
};

struct RunInfo {
    std::string started;
    std::int64_t duration_ms = 0;
    std::string source;  ///< "live", "snapshot"
    std::string stage;
    std::vector<std::string> roles;
    std::string deployment;
    std::vector<std::string> want;
    std::vector<std::string> phases, only, skip;
    std::vector<std::pair<std::string, std::string>> options;
    unsigned effective_uid = 0;
    std::vector<std::string> capabilities;
    std::vector<std::pair<std::string, std::string>> unreadable;  ///< what, errno
};

struct NodeInfo {
    std::string hostname, boot_id, kernel, os, architecture;
};

/// A node of a comparison, as its own report has it.
struct ComparedNode {
    std::string name, hostname, file, started, verdict;
    std::vector<std::string> roles;
    std::map<std::string, std::string> answers;  ///< PathOutcome::key -> answer
};

struct Report {
    NodeInfo node;
    RunInfo run;
    Cluster cluster;
    Verdict verdict = Verdict::not_applicable;
    std::vector<PathOutcome> outcomes;
    std::vector<PhaseResult> phases;
    std::vector<CompareKey> compare_keys;
    std::optional<std::vector<ComparedNode>> compared;  ///< of `compare`: then node, run, cluster and outcomes stay empty
    std::vector<Finding> findings;  ///< catalogue order, then subject
    std::vector<std::string> notes; ///< about the run itself: unused waivers, …
    std::string topology;           ///< distance of each GPU from each RDMA NIC, a table; empty without both
    std::string chain;              ///< the storage ports from netdev to endpoint, a line each
};

/// The exit code of a report; `strict` turns warnings into failures.
Exit exit_code(const Report& report, bool strict);

struct TextStyle {
    bool color = false;
    bool unicode = true;   ///< false: ASCII only
    bool failures_only = false;
    bool facts = false;
    int width = 80;
};

std::string to_text(const Report& report, const TextStyle& style);
std::string to_json(const Report& report);

}  // namespace preflight
