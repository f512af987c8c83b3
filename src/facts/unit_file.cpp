// Where a unit's files lie and in which order they count, and what the manager makes of their lines.
#include "facts/unit_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "preflight/host.h"

namespace preflight {
namespace {

using namespace systemd_text;

std::string base_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

std::string folder_of(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}

/// An absolute path without empty and "." components, as the manager keeps it.
std::string simplified(const std::string& path) {
    std::string out;
    std::istringstream components(path);
    for (std::string component; std::getline(components, component, '/');)
        if (!component.empty() && component != ".") out += "/" + component;
    return out.empty() ? "/" : out;
}

/// "minio@.service" for "minio@a.service"; empty when the name is no instance.
std::string template_of(const std::string& name) {
    const auto at = name.find('@'), dot = name.rfind('.');
    if (at == std::string::npos || dot == std::string::npos || dot <= at + 1) return {};
    return name.substr(0, at + 1) + name.substr(dot);
}

struct Folders {
    Host& host;
    UnitFiles& unit;
    std::map<std::string, std::vector<std::string>> cache;

    const std::vector<std::string>& names(const std::string& folder) {
        const auto known = cache.find(folder);
        if (known != cache.end()) return known->second;
        const auto listed = host.list(folder);
        if (listed.unreadable()) unit.unreadable.emplace_back(folder, listed.why());
        return cache[folder] = listed.value_or({});
    }
    bool holds(const std::string& folder, const std::string& name) {
        const auto& list = names(folder);
        return std::binary_search(list.begin(), list.end(), name);
    }
};

/// The unit file of `name`, following aliases; changes unit.id.
void find_fragment(Folders& folders, const std::string& name, int depth = 0) {
    UnitFiles& unit = folders.unit;
    unit.id = name;
    for (const std::string& candidate : {name, template_of(name)}) {
        if (candidate.empty()) continue;
        for (const std::string& folder : unit_folders()) {
            if (!folders.holds(folder, candidate)) continue;
            const std::string path = folder + "/" + candidate;
            const auto target = folders.host.link_target(path);
            if (target.has()) {
                if (*target == "/dev/null") {
                    unit.masked = true;
                    unit.fragment = path;
                    return;
                }
                const std::string absolute = (std::filesystem::path(folder) / *target).lexically_normal();
                const auto resolved = folders.host.resolve(path);
                if (resolved.has() && *resolved == "/dev/null") {
                    unit.masked = true;
                    unit.fragment = path;
                    return;
                }
                const auto& all = unit_folders();
                const bool inside = std::find(all.begin(), all.end(), folder_of(absolute)) != all.end() || target->find('/') == std::string::npos;
                std::string real = base_name(absolute);
                if (inside && real != candidate && depth < 8) {
                    if (real == template_of(real) || real.find("@.") != std::string::npos) {
                        const auto at = name.find('@');
                        if (at != std::string::npos) real = real.substr(0, real.find('@')) + name.substr(at);
                    }
                    return find_fragment(folders, real, depth + 1);
                }
            }
            unit.fragment = path;
            return;
        }
    }
}

/// Names that link to this unit: their drop-in folders count as well.
std::vector<std::string> names_of(Folders& folders) {
    std::vector<std::string> names = {folders.unit.id};
    const auto add = [&](const std::string& name) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    };
    add(folders.unit.asked);
    static constexpr std::string_view suffix = ".service.d";
    std::set<std::string> with_drop_ins;
    for (const std::string& folder : unit_folders())
        for (const std::string& name : folders.names(folder))
            if (name.size() > suffix.size() && name.ends_with(suffix)) with_drop_ins.insert(name.substr(0, name.size() - 2));
    for (const std::string& folder : unit_folders())
        for (const std::string& name : with_drop_ins)
            if (folders.holds(folder, name))
                if (const auto target = folders.host.link_target(folder + "/" + name); target.has() && base_name(*target) == folders.unit.id) add(name);
    return names;
}

/// The drop-in folder names of a unit name, most specific first.
std::vector<std::string> drop_in_folders(const std::string& name) {
    std::vector<std::string> out = {name + ".d"};
    if (const std::string of = template_of(name); !of.empty()) out.push_back(of + ".d");
    const auto dot = name.rfind('.');
    if (dot == std::string::npos) return out;
    std::string prefix = name.substr(0, std::min(name.find('@'), dot));
    for (;;) {
        if (!prefix.empty() && prefix.back() == '-') prefix.pop_back();
        const auto dash = prefix.rfind('-');
        if (dash == std::string::npos || dash == 0) return out;
        prefix.resize(dash + 1);
        out.push_back(prefix + name.substr(dot) + ".d");
    }
}

void find_drop_ins(Folders& folders) {
    std::vector<std::string> order;
    const auto add = [&](const std::string& root, const std::string& name) {
        if (folders.holds(root, name)) order.push_back(root + "/" + name);
    };
    for (const std::string& name : names_of(folders))
        for (const std::string& root : unit_folders())
            for (const std::string& folder : drop_in_folders(name)) add(root, folder);
    for (const std::string& root : unit_folders()) add(root, "service.d");
    std::map<std::string, std::string> by_name;
    for (const std::string& folder : order)
        for (const std::string& name : folders.names(folder))
            if (name.ends_with(".conf") && name.front() != '.') by_name.emplace(name, folder + "/" + name);
    for (const auto& [name, path] : by_name) folders.unit.drop_ins.push_back(path);
}

void read_lines(Host& host, UnitFiles& unit, const std::string& path, bool fragment) {
    const auto text = host.unit_file(path);
    if (text.unreadable() && text.why().error == "not-a-file") return;  // /dev/null masks a drop-in
    if (text.unreadable()) unit.unreadable.emplace_back(path, text.why());
    if (!text.has()) return;
    if (fragment && text->empty()) unit.masked = true;
    UnitText read = read_unit_text(*text, path);
    unit.lines.insert(unit.lines.end(), read.lines.begin(), read.lines.end());
    for (auto& trouble : read.troubles) {
        trouble.fatal &= fragment;
        unit.troubles.push_back(std::move(trouble));
    }
}

}  // namespace

