#include "grammar/systemd_text.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace preflight::systemd_text {
namespace {

bool blank(char c) {
    return whitespace.find(c) != std::string_view::npos;
}

bool digit(char c) {
    return c >= '0' && c <= '9';
}

int hex_value(char c) {
    if (digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

void append_utf8(std::string& out, std::uint32_t c) {
    if (c < 0x80) {
        out += static_cast<char>(c);
    } else if (c < 0x800) {
        out += static_cast<char>(0xc0 | c >> 6);
        out += static_cast<char>(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        out += static_cast<char>(0xe0 | c >> 12);
        out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
        out += static_cast<char>(0x80 | (c & 0x3f));
    } else {
        out += static_cast<char>(0xf0 | c >> 18);
        out += static_cast<char>(0x80 | (c >> 12 & 0x3f));
        out += static_cast<char>(0x80 | (c >> 6 & 0x3f));
        out += static_cast<char>(0x80 | (c & 0x3f));
    }
}

/// The number in the first `count` digits of `text`, or nullopt.
std::optional<std::uint64_t> number(std::string_view text, std::size_t count, unsigned base) {
    if (text.size() < count) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const int d = hex_value(text[i]);
        if (d < 0 || static_cast<unsigned>(d) >= base) return std::nullopt;
        value = value * base + static_cast<unsigned>(d);
    }
    return value;
}

/// Appends what the escape after a backslash stands for; returns how many characters it took, 0 when it is none.
std::size_t unescape_one(std::string_view text, std::string& out) {
    static constexpr std::string_view from = "abfnrtv\\\"'s", to = "\a\b\f\n\r\t\v\\\"' ";
    if (text.empty()) return 0;
    if (const auto at = from.find(text[0]); at != std::string_view::npos) {
        out += to[at];
        return 1;
    }
    const bool octal = digit(text[0]);
    if (text[0] == 'x' || octal) {
        const auto value = octal ? number(text, 3, 8) : number(text.substr(1), 2, 16);
        if (!value || *value == 0 || *value > 0xff) return 0;
        out += static_cast<char>(*value);
        return 3;
    }
    if (text[0] == 'u' || text[0] == 'U') {
        const std::size_t count = text[0] == 'u' ? 4 : 8;
        const auto value = number(text.substr(1), count, 16);
        if (!value || *value == 0 || *value > 0x10ffff || (*value >= 0xd800 && *value < 0xe000)) return 0;
        if ((*value >= 0xfdd0 && *value <= 0xfdef) || (*value & 0xfffe) == 0xfffe) return 0;
        append_utf8(out, static_cast<std::uint32_t>(*value));
        return count + 1;
    }
    return 0;
}

}  // namespace

bool valid_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto c = static_cast<unsigned char>(text[i]);
        const std::size_t more = c < 0x80 ? 0 : c >= 0xc2 && c < 0xe0 ? 1 : (c & 0xf0) == 0xe0 ? 2 : c >= 0xf0 && c < 0xf5 ? 3 : 4;
        if (more == 4 || i + more >= text.size()) return false;
        std::uint32_t point = more == 0 ? c : c & (0x3fu >> more);
        for (std::size_t k = 1; k <= more; ++k) {
            const auto d = static_cast<unsigned char>(text[i + k]);
            if ((d & 0xc0) != 0x80) return false;
            point = point << 6 | (d & 0x3fu);
        }
        if ((more == 2 && point < 0x800) || (more == 3 && point < 0x10000)) return false;
        if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return false;
        if (more && ((point >= 0xfdd0 && point <= 0xfdef) || (point & 0xfffe) == 0xfffe)) return false;
        i += more + 1;
    }
    return true;
}

bool valid_variable(std::string_view name) {
    if (name.empty() || digit(name[0])) return false;
    return std::all_of(name.begin(), name.end(), [](char c) { return digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; });
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && blank(text.back())) text.remove_suffix(1);
    return text;
}

Word next_word(std::string_view& text, unsigned rules) {
    while (!text.empty() && blank(text.front())) text.remove_prefix(1);
    if (text.empty()) return {};
    std::string word;
    char quote = 0;
    std::size_t i = 0;
    const auto take = [&](std::size_t used) { text.remove_prefix(used); };
    for (;; ++i) {
        if (i >= text.size()) {
            if (quote && !(rules & relax)) return {Word::malformed, {}};
            take(i);
            return {Word::found, word};
        }
        const char c = text[i];
        if (c == '\\') {
            if (i + 1 >= text.size()) {
                if (rules & keep_unknown && (quote == 0 || rules & relax)) word += '\\';
                else if (!(rules & relax)) return {Word::malformed, {}};
                take(i + 1);
                return {Word::found, word};
            }
            if (!(rules & unescape)) {
                word += text[++i];
            } else if (const std::size_t used = unescape_one(text.substr(i + 1), word)) {
                i += used;
            } else if (rules & keep_unknown) {
                word += c;
                word += text[++i];
            } else {
                return {Word::malformed, {}};
            }
        } else if (quote) {
            if (c == quote) quote = 0;
            else word += c;
        } else if ((c == '"' || c == '\'') && rules & unquote) {
            quote = c;
        } else if (blank(c)) {
            while (i < text.size() && blank(text[i])) ++i;
            take(i);
            return {Word::found, word};
        } else {
            word += c;
        }
    }
}

