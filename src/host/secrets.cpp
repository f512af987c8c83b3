#include "host/secrets.h"

#include <algorithm>
#include <array>

#include "grammar/env_file.h"

namespace preflight::secrets {
namespace {

using systemd_text::valid_variable;

bool starts(std::string_view text, std::string_view with) {
    return text.rfind(with, 0) == 0;
}

bool blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// Names of variables are no secrets, but what stands where a name should may be one: only upper case counts as a name.
bool shaped(std::string_view name) {
    return valid_variable(name) && name.size() <= 64 && std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

char masked(char c) {
    return blank(c) || c == '"' || c == '\'' || c == '\\' || c == '\0' ? c : 'x';
}

std::string mask_all(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), masked);
    return out;
}

bool url(std::string_view word) {
    return starts(word, "http://") || starts(word, "https://") || starts(word, "env://") || starts(word, "env+tls://");
}

/// Masks `out` from `from` up to `to`.
void hide(std::string& out, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < std::min(to, out.size()); ++i) out[i] = masked(out[i]);
}

/// A URL without user-info, without a port that is no number, and without what follows '?', '#' or an '=', which stay.
std::string mask_url(std::string_view word) {
    std::string out(word);
    const auto begin = word.find("://") + 3;
    // User-info ends before the first '/', unless a password holds one: then what stands behind the colon is no port.
    static constexpr std::string_view port_bytes = "0123456789{.}";
    const auto first_slash = std::min(word.find('/', begin), word.size());
    const auto first_colon = word.find(':', begin);
    const bool odd_port = first_colon < first_slash && word.substr(first_colon + 1, first_slash - first_colon - 1).find_first_not_of(port_bytes) != std::string_view::npos;
    const auto last_at = word.rfind('@');
    const auto at = last_at < first_slash || odd_port || word.find_first_of("?#") < last_at ? last_at : std::string_view::npos;
    if (at != std::string_view::npos) hide(out, begin, at);
    const auto authority = at == std::string_view::npos ? begin : at + 1;
    const auto slash = std::min(word.find('/', authority), word.size());
    const auto colon = word[authority < word.size() ? authority : 0] == '[' ? word.find("]:", authority) : word.find(':', authority);
    if (colon < slash) {
        const auto port = word.find_first_of(":", colon) + 1;
        if (word.substr(port, slash - port).find_first_not_of(port_bytes) != std::string_view::npos) hide(out, port, slash);
    }
    if (const auto more = word.find_first_of("?#=", begin); more != std::string_view::npos) hide(out, more + 1, word.size());
    return out;
}

/// The value of a MINIO_RDMA_ setting: a word, a number, a size or "${NAME}". What is glued to it or follows it is hidden.
std::string mask_setting(std::string_view value) {
    static constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._%+-${}";
    static constexpr std::size_t longest = 32;
    std::string out(value);
    std::size_t i = 0, kept_bytes = 0;
    const auto skip = [&](std::string_view set) {
        while (i < value.size() && set.find(value[i]) != std::string_view::npos) ++i;
    };
    skip(" \t\"'");
    for (const std::string_view scheme : {"env://", "env+tls://"})
        if (starts(value.substr(i), scheme)) {
            hide(out, i + scheme.size(), value.size());
            return out;
        }
    while (i < value.size() && plain.find(value[i]) != std::string_view::npos && kept_bytes < longest) ++i, ++kept_bytes;
    // A blank, a quote or a note behind the word, as it is judged; then one more byte that tells what is glued to it.
    bool noted = false;
    for (; i < value.size(); ++i) {
        const bool note = !noted && (value[i] == '#' || value[i] == ';' || value[i] == ',' || value[i] == '=') && kept_bytes > 0;
        noted |= note || masked(value[i]) != value[i];
        if (!note) out[i] = masked(value[i]);
    }
    return out;
}

