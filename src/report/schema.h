#pragma once
// The JSON Schemas (2020-12) of everything the tool writes or reads.

#include <optional>
#include <string>
#include <vector>

namespace preflight {

std::vector<std::string> schema_names();
/// The schema, or nullopt for a name that is not one of schema_names().
std::optional<std::string> schema_text(const std::string& name);

}  // namespace preflight
