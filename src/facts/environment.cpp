#include "facts/environment.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "facts/node.h"
#include "facts/server_process.h"
#include "facts/service.h"
#include "facts/settings.h"
#include "grammar/masked.h"

namespace preflight {
namespace {

using namespace systemd_text;

constexpr const char* service_manager = "systemd";  ///< comm of process 1, which systemd sets whatever path it was started by

Assigned split(const std::string& entry, Origin origin) {
    const auto equals = std::min(entry.find('='), entry.size());
    return {entry.substr(0, equals), entry.substr(std::min(equals + 1, entry.size())), std::move(origin)};
}

class Reader {
public:
    Reader(Host& host, const Options& options, const ServiceFacts& service) : host_(host), options_(options), service_(service) {}

    EnvironmentFacts of_unit() {
        manager();
        pass();
        for (const Assigned& one : service_.unit.environment) set(one);
        files();
        unset();
        arguments();
        second_file();
        return std::move(out_);
    }

    EnvironmentFacts of_process(const Process& process, bool in_container) {
        out_.from_process = true;
        const Origin origin{fmt::format("/proc/{}/environ", process.pid), 0};
        if (process.environment.has())
            for (const std::string& entry : *process.environment) set(split(entry, origin));
        else out_.missing.push_back(fmt::format("{} could not be read", origin.path));
        for (const std::string& argument : process.arguments.value_or({})) out_.arguments.push_back({argument, is_masked_word(argument)});
        out_.arguments_origin = {fmt::format("/proc/{}/cmdline", process.pid), 0};
        // The server laid the second file over its own environment after it started; /proc shows only what it was started with. A
        // container's root shows as "/" from outside, and is another.
        root_ = !in_container && (process.root == "/" || process.root.empty()) ? "" : fmt::format("/proc/{}/root", process.pid);
        second_file();
        return std::move(out_);
    }

private:
    void set(Assigned assigned) {
        for (Variable& variable : out_.variables)
            if (variable.name == assigned.name) {
                variable.overridden.push_back({variable.name, variable.value, variable.origin});
                variable.value = std::move(assigned.value);
                variable.origin = std::move(assigned.origin);
                return;
            }
        out_.variables.push_back({std::move(assigned.name), std::move(assigned.value), std::move(assigned.origin), {}});
    }

    void manager() {
        if (service_.manager.has()) {
            for (const std::string& entry : service_.manager->environment) set(split(entry, {"the service manager's environment", 0}));
            return;
        }
        for (const UnitLine& line : manager_settings(host_))
            if (line.key == "DefaultEnvironment")
                for (const auto& [name, value] : environment_words(line.value, {}).assignments) set({name, value, line.origin});
    }

    void pass() {
        const auto& names = service_.unit.pass_environment;
        if (std::none_of(names.begin(), names.end(), [](const std::string& name) { return matters(name); })) return;
        const auto first = host_.process(1);
        const bool is_manager = first.has() && first->name == service_manager;  // in a container it may be anything
        const auto entries = first.then([](const Process& process) { return process.environment; });
        if (!is_manager || !entries.has()) {
            out_.missing.push_back("PassEnvironment= takes variables from the service manager, whose environment could not be read");
            return;
        }
        for (const std::string& entry : *entries) {
            Assigned one = split(entry, {"PassEnvironment=, /proc/1/environ", 0});
            if (std::find(names.begin(), names.end(), one.name) != names.end()) set(std::move(one));
        }
    }

    void files() {
        std::vector<NamedFile> named = service_.unit.environment_files;
        if (options_.env_file) named = {{*options_.env_file, false, {"--env-file", 0}}};
        else if (service_.absent()) named = {{std::string(usual_environment_file), true, {"the usual place", 0}}};
        for (const NamedFile& file : named) {
            const bool unresolved = std::any_of(service_.unit.unresolved.begin(), service_.unit.unresolved.end(), [&](const UnitLine& line) {
                return line.key == "EnvironmentFile" && line.origin == file.origin;
            });
            if (unresolved) {
                const std::string why = fmt::format("{} names a file by a specifier that cannot be told from files", file.origin.text());
                out_.missing.push_back(why);
                out_.files.push_back({file, file.path, Unreadable{"specifier", why}});
                continue;
            }
            for (const std::string& path : expand(file)) read_file(file, path);
        }
    }