/// A kept value, of which only what its setting can hold stays: no second assignment, no comment, one line.
std::string mask_kept(std::string_view value, bool urls_on_more_lines) {
    std::string out;
    bool hide = false;
    for (std::size_t i = 0; i < value.size();) {
        if (value[i] == '\n' || value[i] == '\r') {
            if (urls_on_more_lines && !hide) {
                const auto line = value.substr(i + 1, value.find_first_of("\r\n", i + 1) - i - 1);
                for (std::size_t k = line.find_first_not_of(" \t\"'\\"); k != std::string_view::npos && !hide; k = line.find_first_not_of(" \t\"'\\", line.find_first_of(" \t\"'\\", k)))
                    hide = !starts(line.substr(k), "http://") && !starts(line.substr(k), "https://");
            } else {
                hide = true;
            }
            out += value[i++];
            continue;
        }
        if (blank(value[i])) {
            out += value[i++];
            continue;
        }
        std::size_t end = i;
        while (end < value.size() && !blank(value[end])) ++end;
        const std::string_view word = value.substr(i, end - i);
        const auto bare = word.find_first_not_of("\"'\\");
        const std::string_view inner = bare == std::string_view::npos ? std::string_view() : word.substr(bare);
        const auto equals = inner.find('=');
        const bool assignment = equals != std::string_view::npos && shaped(inner.substr(0, equals));
        const bool comment = !inner.empty() && inner.front() == '#';
        if (hide) {
            out += assignment ? std::string(word.substr(0, bare + equals + 1)) + mask_all(inner.substr(equals + 1)) : mask_all(word);
        } else if (assignment || comment) {
            hide = true;
            const auto open = bare + (assignment ? equals + 1 : 1);
            out += std::string(word.substr(0, open)) + mask_all(word.substr(open));
        } else if (inner.find("://") < inner.find_first_of("/?#@")) {
            out += std::string(word.substr(0, bare)) + mask_url(inner);
        } else if (!inner.empty() && inner.front() == '-') {
            out += std::string(word.substr(0, bare)) + std::string(inner.substr(0, equals)) + (equals == std::string_view::npos ? "" : "=" + mask_all(inner.substr(equals + 1)));
            hide = true;
        } else {
            std::string shown(word);
            const auto at = inner.rfind('@');  // user-info of an endpoint that is not written as a URL
            if (at != std::string_view::npos) secrets::hide(shown, bare, bare + at);
            if (equals != std::string_view::npos) secrets::hide(shown, bare + equals + 1, shown.size());
            out += shown;
        }
        i = end;
    }
    return out;
}

/// Flags of `minio server` whose argument the checks need.
constexpr std::array needed_flags = {"--address", "--console-address", "--license", "--config", "--certs-dir", "-S"};
/// Words without an argument of their own.
constexpr std::array plain_words = {"server", "--quiet", "--json", "--anonymous", "--no-compat", "--strict-s3-compat"};

/// Variables whose words are arguments of the server in the field's units, whatever else they may hold.
constexpr std::array argument_variables = {"MINIO_OPTS", "MINIO_POOLS", "VOLUMES"};

bool holds_arguments(std::string_view name) {
    return std::find(argument_variables.begin(), argument_variables.end(), name) != argument_variables.end();
}

/// "n{1...4}": a range of MinIO's notation.
bool has_range(std::string_view word) {
    const auto dots = word.find("...");
    const auto open = word.substr(0, dots).rfind('{');
    const auto close = dots == std::string_view::npos ? dots : word.find('}', dots);
    if (open == std::string_view::npos || close == std::string_view::npos) return false;
    return word.substr(open + 1, close - open - 1).find_first_not_of("0123456789abcdef.") == std::string_view::npos;
}

/// "node1:/tmp/drive1": a host without a scheme, as people write it; nothing in it but what names and paths hold.
bool host_and_path(std::string_view word) {
    static constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-{}";
    const auto colon = word.find(':');
    if (colon == 0 || colon == std::string_view::npos || word.find_first_not_of(plain) != colon) return false;
    const auto path = word.find_first_not_of("0123456789", colon + 1);
    return path != std::string_view::npos && word[path] == '/' && word.substr(path).find_first_not_of(std::string(plain) + "/") == std::string_view::npos;
}

