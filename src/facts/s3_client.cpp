#include "facts/s3_client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "facts/node.h"
#include "preflight/facts.h"

namespace preflight {
namespace {

// Both client generations, and what libs3rdma loads at run time (its strings; AIStor client packages).
constexpr const char* library_names[] = {"libs3rdma.so.0", "libminiocpp.so", "libminio.so.1", "libcuobjclient.so.1", "libcuobjclient.so", "libcufile.so.0",
                                         "libibverbs.so.1", "librdmacm.so.1", "libnuma.so.1"};
// ld.so(8): the loader's own folders; those of a multiarch distribution stand in ld.so.conf.d.
constexpr const char* own_folders[] = {"/lib64", "/usr/lib64", "/lib", "/usr/lib"};
constexpr const char* default_cufile = "/etc/cufile.json";

/// The address as the kernel prints it; nullopt when the text is none.
std::optional<std::string> as_address(const std::string& text) {
    in6_addr buffer{};
    char printed[INET6_ADDRSTRLEN];
    for (const int family : {AF_INET, AF_INET6})
        if (inet_pton(family, text.c_str(), &buffer) == 1) return inet_ntop(family, &buffer, printed, sizeof printed);
    return std::nullopt;
}

class Reader {
public:
    Reader(Host& host, S3ClientFacts& facts) : host_(host), facts_(facts) {}

    void run() {
        facts_.caller = host_.caller();
        if (facts_.caller.unreadable()) facts_.unreadable.emplace_back("the environment of the shell", facts_.caller.why());
        if (const auto path = facts_.variable("LD_LIBRARY_PATH"); path)
            for (const std::string& folder : split(*path, ":;")) add_folder(folder);
        configuration("/etc/ld.so.conf", 0);
        for (const char* folder : own_folders) add_folder(folder);
        for (const char* name : library_names) facts_.libraries.push_back(library(name));
        cufile();
    }

private:
    static std::vector<std::string> split(const std::string& text, const char* marks) {
        std::vector<std::string> parts;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find_first_of(marks, at), text.size());
            if (end > at) parts.push_back(text.substr(at, end - at));
            at = end + 1;
        }
        return parts;
    }

    template <class T>
    bool noted(const Fact<T>& fact, const std::string& path) {
        if (fact.unreadable()) facts_.unreadable.emplace_back(path, fact.why());
        return fact.has();
    }

    void add_folder(const std::string& folder) {
        if (folder[0] == '/' && std::find(facts_.folders.begin(), facts_.folders.end(), folder) == facts_.folders.end()) facts_.folders.push_back(folder);
    }

    /// ldconfig(8): a folder a line, "include PATTERN", '#' begins a comment.
    void configuration(const std::string& path, int depth) {
        const auto text = host_.read(path);
        if (!noted(text, path) || depth > 4) return;
        for (const std::string& raw : split_lines(*text)) {
            const std::string line = trimmed(raw.substr(0, raw.find('#')));
            if (line.rfind("include", 0) != 0) {
                if (!line.empty()) add_folder(line);
                continue;
            }
            for (std::string pattern : split_words(line.substr(7))) {
                if (pattern[0] != '/') pattern = "/etc/" + pattern;
                const auto slash = pattern.rfind('/');
                const std::string folder = pattern.substr(0, slash);
                const auto names = host_.list(folder);
                if (!noted(names, folder)) continue;
                for (const std::string& name : *names)
                    if (fnmatch(pattern.c_str() + slash + 1, name.c_str(), 0) == 0) configuration(folder + "/" + name, depth + 1);
            }
        }
    }

    ClientLibrary library(const std::string& name) {
        ClientLibrary found{name, {}, {}, {}};
        for (const std::string& folder : facts_.folders) {
            const std::string path = folder + "/" + name;
            if (!noted(host_.info(path), path)) continue;
            const std::string real = host_.resolve(path).value_or(path);
            if (!found.found()) {
                found.path = path;
                found.real = real;
            } else if (real != found.real) found.shadowed.push_back(path);
        }
        return found;
    }

    void cufile() {
        CufileConfig& config = facts_.cufile;
        const auto named = facts_.variable("CUFILE_ENV_PATH_JSON");
        config.path = named && !named->empty() ? *named : default_cufile;
        config.origin = named && !named->empty() ? "CUFILE_ENV_PATH_JSON" : "the default";
        const auto text = host_.read(config.path);
        config.file = !text.absent();
        config.addresses = text.then([&](const std::string& all) -> Fact<std::vector<std::string>> {
            const auto json = nlohmann::json::parse(all, nullptr, false, true);
            if (json.is_discarded()) return Unreadable{"malformed", config.path + " is not JSON with comments"};
            const auto properties = json.is_object() ? json.find("properties") : json.end();
            if (properties == json.end() || !properties->is_object() || !properties->contains("rdma_dev_addr_list")) return Absent{"rdma_dev_addr_list"};
            std::vector<std::string> list;
            for (const auto& item : (*properties)["rdma_dev_addr_list"]) {
                if (!item.is_string()) return Unreadable{"malformed", config.path + ": rdma_dev_addr_list holds something else than strings"};
                list.push_back(as_address(item.get<std::string>()).value_or(item.get<std::string>()));
            }
            return list;
        });
    }

