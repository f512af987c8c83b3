#include "facts/server_env.h"

namespace preflight {
namespace {

/// bufio.MaxScanTokenSize of Go: a longer line is an error.
constexpr std::size_t longest_line = 64 * 1024;

/// strings.TrimSpace for ASCII and the two Latin-1 blanks Go counts (U+0085, U+00A0 in UTF-8).
std::string_view trim(std::string_view text) {
    static constexpr std::string_view ascii = " \t\n\v\f\r";
    const auto drop_front = [&] {
        if (!text.empty() && ascii.find(text.front()) != std::string_view::npos) return text.remove_prefix(1), true;
        if (text.rfind("\xc2\x85", 0) == 0 || text.rfind("\xc2\xa0", 0) == 0) return text.remove_prefix(2), true;
        return false;
    };
    const auto drop_back = [&] {
        if (!text.empty() && ascii.find(text.back()) != std::string_view::npos) return text.remove_suffix(1), true;
        if (text.ends_with("\xc2\x85") || text.ends_with("\xc2\xa0")) return text.remove_suffix(2), true;
        return false;
    };
    while (drop_front()) {}
    while (drop_back()) {}
    return text;
}

}  // namespace

const ServerEnvLine* ServerEnv::find(std::string_view key) const {
    for (auto line = lines.rbegin(); line != lines.rend(); ++line)
        if (line->key == key) return &*line;
    return nullptr;
}

ServerEnv read_server_env(std::string_view text) {
    ServerEnv env;
    int number = 0;
    while (!text.empty()) {
        ++number;
        const auto end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        const auto stop = [&](const char* why) {
            env.malformed_line = number;
            env.malformed = why;
            env.lines.clear();
            return env;
        };
        if (line.size() >= longest_line) return stop("longer than 64 KiB");
        line = trim(line);
        if (line.empty() || line.front() == '#') continue;
        if (line.rfind("export", 0) == 0) line = trim(line.substr(6));
        const auto equals = line.find('=');
        if (equals == std::string_view::npos) return stop("has no \"=\"");
        const std::string_view key = line.substr(0, equals);
        std::string_view value = line.substr(equals + 1);
        if (!key.empty() && key.front() == '#') continue;
        if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
            value = value.substr(1, value.size() - 2);
        env.lines.push_back({std::string(key), std::string(value), number});
    }
    return env;
}

}  // namespace preflight
