#pragma once
// Tries at a setting that have no effect on a service: the right text in a place that the service manager does not read. Asked
// for only where the setting is missing.

#include <string>
#include <vector>

#include "preflight/facts.h"

namespace preflight {

struct NearMiss {
    std::string place;  ///< "/etc/security/limits.conf:3"
    std::string why;    ///< why it does not count, as the end of a sentence: "PAM applies it to logins, not to services"

    std::string text() const { return place + " does not count: " + why; }
};

/// At the limit of locked memory.
std::vector<NearMiss> memlock_near_misses(const Facts& facts);

/// At a variable of the server's environment. Values stay out.
std::vector<NearMiss> variable_near_misses(const Facts& facts, const std::string& name);

/// "; PLACE does not count: WHY" of the first one, or empty.
std::string first_of(const std::vector<NearMiss>& tries);

}  // namespace preflight
