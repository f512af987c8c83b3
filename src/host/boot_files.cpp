// Files that run or apply at boot may hold secrets, so only lines that speak of what is judged leave the node: DCB, modules
// kept from loading, limits of locked memory; of other ExecStart= lines the program alone.

#include <algorithm>
#include <array>
#include <sstream>

#include <fmt/format.h>
#include <sys/utsname.h>

#include "host/live.h"
#include "host/secrets.h"

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

namespace {

/// The lines of a text as words, those that end in a backslash joined; comments are left out.
template <class F>
std::vector<FileLine> chosen_lines(const std::string& text, F&& choose) {
    std::vector<FileLine> chosen;
    std::istringstream in(text);
    std::string joined;
    int number = 0, first = 1;
    for (std::string raw; std::getline(in, raw);) {
        ++number;
        const bool more = !raw.empty() && raw.back() == '\\';
        joined += more ? raw.substr(0, raw.size() - 1) + ' ' : raw;
        if (more) continue;
        std::istringstream split(joined);
        std::vector<std::string> words;
        for (std::string word; split >> word && word[0] != '#';) words.push_back(std::move(word));
        if (const std::string kept = choose(words); !kept.empty()) chosen.push_back({first, kept});
        joined.clear();
        first = number + 1;
    }
    return chosen;
}

bool module_name(const std::string& word) {
    return word.size() <= 64 && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
}

}  // namespace

Fact<std::string> plain_exec(const std::string& root, const std::string& path) {
    constexpr std::size_t longest_script = 64u << 10;
    return read(root, path, longest_script).then([](const std::string& text) -> Fact<std::string> {
        if (text.rfind("#!", 0) != 0) return Absent{"no script"};
        std::istringstream in(text);
        std::string command;
        for (std::string raw; std::getline(in, raw);) {
            const std::string line = stripped(raw);
            if (line.empty() || line[0] == '#' || line.rfind("set -", 0) == 0) continue;
            if (!command.empty() || line.rfind("exec ", 0) != 0) return Absent{"it does more than exec"};
            command = stripped(line.substr(5));
        }
        if (command.empty() || command.find_first_of(";|&<>()`\\'") != std::string::npos) return Absent{"no plain command"};
        return secrets::mask_command(command);
    });
}

Fact<std::vector<FileLine>> modprobe_lines(const std::string& root, const std::string& path) {
    return read(root, path).then([](const std::string& text) {
        return chosen_lines(text, [](const std::vector<std::string>& words) -> std::string {
            if (words.size() < 2 || !module_name(words[1])) return {};
            if (words[0] == "blacklist") return "blacklist " + words[1];
            return words[0] == "install" && words.size() > 2 ? fmt::format("install {} {}", words[1], words[2]) : std::string();
        });
    });
}

Fact<std::vector<FileLine>> memlock_lines(const std::string& root, const std::string& path) {
    return read(root, path).then([](const std::string& text) {
        return chosen_lines(text, [](const std::vector<std::string>& words) -> std::string {
            const bool limit = words.size() == 4 && words[2] == "memlock" && words[0].size() <= 64 && words[1].size() <= 4 && words[3].size() <= 24;
            return limit ? fmt::format("{} {} memlock {}", words[0], words[1], words[3]) : std::string();
        });
    });
}

Fact<std::string> module_file(const std::string& root, const std::string& name) {
    utsname kernel{};
    if (uname(&kernel) != 0) return Unreadable{errno_name(errno), "uname"};
    const std::string folder = std::string("/lib/modules/") + kernel.release;
    if (info(root, folder).absent()) {
        // Those of another kernel: an update. None at all: a container, or another root.
        const auto others = list(root, "/lib/modules");
        if (others.has() && !others->empty()) return Absent{"no modules"};
        return Unreadable{"ENOENT", folder + ": no kernel's modules are here"};
    }
    return read(root, folder + "/modules.dep", std::size_t{64} << 20).then([&](const std::string& text) -> Fact<std::string> {
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);) {
            const std::string file = line.substr(0, line.find(':'));
            std::string stem = file.substr(file.rfind('/') + 1);
            stem = stem.substr(0, stem.find(".ko"));
            std::replace(stem.begin(), stem.end(), '-', '_');
            if (stem == name) return file;
        }
        return Absent{};
    });
}

}  // namespace preflight::live
