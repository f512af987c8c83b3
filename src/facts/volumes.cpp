#include "facts/volumes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>

namespace preflight {
namespace {

struct Range {
    std::uint64_t start = 0, end = 0;
    int width = 0;
    bool hexadecimal = false;

    std::uint64_t count() const { return end - start + 1; }
    std::string at(std::uint64_t i) const { return hexadecimal ? fmt::format("{:0{}x}", start + i, width) : fmt::format("{:0{}d}", start + i, width); }
};

std::optional<std::uint64_t> number(std::string_view text, int base) {
    std::uint64_t value = 0;
    const auto end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value, base);
    if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
    return value;
}

/// One "{…}" of a pattern; `inside` is the text between the braces.
std::optional<Range> range_of(std::string_view inside, std::size_t column, std::vector<VolumeError>& errors) {
    const auto refuse = [&](std::string message) {
        errors.push_back({column, inside.size() + 2, std::move(message)});
        return std::nullopt;
    };
    const auto dots = inside.find("...");
    if (dots == std::string_view::npos) {
        if (inside.find("..") != std::string_view::npos) return refuse(fmt::format("two dots are bash; write {{{}...{}}} with three", inside.substr(0, inside.find("..")), inside.substr(inside.find("..") + 2)));
        if (inside.find(',') != std::string_view::npos) return refuse("a comma list is legal only in the YAML configuration file; write a range {1...n}");
        return refuse("not a range; write {1...n}");
    }
    const std::string_view first = inside.substr(0, dots), last = inside.substr(dots + 3);
    const auto lower = [](std::string_view text) { return text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz") == std::string_view::npos; };
    Range range;
    const auto side = [&](std::string_view text) {
        auto value = number(text, 10);
        if (!value && lower(text)) {
            value = number(text, 16);
            range.hexadecimal |= value.has_value();
        }
        return value;
    };
    const auto start = side(first), end = side(last);
    if (!start || !end) return refuse("a side of the range is not a number");
    if (*start > *end) return refuse(fmt::format("the range starts at {} and ends before it at {}", *start, *end));
    range.start = *start;
    range.end = *end;
    if ((first.size() > 1 && first.front() == '0') || last.front() == '0') range.width = static_cast<int>(last.size());
    return range;
}

struct Split {
    std::string host;
    int port = 0;
    bool url = false;
};

std::optional<Split> split_endpoint(std::string_view endpoint, std::string& problem) {
    Split out;
    const auto scheme = endpoint.find("://");
    if (scheme == std::string_view::npos) {
        if (endpoint.empty()) return problem = "an empty endpoint", std::nullopt;
        return out;
    }
    std::string lower(endpoint.substr(0, scheme));
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (lower != "http" && lower != "https") return problem = "a URL must begin with http:// or https://", std::nullopt;
    std::string_view rest = endpoint.substr(scheme + 3);
    const auto slash = rest.find('/');
    if (slash == std::string_view::npos || rest.substr(slash).find_first_not_of('/') == std::string_view::npos)
        return problem = "a URL needs a path of its own, such as /mnt/disk1", std::nullopt;
    // NewEndpoint of the community server's cmd/endpoint.go takes a URL with scheme, host and path alone.
    if (rest.substr(0, slash).find('@') != std::string_view::npos) return problem = "a user or password in a URL: the server refuses it", std::nullopt;
    if (rest.find_first_of("?#") != std::string_view::npos) return problem = "\"?\" or \"#\" in a URL: the server refuses it", std::nullopt;
    std::string_view authority = rest.substr(0, slash);
    std::string_view port;
    if (!authority.empty() && authority.front() == '[') {
        const auto close = authority.find(']');
        if (close == std::string_view::npos) return problem = "an IPv6 address has no closing bracket", std::nullopt;
        out.host = authority.substr(1, close - 1);
        port = authority.substr(close + 1);
        if (!port.empty() && port.front() != ':') return problem = "text follows the bracket of an IPv6 address", std::nullopt;
    } else {
        const auto colon = authority.find(':');
        if (colon != authority.rfind(':')) return problem = "an IPv6 address stands in brackets: [2001:db8::1]", std::nullopt;
        out.host = authority.substr(0, colon);
        if (colon != std::string_view::npos) port = authority.substr(colon);
    }
    if (out.host.empty()) return problem = "the URL has no host", std::nullopt;
    if (!port.empty()) {
        const auto value = number(port.substr(1), 10);
        if (!value || *value == 0 || *value > 65535) return problem = "the port is not a number from 1 to 65535", std::nullopt;
        out.port = static_cast<int>(*value);
    }
    out.url = true;
    return out;
}

/// "node1:/tmp/drive1", "node{1...4}:9000/mnt": a name, a colon, perhaps a port, and a path.
bool host_without_scheme(std::string_view text) {
    // "https//n1/mnt", "http:n1/mnt", "//n1/mnt": a scheme that went wrong.
    if (text.find("://") == std::string_view::npos && (text.rfind("http", 0) == 0 || text.rfind("//", 0) == 0) && text.find('/') != std::string_view::npos) return true;
    const auto colon = text.find(':');
    if (colon == 0 || colon == std::string_view::npos || text.find("://") != std::string_view::npos) return false;
    const auto path = text.find_first_not_of("0123456789", colon + 1);
    return text.substr(0, colon).find('/') == std::string_view::npos && path != std::string_view::npos && text[path] == '/';
}

}  // namespace

std::vector<std::string> expand_ellipses(std::string_view pattern, std::size_t column, std::vector<VolumeError>& errors) {
    std::vector<std::string> out = {""};
    const std::size_t before = errors.size();
    for (std::size_t i = 0; i < pattern.size();) {
        const auto open = pattern.find_first_of("{}", i);
        const std::string_view plain = pattern.substr(i, open - i);
        if (const auto dots = plain.find("..."); dots != std::string_view::npos) errors.push_back({column + i + dots, 3, "an ellipsis outside braces"});
        for (std::string& text : out) text += plain;
        if (open == std::string_view::npos) break;
        if (pattern[open] == '}') {
            errors.push_back({column + open, 1, "a closing brace without an opening one"});
            break;
        }
        const auto close = pattern.find_first_of("{}", open + 1);
        if (close == std::string_view::npos || pattern[close] == '{') {
            errors.push_back({column + open, 1, "an opening brace that is not closed"});
            break;
        }
        const auto range = range_of(pattern.substr(open + 1, close - open - 1), column + open, errors);
        i = close + 1;
        if (!range) continue;
        if (range->count() == 0 || range->count() > most_endpoints || out.size() * range->count() > most_endpoints) {
            errors.push_back({column + open, close - open + 1, fmt::format("expands to more than {} endpoints", most_endpoints)});
            break;
        }
        std::vector<std::string> grown;
        grown.reserve(out.size() * range->count());
        for (const std::string& text : out)
            for (std::uint64_t n = 0; n < range->count(); ++n) grown.push_back(text + range->at(n));
        out = std::move(grown);
    }
    if (errors.size() > before) out.clear();
    return out;
}

Volumes parse_volumes(std::string_view value) {
    static constexpr std::string_view blanks = " \t\n\r\v\f";
    Volumes out;
    struct Argument {
        std::string_view text;
        std::size_t column;
    };
    std::vector<Argument> arguments;
    for (std::size_t i = value.find_first_not_of(blanks); i != std::string_view::npos; i = value.find_first_not_of(blanks, i)) {
        const auto end = std::min(value.find_first_of(blanks, i), value.size());
        arguments.push_back({value.substr(i, end - i), i});
        i = end;
    }
    std::size_t with_ellipses = 0, urls = 0;
    std::set<std::string> seen;
    for (const auto& [text, column] : arguments) {
        if (const auto dollar = text.find('$'); dollar != std::string_view::npos) {
            out.errors.push_back({column + dollar, text.size() - dollar, "an unexpanded \"$\": environment files are not shell; write the value out"});
            continue;
        }
        if (text.front() == '#') {
            out.errors.push_back({column, value.size() - column, "text after the endpoints: a comment needs a line of its own"});
            break;
        }
        if (const auto quote = text.find_first_of("\"'"); quote != std::string_view::npos) {
            out.errors.push_back({column + quote, 1, "a quote inside the value"});
            continue;
        }
        if (const auto comma = text.find(",http"); comma != std::string_view::npos && text.find("://", comma) != std::string_view::npos) {
            out.errors.push_back({column + comma, 1, "a comma between endpoints; write a blank"});
            continue;
        }
        if (const auto equals = text.find('='); equals != std::string_view::npos && text.find("MINIO_") < equals) {
            out.errors.push_back({column + equals, 1, "another setting is glued to the endpoint: a line end is missing"});
            continue;
        }
        const bool ellipses = text.find("...") != std::string_view::npos || text.find_first_of("{}") != std::string_view::npos;
        with_ellipses += ellipses;
        if (host_without_scheme(text)) out.host_without_scheme.emplace_back(text);
        for (const std::string& endpoint : expand_ellipses(text, column, out.errors)) {
            std::string problem;
            const auto split = split_endpoint(endpoint, problem);
            if (!split) {
                out.errors.push_back({column, text.size(), problem});
                break;
            }
            if (!seen.insert(endpoint).second) {
                out.errors.push_back({column, text.size(), fmt::format("{} is listed twice: the server refuses duplicate endpoints", endpoint)});
                break;
            }
            ++out.drives;
            urls += split->url;
            const VolumeHost host{split->host, split->port};
            if (split->url && std::find(out.hosts.begin(), out.hosts.end(), host) == out.hosts.end()) out.hosts.push_back(host);
        }
    }
    out.ellipses = with_ellipses > 0;
    out.pools = out.ellipses ? arguments.size() : arguments.empty() ? 0 : 1;
    if (out.errors.empty() && with_ellipses && with_ellipses < arguments.size())
        out.errors.push_back({arguments.front().column, value.size() - arguments.front().column, "arguments with and without {...} are mixed: each pool needs a range"});
    if (out.errors.empty() && urls && urls < out.drives)
        out.errors.push_back({arguments.front().column, value.size() - arguments.front().column, "URLs and plain paths are mixed"});
    return out;
}

}  // namespace preflight