const std::vector<std::string>& unit_folders() {
    static const std::vector<std::string> folders = {
        "/etc/systemd/system.control", "/run/systemd/system.control", "/run/systemd/transient",      "/run/systemd/generator.early",
        "/etc/systemd/system",         "/etc/systemd/system.attached", "/run/systemd/system",         "/run/systemd/system.attached",
        "/run/systemd/generator",      "/usr/local/lib/systemd/system", "/usr/lib/systemd/system",     "/lib/systemd/system",
        "/run/systemd/generator.late"};
    return folders;
}

UnitFiles find_unit(Host& host, const std::string& name) {
    UnitFiles unit;
    unit.asked = name;
    Folders folders{host, unit, {}};
    find_fragment(folders, name);
    if (unit.masked) return unit;
    find_drop_ins(folders);
    if (unit.fragment.has()) read_lines(host, unit, *unit.fragment, true);
    for (const std::string& path : unit.drop_ins) read_lines(host, unit, path, false);
    return unit;
}

Specifiers specifiers_of(Host& host, const std::string& id) {
    Specifiers out;
    const auto dot = id.rfind('.'), at = id.find('@');
    const std::string bare = id.substr(0, dot);
    const std::string prefix = at == std::string::npos ? bare : id.substr(0, at);
    const std::string instance = at == std::string::npos || at > dot ? "" : id.substr(at + 1, dot - at - 1);
    const auto unescaped = [](std::string text) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '-') text[i] = '/';
            else if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x') {
                const int byte = std::stoi("0" + text.substr(i + 2, 2), nullptr, 16);
                text.replace(i, 4, 1, static_cast<char>(byte));
            }
        }
        return text;
    };
    const auto last = [](const std::string& text) { return text.substr(text.rfind('-') + 1); };
    out.known = {{'n', id}, {'N', bare}, {'p', prefix}, {'P', unescaped(prefix)}, {'i', instance}, {'I', unescaped(instance)}, {'j', last(prefix)},
                 {'J', unescaped(last(prefix))}, {'t', "/run"}, {'S', "/var/lib"}, {'C', "/var/cache"}, {'L', "/var/log"}, {'E', "/etc"}, {'T', "/tmp"},
                 {'V', "/var/tmp"}, {'u', "root"}, {'U', "0"}, {'g', "root"}, {'G', "0"}, {'h', "/root"}};
    if (const auto node = host.node(); node.has()) {
        out.known.emplace_back('H', node->hostname);
        out.known.emplace_back('l', node->hostname.substr(0, node->hostname.find('.')));
        out.known.emplace_back('v', node->kernel);
    }
    if (const auto machine = host.read("/etc/machine-id"); machine.has()) out.known.emplace_back('m', std::string(trimmed(*machine)));
    return out;
}

