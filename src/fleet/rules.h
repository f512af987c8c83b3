#pragma once
// The rules across nodes: what no single node can see.

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fleet/reader.h"
#include "preflight/check.h"
#include "preflight/policy.h"
#include "preflight/report.h"

namespace preflight::fleet {

/// The reports to compare, and the files that are none.
struct Fleet {
    std::vector<Node> nodes;  ///< each node once: its newest report; by name
    std::vector<bool> foreign;  ///< by index of nodes: of another cluster, so it is compared with none
    std::vector<std::pair<std::string, Unreadable>> broken;
    std::vector<std::string> notes;  ///< about reports that were left out

    static Fleet read(const std::vector<std::string>& files);
    static Fleet of(std::vector<Node> nodes);

    std::vector<const Node*> all() const;
    std::vector<const Node*> storage() const;
    /// The node that `peer` is, which `by` names: by its name or address, rather one with the same endpoints; nullptr without a report.
    const Node* find(const Peer& peer, const Node& by) const;

private:
    void find_foreign();
    std::unordered_map<std::string, std::vector<std::size_t>> by_name_, by_address_;
};

/// The catalogue of these rules, in order; its checks have no judge of their own.
const Module& module();

Report compare(const Fleet& fleet, const Policy& policy);

}  // namespace preflight::fleet
