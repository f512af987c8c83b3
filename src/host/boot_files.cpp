// Files that run or apply at boot may hold secrets, so only lines that speak of DCB leave the node, and of other ExecStart=
// lines the program alone.

#include <algorithm>
#include <array>
#include <sstream>

#include "host/live.h"

namespace preflight::live {
namespace {

constexpr std::array dcb_words = {"dcb ", "mlnx_qos", "set-priv-flags", "lldptool", "dcbtool", "roce_np", "roce_rp"};
// Keys of units and NetworkManager profiles that tell when a file applies.
constexpr std::array plain_keys = {"Type=", "RemainAfterExit=", "interface-name=", "priority-flow-control", "priority-traffic-class="};

std::string stripped(const std::string& line) {
    const auto begin = line.find_first_not_of(" \t\r");
    return begin == std::string::npos ? std::string() : line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

/// "ExecStart=-/usr/local/sbin/roce.sh --token x" -> "ExecStart=/usr/local/sbin/roce.sh"
std::string program_of(const std::string& line) {
    const auto begin = line.find_first_not_of("-@:+!| \t", line.find('=') + 1);
    if (begin == std::string::npos) return {};
    return "ExecStart=" + line.substr(begin, line.find_first_of(" \t", begin) - begin);
}

}  // namespace

Fact<std::vector<std::string>> dcb_lines(const std::string& root, const std::string& path) {
    return read(root, path).then([](const std::string& text) {
        std::vector<std::string> lines;
        std::istringstream in(text);
        for (std::string raw; std::getline(in, raw);) {
            const std::string line = stripped(raw);
            if (line.empty() || line[0] == '#' || line[0] == ';') continue;
            const auto any = [&](const auto& words, auto&& fits) { return std::any_of(words.begin(), words.end(), fits); };
            if (any(dcb_words, [&](const char* word) { return line.find(word) != std::string::npos; }) ||
                any(plain_keys, [&](const char* key) { return line.rfind(key, 0) == 0; }))
                lines.push_back(line);
            else if (line.rfind("ExecStart", 0) == 0 && line.find('=') != std::string::npos)
                if (const std::string program = program_of(line); !program.empty()) lines.push_back(program);
        }
        return lines;
    });
}

}  // namespace preflight::live
