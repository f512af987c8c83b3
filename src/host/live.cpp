#include "host/live.h"

#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <unordered_map>

#include "host/answer.h"
#include "host/secrets.h"

namespace preflight {
namespace {

/// The argument "device/port" taken apart; port 0 when it is not of that form.
struct DevicePort {
    std::string device;
    int port = 0;

    explicit DevicePort(const std::string& argument) {
        const auto slash = argument.rfind('/');
        if (slash == std::string::npos) return;
        device = argument.substr(0, slash);
        std::from_chars(argument.data() + slash + 1, argument.data() + argument.size(), port);
    }
};

/// The argument without its sample number: the live node has only the present.
std::string unsampled(const std::string& argument) {
    return argument.substr(0, argument.rfind('@'));
}

/// Names and log lines may hold any bytes; JSON may not. File texts keep theirs (text_to_json).
void make_utf8(Json& json) {
    if (json.is_string()) json = Json::parse(json.dump(-1, ' ', false, Json::error_handler_t::replace));
    else if (json.is_structured())
        for (auto& item : json) make_utf8(item);
}

template <class T>
Answer as_answer(const Fact<T>& fact) {
    if constexpr (std::is_same_v<T, std::string>) return {fact.then([](const std::string& text) { return text_to_json(text); })};
    else
        return {fact.then([](const T& value) {
            Json json = value;
            make_utf8(json);
            return json;
        })};
}

class LiveHost : public Host {
public:
    LiveHost(std::string root, double timeout)
        : root_(std::move(root)), timeout_(std::chrono::duration_cast<live::Clock::duration>(std::chrono::duration<double>(timeout))) {}

protected:
    Answer answer(const Question& question) override {
        const auto source = sources().find(question.kind);
        if (source == sources().end()) return {Unreadable{"not-asked", "no source for " + question.kind}};
        return source->second(root_, question.argument);
    }

    std::vector<Answer> answers(const std::vector<Question>& questions) override {
        if (questions.empty()) return {};
        std::vector<std::string> arguments;
        for (const Question& question : questions) arguments.push_back(question.argument);
        const auto now = live::Clock::now();
        const auto share = now + timeout_ / 2;
        if (first_ == live::Clock::time_point()) first_ = now;
        if (questions[0].kind == "resolve_name") return as_answers(live::resolve_names(arguments, share));
        if (questions[0].kind == "tcp_probe") return as_answers(live::probe_tcp(arguments, std::max(share, first_ + timeout_)));
        return Host::answers(questions);
    }

private:
    template <class T>
    static std::vector<Answer> as_answers(const std::vector<Fact<T>>& facts) {
        std::vector<Answer> list;
        for (const Fact<T>& fact : facts) list.push_back(as_answer(fact));
        return list;
    }

    using Source = Answer (*)(const std::string& root, const std::string& argument);

