#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/auxv.h>

#include <csignal>
#include <cstdio>

#include "cli/command.h"
#include "cli/suggest.h"
#include "preflight/host.h"
#include "version.h"

namespace {

using namespace preflight;

int usage(const std::string& message) {
    fmt::print(stderr, "{}: {}\n", tool_name, message);
    return static_cast<int>(Exit::usage);
}

std::vector<std::string> command_names() {
    std::vector<std::string> names;
    for (const Command& command : commands()) names.emplace_back(command.name);
    return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

int dispatch(int argc, char** argv) {
    CLI::App app("Tells whether this AIStor node will really use RDMA, and if not, why.", tool_name);
    app.set_version_flag("--version", fmt::format("{} {}{}\n{}, {}", tool_name, tool_version, *tool_commit ? fmt::format(" ({})", tool_commit) : "",
                                                  report_schema, snapshot_schema));
    app.footer("Without a command the node is judged, as with \"run\".\n"
               "Exit codes: 0 pass, 1 fail, 2 incomplete, 3 usage or input error, 70 internal error.");
    std::vector<std::pair<CLI::App*, std::function<Exit()>>> known;
    for (const Command& command : commands()) {
        CLI::App* sub = app.add_subcommand(command.name, command.help);
        known.emplace_back(sub, command.declare(*sub));
    }
    app.require_subcommand(0, 1);

    std::vector<std::string> words(argv + 1, argv + argc);
    const bool global = !words.empty() && (words[0] == "--version" || words[0] == "--help" || words[0] == "-h");
    if (words.empty() || (words[0][0] == '-' && !global)) words.insert(words.begin(), "run");
    else if (!global) {
        const auto names = command_names();
        if (std::find(names.begin(), names.end(), words[0]) == names.end())
            return usage(fmt::format("no command \"{}\"{}", words[0], did_you_mean(words[0], names)));
    }
    CLI::App* chosen = global ? &app : app.get_subcommand(words[0]);
    try {
        std::reverse(words.begin(), words.end());
        app.parse(words);
    } catch (const CLI::Success& done) {
        return app.exit(done);
    } catch (const CLI::ExtrasError&) {
        const auto extra = chosen->remaining();
        const std::string word = extra.empty() ? "" : extra.front();
        return usage(fmt::format("{}: {} \"{}\"{}", chosen->get_name(), word.rfind("-", 0) == 0 ? "no option" : "unexpected", word,
                                 did_you_mean(word.substr(0, word.find('=')), option_names(*chosen))));
    } catch (const CLI::ParseError& error) {
        return usage(fmt::format("{}: {}", chosen->get_name(), error.what()));
    }
    for (auto& [sub, run] : known)
        if (sub->parsed()) return static_cast<int>(run());
    return static_cast<int>(Exit::internal);
}

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    if (getauxval(AT_SECURE)) return usage("refuses to run set-user-ID, set-group-ID or with file capabilities");
    try {
        return dispatch(argc, argv);
    } catch (const InputError& error) {
        return usage(error.message);
    } catch (const UsageError& error) {
        return usage(error.message);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}: internal error: {}\n", tool_name, error.what());
        return static_cast<int>(Exit::internal);
    }
}