bool needed_flag(std::string_view word) {
    return std::find(needed_flags.begin(), needed_flags.end(), word) != needed_flags.end();
}

/// What the word before was.
enum class Before { word, needed, other_flag };

/// One word of a command line, quotes included; `before` is updated.
std::string mask_word(std::string_view word, Before& before) {
    const auto bare = word.find_first_not_of("\"'");
    if (bare == std::string_view::npos) return std::string(word);
    const std::string_view lead = word.substr(0, bare);
    const std::string_view inner = word.substr(bare, word.find_last_not_of("\"'") + 1 - bare);
    const std::string_view trail = word.substr(bare + inner.size());
    const Before previous = before;
    const bool flag = needed_flag(inner), after_flag = previous == Before::needed;
    before = flag ? Before::needed : starts(inner, "-") && inner.find('=') == std::string_view::npos ? Before::other_flag : Before::word;
    std::string out;
    const bool one = inner.find_first_of(" \t\n\r\"'") == std::string_view::npos;
    const auto equals = inner.find('=');
    const std::size_t dollar = inner.find('$');
    const auto variable = [](std::string_view text) {
        while (!text.empty() && (text.front() == '$' || text.front() == '\\' || text.front() == '{')) text.remove_prefix(1);
        if (!text.empty() && text.back() == '}') text.remove_suffix(1);
        return valid_variable(text);
    };
    if (!one) out = mask_all(inner);
    else if (inner == "$@" || inner == "$*") out = inner;
    else if (flag || std::find(plain_words.begin(), plain_words.end(), inner) != plain_words.end()) out = inner;
    else if (dollar != std::string_view::npos && dollar <= 2 && variable(inner)) out = inner;
    else if (url(inner)) out = mask_url(inner);
    else if (after_flag && inner.front() != '-') out = mask_kept(inner, false);
    else if (equals != std::string_view::npos && needed_flag(inner.substr(0, equals))) out = std::string(inner.substr(0, equals + 1)) + mask_kept(inner.substr(equals + 1), false);
    else if (inner.front() == '/') out = mask_kept(inner, false);
    else if (previous != Before::other_flag && host_and_path(inner)) out = inner;
    else if (starts(inner, "--")) out = std::string(inner.substr(0, equals == std::string_view::npos ? equals : equals + 1)) + (equals == std::string_view::npos ? std::string() : mask_all(inner.substr(equals + 1)));
    else out = mask_all(inner);
    return std::string(lead) + out + std::string(trail);
}

/// A value word by word; what stands behind its first line is hidden.
template <class Mask>
std::string mask_words(std::string_view value, Mask&& mask) {
    std::string out;
    bool hide = false;
    for (std::size_t i = 0; i < value.size();) {
        if (blank(value[i])) {
            hide |= value[i] == '\n' || value[i] == '\r';
            out += value[i++];
            continue;
        }
        std::size_t end = i;
        while (end < value.size() && !blank(value[end])) ++end;
        const std::string_view word = value.substr(i, end - i);
        out += hide ? mask_all(word) : mask(word);
        i = end;
    }
    return out;
}

/// MINIO_OPTS: words as systemd splits them; a note behind them keeps its '#' alone.
std::string mask_options(std::string_view value) {
    Before before = Before::word;
    bool note = false;
    return mask_words(value, [&](std::string_view word) {
        if (note) return mask_all(word);
        note = word.front() == '#';
        return note ? "#" + mask_all(word.substr(1)) : mask_word(word, before);
    });
}

