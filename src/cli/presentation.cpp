#include "cli/presentation.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <langinfo.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <map>

#include "cli/command.h"
#include "cli/suggest.h"
#include "report/junit.h"

namespace preflight {
namespace {

const std::map<std::string, std::string (*)(const Report&, const TextStyle&)>& formats() {
    static const std::map<std::string, std::string (*)(const Report&, const TextStyle&)> table = {
        {"text", [](const Report& report, const TextStyle& style) { return to_text(report, style); }},
        {"json", [](const Report& report, const TextStyle&) { return to_json(report); }},
        {"junit", [](const Report& report, const TextStyle&) { return to_junit(report); }},
    };
    return table;
}

std::vector<std::string> format_names() {
    std::vector<std::string> names;
    for (const auto& [known, render] : formats()) names.push_back(known);
    return names;
}

TextStyle style_of(const Presentation& presentation, bool terminal) {
    TextStyle style;
    const char* no_color = std::getenv("NO_COLOR");
    style.color = presentation.color == "always" || (presentation.color == "auto" && terminal && !(no_color && *no_color));
    std::setlocale(LC_CTYPE, "");
    style.unicode = !terminal || std::string_view(nl_langinfo(CODESET)) == "UTF-8";
    std::setlocale(LC_CTYPE, "C");
    style.failures_only = presentation.failures_only;
    style.facts = presentation.facts;
    return style;
}

}  // namespace

void add_presentation_options(CLI::App& app, Presentation& p) {
    app.add_option("--format", p.format, "Format on standard output (text on a terminal, else json)")->check(CLI::IsMember(format_names()));
    app.add_option("--output", p.outputs, "Also write the report to a file, as FORMAT=FILE")->type_name("FORMAT=FILE");
    app.add_flag("--strict", p.strict, "Warnings fail (exit 1)");
    app.add_flag("--failures-only", p.failures_only, "Text: only what failed");
    app.add_flag("--facts", p.facts, "Text: with the facts behind each finding, passes included");
    app.add_option("--color", p.color, "Colour on a terminal")->check(CLI::IsMember({"auto", "always", "never"}));
}

std::vector<std::pair<std::string, std::string>> parse_outputs(const Presentation& presentation) {
    std::vector<std::pair<std::string, std::string>> outputs;
    for (const std::string& output : presentation.outputs) {
        const auto equals = output.find('=');
        const std::string format = output.substr(0, equals);
        if (equals == std::string::npos || equals + 1 == output.size()) throw UsageError{fmt::format("--output {}: write FORMAT=FILE", output)};
        if (!formats().count(format)) throw UsageError{fmt::format("--output {}: no format \"{}\"{}", output, format, did_you_mean(format, format_names()))};
        outputs.emplace_back(format, output.substr(equals + 1));
    }
    return outputs;
}

Exit present(const Report& report, const Presentation& presentation, const std::vector<std::pair<std::string, std::string>>& outputs) {
    for (const auto& [format, path] : outputs) write_output(path, formats().at(format)(report, style_of(presentation, false)));
    const bool terminal = isatty(STDOUT_FILENO);
    const std::string format = !presentation.format.empty() ? presentation.format : terminal ? "text" : "json";
    print(formats().at(format)(report, style_of(presentation, terminal)));
    return exit_code(report, presentation.strict);
}

}  // namespace preflight
