// Lines of unit files, and the words of Environment= and ExecStart=.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "facts/unit_file.h"

namespace preflight {
namespace {

using namespace systemd_text;

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// Splits at \n, \r, \r\n and \n\r, as the manager's read_line does.
std::vector<std::string_view> physical_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = text.find_first_of("\r\n");
        lines.push_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        const bool pair = end + 1 < text.size() && (text[end + 1] == '\r' || text[end + 1] == '\n') && text[end + 1] != text[end];
        text.remove_prefix(end + (pair ? 2 : 1));
    }
    return lines;
}

bool ends_escaped(std::string_view line) {
    bool escaped = false;
    for (const char c : line) escaped = !escaped && c == '\\';
    return escaped;
}

bool safe(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char c) { return (c > 0 && c < ' ') || c == 0x7f || c == '"' || c == '\'' || c == '\\'; });
}

}  // namespace

std::string Origin::text() const {
    return line ? fmt::format("{}:{}", path, line) : path;
}

UnitText read_unit_text(std::string_view text, const std::string& path) {
    UnitText out;
    std::string section, pending;
    bool continued = false, stopped = false;
    int number = 0, begin = 0;
    const auto trouble = [&](std::string message, int line, bool fatal = false) {
        out.troubles.push_back({std::move(message), {path, line}, fatal});
        stopped |= fatal;
    };
    const auto logical = [&](std::string_view line, int at) {
        line = trimmed(line);
        if (line.empty()) return;
        if (!valid_utf8(line)) return trouble("is not UTF-8: the rest of the file is ignored", at, true);
        if (line.front() == '[') {
            if (line.back() != ']') return trouble("has an invalid section header: the rest of the file is ignored", at, true);
            section = line.substr(1, line.size() - 2);
            return;
        }
        const auto equals = line.find('=');
        if (equals == std::string_view::npos) return trouble("has no \"=\": the line is ignored", at);
        if (equals == 0) return trouble("has no name before \"=\": the line is ignored", at);
        if (section.empty()) return trouble("stands before any section: the line is ignored", at);
        out.lines.push_back({section, std::string(trimmed(line.substr(0, equals))), std::string(trimmed(line.substr(equals + 1))), {path, at}});
    };
    if (text.rfind(byte_order_mark, 0) == 0) text.remove_prefix(byte_order_mark.size());
    for (const std::string_view line : physical_lines(text)) {
        if (stopped) return out;
        ++number;
        const auto first = line.find_first_not_of(whitespace);
        if (first != std::string_view::npos && (line[first] == '#' || line[first] == ';')) continue;
        if (!continued) begin = number;
        pending += line;
        continued = ends_escaped(pending);
        if (continued) {
            pending.back() = ' ';
            continue;
        }
        logical(pending, begin);
        pending.clear();
    }
    if (continued && !stopped) logical(pending, begin);
    return out;
}

std::optional<std::string> Specifiers::expand(std::string_view text) const {
    static constexpr std::string_view letters = "aAbBcCdDEfgGhHiIjJlLmMnNoppPqrRsStTuUvVwWyY";
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%' || i + 1 >= text.size()) {
            out += text[i];
            continue;
        }
        const char letter = text[++i];
        const auto found = std::find_if(known.begin(), known.end(), [&](const auto& entry) { return entry.first == letter; });
        if (letter == '%') out += '%';
        else if (found != known.end()) out += found->second;
        else if (letters.find(letter) != std::string_view::npos) return std::nullopt;
        else (out += '%') += letter;
    }
    return out;
}

EnvironmentWords environment_words(std::string_view value, const Specifiers& specifiers) {
    EnvironmentWords out;
    for (;;) {
        const Word word = next_word(value, unquote | unescape);
        if (word.kind == Word::end) return out;
        if (word.kind == Word::malformed) {
            out.refused.push_back("a quote that does not close or an unknown escape: this word and the rest of the line are ignored");
            return out;
        }
        const auto text = specifiers.expand(word.text).value_or(word.text);
        const auto equals = text.find('=');
        if (equals == std::string::npos || !valid_variable(std::string_view(text).substr(0, equals)) || !valid_utf8(text))
            out.refused.push_back("a word that is no assignment is ignored");
        else
            out.assignments.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
}

namespace {

/// Strips "-@:+!" in front of an executable; returns whether '@' was among them.
bool take_prefixes(std::string_view& word, ExecCommand& command) {
    bool argv0 = false, ambient = false, no_setuid = false, full = false;
    for (; !word.empty(); word.remove_prefix(1)) {
        const char c = word.front();
        if (c == '-' && !command.ignore_failure) command.ignore_failure = true;
        else if (c == '@' && !argv0) argv0 = true;
        else if (c == ':' && command.expands) command.expands = false;
        else if (c == '+' && !full && !no_setuid && !ambient) full = true;
        else if (c == '!' && !full && !no_setuid && !ambient) no_setuid = true;
        else if (c == '!' && no_setuid && !ambient) {
            no_setuid = false;
            ambient = true;
        } else break;
    }
    command.full_privileges = full || no_setuid;
    return argv0;
}

bool separator(std::string_view rest, std::string_view token) {
    return rest.rfind(token, 0) == 0 && (rest.size() == token.size() || whitespace.find(rest[token.size()]) != std::string_view::npos);
}

std::string_view skip(std::string_view rest, std::size_t count) {
    rest.remove_prefix(count);
    const auto begin = rest.find_first_not_of(whitespace);
    return begin == std::string_view::npos ? std::string_view() : rest.substr(begin);
}

}  // namespace

ExecWords exec_words(std::string_view value, const Specifiers& specifiers) {
    ExecWords out;
    std::string_view rest = value;
    bool more = true;
    while (more) {
        more = false;
        const Word first = next_word_or_warn(rest, unquote | unescape);
        if (first.kind == Word::end) return out;
        if (first.kind == Word::malformed) return out;  // "Unbalanced quoting, ignoring": the line alone is lost
        if (first.text == ";") {
            more = true;
            continue;
        }
        ExecCommand command;
        std::string_view word = first.text;
        const bool argv0 = take_prefixes(word, command);
        const auto refuse = [&](const char* why) {
            if (command.ignore_failure) return out;
            out.refused = why;
            out.commands.clear();
            return out;
        };
        const auto path = specifiers.expand(word);
        if (!path) {
            out.unresolved = true;
            command.path = word;
        } else {
            command.path = *path;
        }
        if (command.path.empty()) return refuse("has an empty executable");
        if (!safe(command.path)) return refuse("has special characters in its executable");
        if (command.path.back() == '/') return refuse("names a folder as its executable");
        if (command.path.front() != '/' && command.path.find('/') != std::string::npos) return refuse("names neither an absolute path nor a plain file name");
        if (!argv0) command.words.push_back(command.path);
        while (!rest.empty()) {
            if (separator(rest, ";")) {
                rest = skip(rest, 1);
                more = true;
                break;
            }
            if (separator(rest, "\\;")) {
                rest = skip(rest, 2);
                command.words.emplace_back(";");
                continue;
            }
            const Word next = next_word_or_warn(rest, unquote | unescape);
            if (next.kind == Word::end) break;
            if (next.kind == Word::malformed) return refuse("has an unbalanced quote");
            const auto text = specifiers.expand(next.text);
            out.unresolved |= !text;
            command.words.push_back(text.value_or(next.text));
        }
        if (command.words.empty()) return refuse("has an empty executable");
        out.commands.push_back(std::move(command));
    }
    return out;
}

}  // namespace preflight