/// Any other variable: a unit may make arguments of it, so what such arguments need stays: ranges, and flags with a path or address.
std::string mask_other(std::string_view value) {
    bool after_flag = false;
    return mask_words(value, [&](std::string_view word) {
        const auto bare = std::min(word.find_first_not_of("\"'"), word.size());
        const std::string_view inner = word.substr(bare, word.find_last_not_of("\"'") + 1 - bare);
        const auto equals = inner.find('=');
        const bool assigned = equals != std::string_view::npos, flag = needed_flag(inner.substr(0, equals));
        const bool place = after_flag && (starts(inner, "/") || starts(inner, ":"));
        const bool placed = flag && assigned && inner.find_first_of("/:", equals + 1) == equals + 1;
        const bool range = has_range(inner) && inner.find('@') == std::string_view::npos && !assigned;
        after_flag = flag && !assigned;
        if (inner.empty()) return mask_all(word);
        if (url(inner) && has_range(inner)) return std::string(word.substr(0, bare)) + mask_url(word.substr(bare));
        if (after_flag) return std::string(word);
        return place || placed || range ? mask_kept(word, false) : mask_all(word);
    });
}

std::string mask_value(std::string_view name, std::string_view value) {
    if (holds_arguments(name)) return mask_options(value);
    if (starts(name, "MINIO_RDMA_")) return mask_setting(value);
    if (!kept(name)) return mask_other(value);
    return mask_kept(value, name == "MINIO_VOLUMES" || name == "MINIO_ARGS" || name == "MINIO_ENDPOINTS");
}

/// In the lines of `text` from its second one on (of `all` of them if asked), names of assignments stay readable.
void keep_names_on_lines(std::string_view text, std::string& out, std::size_t from, std::size_t to, bool first) {
    for (std::size_t i = from; i < to;) {
        const auto end = std::min(text.find_first_of("\r\n", i), to);
        if (first || i > from) {
            std::size_t begin = text.find_first_not_of(" \t#;", i);
            if (begin < end && starts(text.substr(begin), "export ")) begin = text.find_first_not_of(" \t", begin + 7);
            const auto equals = begin < end ? text.find('=', begin) : std::string_view::npos;
            if (equals < end) {
                std::string_view name = text.substr(begin, equals - begin);
                while (!name.empty() && blank(name.back())) name.remove_suffix(1);
                if (shaped(name)) {
                    const auto line = std::min(text.find_first_not_of(" \t", i), begin);
                    std::copy(text.begin() + static_cast<std::ptrdiff_t>(line), text.begin() + static_cast<std::ptrdiff_t>(equals + 1), out.begin() + static_cast<std::ptrdiff_t>(line));
                }
            }
        }
        i = end + 1;
    }
}

/// Of a line that the manager drops: what it was to set, and endpoints; it stays a line that is dropped.
void keep_dropped(std::string_view text, const EnvDropped& dropped, std::string& out) {
    const auto end = std::min(text.find_first_of("\r\n", dropped.at), text.size());
    const std::string_view line = text.substr(dropped.at, end - dropped.at);
    if (dropped.why == EnvDropped::no_equals) {
        for (std::size_t i = 0; i < line.size();) {
            const auto stop = std::min(line.find_first_of(" \t", i), line.size());
            const std::string_view word = line.substr(i, stop - i);
            const auto bare = std::min(word.find_first_not_of("\"'"), word.size());
            if (looks_like_endpoint(word) && url(word.substr(bare)))
                out.replace(dropped.at + i + bare, word.size() - bare, mask_url(word.substr(bare)));
            else if (looks_like_endpoint(word))
                out.replace(dropped.at + i, word.size(), word);
            else if (starts(word, dropped.name) && starts(dropped.name, "MINIO_"))
                out.replace(dropped.at + i, dropped.name.size() + (word.substr(dropped.name.size(), 1) == ":"),
                            word.substr(0, dropped.name.size() + (word.substr(dropped.name.size(), 1) == ":")));
            i = std::min(line.find_first_not_of(" \t", stop), line.size());
        }
        return;
    }
    const auto equals = line.find('=', 1);  // the first byte is the name's, whatever it is
    if (equals == std::string_view::npos) return;
    out[dropped.at + equals] = '=';
    std::string_view name = line.substr(0, equals);
    while (!name.empty() && blank(name.back())) name.remove_suffix(1);
    std::size_t at = 0;
    const std::string meant = meant_name(name, &at);
    if (!shaped(meant)) {
        out[dropped.at] = '0';  // stays an invalid name
        return;
    }
    out.replace(dropped.at + at, name.size() - at, name.substr(at));
    const bool exported = starts(name, "export") && name.size() > 6 && blank(name[6]);
    if (exported) out.replace(dropped.at, 6, "export");
    // Signs right before the name must not become letters of it.
    else
        for (std::size_t i = at; i > 0 && !blank(name[i - 1]); --i) out[dropped.at + i - 1] = '-';
}

