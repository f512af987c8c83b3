#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/log.h"
#include "facts/peers.h"
#include "preflight/facts.h"
#include "probe/failure.h"
#include "probe/listener.h"

namespace preflight {
namespace {

struct ListenArguments {
    std::string address;
    std::vector<std::string> allow;
    double idle = 300, total = 3600;
    Options options;
};

/// Addresses of the peers that may connect: of --allow, else of MINIO_VOLUMES.
std::vector<std::string> allowed_addresses(const PeerFacts& peers) {
    std::vector<std::string> list;
    if (peers.nodes)
        for (const PeerNode& node : *peers.nodes) {
            if (!node.addresses)
                log_warning(fmt::format("{} is left out: it {}", node.name,
                                        node.addresses.absent() ? "does not resolve" : "could not be resolved"));
            for (const PeerAddress& address : node.addresses.value_or({})) list.push_back(address.text);
        }
    if (list.empty())
        throw UsageError{fmt::format("listen: {} names nobody who may connect; name the peers with --allow HOST,…",
                                     peers.origin == "--peers" ? "--allow" : peers.origin)};
    return list;
}

Exit listen_for(ListenArguments& arguments) {
    const auto named = parse_peer(arguments.address);
    if (!named || named->name.find_first_not_of("0123456789abcdefABCDEF.:") != std::string::npos)
        throw UsageError{fmt::format("listen: \"{}\" is not an address of this node, as ADDRESS or ADDRESS:PORT",
                                     arguments.address.substr(0, 80))};
    if (named->name == "0.0.0.0" || named->name == "::")
        throw UsageError{"listen: name one address of this node, not all of them"};
    for (const std::string& peer : arguments.allow)
        if (!parse_peer(peer)) throw UsageError{fmt::format("--allow: \"{}\" is not a host", peer.substr(0, 80))};
    if (!arguments.allow.empty()) arguments.options.peers = arguments.allow;
    const auto host = open_host("", arguments.options.root, arguments.options.timeout_seconds);
    const Facts facts(*host, arguments.options);
    const PeerFacts& peers = facts.peers();
    const probe::Invitation invitation{named->name, named->port ? named->port : peers.rdma_port,
                                       allowed_addresses(peers), arguments.idle, arguments.total};
    const auto say = [](const std::string& line) {
        print(line + "\n");
        std::fflush(stdout);
    };
    try {
        const probe::Served served = probe::listen(invitation, say);
        say(fmt::format("ended: {} served, {} refused, {} failed", served.clients, served.refused, served.failed));
        if (served.failed) return Exit::failed;
        return served.clients ? Exit::ok : Exit::incomplete;
    } catch (const probe::Failure& failure) {
        const probe::Meaning told = probe::meaning(failure, {});
        throw UsageError{
            fmt::format("listen: {}: {}. {} {}", failure.step, failure.detail, told.why, told.remedy.summary)};
    }
}

}  // namespace

Command listen_command() {
    return {"listen", "Wait on one address for `probe` of a peer; ends by itself",
            [](CLI::App& app) -> std::function<Exit()> {
                auto arguments = std::make_shared<ListenArguments>();
                ListenArguments& a = *arguments;
                app.add_option(
                       "ADDRESS", a.address,
                       "The node's own storage address, or ADDRESS:PORT (default: MINIO_RDMA_PEER_PORT, else 5555)")
                    ->required();
                app.add_option("--allow", a.allow, "Peers that may connect (default: those of MINIO_VOLUMES)")
                    ->delimiter(',')
                    ->type_name("HOST");
                app.add_option("--idle", a.idle, "Ends after so long without a probe (300)")
                    ->type_name("SECONDS")
                    ->check(CLI::Range(1.0, 86400.0));
                app.add_option("--total", a.total, "Ends after so long in any case (3600)")
                    ->type_name("SECONDS")
                    ->check(CLI::Range(1.0, 86400.0));
                return [arguments] { return listen_for(*arguments); };
            }};
}

}  // namespace preflight
