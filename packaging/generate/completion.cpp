#include <fmt/format.h>

#include <algorithm>

#include "generate.h"

namespace generate {
namespace {

std::string words(const std::vector<std::string>& list) { return fmt::format("{}", fmt::join(list, " ")); }

std::vector<std::string> long_and_short(const Command& command) {
    std::vector<std::string> names;
    for (const Option& option : command.options)
        if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
    names.emplace_back("--help");
    return names;
}

std::vector<std::string> command_names() {
    std::vector<std::string> names;
    for (const Command& command : command_line()) names.push_back(command.name);
    return names;
}

bool takes_value(const Option& option) { return !option.positional && !option.argument.empty(); }

std::string bash_reply(const Option& option) {
    const Values values = values_of(option);
    const char* add = option.list ? "_aistor_rdma_check_list" : "_aistor_rdma_check_words";
    switch (values.kind) {
        case Values::words: return fmt::format("{} '{}'", add, words(values.list));
        case Values::netdevs: return fmt::format("{} \"$(cd /sys/class/net && echo *)\"", add);
        case Values::directories: return "_aistor_rdma_check_files -d";
        case Values::files: return "_aistor_rdma_check_files -f";
        default: return ":";
    }
}

std::string bash_case(const Command& command) {
    std::string values, positional = ":";
    for (const Option& option : command.options) {
        if (option.positional) positional = bash_reply(option);
        else if (takes_value(option)) values += fmt::format("                {}) {}; return ;;\n", fmt::join(option.names, "|"), bash_reply(option));
    }
    std::string out = fmt::format("        {})\n", command.name);
    if (!values.empty()) out += fmt::format("            case $previous in\n{}            esac\n", values);
    out += fmt::format("            if [[ $cur == -* ]]; then _aistor_rdma_check_words '{}'; else {}; fi ;;\n", words(long_and_short(command)), positional);
    return out;
}

/// For a specification of zsh's _arguments, within single quotes.
std::string zsh_text(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '\'') out += "'\\''";
        else if (c == '[' || c == ']' || c == ':' || c == '\\') out += std::string("\\") + c;
        else out += c;
    }
    return out;
}

std::string zsh_action(const Option& option) {
    const Values values = values_of(option);
    switch (values.kind) {
        case Values::words: return option.list ? fmt::format("_sequence compadd - {}", words(values.list)) : fmt::format("({})", words(values.list));
        case Values::netdevs: return "_sequence _net_interfaces";
        case Values::directories: return "_files -/";
        case Values::files: return "_files";
        default: return " ";
    }
}

std::string zsh_argument(const Option& option) {
    const std::string value = option.argument.empty() ? "" : fmt::format(":{}:{}", zsh_text(option.argument), zsh_action(option));
    if (option.positional) return fmt::format("            '*{}' \\\n", value);
    std::string out;
    for (const std::string& name : option.names)
        out += fmt::format("            '{}{}{}[{}]{}' \\\n", option.list ? "*" : "", name, value.empty() || name[1] != '-' ? "" : "=", zsh_text(option.help), value);
    return out;
}

std::string fish_text(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '\'' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

std::string fish_values(const Option& option) {
    const Values values = values_of(option);
    const auto list = [&](const std::string& source) {
        return option.list ? fmt::format(" -x -a '(__fish_append , {})'", source) : fmt::format(" -x -a '{}'", source);
    };
    switch (values.kind) {
        case Values::words: return list(words(values.list));
        case Values::netdevs: return " -x -a '(__fish_append , (path basename /sys/class/net/*))'";
        case Values::directories: return " -x -a '(__fish_complete_directories)'";
        case Values::files: return " -r -F";
        default: return option.argument.empty() ? "" : " -x";
    }
}

std::string fish_argument(const Command& command, const Option& option, const std::string& condition) {
    if (option.positional) return fmt::format("complete -c aistor-rdma-check -n '{}'{}\n", "__fish_seen_subcommand_from " + command.name, fish_values(option));
    std::string names;
    for (const std::string& name : option.names) names += name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1);
    return fmt::format("complete -c aistor-rdma-check -n '{}'{}{} -d '{}'\n", condition, names, fish_values(option), fish_text(option.help));
}

}  // namespace

std::string bash_completion() {
    std::string out = R"(# bash completion for aistor-rdma-check, generated from its options.

_aistor_rdma_check_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }

_aistor_rdma_check_files() {
    mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
    compopt -o filenames 2> /dev/null
}

# The last of several values with commas between.
_aistor_rdma_check_list() {
    local before=
    [[ $cur == *,* ]] && before=${cur%,*},
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${cur##*,}")
    compopt -o nospace 2> /dev/null
}

_aistor_rdma_check() {
    local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command=run
    # The shell splits --option=value into three words.
    if [[ $cur == = ]]; then cur=
    elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD - 2]}; fi
    COMPREPLY=()
)";
    const auto names = command_names();
    out += fmt::format("    case ${{COMP_WORDS[1]}} in\n        {}) [[ $COMP_CWORD -gt 1 ]] && command=${{COMP_WORDS[1]}} ;;\n    esac\n", fmt::join(names, "|"));
    out += fmt::format("    if [[ $COMP_CWORD -eq 1 && $cur != -* ]]; then _aistor_rdma_check_words '{}'; return; fi\n    case $command in\n", words(names));
    for (const Command& command : command_line()) out += bash_case(command);
    return out + "    esac\n}\n\ncomplete -F _aistor_rdma_check aistor-rdma-check\n";
}

std::string zsh_completion() {
    std::string out = "#compdef aistor-rdma-check\n# zsh completion for aistor-rdma-check, generated from its options.\n\n_aistor-rdma-check() {\n    local command=run\n";
    out += fmt::format("    case ${{words[2]}} in\n        {}) (( CURRENT > 2 )) && {{ command=${{words[2]}}; shift words; (( CURRENT-- )) }} ;;\n    esac\n", fmt::join(command_names(), "|"));
    out += "    if (( CURRENT == 2 )) && [[ $command == run && ${words[1]} != run && ${words[2]} != -* ]]; then\n        local -a commands=(\n";
    for (const Command& command : command_line()) out += fmt::format("            '{}:{}'\n", command.name, zsh_text(command.help));
    out += "        )\n        _describe command commands\n        return\n    fi\n    case $command in\n";
    for (const Command& command : command_line()) {
        out += fmt::format("        {}) _arguments -s \\\n", command.name);
        for (const Option& option : command.options) out += zsh_argument(option);
        out += "            '--help[Print this help message and exit]' ;;\n";
    }
    return out + "    esac\n}\n\n_aistor-rdma-check \"$@\"\n";
}

std::string fish_completion() {
    const auto commands = command_line();
    std::string others;
    for (const Command& command : commands)
        if (command.name != "run") others += " " + command.name;
    std::string out = "# fish completion for aistor-rdma-check, generated from its options.\ncomplete -c aistor-rdma-check -f\n";
    for (const Command& command : commands)
        out += fmt::format("complete -c aistor-rdma-check -n '__fish_use_subcommand' -a {} -d '{}'\n", command.name, fish_text(command.help));
    for (const Command& command : commands) {
        // Options without a command are those of run.
        const std::string condition = command.name == "run" ? "not __fish_seen_subcommand_from" + others : "__fish_seen_subcommand_from " + command.name;
        for (const Option& option : command.options) out += fish_argument(command, option, condition);
    }
    return out + "complete -c aistor-rdma-check -s h -l help -d 'Print this help message and exit'\ncomplete -c aistor-rdma-check -l version -d 'Print the version'\n";
}

}  // namespace generate