    /// systemd globs the path, folder by folder.
    std::vector<std::string> expand(const NamedFile& file) {
        static constexpr const char* wildcards = "*?[";
        if (file.path.find_first_of(wildcards) == std::string::npos) return {file.path};
        std::vector<std::string> paths = {""};
        bool complete = true;
        std::istringstream components(file.path.substr(1));
        for (std::string component; std::getline(components, component, '/');) {
            const bool pattern = component.find_first_of(wildcards) != std::string::npos;
            std::vector<std::string> longer;
            for (const std::string& folder : paths) {
                if (!pattern) {
                    longer.push_back(folder + "/" + component);
                    continue;
                }
                const auto names = host_.list(folder.empty() ? "/" : folder);
                if (names.unreadable()) out_.missing.push_back(names.why().cause);
                complete &= !names.unreadable();
                for (const std::string& name : names.value_or({}))
                    if (fnmatch(component.c_str(), name.c_str(), FNM_PERIOD) == 0) longer.push_back(folder + "/" + name);
            }
            paths = std::move(longer);
        }
        std::erase_if(paths, [&](const std::string& path) { return host_.info(path).absent(); });
        return paths.empty() && complete ? std::vector{file.path} : paths;
    }

    void read_file(const NamedFile& named, const std::string& path) {
        const auto text = host_.environment_file(path);
        EnvironmentFileRead read{named, path, text.then([&](const std::string& t) { return read_env_file(t, service_.comments); })};
        const auto stop = [&](std::string why, int line) {
            if (named.optional || out_.no_start) return;
            out_.no_start = Origin{path, line};
            out_.no_start_why = std::move(why);
        };
        if (read.file.absent()) stop("does not exist", 0);
        if (read.file.unreadable() && read.file.why().error == "EISDIR") stop("is a folder", 0);
        else if (read.file.unreadable() && read.file.why().error == "ELOOP") stop("is a loop of links", 0);
        else if (read.file.unreadable()) out_.missing.push_back(read.file.why().cause);
        if (read.file.has() && !read.file->refused.empty()) stop(fmt::format("holds {}", read.file->refused), read.file->refused_line);
        if (read.file.has())
            for (const EnvLine& line : read.file->lines) set({line.name, line.value, {path, line.line}});
        out_.files.push_back(std::move(read));
    }

    void unset() {
        for (const std::string& entry : service_.unit.unset_environment) {
            const Assigned one = split(entry, {});
            const bool whole = entry.find('=') == std::string::npos;
            std::erase_if(out_.variables, [&](const Variable& variable) {
                const bool gone = variable.name == one.name && (whole || variable.value == one.value);
                if (gone && matters(variable.name)) out_.removed.push_back(variable.name);
                return gone;
            });
        }
    }

    void arguments() {
        if (service_.unit.exec_start.empty()) return;
        Variables variables;
        for (const Variable& variable : out_.variables) variables[variable.name] = variable.value;
        const ExecCommand& command = service_.unit.exec_start.front();
        out_.arguments_origin = command.origin;
        for (const std::string& word : command.words) {
            if (!command.expands) {
                out_.arguments.push_back({word, is_masked_word(word)});
                continue;
            }
            const bool hidden = hides(word, variables);
            for (std::string& expanded : expand_argument(word, variables).words) {
                const bool masked = hidden || is_masked_word(expanded);
                out_.arguments.push_back({std::move(expanded), masked});
            }
        }
        const auto server = [](std::string_view path) {
            const std::string_view name = path.substr(path.rfind('/') + 1);
            return name == "minio" || name.rfind("minio.", 0) == 0;
        };
        // A link may give the server another name; a script may carry the server's.
        out_.wrapper = !options_.binary && (command.path.ends_with(".sh") || !(server(command.path) || server(host_.resolve(command.path).value_or(""))));
        if (out_.wrapper) script(command.path, variables);
    }

