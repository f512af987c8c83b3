#include "preflight/host.h"

#include <fmt/format.h>

#include "host/answer.h"

namespace preflight {

namespace {

template <class T>
Fact<T> typed(const Question& question, const Answer& reply) {
    if (!reply.fact.has()) return reply.fact.as<T>();
    try {
        if constexpr (std::is_same_v<T, std::string>) return text_from_json(*reply.fact);
        else return reply.fact->get<T>();
    } catch (const Json::exception& error) {
        throw InputError{fmt::format("the answer to {} \"{}\" has the wrong form: {}", question.kind, question.argument, error.what())};
    }
}

std::string sampled(const std::string& argument, int sample) {
    return sample == 0 ? argument : fmt::format("{}@{}", argument, sample);
}

std::string port_of(const std::string& device, int port) {
    return fmt::format("{}/{}", device, port);
}

}  // namespace

template <class T>
Fact<T> Host::ask(std::string kind, std::string argument) {
    const Question question{std::move(kind), std::move(argument)};
    return typed<T>(question, answer(question));
}

template <class T>
std::vector<Fact<T>> Host::ask_all(const std::string& kind, const std::vector<std::string>& arguments) {
    std::vector<Question> questions;
    for (const std::string& argument : arguments) questions.push_back({kind, argument});
    const std::vector<Answer> replies = answers(questions);
    std::vector<Fact<T>> facts;
    for (std::size_t i = 0; i < questions.size(); ++i) facts.push_back(typed<T>(questions[i], replies[i]));
    return facts;
}

std::vector<Answer> Host::answers(const std::vector<Question>& questions) {
    std::vector<Answer> replies;
    for (const Question& question : questions) replies.push_back(answer(question));
    return replies;
}

Fact<std::string> Host::read(const std::string& path) { return ask<std::string>("read", path); }
Fact<std::vector<std::string>> Host::list(const std::string& path) { return ask<std::vector<std::string>>("list", path); }
Fact<std::string> Host::link_target(const std::string& path) { return ask<std::string>("link_target", path); }
Fact<std::string> Host::resolve(const std::string& path) { return ask<std::string>("resolve", path); }
Fact<FileInfo> Host::info(const std::string& path) { return ask<FileInfo>("info", path); }
Fact<std::vector<std::string>> Host::dcb_lines(const std::string& path) { return ask<std::vector<std::string>>("dcb_lines", path); }
Fact<std::string> Host::plain_exec(const std::string& path) { return ask<std::string>("plain_exec", path); }
Fact<std::vector<FileLine>> Host::modprobe_lines(const std::string& path) { return ask<std::vector<FileLine>>("modprobe_lines", path); }
Fact<std::vector<FileLine>> Host::memlock_lines(const std::string& path) { return ask<std::vector<FileLine>>("memlock_lines", path); }
Fact<std::string> Host::module_file(const std::string& name) { return ask<std::string>("module_file", name); }
Fact<PciConfig> Host::config_space(const std::string& address) { return ask<PciConfig>("config_space", address); }
Fact<std::string> Host::environment_file(const std::string& path) { return ask<std::string>("environment_file", path); }
Fact<std::string> Host::server_environment_file(const std::string& path) { return ask<std::string>("server_environment_file", path); }
Fact<std::string> Host::unit_file(const std::string& path) { return ask<std::string>("unit_file", path); }
Fact<Elf> Host::elf(const std::string& path) { return ask<Elf>("elf", path); }
Fact<std::vector<CachedLibrary>> Host::cached_library(const std::string& name) { return ask<std::vector<CachedLibrary>>("cached_library", name); }
Fact<std::string> Host::version_output(const std::string& path) { return ask<std::string>("version_output", path); }
Fact<User> Host::user(const std::string& name) { return ask<User>("user", name); }
Fact<Processes> Host::processes() { return ask<Processes>("processes"); }
Fact<Process> Host::process(int pid) { return ask<Process>("process", std::to_string(pid)); }
Fact<Caller> Host::caller() { return ask<Caller>("caller"); }
Fact<ServiceManager> Host::service_manager() { return ask<ServiceManager>("service_manager"); }
Fact<LoadedUnit> Host::loaded_unit(const std::string& unit) { return ask<LoadedUnit>("loaded_unit", unit); }
Fact<Node> Host::node() { return ask<Node>("node"); }
Fact<std::vector<std::string>> Host::kernel_log() { return ask<std::vector<std::string>>("kernel_log"); }
Fact<std::vector<Link>> Host::links(int sample) { return ask<std::vector<Link>>("links", sampled("", sample)); }
Fact<std::vector<Address>> Host::addresses() { return ask<std::vector<Address>>("addresses"); }
Fact<Route> Host::route(const std::string& destination, const std::string& vrf) {
    return ask<Route>("route", vrf.empty() ? destination : destination + " vrf " + vrf);
}
Fact<EthtoolDriver> Host::ethtool_driver(const std::string& netdev) { return ask<EthtoolDriver>("ethtool_driver", netdev); }
Fact<EthtoolPause> Host::ethtool_pause(const std::string& netdev) { return ask<EthtoolPause>("ethtool_pause", netdev); }
Fact<EthtoolChannels> Host::ethtool_channels(const std::string& netdev) { return ask<EthtoolChannels>("ethtool_channels", netdev); }
Fact<EthtoolSpeed> Host::ethtool_speed(const std::string& netdev) { return ask<EthtoolSpeed>("ethtool_speed", netdev); }
Fact<std::map<std::string, bool>> Host::ethtool_private_flags(const std::string& netdev) {
    return ask<std::map<std::string, bool>>("ethtool_private_flags", netdev);
}
Fact<std::map<std::string, std::uint64_t>> Host::ethtool_statistics(const std::string& netdev, int sample) {
    return ask<std::map<std::string, std::uint64_t>>("ethtool_statistics", sampled(netdev, sample));
}
Fact<Dcb> Host::dcb(const std::string& netdev, int sample) { return ask<Dcb>("dcb", sampled(netdev, sample)); }
Fact<std::vector<DevlinkDevice>> Host::devlink() { return ask<std::vector<DevlinkDevice>>("devlink"); }
Fact<std::vector<RdmaDevice>> Host::rdma_devices(int sample) { return ask<std::vector<RdmaDevice>>("rdma_devices", sampled("", sample)); }
Fact<std::vector<RdmaResource>> Host::rdma_resources(const std::string& device) {
    return ask<std::vector<RdmaResource>>("rdma_resources", device);
}
Fact<std::string> Host::rdma_netns_mode() { return ask<std::string>("rdma_netns_mode"); }
Fact<GidTable> Host::rdma_gids(const std::string& device, int port) { return ask<GidTable>("rdma_gids", port_of(device, port)); }
Fact<std::map<std::string, std::uint64_t>> Host::rdma_counters(const std::string& device, int port, int sample) {
    return ask<std::map<std::string, std::uint64_t>>("rdma_counters", sampled(port_of(device, port), sample));
}
Fact<Verbs> Host::verbs() { return ask<Verbs>("verbs"); }
std::vector<Fact<std::vector<std::string>>> Host::resolve_names(const std::vector<std::string>& names) {
    return ask_all<std::vector<std::string>>("resolve_name", names);
}
std::vector<Fact<TcpProbe>> Host::probe_tcp(const std::vector<std::string>& targets) { return ask_all<TcpProbe>("tcp_probe", targets); }
Fact<std::vector<ListeningSocket>> Host::listening(int port) {
    return ask<std::vector<ListeningSocket>>("listening", std::to_string(port));
}

}  // namespace preflight