/// A line as the server reads it (facts/server_env.h): blanks, perhaps "export", NAME=value.
std::string mask_server_line(std::string_view line) {
    std::string out = mask_all(line);
    const auto keep = [&](std::size_t from, std::size_t to) { out.replace(from, to - from, line.substr(from, to - from)); };
    std::size_t begin = std::min(line.find_first_not_of(" \t\v\f\r"), line.size());
    while (starts(line.substr(begin), "\xc2\x85") || starts(line.substr(begin), "\xc2\xa0")) begin += 2;
    keep(0, begin);
    if (begin == line.size()) return out;
    if (line[begin] == '#') {
        out[begin] = '#';
        return out;
    }
    if (starts(line.substr(begin), "export")) {
        const auto name = std::min(line.find_first_not_of(" \t\v\f\r", begin + 6), line.size());
        keep(begin, name);
        begin = name;
    }
    const auto equals = line.find('=', begin);
    if (equals == std::string_view::npos) return out;
    out[equals] = '=';
    std::string_view name = line.substr(begin, equals - begin);
    while (!name.empty() && blank(name.back())) name.remove_suffix(1);
    if (!shaped(name)) return out;
    keep(begin, begin + name.size());
    const std::string value = mask_value(name, line.substr(equals + 1));
    out.replace(equals + 1, value.size(), value);
    return out;
}

}  // namespace

bool kept(std::string_view variable) {
    static constexpr std::array names = {"MINIO_VOLUMES", "MINIO_ARGS",    "MINIO_ENDPOINTS", "MINIO_CONFIG_ENV_FILE",
                                         "MINIO_CONFIG",  "MINIO_ADDRESS", "LD_LIBRARY_PATH", "LD_PRELOAD"};
    return starts(variable, "MINIO_RDMA_") || std::find(names.begin(), names.end(), variable) != names.end();
}

namespace {

std::string mask_by(std::string_view text, CommentContinues comments) {
    const EnvFile file = read_env_file(text, comments);
    std::string out = mask_all(text);
    for (const std::size_t at : file.comments) {
        out[at] = text[at];
        const auto end = text.find_first_of("\r\n", at);
        // A continued comment may hide assignments; their names show which.
        for (std::size_t next = end; next != std::string_view::npos && next > at && text[next - 1] == '\\'; next = text.find_first_of("\r\n", next + 1))
            keep_names_on_lines(text, out, next + 1, std::min(text.find_first_of("\r\n", next + 1), text.size()), true);
    }
    for (const EnvLine& line : file.lines) {
        const std::string value(text.substr(line.value_at, line.value_end - line.value_at));
        if (shaped(line.name)) out.replace(line.name_at, line.name.size(), line.name);
        out[line.value_at - 1] = '=';
        // A switch keeps its meaning where it runs over lines.
        const bool plain_switch = line.name == "MINIO_RDMA_INTERNODE" && (line.value == "on" || line.value == "off");
        out.replace(line.value_at, value.size(), plain_switch ? value : mask_value(line.name, value));
        if (!line.swallowed.empty()) keep_names_on_lines(text, out, line.value_at, line.value_end, false);
    }
    for (const EnvDropped& dropped : file.dropped) keep_dropped(text, dropped, out);
    if (!file.refused.empty()) {
        for (std::size_t i = file.refused_at; i < file.refused_end; ++i)
            if (static_cast<unsigned char>(text[i]) >= 0x80) out[i] = '\xff';
        if (const auto equals = text.find('=', file.refused_at + 1); equals < file.refused_end) out[equals] = '=';
    }
    if (file.bom) out.replace(0, 3, text.substr(0, 3));
    return out;
}

}  // namespace

