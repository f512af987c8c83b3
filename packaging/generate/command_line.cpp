#include <CLI/CLI.hpp>

#include <sstream>

#include "cli/command.h"
#include "generate.h"
#include "preflight/check.h"
#include "report/schema.h"

namespace generate {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
    return parts;
}

/// CLI11 says "TEXT:{on,ready}" or "SECONDS:FLOAT in [0.1 - 3600]" of an option with a limited value.
void read_type(const std::string& type, Option& option) {
    const auto set = type.find(":{"), range = type.find(" in [");
    if (set != std::string::npos) {
        option.choices = split(type.substr(set + 2, type.find('}', set) - set - 2), ',');
        option.argument = "VALUE";
    } else if (range != std::string::npos) {
        option.limits = type.substr(range + 5, type.find(']', range) - range - 5);
        option.argument = type.substr(0, type.find(':'));
    } else {
        option.argument = type;
    }
}

Option read(const CLI::Option& declared) {
    Option option;
    option.positional = declared.get_positional();
    if (option.positional) option.names.push_back(declared.get_name(true));
    for (const std::string& name : declared.get_snames()) option.names.push_back("-" + name);
    for (const std::string& name : declared.get_lnames()) option.names.push_back("--" + name);
    if (option.positional) option.argument = declared.get_name(true);
    else if (declared.get_expected_max() > 0) read_type(declared.get_type_name(), option);
    option.help = declared.get_description();
    option.list = declared.get_delimiter() != '\0';
    return option;
}

std::vector<std::string> selectors() {
    std::vector<std::string> words;
    for (const preflight::Module& module : preflight::modules()) {
        words.push_back(std::string(module.name) + ".*");
        for (const preflight::Check& check : module.checks) words.emplace_back(check.id);
    }
    return words;
}

std::vector<std::string> ids() {
    std::vector<std::string> words;
    for (const preflight::Module& module : preflight::catalogue())
        for (const preflight::Check& check : module.checks) words.emplace_back(check.id);
    return words;
}

}  // namespace

std::vector<Command> command_line() {
    std::vector<Command> result;
    for (const preflight::Command& command : preflight::commands()) {
        CLI::App app;
        command.declare(app);
        Command one{command.name, command.help, {}};
        for (const CLI::Option* option : app.get_options())
            if (option != app.get_help_ptr()) one.options.push_back(read(*option));
        result.push_back(std::move(one));
    }
    return result;
}

Values values_of(const Option& option) {
    if (!option.choices.empty()) return {Values::words, option.choices};
    if (option.argument == "GLOB") return {Values::words, selectors()};
    if (option.argument == "ID") return {Values::words, ids()};
    if (option.argument == "KIND") return {Values::words, preflight::schema_names()};
    if (option.argument == "FILE" || option.argument == "REPORT" || option.argument == "OLD" || option.argument == "NEW") return {Values::files, {}};
    if (option.argument == "DIR") return {Values::directories, {}};
    if (option.argument == "FORMAT=FILE") return {Values::formats_and_files, {}};
    if (option.names.back() == "--interface") return {Values::netdevs, {}};
    return {};
}

}  // namespace generate