    /// A script that only execs the server: its words are the server's arguments, "$@" those of ExecStart=.
    void script(const std::string& path, const Variables& variables) {
        const auto command = host_.plain_exec(path);
        if (!command.has()) return;
        std::vector<Argument> words;
        for (const std::string& raw : split_words(*command)) {
            const bool quoted = raw.size() > 1 && raw.front() == '"' && raw.back() == '"';
            const std::string word = quoted ? raw.substr(1, raw.size() - 2) : raw;
            if (word == "$@" || word == "$*") {
                words.insert(words.end(), out_.arguments.begin() + (out_.arguments.empty() ? 0 : 1), out_.arguments.end());
                continue;
            }
            const std::string braced = word.size() > 1 && word[0] == '$' && word[1] != '{' && quoted ? "${" + word.substr(1) + "}" : word;
            const std::string plain = !quoted && word.rfind("${", 0) == 0 && word.back() == '}' ? "$" + word.substr(2, word.size() - 3) : braced;
            for (std::string& expanded : expand_argument(plain, variables).words) {
                const bool masked = hides(plain, variables) || is_masked_word(expanded);
                words.push_back({std::move(expanded), masked});
            }
        }
        if (std::none_of(words.begin(), words.end(), [](const Argument& one) { return one.text == "server"; })) return;
        out_.arguments = std::move(words);
        out_.arguments_origin = {path, 0};
        out_.script_starts = split_words(*command).front();
        out_.wrapper = false;
    }

    /// Whether "${NAME}" within the word stands for something masked.
    static bool hides(const std::string& word, const Variables& variables) {
        for (auto at = word.find("${"); at != std::string::npos; at = word.find("${", at + 2)) {
            const auto known = variables.find(std::string_view(word).substr(at + 2, word.find('}', at) - at - 2));
            if (known != variables.end() && holds_masked_word(known->second)) return true;
        }
        return false;
    }

    void second_file() {
        const Variable* pointer = out_.find("MINIO_CONFIG_ENV_FILE");
        if (!pointer || trimmed(pointer->value).empty()) return;
        SecondFile second{std::string(trimmed(pointer->value)), {}};
        second.env = host_.server_environment_file(root_ + second.path).then([](const std::string& text) { return read_server_env(text); });
        out_.second = std::move(second);
    }

    Host& host_;
    const Options& options_;
    const ServiceFacts& service_;
    EnvironmentFacts out_;
    std::string root_;
};

}  // namespace

bool matters(std::string_view variable) {
    return variable.rfind(setting_prefix, 0) == 0 || variable == "MINIO_OPTS" || variable == "MINIO_CONFIG_ENV_FILE" || variable == "MINIO_CONFIG" ||
           std::find(std::begin(endpoint_variables), std::end(endpoint_variables), variable) != std::end(endpoint_variables);
}

const Variable* EnvironmentFacts::find(std::string_view name) const {
    const auto found = std::find_if(variables.begin(), variables.end(), [&](const Variable& variable) { return variable.name == name; });
    return found == variables.end() ? nullptr : &*found;
}

Fact<ServerValue> EnvironmentFacts::server_value(std::string_view name) const {
    const Variable* first = find(name);
    if (second && second->env.unreadable()) return second->env.as<ServerValue>();
    if (second && second->env.has())
        if (const ServerEnvLine* line = second->env->find(name)) {
            ServerValue value{line->value, {second->path, line->line}, true, {}};
            if (first) {
                value.overridden = first->overridden;
                value.overridden.push_back({first->name, first->value, first->origin});
            }
            return value;
        }
    if (first) return ServerValue{first->value, first->origin, false, first->overridden};
    if (!missing.empty()) return Unreadable{"incomplete", missing.front()};
    return Absent{};
}

std::vector<std::string> EnvironmentFacts::names(std::string_view prefix) const {
    std::set<std::string> all;
    for (const Variable& variable : variables)
        if (variable.name.rfind(prefix, 0) == 0) all.insert(variable.name);
    if (second && second->env.has())
        for (const ServerEnvLine& line : second->env->lines)
            if (line.key.rfind(prefix, 0) == 0) all.insert(line.key);
    return {all.begin(), all.end()};
}

std::optional<std::string> EnvironmentFacts::flag(std::string_view name) const {
    std::optional<std::string> found;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const std::string& text = arguments[i].text;
        if (text == name && i + 1 < arguments.size()) found = arguments[i + 1].text;
        else if (text.rfind(name, 0) == 0 && text.size() > name.size() && text[name.size()] == '=') found = text.substr(name.size() + 1);
    }
    return found;
}

std::vector<Argument> EnvironmentFacts::positional() const {
    // Flags of `minio server` that take no argument; every other flag takes the next word.
    static constexpr std::array switches = {"--quiet", "--json", "--anonymous", "--no-compat", "--strict-s3-compat", "--help", "-h", "--version", "-v"};
    std::vector<Argument> out;
    auto word = std::find_if(arguments.begin(), arguments.end(), [](const Argument& one) { return one.text == "server"; });
    if (word == arguments.end()) return out;
    for (++word; word != arguments.end(); ++word) {
        if (word->text.rfind("-", 0) != 0) {
            out.push_back(*word);
        } else if (word->text.find('=') == std::string::npos && std::find(switches.begin(), switches.end(), word->text) == switches.end() && word + 1 != arguments.end()) {
            ++word;
        }
    }
    return out;
}

