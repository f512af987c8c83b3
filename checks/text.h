#pragma once
// Words that several checks use alike.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "facts/ports.h"
#include "preflight/check.h"
#include "preflight/fact.h"
#include "preflight/facts.h"

namespace preflight {

/// A row of the catalogue with its texts in the order of `explain`; scope (paths, roles, deployments) is the caller's.
Check row(char phase, std::string_view id, std::string_view title, std::string_view why, std::string_view judges, std::string_view remedy,
          std::string_view evidence, std::vector<std::string_view> after, std::function<void(const Facts&, Findings&)> judge);

/// "one, two and three".
std::string list_of(const std::vector<std::string>& items);

/// What an answer that is no value says: "not there", "EACCES (…)".
template <class T>
std::string no_answer(const Fact<T>& fact) {
    if (fact.absent()) return fact.gone().detail.empty() ? "not there" : "not offered (" + fact.gone().detail + ")";
    return fact.why().error + " (" + fact.why().cause + ")";
}

/// How to make an unreadable answer known, by its error.
std::string how_to_know(const Unreadable& why);

/// The same for the second reading of --sample.
std::string how_to_read_again(const Unreadable& why);

/// The storage ports a rule is to judge. Without any it writes one unknown on the node, which folds under nic.selected,
/// and returns an empty list.
std::vector<const Port*> ports_to_judge(const Facts& facts, Findings& out);

/// In an active-backup bond the bond's GIDs stand on the active member only (drivers/infiniband/core/roce_gid_mgmt.c).
bool backup_member(const Port& port);

/// The RDMA device of a port, or nullptr.
const RdmaDeviceFacts* device_of(const Facts& facts, const Port& port);

}  // namespace preflight
