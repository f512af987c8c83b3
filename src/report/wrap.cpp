#include "report/wrap.h"

#include <array>
#include <utility>

namespace preflight {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> plain_forms = {
    {{"\u2013", "-"}, {"\u2014", "-"}, {"\u2026", "..."}, {"\u2265", ">="}, {"\u2264", "<="}, {"\u2260", "!="}, {"\u2192", "->"}, {"\u00d7", "x"}, {"\u2194", "<->"}}};

/// Bytes of the valid UTF-8 character at the start of `text`, 0 when it is not one.
std::size_t character_size(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text[0]);
    const std::size_t size = lead < 0x80 ? 1 : lead >= 0xc2 && lead < 0xe0 ? 2 : (lead & 0xf0) == 0xe0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
    if (size == 0 || size > text.size()) return 0;
    for (std::size_t i = 1; i < size; ++i)
        if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
    return size;
}

}  // namespace

int columns(std::string_view text) {
    int width = 0;
    for (const char c : text) width += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    return width;
}

std::string printable(std::string_view text, bool ascii) {
    std::string out;
    while (!text.empty()) {
        const std::size_t size = character_size(text);
        const std::string_view character = text.substr(0, size == 0 ? 1 : size);
        const auto lead = static_cast<unsigned char>(character[0]);
        std::string_view shown = character;
        const bool c1_control = lead == 0xc2 && size == 2 && static_cast<unsigned char>(character[1]) < 0xa0;
        if (size == 0 || lead < 0x20 || lead == 0x7f || c1_control) shown = lead == '\n' || lead == '\t' ? " " : "?";
        else if (ascii && size > 1) {
            shown = "?";
            for (const auto& [fancy, plain] : plain_forms)
                if (fancy == character) shown = plain;
        }
        out += shown;
        text.remove_prefix(character.size());
    }
    return out;
}

std::string wrap(std::string_view text, int width, int indent, int column) {
    std::string out;
    int at = column;
    bool first = true;
    while (!text.empty()) {
        const auto end = text.find(' ');
        const std::string_view word = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (word.empty()) continue;
        if (!first && at + 1 + columns(word) > width) {
            out += '\n';
            out.append(static_cast<std::size_t>(indent), ' ');
            at = indent;
        } else if (!first) {
            out += ' ';
            ++at;
        }
        out += word;
        at += columns(word);
        first = false;
    }
    return out;
}

}  // namespace preflight
