#pragma once
// The catalogue as text: `list` and `explain`.

#include <string>
#include <vector>

#include "preflight/check.h"

namespace preflight {

std::string list_text(const std::vector<Module>& catalogue);
std::string explain_text(const Check& check);

}  // namespace preflight
