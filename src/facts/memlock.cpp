#include "facts/memlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "facts/environment.h"
#include "facts/rdma.h"
#include "facts/service.h"
#include "facts/settings.h"

namespace preflight {
namespace {

/// The number the server will use for a setting: its value, or the default when the value is dropped.
std::uint64_t number_of(const EnvironmentFacts& environment, std::string_view name, std::string& doubt) {
    const Setting& setting = *find_setting(name);
    const auto value = environment.server_value(name);
    if (value.unreadable()) doubt = value.why().cause;
    if (!value.has()) return setting.fallback.value_or(0);
    const SettingValue read = read_setting(setting, value->value);
    if (read.kind == SettingValue::doubtful) doubt = fmt::format("{}: {}", name, read.why);
    return read.kind == SettingValue::good ? read.number : setting.fallback.value_or(0);
}

std::uint64_t active_devices(const RdmaStack& rdma) {
    return static_cast<std::uint64_t>(std::count_if(rdma.devices.begin(), rdma.devices.end(), [](const RdmaDeviceFacts& facts) {
        return !facts.software && std::any_of(facts.device.ports.begin(), facts.device.ports.end(), [](const RdmaPort& port) { return port.state == "ACTIVE"; });
    }));
}

}  // namespace

MemlockFacts MemlockFacts::read(Host& host, const EnvironmentFacts& environment, const RdmaStack& rdma) {
    MemlockFacts facts;
    PoolNeed need;
    need.count = number_of(environment, "MINIO_RDMA_POOL_COUNT", need.doubt);
    need.size = number_of(environment, "MINIO_RDMA_POOL_BUF_SIZE", need.doubt);
    need.devices = std::max<std::uint64_t>(1, active_devices(rdma));
    std::uint64_t total = 0;
    if (!__builtin_mul_overflow(need.count, need.size, &need.bytes) && !__builtin_mul_overflow(need.bytes, need.devices, &total)) {
        need.sum = fmt::format("{} x {} = {}", need.count, bytes_text(need.size), bytes_text(need.bytes));
        facts.need = need;
    }
    facts.memory = host.read("/proc/meminfo").then([](const std::string& text) -> Fact<std::uint64_t> {
        const auto at = text.find("MemTotal:");
        if (at == std::string::npos) return Unreadable{"malformed", "/proc/meminfo: no MemTotal"};
        return std::strtoull(text.c_str() + at + 9, nullptr, 10) * 1024;
    });
    return facts;
}

}  // namespace preflight