namespace {

/// Directives that can take RDMA away, and whether they are lists (joined; an empty value resets).
struct SandboxKey {
    std::string_view key;
    bool list;
};
constexpr std::array sandbox_keys = {
    SandboxKey{"PrivateDevices", false},      SandboxKey{"DevicePolicy", false},          SandboxKey{"DeviceAllow", true},
    SandboxKey{"RestrictAddressFamilies", true}, SandboxKey{"PrivateUsers", false},       SandboxKey{"PrivateNetwork", false},
    SandboxKey{"NetworkNamespacePath", false}, SandboxKey{"MemoryMax", false},            SandboxKey{"MemoryLimit", false},
    SandboxKey{"ProtectClock", false},        SandboxKey{"RootDirectory", false},         SandboxKey{"RootImage", false},
    SandboxKey{"InaccessiblePaths", true},    SandboxKey{"TemporaryFileSystem", true},    SandboxKey{"Slice", false},
    SandboxKey{"NoNewPrivileges", false}};

/// Directives we read whose misspelt forms would otherwise vanish without a word.
constexpr std::array watched_keys = {"ExecStart", "LimitMEMLOCK", "EnvironmentFile", "Environment", "PassEnvironment", "UnsetEnvironment",
                                     "User", "Group", "AmbientCapabilities", "Type"};

bool same_letters(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y)); });
}

/// What the manager lets pass as a user or group (valid_user_group_name, relaxed); whether the account exists shows at the start.
bool acceptable_name(std::string_view name) {
    const auto control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
    const bool negative = name.starts_with('-') && name.find_first_not_of("0123456789", 1) == std::string_view::npos;
    return name.find_first_of(":/") == std::string_view::npos && std::none_of(name.begin(), name.end(), control) && !negative && name != "." && name != "..";
}

class Interpreter {
public:
    Interpreter(const UnitFiles& files, const Specifiers& specifiers) : files_(files), specifiers_(specifiers) {}

    ServiceUnit run() {
        std::string stopped;
        for (const UnitLine& line : files_.lines) {
            if (line.origin.path == stopped) continue;
            stop_ = false;
            if (line.section == "Unit") unit_line(line);
            else if (line.section == "Service") service_line(line);
            if (stop_) stopped = line.origin.path;
        }
        for (const auto& trouble : files_.troubles)
            if (trouble.fatal) unit_.refused.push_back(trouble);
        verify();
        return std::move(unit_);
    }

private:
    void unit_line(const UnitLine& line) {
        const bool assertion = line.key.rfind("Assert", 0) == 0;
        if (!assertion && line.key.rfind("Condition", 0) != 0) return;
        const std::string kind = line.key.substr(assertion ? 6 : 9);
        if (line.value.empty()) {  // an empty value resets all conditions, or all asserts
            std::erase_if(unit_.tests, [&](const UnitTest& test) { return test.assertion == assertion; });
            return;
        }
        UnitTest test{kind, {}, assertion, false, false, line.origin};
        std::string_view rest = line.value;
        const auto take = [&](char c) {
            if (rest.empty() || rest.front() != c) return false;
            rest = skip_blanks(rest.substr(1));
            return true;
        };
        test.trigger = take('|');
        test.negated = take('!');
        const auto argument = specifiers_.expand(rest);
        if (!argument) unit_.unresolved.push_back(line);
        test.argument = argument.value_or(std::string(rest));
        unit_.tests.push_back(std::move(test));
    }