Word next_word_or_warn(std::string_view& text, unsigned rules) {
    std::string_view rest = text;
    Word word = next_word(rest, rules);
    if (word.kind == Word::malformed) {
        rest = text;
        word = next_word(rest, rules | keep_unknown);
    }
    text = rest;
    return word;
}

namespace {

std::string replace_braces(std::string_view argument, const Variables& variables, std::vector<std::string>& unset) {
    std::string out;
    for (std::size_t i = 0; i < argument.size(); ++i) {
        if (argument[i] != '$' || i + 1 >= argument.size()) {
            out += argument[i];
        } else if (argument[i + 1] == '$') {
            out += '$';
            ++i;
        } else if (argument[i + 1] == '{') {
            const auto end = argument.find('}', i + 2);
            if (end == std::string_view::npos) return out.append(argument.substr(i));
            const std::string_view name = argument.substr(i + 2, end - i - 2);
            const auto known = variables.find(name);
            if (known != variables.end()) out += known->second;
            else unset.emplace_back(name);
            i = end;
        } else {
            out += argument[i];
        }
    }
    return out;
}

}  // namespace

Expanded expand_argument(const std::string& argument, const Variables& variables) {
    Expanded out;
    if (argument.size() < 2 || argument[0] != '$' || argument[1] == '{' || argument[1] == '$') {
        if (argument == "$") {
            out.unset.emplace_back();
            return out;
        }
        out.words.push_back(replace_braces(argument, variables, out.unset));
        return out;
    }
    const auto known = variables.find(std::string_view(argument).substr(1));
    if (known == variables.end()) {
        out.unset.push_back(argument.substr(1));
        return out;
    }
    std::string_view rest = known->second;
    for (;;) {
        Word word = next_word(rest, unquote | relax);
        if (word.kind != Word::found) return out;
        out.words.push_back(std::move(word.text));
    }
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
    struct Unit {
        char suffix;
        std::uint64_t factor;
    };
    static constexpr std::array units = {Unit{'E', 1ull << 60}, Unit{'P', 1ull << 50}, Unit{'T', 1ull << 40}, Unit{'G', 1ull << 30},
                                         Unit{'M', 1ull << 20}, Unit{'K', 1ull << 10}, Unit{'B', 1},          Unit{0, 1}};
    std::uint64_t sum = 0;
    std::size_t from = 0, i = 0;
    do {
        while (i < text.size() && blank(text[i])) ++i;
        if (i < text.size() && text[i] == '+') ++i;
        const std::size_t digits = i;
        std::uint64_t whole = 0;
        for (; i < text.size() && digit(text[i]); ++i)
            if (__builtin_mul_overflow(whole, std::uint64_t{10}, &whole) || __builtin_add_overflow(whole, static_cast<std::uint64_t>(text[i] - '0'), &whole))
                return std::nullopt;
        if (i == digits) return std::nullopt;
        double fraction = 0;
        std::uint64_t decimals = 0;  // systemd reads them as one number, so they may overflow
        if (i < text.size() && text[i] == '.') {
            const std::size_t begin = ++i;
            for (; i < text.size() && digit(text[i]); ++i)
                if (__builtin_mul_overflow(decimals, std::uint64_t{10}, &decimals) ||
                    __builtin_add_overflow(decimals, static_cast<std::uint64_t>(text[i] - '0'), &decimals))
                    return std::nullopt;
            fraction = static_cast<double>(decimals);
            for (std::size_t d = begin; d < i; ++d) fraction /= 10;
        }
        while (i < text.size() && blank(text[i])) ++i;
        std::size_t unit = from;
        while (unit < units.size() && units[unit].suffix && (i >= text.size() || text[i] != units[unit].suffix)) ++unit;
        if (unit >= units.size()) return std::nullopt;
        const std::uint64_t factor = units[unit].factor;
        if (whole + (fraction > 0) > infinity / factor) return std::nullopt;
        const std::uint64_t part = whole * factor + static_cast<std::uint64_t>(fraction * static_cast<double>(factor));
        if (__builtin_add_overflow(sum, part, &sum)) return std::nullopt;
        if (units[unit].suffix) ++i;
        from = unit + 1;
    } while (i < text.size());
    return sum;
}

std::optional<Limit> parse_byte_limit(std::string_view text) {
    const auto one = [](std::string_view part) -> std::optional<std::uint64_t> {
        if (part == "infinity") return infinity;
        const auto size = parse_size(part);
        return size && *size == infinity ? std::nullopt : size;
    };
    const auto colon = text.find(':');
    const auto soft = one(text.substr(0, colon));
    const auto hard = colon == std::string_view::npos ? soft : one(text.substr(colon + 1));
    if (!soft || !hard || *soft > *hard) return std::nullopt;
    return Limit{*soft, *hard};
}

std::optional<bool> parse_boolean(std::string_view text) {
    std::string low(text);
    std::transform(low.begin(), low.end(), low.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    for (const char* yes : {"1", "yes", "y", "true", "t", "on"})
        if (low == yes) return true;
    for (const char* no : {"0", "no", "n", "false", "f", "off"})
        if (low == no) return false;
    return std::nullopt;
}

}  // namespace preflight::systemd_text