bool EnvironmentFacts::configured_by_file() const {
    if (flag("--config")) return true;
    const auto value = server_value("MINIO_CONFIG");
    return value.has() && !trimmed(value->value).empty();
}

namespace {

Fact<ServerValue> joined(const std::vector<Argument>& words, const Origin& origin) {
    ServerValue value{{}, origin, false, {}};
    for (const Argument& word : words) {
        if (word.masked) return Unreadable{"masked", fmt::format("the server's arguments at {} hold endpoints from a variable whose value is not shown", origin.text())};
        value.value += (value.value.empty() ? "" : " ") + word.text;
    }
    return value;
}

}  // namespace

Fact<ServerValue> EnvironmentFacts::volumes_text() const {
    if (configured_by_file()) return Unreadable{"not-asked", "a YAML start-up file names the endpoints"};
    Fact<ServerValue> empty = Absent{};
    for (const std::string_view name : endpoint_variables) {
        const auto stated = server_value(name);
        if (stated.has() && trimmed(stated->value).empty()) empty = Absent{"empty"};
        else if (!stated.absent()) return stated;
    }
    const auto words = positional();
    return words.empty() ? empty : joined(words, arguments_origin);
}

std::vector<std::string> EnvironmentFacts::other_endpoints() const {
    std::vector<std::string> others;
    const auto counts = volumes_text();
    if (!counts.has()) return others;
    for (const std::string_view name : endpoint_variables)
        if (const auto stated = server_value(name); stated.has() && !trimmed(stated->value).empty() && stated->value != counts->value)
            others.push_back(fmt::format("{} ({})", name, stated->origin.text()));
    const auto words = positional();
    if (words.empty()) return others;
    const auto arguments_say = joined(words, arguments_origin);
    const std::vector<std::string> said = split_words(counts->value), also = split_words(arguments_say.has() ? arguments_say->value : "");
    if (arguments_say.has() && said != also) others.push_back(fmt::format("the arguments of {}", arguments_origin.text()));
    return others;
}

std::vector<std::string> own_endpoint_addresses(Host& host, const EnvironmentFacts& environment) {
    const auto text = environment.volumes_text();
    if (!text.has()) return {};
    const Volumes volumes = parse_volumes(text->value);
    if (volumes.hosts.empty()) return {};
    std::set<std::string> own;
    for (const Address& address : host.addresses().value_or({}))
        if (address.scope != "host") own.insert(address.address);
    std::vector<std::string> found;
    const auto add = [&](const std::string& address) {
        if (own.count(address) && std::find(found.begin(), found.end(), address) == found.end()) found.push_back(address);
    };
    std::set<std::string> names;
    for (const VolumeHost& endpoint : volumes.hosts) {
        add(endpoint.name);
        names.insert(endpoint.name);
    }
    std::istringstream lines(host.read("/etc/hosts").value_or(""));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line.substr(0, line.find('#')));
        std::string address, name;
        for (words >> address; words >> name;)
            if (names.count(name)) add(address);
    }
    return found;
}

EnvironmentFacts read_environment(Host& host, const Options& options, const ServiceFacts& service, const ServerProcesses& processes, Deployment deployment) {
    Reader reader(host, options, service);
    if (deployment == container && !options.env_file) {
        if (!processes.in_container.empty()) return reader.of_process(processes.in_container.front(), true);
        EnvironmentFacts none;
        none.from_process = true;
        none.missing.push_back("no AIStor process runs in a container here; run again once the pod runs");
        return none;
    }
    EnvironmentFacts out = reader.of_unit();
    // A wrapper script sets what no file shows: a running server decides.
    if (out.wrapper && !processes.of_unit.empty()) {
        EnvironmentFacts running = Reader(host, options, service).of_process(processes.of_unit.front(), false);
        running.wrapper = true;
        return running;
    }
    if (service.uncertain() && !service.files.unreadable.empty())
        out.missing.push_back(fmt::format("a file of {} could not be read: {}", service.name, service.files.unreadable.front().second.cause));
    if (out.wrapper) out.missing.push_back(fmt::format("ExecStart= starts {}, which is not the server itself and may set variables", service.unit.exec_start.front().path));
    return out;
}

}  // namespace preflight