    static std::string_view skip_blanks(std::string_view text) {
        const auto begin = text.find_first_not_of(whitespace);
        return begin == std::string_view::npos ? std::string_view() : text.substr(begin);
    }

    void service_line(const UnitLine& line) {
        const std::string& key = line.key;
        if (key == "ExecStart") exec(line, unit_.exec_start);
        else if (key == "ExecStartPre") exec(line, unit_.start_pre);
        else if (key == "Type") type(line);
        else if (key == "User") name(line, unit_.user);
        else if (key == "Group") name(line, unit_.group);
        else if (key == "SupplementaryGroups") words(line, unit_.supplementary_groups);
        else if (key == "DynamicUser") unit_.dynamic_user = parse_boolean(line.value).value_or(unit_.dynamic_user);
        else if (key == "Environment") environment(line);
        else if (key == "EnvironmentFile") environment_file(line);
        else if (key == "PassEnvironment") variables(line, unit_.pass_environment, false);
        else if (key == "UnsetEnvironment") variables(line, unit_.unset_environment, true);
        else if (key == "LimitMEMLOCK") memlock(line);
        else if (key == "AmbientCapabilities") unit_.ambient_capabilities = capabilities(line, std::move(unit_.ambient_capabilities), false);
        else if (key == "CapabilityBoundingSet") bounding(line);
        else if (key == "RemainAfterExit") remain_ = parse_boolean(line.value).value_or(remain_);
        else if (key == "Restart") restart_ = line.value;
        else if (key == "BusName") bus_name_ = line.value;
        else if (key == "ExecStop" || key == "SuccessAction") other_action_ |= !line.value.empty();
        else sandbox(line);
    }

    void exec(const UnitLine& line, std::vector<ExecCommand>& commands) {
        if (line.value.empty()) {
            commands.clear();
            return;
        }
        ExecWords read = exec_words(line.value, specifiers_);
        if (!read.refused.empty()) {
            const bool fragment = files_.fragment.has() && line.origin.path == *files_.fragment;
            stop_ = true;  // the manager reads no further in this file
            (fragment ? unit_.refused : unit_.ignored).push_back({line.key + "= " + read.refused, line.origin, true});
            return;
        }
        if (read.unresolved) unit_.unresolved.push_back(line);
        if (read.commands.empty()) unit_.ignored.push_back({line.key + "= cannot be read: the line is ignored", line.origin, false});
        for (ExecCommand& command : read.commands) {
            command.origin = line.origin;
            if (command.path.starts_with('/')) command.path = simplified(command.path);
            commands.push_back(std::move(command));
        }
    }

    void type(const UnitLine& line) {
        static constexpr std::array types = {"simple", "exec", "forking", "oneshot", "dbus", "notify", "notify-reload", "idle"};
        if (std::find(types.begin(), types.end(), line.value) != types.end()) unit_.type = line.value;
        else unit_.ignored.push_back({"Type= has an unknown value: the line is ignored", line.origin, false});
    }