std::string mask_environment_file(std::string_view text) {
    // Which grammar counts, the release of the service manager decides: what either needs stays.
    std::string out = mask_by(text, CommentContinues::yes);
    const std::string newer = mask_by(text, CommentContinues::no);
    for (std::size_t i = 0; i < out.size(); ++i)
        if (newer[i] == text[i]) out[i] = text[i];
    return out;
}

std::string mask_server_env(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        out += mask_server_line(line);
        if (end < text.size()) out += '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

std::string mask_plain_file(std::string_view path, std::string_view text) {
    const bool commented = path == "/etc/hosts" || starts(path, "/etc/ld.so.conf");
    if (path != "/proc/cmdline" && !commented) return std::string(text);
    std::string out(text);
    if (commented) {
        for (auto at = text.find('#'); at != std::string_view::npos; at = text.find('#', at + 1)) {
            const auto end = std::min(text.find('\n', at), text.size());
            hide(out, at + 1, end);
            at = end;
        }
        return out;
    }
    // Parameters that the checks or a person need; any other one may hold a password (rd.iscsi.password=, …).
    static constexpr std::array needed_parameters = {"module_blacklist", "modprobe.blacklist", "rd.driver.blacklist", "pci", "iommu", "intel_iommu", "amd_iommu",
                                                     "BOOT_IMAGE", "root", "console", "mitigations", "hugepages", "default_hugepagesz", "hugepagesz", "isolcpus"};
    for (std::size_t i = 0; i < text.size();) {
        const auto end = std::min(text.find_first_of(" \t\n", i), text.size());
        const std::string_view word = text.substr(i, end - i);
        const auto equals = word.find('=');
        const bool stays = std::find(needed_parameters.begin(), needed_parameters.end(), word.substr(0, equals)) != needed_parameters.end();
        if (equals != std::string_view::npos && !stays) hide(out, i + equals + 1, end);
        i = end + 1;
    }
    return out;
}

std::string mask_assignment(std::string_view entry) {
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos) return mask_all(entry);
    const std::string_view name = entry.substr(0, equals), value = entry.substr(equals + 1);
    return std::string(name) + "=" + mask_value(name, value);
}

std::string mask_command(std::string_view command) {
    const auto end = std::min(command.find_first_of(" \t"), command.size());
    return std::string(command.substr(0, end)) + mask_options(command.substr(end));
}

std::vector<std::string> mask_arguments(std::vector<std::string> arguments) {
    Before before = Before::word;
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        const bool several = arguments[i].find_first_of(" \t") != std::string::npos;
        const bool urls = several && url(arguments[i]);  // one argument that should have been several
        arguments[i] = urls ? mask_options(arguments[i]) : mask_word(arguments[i], before);
    }
    return arguments;
}

