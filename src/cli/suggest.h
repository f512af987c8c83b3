#pragma once
// "Did you mean": the nearest known word to a mistyped one.

#include <string>
#include <string_view>
#include <vector>

namespace preflight {

/// The word of `known` with the smallest edit distance (insert, delete, replace, swap of neighbours), or empty when none is
/// within a third of the word's length, at least 2.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

/// " (did you mean NEAREST?)", or empty.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace preflight
