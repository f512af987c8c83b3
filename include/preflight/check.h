#pragma once
// A check is a row of the catalogue: what it is called, what a pass promises, and one pure function from facts to
// findings. `list`, `explain`, the man page, the completions and the docs are made from this declaration alone.

#include <functional>
#include <string_view>
#include <vector>

#include "preflight/finding.h"
#include "preflight/options.h"

namespace preflight {

class Facts;

struct Check {
    std::string_view id;     ///< "nic.link": what is printed is what is typed
    char phase;              ///< 'A', 'B', 'C'
    std::string_view title;  ///< what a pass asserts
    std::string_view why;    ///< one sentence: what goes wrong otherwise
    std::string_view judges; ///< what leads to which status, for `explain`
    std::string_view remedy; ///< how it is mended in general, for `explain`
    std::string_view evidence;  ///< where the rule comes from: kernel file, vendor document, product document

    unsigned paths = internode | s3;             ///< which outcome a failure bears on
    unsigned roles = storage | client;
    unsigned deployments = systemd | container;
    std::vector<std::string_view> after = {};         ///< a bad finding of these explains a bad finding of this one
    bool unproven = false;                       ///< a warning of it may leave the outcome open
    std::function<void(const Facts&, Findings&)> judge = {};
};

struct Module {
    std::string_view name;   ///< the part of the id before the dot
    std::string_view about;
    std::vector<Check> checks;
};

/// All modules in the order in which they run. Reading checks/modules.cpp is reading the policy.
const std::vector<Module>& modules();

/// The check with this id, or nullptr.
const Check* find_check(std::string_view id);

}  // namespace preflight
