#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <clocale>
#include <map>

#include "cli/command.h"
#include "cli/log.h"
#include "cli/suggest.h"
#include "facts/s3_client.h"
#include "facts/s3_endpoint.h"
#include "preflight/engine.h"
#include "report/script.h"

namespace preflight {
namespace {

struct RunArguments {
    Options options;
    std::string snapshot, policy, format, color = "auto";
    std::vector<std::string> outputs, want, roles, phases;
    std::string deployment = "auto", stage = "on";
    bool strict = false, failures_only = false, facts = false, verbose = false, quiet = false;
};

const std::map<std::string, std::string (*)(const Report&, const TextStyle&)>& formats() {
    static const std::map<std::string, std::string (*)(const Report&, const TextStyle&)> table = {
        {"text", [](const Report& report, const TextStyle& style) { return to_text(report, style); }},
        {"json", [](const Report& report, const TextStyle&) { return to_json(report); }},
    };
    return table;
}

std::vector<std::string> format_names() {
    std::vector<std::string> names;
    for (const auto& [known, render] : formats()) names.push_back(known);
    return names;
}

std::vector<std::string> check_ids() {
    std::vector<std::string> ids;
    for (const Module& module : modules())
        for (const Check& check : module.checks) ids.emplace_back(check.id);
    return ids;
}

void require_selection(const Options& options) {
    const auto ids = check_ids();
    for (const auto* globs : {&options.only, &options.skip})
        for (const std::string& glob : *globs) {
            Options one;
            one.only = {glob};
            if (std::none_of(ids.begin(), ids.end(), [&](const std::string& id) { return selected(*find_check(id), one); }))
                throw UsageError{fmt::format("no check matches \"{}\"{}", glob, did_you_mean(glob, ids))};
        }
    if (std::none_of(ids.begin(), ids.end(), [&](const std::string& id) { return selected(*find_check(id), options); }))
        throw UsageError{"the selection leaves no check to run"};
}

TextStyle style_of(const RunArguments& arguments, bool terminal) {
    TextStyle style = text_style(arguments.color, terminal);
    style.failures_only = arguments.failures_only;
    style.facts = arguments.facts;
    return style;
}

/// Judges the node as the options say.
Report judged(RunArguments& arguments) {
    Options& options = arguments.options;
    set_log_level(arguments.verbose ? LogLevel::debug : arguments.quiet ? LogLevel::error : LogLevel::warning);
    for (const std::string& path : arguments.want) options.want = options.want.value_or(0) | (path == "internode" ? internode : s3);
    for (const std::string& role : arguments.roles)
        if (role != "auto") options.roles = options.roles.value_or(0) | (role == "storage" ? storage : client);
    for (const std::string& phase : arguments.phases) options.phases.push_back(phase[0]);
    if (arguments.deployment != "auto") options.deployment = arguments.deployment == "systemd" ? systemd : container;
    options.stage = arguments.stage == "ready" ? Stage::ready : Stage::on;
    options.from_snapshot = !arguments.snapshot.empty();
    require_selection(options);
    if (options.endpoint && !parse_endpoint(*options.endpoint)) throw UsageError{fmt::format("--endpoint {}: write http://HOST[:PORT] or https://HOST[:PORT]", *options.endpoint)};
    if (options.server_release && release_date(*options.server_release).empty())
        throw UsageError{fmt::format("--server-release {}: write it like RELEASE.2026-08-07T18-34-35Z", *options.server_release)};
    if (!arguments.policy.empty()) options.policy = read_policy(arguments.policy);

    const auto host = open_host(arguments.snapshot, options.root, options.timeout_seconds);
    return make_report(*host, options);
}

Exit run(RunArguments& arguments) {
    const auto files = output_files(arguments.outputs);
    const Report report = judged(arguments);
    write_report(report, files, arguments.format, [&](bool terminal) { return style_of(arguments, terminal); });
    return exit_code(report, arguments.strict);
}

/// What to judge, and how: the options that `run` and `fix` have in common.
void add_judging_options(CLI::App& app, RunArguments& a) {
    app.add_option("--want", a.want, "RDMA paths this node shall serve: internode,s3")->delimiter(',')->check(CLI::IsMember({"internode", "s3"}));
    app.add_option("--stage", a.stage, "on: will it use RDMA as configured? ready: could it be switched on?")
        ->check(CLI::IsMember({"on", "ready"}));
    app.add_option("--role", a.roles, "auto, storage or client; a node may be both: storage,client")
        ->delimiter(',')
        ->check(CLI::IsMember({"auto", "storage", "client"}));
    app.add_option("--deployment", a.deployment, "How AIStor runs here")->check(CLI::IsMember({"auto", "systemd", "container"}));
    app.add_option("--phase", a.phases, "Judge only these phases: A,B,C")->delimiter(',')->check(CLI::IsMember({"A", "B", "C"}));
    app.add_option("--only", a.options.only, "Judge only the checks that match GLOB")->delimiter(',')->type_name("GLOB");
    app.add_option("--skip", a.options.skip, "Leave out the checks that match GLOB")->delimiter(',')->type_name("GLOB");
    app.add_option("--interface", a.options.interfaces, "The storage NICs, bonds or VLANs")->delimiter(',')->type_name("NAME");
    app.add_option("--service", a.options.service, "The unit that starts AIStor")->type_name("NAME");
    app.add_option("--env-file", a.options.env_file, "Judge this environment file instead of the unit's")->type_name("FILE");
    app.add_option("--binary", a.options.binary, "The server's file, instead of the one the unit starts")->type_name("FILE");
    app.add_flag("--run-binary", a.options.run_binary, "Start the server's file with --version, at most five seconds");
    app.add_option("--endpoint", a.options.endpoint, "The S3 endpoint of a client, to judge the way to it")->type_name("URL");
    app.add_option("--server-release", a.options.server_release, "The servers' release, where their file does not tell it, and to judge a client against it")->type_name("RELEASE");
    add_network_options(app, a.options);
    app.add_option("--probe-result", a.options.probe_result, "Include the report of an earlier probe")->type_name("FILE");
    app.add_option("--snapshot", a.snapshot, "Judge a snapshot instead of this node")->type_name("FILE");
    app.add_option("--policy", a.policy, "The site's policy: expected values, attestations, waivers")->type_name("FILE");
    add_sample_option(app, a.options);
    app.add_option("--root", a.options.root, "Read host files below DIR")->type_name("DIR");
    app.add_flag("-v,--verbose", a.verbose, "Log each question to the node on stderr");
    app.add_flag("-q,--quiet", a.quiet, "Log errors only");
}

}  // namespace

TextStyle text_style(const std::string& color, bool terminal) {
    TextStyle style;
    const char* no_color = std::getenv("NO_COLOR");
    style.color = color == "always" || (color == "auto" && terminal && !(no_color && *no_color));
    std::setlocale(LC_CTYPE, "");
    style.unicode = !terminal || std::string_view(nl_langinfo(CODESET)) == "UTF-8";
    std::setlocale(LC_CTYPE, "C");
    return style;
}

OutputFiles output_files(const std::vector<std::string>& words) {
    OutputFiles files;
    for (const std::string& word : words) {
        const auto equals = word.find('=');
        const std::string format = word.substr(0, equals);
        if (equals == std::string::npos || equals + 1 == word.size()) throw UsageError{fmt::format("--output {}: write FORMAT=FILE", word)};
        if (!formats().count(format)) throw UsageError{fmt::format("--output {}: no format \"{}\"{}", word, format, did_you_mean(format, format_names()))};
        files.emplace_back(format, word.substr(equals + 1));
    }
    return files;
}

void write_report(const Report& report, const OutputFiles& files, const std::string& format, const std::function<TextStyle(bool terminal)>& style) {
    for (const auto& [of_file, path] : files) write_output(path, formats().at(of_file)(report, style(false)));
    const bool terminal = isatty(STDOUT_FILENO);
    print(formats().at(!format.empty() ? format : terminal ? "text" : "json")(report, style(terminal)));
}

void add_report_options(CLI::App& app, std::string& format, std::vector<std::string>& outputs) {
    app.add_option("--format", format, "Format on standard output (text on a terminal, else json)")->check(CLI::IsMember(format_names()));
    app.add_option("--output", outputs, "Also write the report to a file, as FORMAT=FILE")->type_name("FORMAT=FILE");
}

Command run_command() {
    return {"run", "Judge this node, or a snapshot, and print the report (the default)", [](CLI::App& app) -> std::function<Exit()> {
                auto arguments = std::make_shared<RunArguments>();
                RunArguments& a = *arguments;
                add_judging_options(app, a);
                add_report_options(app, a.format, a.outputs);
                app.add_flag("--strict", a.strict, "Warnings fail (exit 1)");
                app.add_flag("--failures-only", a.failures_only, "Text: only what failed");
                app.add_flag("--facts", a.facts, "Text: with the facts behind each finding, passes included");
                app.add_option("--color", a.color, "Colour on a terminal")->check(CLI::IsMember({"auto", "always", "never"}));
                return [arguments] { return run(*arguments); };
            }};
}

Command fix_command() {
    return {"fix", "Print a shell script of the remedies for this node; never runs it", [](CLI::App& app) -> std::function<Exit()> {
                auto arguments = std::make_shared<RunArguments>();
                add_judging_options(app, *arguments);
                return [arguments] {
                    const Report report = judged(*arguments);
                    print(to_script(report));
                    return exit_code(report, false);
                };
            }};
}

}  // namespace preflight