namespace {

/// Directives of unit files whose values the checks read.
constexpr std::array needed_directives = {
    "Type", "User", "Group", "SupplementaryGroups", "DynamicUser", "EnvironmentFile", "PassEnvironment", "UnsetEnvironment", "LimitMEMLOCK",
    "AmbientCapabilities", "CapabilityBoundingSet", "RemainAfterExit", "Restart", "BusName", "PrivateDevices", "DevicePolicy", "DeviceAllow",
    "RestrictAddressFamilies", "PrivateUsers", "PrivateNetwork", "NetworkNamespacePath", "MemoryMax", "MemoryLimit", "ProtectClock", "RootDirectory",
    "RootImage", "InaccessiblePaths", "TemporaryFileSystem", "Slice", "DefaultLimitMEMLOCK", "NoNewPrivileges"};

/// Those of them that hold one word: what stands behind it was not meant for the manager.
constexpr std::array one_word_directives = {"Type", "User", "Group", "DynamicUser", "LimitMEMLOCK", "DefaultLimitMEMLOCK", "RemainAfterExit", "Restart", "BusName",
                                            "PrivateDevices", "DevicePolicy", "PrivateUsers", "PrivateNetwork", "MemoryMax", "MemoryLimit", "ProtectClock", "Slice", "NoNewPrivileges"};

bool among(const auto& directives, std::string_view key) {
    return std::any_of(directives.begin(), directives.end(), [&](std::string_view one) {
        return std::equal(one.begin(), one.end(), key.begin(), key.end(), [](char a, char b) { return std::tolower(a) == std::tolower(static_cast<unsigned char>(b)); });
    });
}

bool needed(std::string_view key) {
    return starts(key, "Assert") || starts(key, "Condition") || among(needed_directives, key);
}

/// Masks one value byte by byte where escapes count: an escape keeps its length and stays valid.
std::string mask_escaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + 1 >= text.size()) {
            out += masked(text[i]);
            continue;
        }
        out += text.substr(i, 2);
        const char kind = text[++i];
        const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : kind >= '0' && kind <= '7' ? 2 : 0;
        const std::string_view safe = kind >= '0' && kind <= '7' ? "70" : kind == 'x' ? "78" : kind == 'u' ? "0078" : "00000078";
        if (kind >= '0' && kind <= '7') out.back() = '1';
        const std::string_view behind = text.substr(i + 1, digits);
        const auto hexadecimal = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
        if (digits && behind.size() == digits && std::all_of(behind.begin(), behind.end(), hexadecimal)) {
            out += safe.substr(0, digits);
            i += digits;
        }
    }
    return out;
}

struct UnitMasker {
    std::string key;
    std::string open_name;  ///< the variable whose quoted value goes on over the next line
    char quote = 0;
    bool first_word = true;
    Before before = Before::word;

    /// One physical line of a value, word by word; an open quote carries over and hides what it holds.
    std::string value(std::string_view line) {
        if (needed(key)) return needed_value(line);
        const bool environment = key == "Environment" || key == "DefaultEnvironment" || key == "ManagerEnvironment", exec = starts(key, "Exec");
        if (!environment && !exec) return mask_all(line);
        std::string out;
        for (std::size_t i = 0; i < line.size();) {
            if (!quote && blank(line[i])) {
                out += line[i++];
                continue;
            }
            const bool carried = quote != 0;
            std::size_t end = i;
            for (; end < line.size() && (quote || !blank(line[end])); ++end) {
                if (line[end] == '\\' && end + 1 < line.size()) ++end;
                else if (quote && line[end] == quote) quote = 0;
                else if (!quote && (line[end] == '"' || line[end] == '\'')) quote = line[end];
            }
            end = std::min(end, line.size());
            const std::string_view word = line.substr(i, end - i);
            if (carried && environment && kept(open_name)) out += mask_kept(word, false);
            else if (carried || quote) out += environment ? open_word(word, carried) : mask_escaped(word);
            else if (environment) out += assignment(word);
            else if (first_word) out += without_values(word);
            else out += key == "ExecStart" ? mask_word(word, before) : mask_escaped(word);
            if (environment && !carried) open_name = quote ? name_of(word) : "";
            first_word = false;
            i = end;
        }
        return out;
    }

    /// A word whose text behind an '=' is hidden: programs, names of variables and of files have none.
    static std::string without_values(std::string_view word) {
        const auto equals = word.find('=');
        return equals == std::string_view::npos ? std::string(word) : std::string(word.substr(0, equals + 1)) + mask_escaped(word.substr(equals + 1));
    }

    /// Without what follows a one-word value, or a '#' or ';' behind a blank: units know no such notes, people write them.
    std::string needed_value(std::string_view line) {
        std::size_t end = line.size();
        if (among(one_word_directives, key)) {
            const auto begin = line.find_first_not_of(" \t");
            if (begin == std::string_view::npos) return std::string(line);
            end = first_word ? std::min(line.find_first_of(" \t", begin), line.size()) : begin;
            first_word = false;
        }
        for (std::size_t i = 1; i < end; ++i)
            if (blank(line[i - 1]) && (line[i] == '#' || line[i] == ';')) end = i;
        std::string masked_rest = mask_all(line.substr(end));
        const auto note = line.find_first_not_of(" \t", end);
        if (note != std::string_view::npos && (line[note] == '#' || line[note] == ';')) masked_rest[note - end] = line[note];
        const bool assignments = key == "UnsetEnvironment" || key == "PassEnvironment" || key == "EnvironmentFile" || key.find("Environment") != std::string::npos;
        const std::string kept_part = assignments ? without_values_each(line.substr(0, end)) : std::string(line.substr(0, end));
        return kept_part + masked_rest;
    }

