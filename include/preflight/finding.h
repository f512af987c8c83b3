#pragma once
// What a check says about one subject, and how it says it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace preflight {

/// The six statuses of the report; the contract defines each.
enum class Status {
    pass,     ///< looked at and right
    warn,     ///< works, but a person should know
    fail,     ///< RDMA will not be used, or will collapse under load
    unknown,  ///< needed, but could not be determined
    skip,     ///< does not apply here, or was not asked for
    blocked,  ///< pointless until the check in blocked_by passes
};
std::string_view name(Status status);

/// What a finding is about. `text` is what a person reads ("ens1f0np0"); `keys` say which ports it concerns (PCI
/// address, or the netdev name of a port without one) or which peer ("peer:NAME"). No key: the whole node. A bond carries the
/// keys of its members.
struct Subject {
    std::string text;
    std::vector<std::string> keys;

    bool whole_node() const { return keys.empty(); }
    /// Whether a cause about `this` can explain a consequence about `other`.
    bool covers(const Subject& other) const;
};
/// The subject of checks about the whole node.
Subject node_subject();

/// How to mend it. `commands` do it now, `persist` makes it survive a reboot, `undo` takes it back. Each entry is one
/// shell line for this very node: real interface names, this distribution's package names.
struct Remedy {
    std::string summary = {};
    std::vector<std::string> commands = {};
    std::vector<std::string> persist = {};
    std::vector<std::string> undo = {};
};
/// For a finding nobody knows how to mend: the author has to say so.
Remedy no_known_remedy();

using EvidenceValue = std::variant<bool, std::int64_t, std::string, std::vector<std::string>>;

struct Waiver {
    std::string reason, owner, expires;
};

struct Finding {
    // Filled by the engine from the check's declaration.
    std::string id;
    char phase = 'A';
    std::string title;
    std::string why;

    // Filled by the judge.
    Status status = Status::unknown;
    Subject subject;
    std::string observed;
    std::string expected;
    std::string source;  ///< path, line or netlink query it was read from
    Remedy remedy;
    std::vector<std::pair<std::string, EvidenceValue>> evidence;
    bool unproven = false;      ///< this warning leaves the outcome open (rdma.limits, nic.bond, s3.transport)
    std::string proof_left;     ///< of such a warning: the shortest way to prove it, as an order
    bool proven = false;        ///< what would be such a warning was seen to work on this node
    bool switched_off = false;  ///< the path itself is switched off on this node: outcome "off"
    std::optional<std::string> now;  ///< what the running process does: "yes", "no", "unknown", "not-running"

    // Filled by the engine.
    std::vector<std::string> blocked_by;  ///< ids of the root causes
    std::optional<Waiver> waiver;
    std::int64_t duration_us = 0;
};

/// Fluent access to a finding under construction: `out.fail(port, "…").want("…").mend({…});` Valid until the next finding
/// is added.
class Draft {
public:
    explicit Draft(Finding& finding) : finding_(finding) {}
    Draft& want(std::string expected);
    Draft& from(std::string source);
    Draft& mend(Remedy remedy);
    Draft& note(std::string key, EvidenceValue value);
    /// A sentence that replaces the check's own `why` for this finding.
    Draft& because(std::string why);
    /// `proof_left`: the shortest way to prove it, as an order ("start AIStor and run this again").
    Draft& unproven(std::string proof_left);
    /// It passes since it was seen to work, where else it would be unproven.
    Draft& proven();
    Draft& switched_off();
    Draft& now(std::string what);

private:
    Finding& finding_;
};

/// Where a judge puts what it found.
class Findings {
public:
    Draft pass(Subject subject, std::string observed) { return add(Status::pass, std::move(subject), std::move(observed)); }
    Draft warn(Subject subject, std::string observed) { return add(Status::warn, std::move(subject), std::move(observed)); }
    Draft fail(Subject subject, std::string observed) { return add(Status::fail, std::move(subject), std::move(observed)); }
    Draft skip(Subject subject, std::string reason) { return add(Status::skip, std::move(subject), std::move(reason)); }
    /// `reason` says why it could not be determined, `how` what would make it knowable.
    Draft unknown(Subject subject, std::string reason, std::string how);
    Draft add(Status status, Subject subject, std::string observed);

    std::vector<Finding>& list() { return list_; }

private:
    std::vector<Finding> list_;
};

}  // namespace preflight
