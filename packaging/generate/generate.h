#pragma once
// Man pages and shell completions, made at build time from the program's own tables: the options each command declares, the
// catalogue of checks, the schema of the policy. Nothing here is written twice.

#include <string>
#include <vector>

namespace generate {

struct Option {
    std::vector<std::string> names;    ///< "--stage", "-v"; of a positional its name, "FILE"
    std::string argument;              ///< "GLOB"; empty: a flag
    std::string limits;                ///< "0.1 - 3600", or empty
    std::vector<std::string> choices;  ///< the only values that are taken, or empty
    std::string help;
    bool positional = false;
    bool list = false;  ///< several values, separated by commas
};

struct Command {
    std::string name, help;
    std::vector<Option> options;  ///< in the order of --help, without --help itself
};

/// Every command of the program with its options, in the order of --help.
std::vector<Command> command_line();

/// What completes an argument: fixed words, or a kind of thing the shell knows.
struct Values {
    enum Kind { none, words, files, directories, netdevs, formats_and_files } kind = none;
    std::vector<std::string> list;  ///< for `words`
};
Values values_of(const Option& option);

std::string man_program();
/// `example`: the text of the example policy, shown in full.
std::string man_policy(const std::string& example);
std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace generate
