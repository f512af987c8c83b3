#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>

#include "cli/command.h"
#include "cli/presentation.h"
#include "facts/peers.h"
#include "facts/ports.h"
#include "facts/service.h"
#include "preflight/engine.h"
#include "preflight/facts.h"
#include "probe/identity.h"
#include "probe/prober.h"
#include "probe/wire.h"

namespace preflight {
namespace {

struct ProbeArguments {
    std::string host;
    std::vector<std::string> sources;
    Presentation presentation;
    std::size_t bytes = probe::max_buffer_bytes;
    bool as_service = false;
    Options options;
};

/// How many connections it takes to use each member of the bond below an interface; 1 without a bond.
unsigned members_below(const Facts& facts, int index) {
    const Ports& ports = facts.ports();
    for (int depth = 0; depth < 8; ++depth) {
        if (const auto members = ports.members(index); !members.empty()) return static_cast<unsigned>(members.size());
        const Link* link = ports.link(index);
        if (!link || !link->lower || *link->lower == index) break;
        index = *link->lower;
    }
    return 1;
}

int link_of(const Facts& facts, const std::string& source, const PeerAddress& address) {
    if (source.empty()) return address.route ? address.route->link : 0;
    for (const Address& own : facts.ports().addresses.value_or({}))
        if (own.address == source) return own.link;
    throw UsageError{fmt::format("--from {}: no address of this node", source)};
}

void probe_all(const Facts& facts, const ProbeArguments& arguments, Findings& out) {
    const PeerNode& node = facts.peers().nodes->front();
    if (!node.addresses)
        throw UsageError{fmt::format("{}: {}", node.name,
                                     node.addresses.absent() ? "does not resolve" : node.addresses.why().cause)};
    std::optional<probe::ServiceIdentity> identity;
    const auto sources = arguments.sources.empty() ? std::vector<std::string>{""} : arguments.sources;
    std::vector<std::pair<probe::Wish, unsigned>> wishes;
    for (const PeerAddress& address : *node.addresses)
        for (const std::string& source : sources)
            wishes.push_back({{node.name, address.text, node.rdma_port, source, arguments.bytes,
                               arguments.options.timeout_seconds, arguments.as_service, address.own},
                              members_below(facts, link_of(facts, source, address))});
    if (arguments.as_service) {
        const ServiceFacts& service = facts.service();
        if (service.absent()) throw UsageError{fmt::format("--as-service: there is no unit {}", service.name)};
        if (!service.account)
            throw UsageError{fmt::format("--as-service: user {} of {}: {}", service.user_name(), service.name,
                                         service.account.absent() ? "no such user" : service.account.why().cause)};
        identity.emplace(*service.account, service.memlock.soft);
    }
    for (const auto& [wish, connections] : wishes)
        for (unsigned connection = 1; connection <= connections; ++connection)
            probe::tell(probe::probe(facts.host(), wish), connection, connections, out);
}

Exit probe_peer(const std::shared_ptr<ProbeArguments>& arguments) {
    if (!parse_peer(arguments->host))
        throw UsageError{fmt::format("probe: \"{}\" is not HOST or HOST:PORT", arguments->host.substr(0, 80))};
    const auto outputs = parse_outputs(arguments->presentation);
    Options& options = arguments->options;
    options.peers = {arguments->host};
    options.only = {"peers.rdma"};
    options.want = internode;
    options.roles = storage;
    // The whole catalogue, so that the report knows how little of it was judged.
    std::vector<Module> catalogue = modules();
    for (Module& module : catalogue)
        for (Check& check : module.checks)
            if (check.id == "peers.rdma")
                check.judge = [&](const Facts& facts, Findings& out) { probe_all(facts, *arguments, out); };
    const auto host = open_host("", options.root, options.timeout_seconds);
    const Report report = make_report(*host, options, catalogue);
    // The numbers of a transfer are what a person came for.
    arguments->presentation.facts = true;
    return present(report, arguments->presentation, outputs);
}

}  // namespace

Command probe_command() {
    return {"probe", "Move real data by RDMA to a node where `listen` runs, and report what came of it",
            [](CLI::App& app) -> std::function<Exit()> {
                auto arguments = std::make_shared<ProbeArguments>();
                ProbeArguments& a = *arguments;
                app.add_option("HOST", a.host,
                               "The peer, as HOST or HOST:PORT (default: MINIO_RDMA_PEER_PORT, else 5555)")
                    ->required();
                app.add_option("--from", a.sources,
                               "Own addresses to connect from, one connection each (default: the kernel's choice)")
                    ->delimiter(',')
                    ->type_name("ADDRESS");
                app.add_option("--size", a.bytes, "Bytes of the largest transfer, at most 64M")
                    ->transform(CLI::AsSizeValue(false))
                    ->check(CLI::Range(std::size_t{4096}, std::size_t{probe::max_buffer_bytes}))
                    ->type_name("BYTES");
                app.add_option("--timeout", a.options.timeout_seconds,
                               "Seconds for each step; transfers get more by their size (5)")
                    ->type_name("SECONDS")
                    ->check(CLI::Range(0.1, 3600.0));
                app.add_flag("--as-service", a.as_service,
                             "Pin memory and open devices as the service's user under its memlock limit (needs root)");
                app.add_option("--service", a.options.service, "The unit that starts AIStor")->type_name("NAME");
                add_presentation_options(app, a.presentation);
                return [arguments] { return probe_peer(arguments); };
            }};
}

}  // namespace preflight
