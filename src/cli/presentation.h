#pragma once
// How a report is shown: what `run` and `compare` have in common.

#include <string>
#include <utility>
#include <vector>

#include "preflight/report.h"

namespace CLI {
class App;
}

namespace preflight {

struct Presentation {
    std::string format, color = "auto";
    std::vector<std::string> outputs;
    bool strict = false, failures_only = false, facts = false;
};

/// --format, --output, --strict, --failures-only, --facts, --color.
void add_presentation_options(CLI::App& app, Presentation& presentation);

/// Format and file of each --output. Throws UsageError; called before anything is judged.
std::vector<std::pair<std::string, std::string>> parse_outputs(const Presentation& presentation);

/// Writes the files, then standard output.
Exit present(const Report& report, const Presentation& presentation, const std::vector<std::pair<std::string, std::string>>& outputs);

}  // namespace preflight
