#pragma once
// The catalogue as JSON, for programs (`list --format json`).

#include <string>
#include <vector>

#include "preflight/check.h"

namespace preflight {

std::string checks_to_json(const std::vector<Module>& catalogue);

}  // namespace preflight