    void name(const UnitLine& line, std::optional<Stated<std::string>>& field) {
        if (line.value.empty()) {
            field.reset();
            return;
        }
        const auto text = specifiers_.expand(line.value);
        if (!text) unit_.unresolved.push_back(line);
        field = Stated<std::string>{text.value_or(line.value), line.origin};
        if (acceptable_name(field->value)) return;
        const bool fragment = files_.fragment.has() && line.origin.path == *files_.fragment;
        stop_ = true;
        (fragment ? unit_.refused : unit_.ignored).push_back({fmt::format("{}= is not a valid name", line.key), line.origin, true});
        field.reset();
    }

    void words(const UnitLine& line, std::vector<std::string>& list) {
        if (line.value.empty()) list.clear();
        std::string_view rest = line.value;
        for (;;) {
            const Word word = next_word(rest, unquote);
            if (word.kind != Word::found) return;
            list.push_back(specifiers_.expand(word.text).value_or(word.text));
        }
    }

    /// Names of variables, or also assignments; the manager ignores other words.
    void variables(const UnitLine& line, std::vector<std::string>& list, bool assignments) {
        const std::size_t before = line.value.empty() ? 0 : list.size();
        words(line, list);
        const auto first = list.begin() + static_cast<std::ptrdiff_t>(before);
        const auto valid = [&](const std::string& word) { return valid_variable(assignments ? word.substr(0, word.find('=')) : word); };
        const auto refused = std::stable_partition(first, list.end(), valid);
        if (refused != list.end()) unit_.ignored.push_back({line.key + "= holds a word that names no variable: the word is ignored", line.origin, false});
        list.erase(refused, list.end());
        std::set<std::string> seen;
        std::erase_if(list, [&](const std::string& word) { return !seen.insert(word).second; });
    }

    void environment(const UnitLine& line) {
        if (line.value.empty()) {
            unit_.environment.clear();
            return;
        }
        const EnvironmentWords read = environment_words(line.value, specifiers_);
        for (const auto& [name, value] : read.assignments) {
            std::erase_if(unit_.environment, [&, n = std::string_view(name)](const Assigned& one) { return one.name == n; });
            unit_.environment.push_back({name, value, line.origin});
        }
        for (const std::string& why : read.refused) unit_.ignored.push_back({"Environment= holds " + why, line.origin, false});
    }

    void environment_file(const UnitLine& line) {
        if (line.value.empty()) {
            unit_.environment_files.clear();
            return;
        }
        const bool optional = line.value.front() == '-';
        const auto path = specifiers_.expand(std::string_view(line.value).substr(optional));
        if (!path) unit_.unresolved.push_back(line);
        const std::string text = path.value_or(line.value.substr(optional));
        if (text.empty() || text.front() != '/') unit_.ignored.push_back({"EnvironmentFile= is no absolute path: the line is ignored", line.origin, false});
        else if ((text + "/").find("/../") != std::string::npos) unit_.ignored.push_back({"EnvironmentFile= holds \"..\": the line is ignored", line.origin, false});
        else unit_.environment_files.push_back({simplified(text), optional, line.origin});
    }

    void memlock(const UnitLine& line) {
        const auto limit = parse_byte_limit(line.value);
        if (limit) {
            unit_.memlock = Stated<Limit>{*limit, line.origin};
            unit_.memlock_ignored.clear();
        } else {
            unit_.memlock_ignored.push_back({fmt::format("LimitMEMLOCK={} is not a limit systemd can read: the line is ignored", line.value), line.origin, false});
        }
    }

