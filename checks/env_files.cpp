#include "env_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "facts/environment.h"
#include "facts/service.h"
#include "preflight/facts.h"
#include "remedies.h"

namespace preflight {
namespace {

const char* as_root = "Run it as root.";

Subject line_subject(const std::string& path, int line) {
    return {fmt::format("{}:{}", path, line), {}};
}

Remedy edit(const std::string& path, std::string summary) {
    return {std::move(summary), {"sudoedit " + shell_word(path)}, {}, {}};
}

std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
    return out;
}

/// Whether a line that is dropped was to set something this tool judges.
bool meant_to_matter(const EnvDropped& dropped) {
    return dropped.endpoint || matters(dropped.name);
}

std::string why_dropped(const EnvFile& file, const EnvDropped& dropped, int version) {
    const bool mark = file.bom && dropped.line == 1;
    switch (dropped.why) {
        case EnvDropped::exported:
            return fmt::format("\"export\" makes the name invalid: systemd drops {}", dropped.name);
        case EnvDropped::bad_name:
            return fmt::format("systemd drops {}: the name is not valid{}", dropped.name,
                               mark ? ", since a byte order mark stands before it" : "");
        case EnvDropped::no_equals:
            if (dropped.endpoint && dropped.name.empty())
                return "systemd drops this line: the endpoints on it are no part of MINIO_VOLUMES";
            return fmt::format("systemd ignores {}: the line has no \"=\"", dropped.name);
        case EnvDropped::comment:
            return fmt::format("{} is part of the comment above, which ends in a backslash (systemd up to 253; {})",
                               dropped.name,
                               version ? fmt::format("this is {}", version) : "the release here is not known");
    }
    return {};
}

std::string how_to_write_it(const EnvFile& file, const EnvDropped& dropped) {
    switch (dropped.why) {
        case EnvDropped::exported: return "Delete \"export \"";
        case EnvDropped::bad_name:
            return file.bom && dropped.line == 1 ? "Save the file without a byte order mark"
                                                 : "Write the name alone before \"=\"";
        case EnvDropped::no_equals:
            return dropped.endpoint ? "Write all endpoints on the line of MINIO_VOLUMES" : "Write NAME=value";
        case EnvDropped::comment: return "Delete the backslash";
    }
    return {};
}

void judge_dropped(const std::string& path, const EnvFile& file, const EnvDropped& dropped, int version,
                   Findings& out) {
    // Set again on a line that counts: nothing is lost.
    const bool again = std::any_of(file.lines.begin(), file.lines.end(),
                                   [&](const EnvLine& line) { return line.name == dropped.name; });
    const Subject subject = line_subject(path, dropped.line);
    const std::string observed = why_dropped(file, dropped, version);
    const Remedy remedy = edit(path, how_to_write_it(file, dropped));
    if (again) out.warn(subject, observed + "; another line sets it").want("one line that counts").mend(remedy);
    else out.fail(subject, observed).want("a line systemd takes").mend(remedy);
}

/// Lines without effect that set nothing this tool judges: one warning for the file.
void judge_other_dropped(const std::string& path, const EnvFile& file, Findings& out) {
    static constexpr std::size_t most = 16;
    std::vector<std::string> lines;
    int first = 0;
    const auto add = [&](int line, std::string what) {
        first = lines.empty() ? line : first;
        lines.push_back(fmt::format("line {}: {}", line, what));
    };
    for (const EnvDropped& dropped : file.dropped) {
        if (meant_to_matter(dropped)) continue;
        static constexpr const char* causes[] = {"\"export\" before the name", "no valid name", "no \"=\"",
                                                 "part of the comment above"};
        add(dropped.line, causes[dropped.why]);
    }
    for (const EnvLine& line : file.lines)
        if (!line.swallowed.empty() && std::none_of(line.swallowed.begin(), line.swallowed.end(), [](const std::string& name) { return matters(name); }))
            add(line.line, fmt::format("its value goes on over the next lines and swallows {}", joined(line.swallowed)));
    if (lines.empty()) return;
    const std::size_t all = lines.size();
    if (all > most) lines.resize(most);
    out.warn(line_subject(path, first),
             fmt::format("systemd drops or joins {}, none of which sets anything judged here; {}{}",
                         all == 1 ? "a line" : fmt::format("{} lines", all), lines.front(),
                         all == 1 ? "" : ", …"))
        .want("NAME=value, one to a line")
        .note("lines", lines)
        .mend(edit(path, "Correct the lines, or make them comments"));
}

void judge_line(const std::string& path, const EnvLine& line, Findings& out) {
    const Subject subject = line_subject(path, line.line);
    std::vector<std::string> lost;
    std::copy_if(line.swallowed.begin(), line.swallowed.end(), std::back_inserter(lost), [](const std::string& name) { return matters(name); });
    if (!lost.empty() || (line.unclosed_quote && matters(line.name))) {
        const std::string what = line.unclosed_quote ? "a quote that is not closed" : line.continued ? "a backslash at the end of the line" : "a quote that closes on a later line";
        out.fail(subject, lost.empty() ? fmt::format("{}: {}", line.name, what) : fmt::format("{}: {} makes {} part of its value", line.name, what, joined(lost)))
            .want("quotes that close on their line").mend(edit(path, "Close the quote, or delete the backslash"));
        return;
    }
    if (line.lone_backslash && matters(line.name)) {
        out.fail(subject, line.name + ": the backslash before CR LF joins nothing; what follows is no part of it")
            .want("the value on one line, or lines that end in LF")
            .mend(edit(path, "Write the whole value on one line"));
        return;
    }
    const bool words = line.name == "MINIO_OPTS" || line.name == "MINIO_CONFIG_ENV_FILE";  // the others are judged by their values
    if (line.note_in_value && words)
        out.fail(subject, fmt::format("{}: the comment behind the value is part of it", line.name)).want("the comment on a line of its own").mend(edit(path, "Move the comment to a line of its own"));
    else if (line.name == "MINIO_OPTS" && (line.text_after_quote || line.value.find_first_of("\"'") != std::string::npos))
        out.warn(subject, "MINIO_OPTS: nested quotes; systemd glues them, another reader may not").want("one pair of quotes").mend(edit(path, "Write one pair of quotes around the whole value"));
}

/// The same name twice in what systemd loads; the last one holds.
void judge_repeats(const EnvironmentFacts& environment, Findings& out) {
    for (const Variable& variable : environment.variables) {
        if (!matters(variable.name) || variable.overridden.empty()) continue;
        const Assigned& before = variable.overridden.back();
        if (before.origin.path != variable.origin.path) continue;  // one file over another is how it is meant to be
        const Subject subject{variable.origin.text(), {}};
        const std::string observed = fmt::format("{} is set twice, before at {}; the last one holds", variable.name, before.origin.text());
        const bool turns_off = variable.name == "MINIO_RDMA_INTERNODE" && before.value == "on" && variable.value != "on";
        if (turns_off) out.fail(subject, observed + " and switches it off").want("one line").mend(edit(variable.origin.path, "Delete one of the lines"));
        else out.warn(subject, observed).want("one line").mend(edit(variable.origin.path, "Delete one of the lines"));
    }
}

}  // namespace

