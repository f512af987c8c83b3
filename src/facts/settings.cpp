#include "facts/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "grammar/systemd_text.h"

namespace preflight {
namespace {

constexpr std::uint64_t mib = 1u << 20;
constexpr std::string_view settings_page = "AIStor reference, settings/rdma";
constexpr std::string_view training = "minio/rdma-training, environment of the 400 GbE rig";
constexpr std::string_view header = "libs3rdma public header (minio/minio-cpp)";

constexpr std::array<Setting, 14> table = {{
    {"MINIO_RDMA_INTERNODE", Setting::exact_on, std::nullopt, "off", std::nullopt, std::nullopt, true, "inter-node", false, true, Evidence::documented,
     "switches inter-node RDMA on; only the exact value on counts", settings_page},
    {"MINIO_RDMA_INTERNODE_TRAFFIC_CLASS", Setting::integer, 0, "0 (automatic)", 0, 255, false, "inter-node", false, false, Evidence::example,
     "traffic class of the inter-node queue pairs; 0 takes it from the host's DCB state", training},
    {"MINIO_RDMA_INTERNODE_INFLIGHT_BYTES", Setting::size, 0, "0 (automatic)", 0, std::nullopt, false, "inter-node", false, false, Evidence::example,
     "bounds the data in flight; 0 is an adaptive window", training},
    {"MINIO_RDMA_INTERNODE_MAX_WRITES_PER_PEER", Setting::integer, 32, "32", 1, std::nullopt, false, "inter-node", false, false, Evidence::documented,
     "simultaneous writes per peer", settings_page},
    {"MINIO_RDMA_PEER_PORT", Setting::integer, 5555, "5555", 1, 65535, true, "inter-node", false, true, Evidence::documented,
     "TCP port between the AIStor nodes", settings_page},
    {"MINIO_RDMA_POOL_COUNT", Setting::integer, 256, "256", 1, std::nullopt, true, "both", true, false, Evidence::documented,
     "buffers of one pool; count x size is pinned", settings_page},
    {"MINIO_RDMA_POOL_BUF_SIZE", Setting::size, 64 * mib, "67108864 (64 MiB)", 1, std::nullopt, false, "both", true, false, Evidence::documented,
     "size of one buffer; count x size is pinned", settings_page},
    {"MINIO_RDMA_MIN_SIZE", Setting::size, mib, "1048576 (1 MiB)", 0, std::nullopt, false, "inter-node", true, false, Evidence::documented,
     "smaller transfers stay on TCP", settings_page},
    {"MINIO_RDMA_CONCURRENCY", Setting::integer, 512, "512", 1, std::nullopt, false, "inter-node", true, false, Evidence::documented,
     "simultaneous RDMA transfers", settings_page},
    {"MINIO_RDMA_TRAFFIC_CLASS", Setting::integer, std::nullopt, "unset", 0, 255, false, "S3", false, false, Evidence::documented,
     "traffic class of S3 over RDMA; not the inter-node one", settings_page},
    {"MINIO_RDMA_CHANNELS", Setting::integer, std::nullopt, "not public", 1, std::nullopt, false, "S3", false, false, Evidence::example,
     "channels of the S3 transport; 256 on a 400 GbE rig", training},
    {"MINIO_RDMA_NUM_DCIS", Setting::integer, 256, "256", 1, std::nullopt, false, "S3", false, false, Evidence::source, "DC initiators of the S3 transport", header},
    {"MINIO_RDMA_CQ_DEPTH", Setting::integer, 256, "256", 1, std::nullopt, false, "S3", false, false, Evidence::source,
     "completion queue entries; the device's max_cqe bounds it", header},
    {"MINIO_RDMA_DELAY_INTERVAL", Setting::integer, std::nullopt, "not public", 0, std::nullopt, false, "S3", false, false, Evidence::example,
     "500 on a 400 GbE rig; perhaps a left-over of an older library", training},
}};

std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t corner = row[0]++;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1])});
            corner = above;
        }
    }
    return row[b.size()];
}

}  // namespace

std::string_view name(Evidence evidence) {
    switch (evidence) {
        case Evidence::documented: return "documented";
        case Evidence::source: return "public source";
        case Evidence::example: return "vendor's example";
        case Evidence::inferred: return "inferred";
    }
    return "inferred";
}

std::span<const Setting> settings() {
    return table;
}

const Setting* find_setting(std::string_view name) {
    const auto found = std::find_if(table.begin(), table.end(), [&](const Setting& setting) { return setting.name == name; });
    return found == table.end() ? nullptr : &*found;
}

const Setting* nearest_setting(std::string_view name) {
    const Setting* best = nullptr;
    std::size_t least = name.size() / 3 + 1;
    for (const Setting& setting : table)
        if (const std::size_t d = distance(name, setting.name); d < least) {
            least = d;
            best = &setting;
        }
    return best;
}

SettingValue read_setting(const Setting& setting, std::string_view value) {
    value = systemd_text::trimmed(value);
    if (value.empty()) return {};
    if (setting.type == Setting::exact_on) return {value == "on" || value == "off" ? SettingValue::good : SettingValue::unparsable, 0, "only \"on\" switches it on"};
    std::uint64_t number = 0;
    const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const std::string_view rest(stop, static_cast<std::size_t>(value.data() + value.size() - stop));
    if (error == std::errc::result_out_of_range) return {SettingValue::unparsable, 0, "larger than any number the server can hold"};
    if (error != std::errc()) return {SettingValue::unparsable, 0, "not a number"};
    if (!rest.empty()) {
        static constexpr std::array<std::string_view, 15> suffixes = {"B", "K", "KB", "KiB", "Ki", "M", "MB", "MiB", "Mi", "G", "GB", "GiB", "Gi", "k", "m"};
        const bool suffix = setting.type == Setting::size && std::find(suffixes.begin(), suffixes.end(), systemd_text::trimmed(rest)) != suffixes.end();
        if (suffix) return {SettingValue::doubtful, number, "whether the server reads a size suffix is not public; write bytes"};
        return {SettingValue::unparsable, 0, "text follows the number"};
    }
    const bool outside = (setting.least && number < *setting.least) || (setting.most && number > *setting.most);
    if (outside && setting.range_public) return {SettingValue::out_of_range, number, "outside the documented range"};
    if (outside) return {SettingValue::doubtful, number, "outside the range that makes sense; the exact range is not public"};
    return {SettingValue::good, number, {}};
}

std::string settings_table() {
    std::string out = "| setting | default | range | path | read | evidence | meaning |\n| --- | --- | --- | --- | --- | --- | --- |\n";
    for (const Setting& setting : table) {
        std::string range = setting.type == Setting::exact_on ? "`on`" : setting.least && setting.most ? fmt::format("{}–{}", *setting.least, *setting.most)
                            : setting.least ? fmt::format("≥ {}", *setting.least)
                                            : "";
        if (!setting.range_public) range += " (not public)";
        if (setting.type == Setting::size) range += ", bytes";
        out += fmt::format("| `{}` | {} | {} | {} | {} | {}: {} | {} |\n", setting.name, setting.fallback_text, range, setting.path,
                           setting.read_early ? "early: before the `MINIO_CONFIG_ENV_FILE` file" : "at start", name(setting.evidence), setting.source, setting.about);
    }
    return out;
}

}  // namespace preflight