    std::vector<std::string> capabilities(const UnitLine& line, std::vector<std::string> list, bool) {
        std::string_view text = line.value;
        const bool invert = !text.empty() && text.front() == '~';
        if (invert) text.remove_prefix(1);
        else if (text.empty()) return {};
        for (;;) {
            Word word = next_word(text, unquote);
            if (word.kind != Word::found) return list;
            std::transform(word.text.begin(), word.text.end(), word.text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
            std::erase(list, word.text);
            if (!invert) list.push_back(word.text);
        }
    }

    /// "~…" takes away from all.
    void bounding(const UnitLine& line) {
        const bool invert = !line.value.empty() && line.value.front() == '~';
        if (line.value == "~") {
            unit_.bounding_set.reset();
            return;
        }
        if (invert) {
            std::vector<std::string> left;
            for (const Capability& one : capabilities_that_matter) left.emplace_back(one.name);
            if (unit_.bounding_set) left = unit_.bounding_set->value;
            std::erase_if(left, [&](const std::string& name) { return line.value.find(name) != std::string::npos; });
            unit_.bounding_set = Stated<std::vector<std::string>>{std::move(left), line.origin};
            return;
        }
        auto before = unit_.bounding_set ? unit_.bounding_set->value : std::vector<std::string>{};
        unit_.bounding_set = Stated<std::vector<std::string>>{capabilities(line, std::move(before), true), line.origin};
    }

    void sandbox(const UnitLine& line) {
        const auto key = std::find_if(sandbox_keys.begin(), sandbox_keys.end(), [&](const SandboxKey& one) { return one.key == line.key; });
        if (key == sandbox_keys.end()) {
            for (const char* watched : watched_keys)
                if (same_letters(watched, line.key)) {
                    UnitText::Trouble trouble{fmt::format("{}= is no directive (it is spelt {}=): the line is ignored", line.key, watched), line.origin, false};
                    if (same_letters(watched, "LimitMEMLOCK")) unit_.memlock_ignored.push_back(trouble);
                    unit_.ignored.push_back(std::move(trouble));
                }
            return;
        }
        const auto known = std::find_if(unit_.sandbox.begin(), unit_.sandbox.end(), [&](const UnitLine& one) { return one.key == line.key; });
        if (line.value.empty()) {
            if (known != unit_.sandbox.end()) unit_.sandbox.erase(known);
        } else if (known == unit_.sandbox.end()) {
            unit_.sandbox.push_back(line);
        } else {
            known->value = key->list ? known->value + " " + line.value : line.value;
            known->origin = line.origin;
        }
    }

    void verify() {
        const Origin where = unit_.exec_start.empty() ? Origin{files_.fragment.value_or(files_.asked), 0} : unit_.exec_start.back().origin;
        const auto refuse = [&](const char* why) { unit_.refused.push_back({why, where, true}); };
        if (!unit_.refused.empty()) return;
        if (unit_.exec_start.empty() && unit_.type != "oneshot") refuse("has no ExecStart=, which only Type=oneshot may do");
        else if (unit_.exec_start.empty() && !other_action_) refuse("has no ExecStart=, ExecStop= or SuccessAction=");
        if (unit_.exec_start.size() > 1 && unit_.type != "oneshot")
            refuse("has more than one ExecStart=, which only Type=oneshot may have; a drop-in clears it first with an empty ExecStart=");
        if (unit_.type == "oneshot" && (restart_ == "always" || restart_ == "on-success")) refuse("is Type=oneshot with Restart=always or on-success");
        if (unit_.type == "dbus" && bus_name_.empty()) refuse("is Type=dbus without BusName=");
    }

    const UnitFiles& files_;
    const Specifiers& specifiers_;
    ServiceUnit unit_;
    bool stop_ = false, remain_ = false, other_action_ = false;
    std::string restart_, bus_name_;
};

}  // namespace

bool ServiceUnit::may_have(std::string_view capability) const {
    return !bounding_set || std::find(bounding_set->value.begin(), bounding_set->value.end(), capability) != bounding_set->value.end();
}

const UnitLine* ServiceUnit::sandbox_line(std::string_view key) const {
    const auto found = std::find_if(sandbox.begin(), sandbox.end(), [&](const UnitLine& line) { return line.key == key; });
    return found == sandbox.end() ? nullptr : &*found;
}

ServiceUnit interpret(const UnitFiles& files, const Specifiers& specifiers) {
    return Interpreter(files, specifiers).run();
}

}  // namespace preflight