void judge_env_file(const Facts& facts, Findings& out) {
    const EnvironmentFacts& environment = facts.environment();
    const ServiceFacts& service = facts.service();
    if (environment.files.empty()) {
        if (environment.wrapper) out.unknown(node_subject(), "ExecStart= is a script, and the unit names no environment file", "Start the service and run this again: the running process shows its environment.");
        else if (service.uncertain()) out.unknown(node_subject(), "a file of the unit could not be read", as_root);
        else out.pass(node_subject(), "the unit names no environment file");
        return;
    }
    for (const EnvironmentFileRead& read : environment.files) {
        const Subject subject{read.path, {}};
        const std::string from = read.named.origin.text();
        const auto comment = read.named.path.find(" #");
        if (read.file.unreadable()) {
            out.unknown(subject, read.file.why().cause, as_root);
        } else if (read.file.absent() && comment != std::string::npos) {
            out.fail(subject, "the comment behind the name is part of it, and there is no such file").want(read.named.path.substr(0, comment)).from(from)
                .mend(drop_in(service, "Name the file without a comment", "environment.conf", {"[Service]", "EnvironmentFile=", "EnvironmentFile=" + read.named.path.substr(0, comment)}));
        } else if (read.file.absent() && read.named.optional && environment.volumes_text().has()) {
            out.pass(subject, "does not exist, which its dash allows; the endpoints come from elsewhere").from(from);
        } else if (read.file.absent()) {
            const bool dash = read.named.optional && !service.absent();
            out.fail(subject, dash ? "does not exist; the dash before its name hides that" : "does not exist")
                .because(dash ? "A dash before a file's name hides that it is missing; then the server gets none of its settings."
                              : "The server gets its settings from this file.").want("the file").from(from)
                .mend({"Create it, or name the right file in the unit", {"sudoedit " + shell_word(read.path)}, {}, {}});
        } else if (!read.file->refused.empty()) {
            out.fail(line_subject(read.path, read.file->refused_line), fmt::format("systemd takes nothing from this file: it holds {}", read.file->refused)).want("UTF-8 text").from(from).mend(edit(read.path, "Correct the line"));
        } else {
            auto draft = out.pass(subject, fmt::format("{} assignments", read.file->lines.size())).from(from);
            if (read.file->crlf) draft.note("note", std::string("lines end in CR LF: systemd does not mind, a shell or a container engine would"));
        }
    }
}

void judge_env_syntax(const Facts& facts, Findings& out) {
    const EnvironmentFacts& environment = facts.environment();
    if (environment.from_process) {
        out.skip(node_subject(), "the environment was read from the running process");
        return;
    }
    std::vector<std::string> notes;
    for (const EnvironmentFileRead& read : environment.files) {
        if (!read.file.has()) continue;
        for (const EnvDropped& dropped : read.file->dropped)
            if (meant_to_matter(dropped))
                judge_dropped(read.path, *read.file, dropped, facts.service().systemd_version, out);
        judge_other_dropped(read.path, *read.file, out);
        for (const EnvLine& line : read.file->lines) {
            judge_line(read.path, line, out);
            if (line.continued || line.line_in_quotes)
                notes.push_back(fmt::format("{}:{}: {} goes on over more than one line", read.path, line.line,
                                            line.name));
            if (line.blanks_at_equals && matters(line.name)) notes.push_back(fmt::format("{}:{}: blanks around \"=\", which systemd drops and the server's own reader does not", read.path, line.line));
        }
        if (read.file->crlf) notes.push_back(fmt::format("{}: lines end in CR LF, which a shell or a container engine would keep", read.path));
    }
    judge_repeats(environment, out);
    for (const std::string& name : environment.removed)
        out.fail({name, {}}, "UnsetEnvironment= of the unit takes it away").want("no such directive").mend(drop_in(facts.service(), "Clear it", "environment.conf", {"[Service]", "UnsetEnvironment="}));
    if (!out.list().empty()) return;
    if (!environment.missing.empty()) out.unknown(node_subject(), environment.missing.front(), as_root);
    else {
        auto draft = out.pass(node_subject(), notes.empty() ? "every line counts as written" : notes.front());
        if (notes.size() > 1) draft.note("notes", notes);
    }
}

}  // namespace preflight
