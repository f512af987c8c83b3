#pragma once
// How values of the environment are shown.

#include <string>
#include <string_view>

#include "facts/environment.h"
#include "preflight/finding.h"

namespace preflight {

/// A kept value in quotes, on one line and not too long; what follows a '#' is left out.
std::string shown(std::string_view value);
/// The file in which to set a variable: where it stands, else the first file of the unit, else the usual place.
std::string file_to_edit(const EnvironmentFacts& environment, const Fact<ServerValue>& value);
/// "overrides /etc/default/minio:3", or empty.
std::string overrides(const ServerValue& value);

}  // namespace preflight