    Host& host_;
    S3ClientFacts& facts_;
};

std::optional<int> number(const std::string& text, int least, int most) {
    int value = 0;
    const auto done = std::from_chars(text.data(), text.data() + text.size(), value);
    if (done.ec != std::errc() || done.ptr != text.data() + text.size() || value < least || value > most) return std::nullopt;
    return value;
}

DeviceChoice parse_one(const std::string& text) {
    constexpr int most_ports = 255, most_gids = 255;
    DeviceChoice choice{DeviceChoice::device, text, text, {}, {}, {}};
    std::string plain = text;
    if (plain[0] == '[')
        if (const auto end = plain.find(']'); end != std::string::npos && (end + 1 == plain.size() || (plain[end + 1] == ':' && number(plain.substr(end + 2), 1, 65535))))
            plain = plain.substr(1, end - 1);
    const auto percent = plain.find('%');
    if (const auto address = as_address(plain.substr(0, percent))) {
        choice.name = *address;
        if (percent != std::string::npos) choice.zone = plain.substr(percent + 1);
        choice.kind = choice.name == "0.0.0.0" || choice.name == "::" ? DeviceChoice::wildcard : DeviceChoice::address;
        return choice;
    }
    const auto first = text.find(':'), second = first == std::string::npos ? first : text.find(':', first + 1);
    if (first == std::string::npos) return choice;
    if (second == std::string::npos) {
        if (const auto gid = number(text.substr(first + 1), 0, most_gids)) choice.name = text.substr(0, first), choice.gid = gid;
        return choice;
    }
    const auto port = number(text.substr(first + 1, second - first - 1), 1, most_ports), gid = number(text.substr(second + 1), 0, most_gids);
    if (port && gid) choice.name = text.substr(0, first), choice.port = port, choice.gid = gid;
    return choice;
}

}  // namespace

S3ClientFacts S3ClientFacts::read(const Facts& facts) {
    S3ClientFacts result;
    Reader(facts.host(), result).run();
    return result;
}

const ClientLibrary& S3ClientFacts::library(std::string_view name) const {
    static const ClientLibrary none;
    const auto found = std::find_if(libraries.begin(), libraries.end(), [&](const ClientLibrary& known) { return known.name == name; });
    return found == libraries.end() ? none : *found;
}

Fact<std::string> S3ClientFacts::variable(std::string_view name) const {
    return caller.then([&](const Caller& own) -> Fact<std::string> {
        for (const std::string& entry : own.environment)
            if (entry.size() > name.size() && entry.compare(0, name.size(), name) == 0 && entry[name.size()] == '=') return entry.substr(name.size() + 1);
        return Absent{};
    });
}

std::optional<std::pair<int, int>> version_in(const std::string& file) {
    const auto at = file.rfind(".so.");
    if (at == std::string::npos) return std::nullopt;
    std::pair<int, int> version{0, 0};
    const char *begin = file.data() + at + 4, *const end = file.data() + file.size();
    const auto major = std::from_chars(begin, end, version.first);
    if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
    if (std::from_chars(major.ptr + 1, end, version.second).ec != std::errc()) return std::nullopt;
    return version;
}

std::vector<DeviceChoice> parse_device_choice(const std::string& value) {
    std::vector<DeviceChoice> choices;
    for (std::size_t at = 0; at <= value.size();) {
        const std::size_t end = std::min(value.find(',', at), value.size());
        if (const std::string part = trimmed(value.substr(at, end - at)); !part.empty()) choices.push_back(parse_one(part));
        at = end + 1;
    }
    return choices;
}

std::string release_date(const std::string& release) {
    constexpr std::string_view form = "dddd-dd-dd";
    const auto fits = [&](std::size_t at) {
        for (std::size_t i = 0; i < form.size(); ++i)
            if (form[i] == 'd' ? release[at + i] < '0' || release[at + i] > '9' : release[at + i] != form[i]) return false;
        return true;
    };
    for (std::size_t at = 0; at + form.size() <= release.size(); ++at)
        if (fits(at)) return release.substr(at, form.size());
    return {};
}

}  // namespace preflight
