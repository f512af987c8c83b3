#pragma once
// What changed on one node between two reports, in an operator's words.

#include <string>
#include <vector>

namespace preflight::fleet {

struct Changes {
    std::string node;
    std::string older, newer;           ///< when the two runs started
    std::vector<std::string> lines;     ///< a sentence each, the gravest first
    bool worse = false;                 ///< something fails or is unknown now that was neither before

    std::string text() const;
};

/// Both files are reports. Throws InputError when one is not, or when they are of different nodes.
Changes changes(const std::string& older, const std::string& newer);

}  // namespace preflight::fleet
