#pragma once
// Words of which secrets.h left nothing: only 'x', quotes and backslashes. What a rule makes of arguments goes through here, so
// that a hidden word is known to be hidden, on the live node and from a snapshot alike.

#include <string_view>

namespace preflight {

inline bool is_masked_word(std::string_view word) {
    return word.find('x') != std::string_view::npos && word.find_first_not_of("x\"'\\") == std::string_view::npos;
}

/// Whether one of the words is masked.
inline bool holds_masked_word(std::string_view text) {
    for (std::size_t i = text.find_first_not_of(" \t\r\n"); i != std::string_view::npos; i = text.find_first_not_of(" \t\r\n", i)) {
        const auto end = text.find_first_of(" \t\r\n", i);
        if (is_masked_word(text.substr(i, end - i))) return true;
        if (end == std::string_view::npos) break;
        i = end;
    }
    return false;
}

}  // namespace preflight
