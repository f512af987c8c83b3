#pragma once
// Every MINIO_RDMA_* setting that is publicly known: one table for the checks, for `explain` and for docs/settings.md.
// The server drops a value it does not understand without a log line and uses the default.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace preflight {

/// How sure a statement is. What rests on inference is at most a warning.
enum class Evidence {
    documented,  ///< the AIStor settings page or an operator's write-up of it
    source,      ///< public source, header or admin API type
    example,     ///< MinIO's own public RDMA scripts
    inferred,
};
std::string_view name(Evidence evidence);

struct Setting {
    enum Type { exact_on, integer, size };

    std::string_view name;
    Type type = integer;
    std::optional<std::uint64_t> fallback;  ///< the default; nullopt: not public, or none
    std::string_view fallback_text;         ///< the default for a person
    std::optional<std::uint64_t> least, most;
    bool range_public = false;  ///< least and most are documented: outside is a fail; otherwise at most a warning
    std::string_view path;      ///< "inter-node", "S3", "both"
    bool read_early = false;    ///< read before MINIO_CONFIG_ENV_FILE is loaded
    bool same_on_all = false;   ///< must match on all nodes
    Evidence evidence = Evidence::documented;
    std::string_view about;
    std::string_view source;
};

std::span<const Setting> settings();
const Setting* find_setting(std::string_view name);
/// The known setting that `name` was probably meant to be, or nullptr.
const Setting* nearest_setting(std::string_view name);

inline constexpr std::string_view setting_prefix = "MINIO_RDMA_";

struct SettingValue {
    enum Kind {
        empty,         ///< unset: the default is used
        good,
        unparsable,    ///< surely dropped
        out_of_range,  ///< of a documented range: dropped
        doubtful,      ///< a size suffix, or outside a range that is not public
    } kind = empty;
    std::uint64_t number = 0;  ///< of good and doubtful values that hold a number
    std::string_view why;
};
/// Judges a value; blanks around it do not count, as with the server's own getter.
SettingValue read_setting(const Setting& setting, std::string_view value);

/// The table as Markdown, for docs/settings.md.
std::string settings_table();

}  // namespace preflight
