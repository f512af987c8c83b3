#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstring>
#include <fstream>

#include "cli/command.h"
#include "facts/node.h"
#include "facts/peers.h"

namespace preflight {
namespace {

void add_peer(std::vector<std::string>& peers, const std::string& text, const std::string& place) {
    if (!parse_peer(text)) throw UsageError{fmt::format("{}: \"{}\" is not HOST or HOST:PORT", place, text.substr(0, 80))};
    peers.push_back(text);
}

/// A peer a line; blank lines and what follows '#' are ignored.
void add_file(std::vector<std::string>& peers, const std::string& path) {
    std::ifstream file(path);
    if (!file) throw UsageError{fmt::format("--peers @{}: {}", path, std::strerror(errno))};
    std::string line;
    for (int number = 1; std::getline(file, line); ++number)
        if (const std::string text = trimmed(line.substr(0, line.find('#'))); !text.empty()) add_peer(peers, text, fmt::format("--peers @{}, line {}", path, number));
    if (file.bad()) throw UsageError{fmt::format("--peers @{}: {}", path, std::strerror(errno))};
}

}  // namespace

void add_network_options(CLI::App& app, Options& options) {
    auto* peers = app.add_option_function<std::vector<std::string>>(
        "--peers",
        [&options](const std::vector<std::string>& words) {
            std::vector<std::string> list;
            for (const std::string& word : words)
                if (!word.empty() && word[0] == '@') add_file(list, word.substr(1));
                else add_peer(list, word, "--peers");
            if (list.empty()) throw UsageError{"--peers names no node"};
            options.peers = std::move(list);
        },
        "The AIStor nodes, or @FILE with one a line; PORT is the RDMA peer port (default: from MINIO_VOLUMES)");
    peers->delimiter(',')->type_name("HOST[:PORT]");
    app.add_flag("--no-peers", options.no_peers, "Ask nothing of the other nodes")->excludes(peers);
    app.add_option("--timeout", options.timeout_seconds, "Seconds for all questions to the network together (5)")
        ->type_name("SECONDS")
        ->check(CLI::Range(0.1, 3600.0));
}

}  // namespace preflight
