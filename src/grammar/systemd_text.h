#pragma once
// The small grammars of the systemd manager: words with quotes and escapes, variables in command lines, names of
// variables, byte sizes and resource limits. Behaviour as of systemd 252 (src/basic/extract-word.c, escape.c,
// env-util.c, parse-util.c, rlimit-util.c); where releases differ the function says so.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace preflight::systemd_text {

inline constexpr std::string_view whitespace = " \t\n\r";

bool valid_utf8(std::string_view text);
/// [A-Za-z_][A-Za-z0-9_]*: what the manager accepts as the name of a variable.
bool valid_variable(std::string_view name);
std::string_view trimmed(std::string_view text);

enum WordRules : unsigned {
    unquote = 1,        ///< quotes group and vanish
    unescape = 2,       ///< C escapes are resolved; one that is not known is an error
    keep_unknown = 4,   ///< an escape that is not known stays as it stands
    relax = 8,          ///< an unclosed quote ends with the text
};
struct Word {
    enum Kind { found, end, malformed } kind = end;
    std::string text;
};
/// The next word of `text`, which then holds the rest. After `malformed` the rest is undefined.
Word next_word(std::string_view& text, unsigned rules);
/// As next_word, but tries again with `keep_unknown` when the escapes make no sense, as the manager does for Exec lines.
Word next_word_or_warn(std::string_view& text, unsigned rules);

using Variables = std::map<std::string, std::string, std::less<>>;

/// One argument of a command line after the manager replaced variables.
struct Expanded {
    std::vector<std::string> words;  ///< none for "$X" when X is unset or empty
    std::vector<std::string> unset;  ///< variables it named that are not set
};
/// "$X" alone is replaced by the words of X; "${X}" anywhere by X as it stands; "$$" is "$".
Expanded expand_argument(const std::string& argument, const Variables& variables);

/// A byte size with the suffixes K M G T P E (factor 1024), "1.5G", "2G 512M". nullopt: the manager refuses it.
std::optional<std::uint64_t> parse_size(std::string_view text);

inline constexpr std::uint64_t infinity = ~std::uint64_t{0};
struct Limit {
    std::uint64_t soft = 0, hard = 0;  ///< bytes, or `infinity`
    bool operator==(const Limit&) const = default;
};
/// "infinity", "64M" or "soft:hard". nullopt: the manager ignores the line.
std::optional<Limit> parse_byte_limit(std::string_view text);

/// "1", "yes", "y", "true", "t", "on" in any case and their opposites; nullopt otherwise.
std::optional<bool> parse_boolean(std::string_view text);

}  // namespace preflight::systemd_text
