// Configuration space by sysfs, and its form in a snapshot.

#include <fmt/format.h>

#include "host/answer.h"
#include "host/live.h"

namespace preflight {
namespace {

constexpr std::size_t row_bytes = 16;
constexpr std::size_t most_bytes = 4096;  // PCI_CFG_SPACE_EXP_SIZE, include/linux/pci.h

}  // namespace

Fact<PciConfig> live::config_space(const std::string& root, const std::string& address) {
    return live::read(root, "/sys/bus/pci/devices/" + address + "/config", most_bytes).then([](const std::string& bytes) { return PciConfig{bytes}; });
}

void to_json(Json& json, const PciConfig& config) {
    json = {{"size", config.bytes.size()}, {"rows", Json::object()}};
    for (std::size_t at = 0; at < config.bytes.size(); at += row_bytes) {
        const std::string row = config.bytes.substr(at, row_bytes);
        if (row.find_first_not_of('\0') == std::string::npos) continue;
        std::string text;
        for (const char c : row) text += fmt::format("{}{:02x}", text.empty() ? "" : " ", static_cast<unsigned char>(c));
        json["rows"][fmt::format("{:02x}", at)] = text;
    }
}

void from_json(const Json& json, PciConfig& config) {
    const auto refuse = [](const std::string& what) { throw Json::other_error::create(501, "config space: " + what, nullptr); };
    const auto number = [&](const std::string& text) -> std::size_t {
        if (text.empty() || text.size() > 4 || text.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) refuse("\"" + text.substr(0, 40) + "\" is not hexadecimal");
        return std::stoul(text, nullptr, 16);
    };
    const auto size = json.at("size").get<std::size_t>();
    if (size > most_bytes) refuse("larger than 4096 bytes");
    config.bytes.assign(size, '\0');
    for (const auto& [offset, row] : json.at("rows").items()) {
        std::size_t at = number(offset);
        const std::string text = row.get<std::string>();
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = std::min(text.find(' ', begin), text.size());
            const std::size_t byte = number(text.substr(begin, end - begin));
            if (at >= size || byte > 0xff) refuse("row " + offset + " does not fit");
            config.bytes[at++] = static_cast<char>(byte);
            begin = end + 1;
        }
    }
}

}  // namespace preflight
