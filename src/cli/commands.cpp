#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "cli/command.h"
#include "cli/log.h"
#include "cli/suggest.h"
#include "facts/samples.h"
#include "fleet/rules.h"
#include "preflight/engine.h"
#include "report/explain.h"
#include "report/json.h"
#include "report/schema.h"
#include "version.h"

namespace preflight {
namespace {

/// Every question any run could ask: both roles, paths and stages, under systemd and in a container.
void ask_everything(Host& host, Options options) {
    const auto sample = std::exchange(options.sample_seconds, std::nullopt);  // one wait is enough
    options.want = internode | s3;
    options.roles = storage | client;
    for (const Deployment deployment : {systemd, container})
        for (const Stage stage : {Stage::ready, Stage::on}) {
            options.deployment = deployment;
            options.stage = stage;
            judge(modules(), Facts(host, options));
        }
    options.want.reset();
    options.roles.reset();
    options.deployment.reset();
    options.sample_seconds = sample;
    make_report(host, options);
}

void log_questions(Recorder& recorder) {
    if (!debugging()) return;
    recorder.watch([](const Question& question, const std::string& result) { log_debug(fmt::format("{} {}: {}", question.kind, question.argument, result)); });
}

}  // namespace

std::unique_ptr<Host> open_host(const std::string& snapshot, const std::string& root, double timeout) {
    if (!snapshot.empty()) return snapshot_host(snapshot);
    if (root.empty() || root[0] != '/') throw UsageError{fmt::format("--root {}: write an absolute path", root)};
    std::error_code error;
    if (!std::filesystem::is_directory(root, error))
        throw UsageError{fmt::format("--root {}: {}", root, error ? error.message() : "is no directory")};
    return live_host(root, timeout);
}

void add_sample_option(CLI::App& app, Options& options) {
    app.add_option("--sample", options.sample_seconds, "Read the counters twice, SECONDS apart, and judge what moved (an E810 needs 2.5)")
        ->check(CLI::Range(0.1, 3600.0))
        ->type_name("SECONDS");
    if (isatty(STDERR_FILENO)) on_wait([](const std::string& text) { fmt::print(stderr, "{}: waiting {}\n", tool_name, text); });
}

const std::vector<Module>& catalogue() {
    static const std::vector<Module> all = [] {
        std::vector<Module> list = modules();
        list.push_back(fleet::module());
        return list;
    }();
    return all;
}

Report make_report(Host& host, const Options& options, const std::vector<Module>& judged_by) {
    const auto begin = std::chrono::steady_clock::now();
    Recorder recorder(host);
    log_questions(recorder);
    const Facts facts(recorder, options);
    Report report = judge(judged_by, facts);
    describe(report, facts);
    report.run.unreadable = recorder.unreadable();
    const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
    report.run.duration_ms = std::getenv("SOURCE_DATE_EPOCH") ? 0 : spent.count();
    return report;
}

Command capture_command() {
    return {"capture", "Write a snapshot of this node to FILE (\"-\": standard output); secrets are masked", [](CLI::App& app) -> std::function<Exit()> {
                struct Arguments {
                    std::string file;
                    Options options;
                };
                auto a = std::make_shared<Arguments>();
                app.add_option("FILE", a->file, "The snapshot, created with mode 0600")->required();
                app.add_option("--root", a->options.root, "Read host files below DIR")->type_name("DIR");
                add_sample_option(app, a->options);
                add_network_options(app, a->options);
                return [a] {
                    const auto host = open_host("", a->options.root, a->options.timeout_seconds);
                    Recorder recorder(*host);
                    ask_everything(recorder, a->options);
                    write_output(a->file, recorder.snapshot());
                    return Exit::ok;
                };
            }};
}

Command list_command() {
    return {"list", "List the checks", [](CLI::App& app) -> std::function<Exit()> {
                auto format = std::make_shared<std::string>("text");
                app.add_option("--format", *format, "text or json")->check(CLI::IsMember({"text", "json"}));
                return [format] {
                    print(*format == "json" ? checks_to_json(catalogue()) : list_text(catalogue()));
                    return Exit::ok;
                };
            }};
}

Command explain_command() {
    return {"explain", "Explain one check: what it means, how it is judged, how it is mended", [](CLI::App& app) -> std::function<Exit()> {
                auto id = std::make_shared<std::string>();
                app.add_option("ID", *id, "The check, as printed in a report")->required();
                return [id] {
                    const Check* check = nullptr;
                    std::vector<std::string> ids;
                    for (const Module& module : catalogue())
                        for (const Check& known : module.checks) {
                            ids.emplace_back(known.id);
                            if (known.id == *id) check = &known;
                        }
                    if (!check) {
                        throw UsageError{fmt::format("explain: no check \"{}\"{}", *id, did_you_mean(*id, ids))};
                    }
                    print(explain_text(*check));
                    return Exit::ok;
                };
            }};
}

Command schema_command() {
    return {"schema", "Print a JSON Schema (2020-12)", [](CLI::App& app) -> std::function<Exit()> {
                auto which = std::make_shared<std::string>();
                app.add_option("KIND", *which, fmt::format("{}", fmt::join(schema_names(), " or ")))->required();
                return [which] {
                    const auto text = schema_text(*which);
                    if (!text) throw UsageError{fmt::format("schema: no schema \"{}\"{}", *which, did_you_mean(*which, schema_names()))};
                    print(*text);
                    return Exit::ok;
                };
            }};
}

const std::vector<Command>& commands() {
    static const std::vector<Command> table = {run_command(),     fix_command(),  capture_command(), compare_command(), listen_command(),
                                               probe_command(), list_command(), explain_command(), schema_command()};
    return table;
}

}  // namespace preflight