    static std::string without_values_each(std::string_view text) {
        std::string out;
        for (std::size_t i = 0; i < text.size();) {
            const auto end = std::min(blank(text[i]) ? text.find_first_not_of(" \t", i) : text.find_first_of(" \t", i), text.size());
            out += without_values(text.substr(i, end - i));
            i = end;
        }
        return out;
    }

    static std::string name_of(std::string_view word) {
        const auto begin = std::min(word.find_first_not_of("\"'"), word.size());
        return std::string(word.substr(begin, std::min(word.find('='), word.size()) - begin));
    }

    static std::string open_word(std::string_view word, bool carried) { return carried ? mask_escaped(word) : assignment(word); }

    static std::string assignment(std::string_view word) {
        const auto equals = word.find('=');
        if (equals == std::string_view::npos) return mask_escaped(word);
        std::string_view name = word.substr(0, equals);
        while (!name.empty() && (name.front() == '"' || name.front() == '\'')) name.remove_prefix(1);
        if (!shaped(name)) return std::string(word.substr(0, word.find(name))) + mask_all(name) + "=" + mask_escaped(word.substr(equals + 1));
        const std::string_view text = word.substr(equals + 1);
        const bool by_words = kept(name) || holds_arguments(name) || text.find('\\') == std::string_view::npos;
        const std::string value = by_words ? mask_value(name, text) : mask_escaped(text);
        return std::string(word.substr(0, equals + 1)) + value;
    }
};

}  // namespace

std::string mask_unit_file(std::string_view text) {
    std::string out;
    UnitMasker masker;
    bool continued = false;
    while (!text.empty()) {
        auto end = text.find_first_of("\r\n");
        const std::string_view line = text.substr(0, end);
        end = end == std::string_view::npos ? text.size() : end + (text.substr(end, 2) == "\r\n" ? 2 : 1);
        const std::string_view tail = text.substr(line.size(), end - line.size());
        text.remove_prefix(end);
        const auto first = line.find_first_not_of(" \t");
        if (first != std::string_view::npos && (line[first] == '#' || line[first] == ';')) {
            out += std::string(line.substr(0, first + 1)) + mask_all(line.substr(first + 1)) + std::string(tail);
            continue;
        }
        bool escaped = false;
        for (const char c : line) escaped = !escaped && c == '\\';
        if (continued) {
            out += masker.value(escaped ? line.substr(0, line.size() - 1) : line);
        } else if (const auto equals = line.find('='); first != std::string_view::npos && line[first] != '[' && equals != std::string_view::npos) {
            masker = {};
            const auto last = line.find_last_not_of(" \t", equals == 0 ? 0 : equals - 1);
            masker.key = first <= last && last != std::string_view::npos ? std::string(line.substr(first, last - first + 1)) : "";
            const bool name = masker.key.size() <= 40 && std::all_of(masker.key.begin(), masker.key.end(), [](unsigned char c) { return std::isalnum(c); });
            out += name ? std::string(line.substr(0, equals + 1)) : mask_all(line.substr(0, equals)) + "=";
            out += masker.value(line.substr(equals + 1, line.size() - equals - 1 - (escaped ? 1 : 0)));
        } else {
            const bool header = first != std::string_view::npos && line[first] == '[';
            masker = {};
            const std::string_view rest = escaped ? line.substr(0, line.size() - 1) : line;
            out += header ? std::string(rest) : mask_all(rest);
        }
        if (escaped) out += '\\';
        out += tail;
        continued = escaped;
    }
    return out;
}

}  // namespace preflight::secrets