    static const std::unordered_map<std::string, Source>& sources() {
        using R = const std::string&;
        static const std::unordered_map<std::string, Source> table = {
            {"read",
             [](R root, R path) { return as_answer(live::read(root, path).then([&](const std::string& text) { return secrets::mask_plain_file(path, text); })); }},
            {"list", [](R root, R path) { return as_answer(live::list(root, path)); }},
            {"link_target", [](R root, R path) { return as_answer(live::link_target(root, path)); }},
            {"resolve", [](R root, R path) { return as_answer(live::resolve(root, path)); }},
            {"info", [](R root, R path) { return as_answer(live::info(root, path)); }},
            {"config_space", [](R root, R address) { return as_answer(live::config_space(root, address)); }},
            {"dcb_lines", [](R root, R path) { return as_answer(live::dcb_lines(root, path)); }},
            {"server_environment_file",
             [](R root, R path) { return as_answer(live::read(root, path).then([](const std::string& text) { return secrets::mask_server_env(text); })); }},
            {"plain_exec", [](R root, R path) { return as_answer(live::plain_exec(root, path)); }},
            {"modprobe_lines", [](R root, R path) { return as_answer(live::modprobe_lines(root, path)); }},
            {"memlock_lines", [](R root, R path) { return as_answer(live::memlock_lines(root, path)); }},
            {"module_file", [](R root, R name) { return as_answer(live::module_file(root, name)); }},
            {"environment_file",
             [](R root, R path) { return as_answer(live::read(root, path).then([](const std::string& text) { return secrets::mask_environment_file(text); })); }},
            {"unit_file",
             [](R root, R path) { return as_answer(live::read(root, path).then([](const std::string& text) { return secrets::mask_unit_file(text); })); }},
            {"elf", [](R root, R path) { return as_answer(live::elf(root, path)); }},
            {"cached_library", [](R root, R name) { return as_answer(live::cached_library(root, name)); }},
            {"version_output", [](R root, R path) { return as_answer(live::version_output(root, path, std::chrono::seconds(5))); }},
            {"user", [](R root, R name) { return as_answer(live::user(root, name)); }},
            {"processes", [](R root, R) { return as_answer(live::processes(root)); }},
            {"process", [](R root, R pid) { return as_answer(live::process(root, std::atoi(pid.c_str()))); }},
            {"caller", [](R, R) { return as_answer(live::caller()); }},
            {"service_manager", [](R root, R) { return as_answer(live::service_manager(root)); }},
            {"loaded_unit", [](R root, R unit) { return as_answer(live::loaded_unit(root, unit)); }},
            {"node", [](R, R) { return as_answer(live::node()); }},
            {"kernel_log", [](R, R) { return as_answer(live::kernel_log()); }},
            {"links", [](R, R) { return as_answer(live::links()); }},
            {"addresses", [](R, R) { return as_answer(live::addresses()); }},
            {"route", [](R, R query) {
                 const auto vrf = query.find(" vrf ");
                 if (vrf == std::string::npos) return as_answer(live::route(query, 0));
                 const unsigned index = if_nametoindex(query.c_str() + vrf + 5);
                 if (index == 0) return as_answer(Fact<Route>(Absent{"ENODEV"}));
                 return as_answer(live::route(query.substr(0, vrf), index));
             }},
            {"ethtool_driver", [](R, R netdev) { return as_answer(live::ethtool_driver(netdev)); }},
            {"ethtool_pause", [](R, R netdev) { return as_answer(live::ethtool_pause(netdev)); }},
            {"ethtool_channels", [](R, R netdev) { return as_answer(live::ethtool_channels(netdev)); }},
            {"ethtool_speed", [](R, R netdev) { return as_answer(live::ethtool_speed(netdev)); }},
            {"ethtool_private_flags", [](R, R netdev) { return as_answer(live::ethtool_private_flags(netdev)); }},
            {"ethtool_statistics", [](R, R netdev) { return as_answer(live::ethtool_statistics(unsampled(netdev))); }},
            {"dcb", [](R, R netdev) { return as_answer(live::dcb(unsampled(netdev))); }},
            {"devlink", [](R, R) { return as_answer(live::devlink()); }},
            {"rdma_devices", [](R, R) { return as_answer(live::rdma_devices()); }},
            {"rdma_resources", [](R, R device) { return as_answer(live::rdma_resources(device)); }},
            {"rdma_netns_mode", [](R, R) { return as_answer(live::rdma_netns_mode()); }},
            {"rdma_gids",
             [](R root, R argument) {
                 const DevicePort of(argument);
                 return as_answer(live::rdma_gids(root, of.device, of.port));
             }},
            {"rdma_counters",
             [](R root, R argument) {
                 const DevicePort of(unsampled(argument));
                 return as_answer(live::rdma_counters(root, of.device, of.port));
             }},
            {"verbs", [](R, R) { return as_answer(live::verbs()); }},
            {"listening", [](R, R port) { return as_answer(live::listening(std::atoi(port.c_str()))); }},
        };
        return table;
    }

    std::string root_;
    live::Clock::duration timeout_;
    live::Clock::time_point first_;  // of all questions to the network
};

}  // namespace

std::unique_ptr<Host> live_host(const std::string& root, double timeout) {
    return std::make_unique<LiveHost>(root, timeout);
}

}  // namespace preflight
