// Devices, versions, parameters and health reporters of devlink (include/uapi/linux/devlink.h, net/devlink).

#include <fmt/format.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <netlink/genl/genl.h>

#include <array>
#include <chrono>
#include <thread>

#include "host/decode.h"
#include "host/live.h"
#include "host/netlink.h"

namespace preflight {
namespace {

using decode::DevlinkHandle;
using netlink::Attribute;
using netlink::Reader;

constexpr std::array modes{"runtime", "driverinit", "permanent"};  // enum devlink_param_cmode
constexpr int reporter_healthy = 0;  // DEVLINK_HEALTH_REPORTER_STATE_HEALTHY, include/net/devlink.h of Linux 6.12
constexpr auto reset_pause = std::chrono::milliseconds(200);        // a device that resets refuses INFO_GET for a moment

Reader reader(decode::Bytes payload) {
    return {payload, GENL_HDRLEN, "devlink"};
}

/// The value as text; `type` is the kernel's NLA_* number, which libnl shares (DEVLINK_ATTR_PARAM_TYPE).
std::string parameter_value(Reader& at, unsigned type) {
    constexpr const char* name = "DEVLINK_ATTR_PARAM_VALUE_DATA";
    switch (type) {
        case NLA_FLAG: return at.has(DEVLINK_ATTR_PARAM_VALUE_DATA) ? "true" : "false";
        case NLA_U8: return fmt::format("{}", at.required<std::uint8_t>(DEVLINK_ATTR_PARAM_VALUE_DATA, name));
        case NLA_U16: return fmt::format("{}", at.required<std::uint16_t>(DEVLINK_ATTR_PARAM_VALUE_DATA, name));
        case NLA_U32: return fmt::format("{}", at.required<std::uint32_t>(DEVLINK_ATTR_PARAM_VALUE_DATA, name));
        case NLA_U64: return fmt::format("{}", at.required<std::uint64_t>(DEVLINK_ATTR_PARAM_VALUE_DATA, name));
        case NLA_STRING:
            if (!at.has(DEVLINK_ATTR_PARAM_VALUE_DATA)) at.mark(name);
            return at.text(DEVLINK_ATTR_PARAM_VALUE_DATA).value_or("");
        default: return fmt::format("(type {})", type);
    }
}

}  // namespace

namespace decode {

Fact<DevlinkHandle> devlink_handle(Bytes payload) {
    Reader at = reader(payload);
    DevlinkHandle handle{at.required_text(DEVLINK_ATTR_BUS_NAME, "DEVLINK_ATTR_BUS_NAME"),
                         at.required_text(DEVLINK_ATTR_DEV_NAME, "DEVLINK_ATTR_DEV_NAME")};
    if (at.broken()) return at.malformed();
    return handle;
}

Fact<DevlinkInfo> devlink_info(Bytes payload) {
    Reader at = reader(payload);
    DevlinkInfo info;
    info.driver = at.text(DEVLINK_ATTR_INFO_DRIVER_NAME).value_or("");
    info.serial = at.text(DEVLINK_ATTR_INFO_SERIAL_NUMBER).value_or("");
    for (const Attribute& attribute : at.all()) {
        std::map<std::string, std::string>* versions = nullptr;
        if (attribute.type == DEVLINK_ATTR_INFO_VERSION_FIXED) versions = &info.fixed;
        if (attribute.type == DEVLINK_ATTR_INFO_VERSION_RUNNING) versions = &info.running;
        if (attribute.type == DEVLINK_ATTR_INFO_VERSION_STORED) versions = &info.stored;
        if (!versions) continue;
        Reader version = at.nest(attribute, "DEVLINK_ATTR_INFO_VERSION");
        const auto name = version.required_text(DEVLINK_ATTR_INFO_VERSION_NAME, "DEVLINK_ATTR_INFO_VERSION_NAME");
        (*versions)[name] = version.text(DEVLINK_ATTR_INFO_VERSION_VALUE).value_or("");
    }
    if (at.broken()) return at.malformed();
    return info;
}

Fact<std::vector<DevlinkParam>> devlink_parameter(Bytes payload) {
    Reader at = reader(payload);
    if (!at.has(DEVLINK_ATTR_PARAM)) at.mark("DEVLINK_ATTR_PARAM");
    Reader parameter = at.nest(DEVLINK_ATTR_PARAM, "DEVLINK_ATTR_PARAM");
    const auto name = parameter.required_text(DEVLINK_ATTR_PARAM_NAME, "DEVLINK_ATTR_PARAM_NAME");
    const auto type = parameter.required<std::uint8_t>(DEVLINK_ATTR_PARAM_TYPE, "DEVLINK_ATTR_PARAM_TYPE");
    const Reader values = parameter.nest(DEVLINK_ATTR_PARAM_VALUES_LIST, "DEVLINK_ATTR_PARAM_VALUES_LIST");
    std::vector<DevlinkParam> list;
    for (const Attribute& entry : values.all()) {
        if (entry.type != DEVLINK_ATTR_PARAM_VALUE) continue;
        Reader value = at.nest(entry, "DEVLINK_ATTR_PARAM_VALUE");
        const unsigned mode = value.required<std::uint8_t>(DEVLINK_ATTR_PARAM_VALUE_CMODE, "DEVLINK_ATTR_PARAM_VALUE_CMODE");
        list.push_back({name, parameter.has(DEVLINK_ATTR_PARAM_GENERIC), mode < modes.size() ? modes[mode] : fmt::format("{}", mode),
                        parameter_value(value, type)});
    }
    if (at.broken()) return at.malformed();
    return list;
}

Fact<DevlinkHealth> devlink_health(Bytes payload) {
    Reader at = reader(payload);
    if (!at.has(DEVLINK_ATTR_HEALTH_REPORTER)) at.mark("DEVLINK_ATTR_HEALTH_REPORTER");
    Reader reporter = at.nest(DEVLINK_ATTR_HEALTH_REPORTER, "DEVLINK_ATTR_HEALTH_REPORTER");
    DevlinkHealth health;
    health.reporter = reporter.required_text(DEVLINK_ATTR_HEALTH_REPORTER_NAME, "DEVLINK_ATTR_HEALTH_REPORTER_NAME");
    health.healthy = reporter.required<std::uint8_t>(DEVLINK_ATTR_HEALTH_REPORTER_STATE, "DEVLINK_ATTR_HEALTH_REPORTER_STATE") ==
                     reporter_healthy;
    health.errors = reporter.required<std::uint64_t>(DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, "DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT");
    health.recoveries =
        reporter.required<std::uint64_t>(DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT, "DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT");
    if (at.broken()) return at.malformed();
    return health;
}

}  // namespace decode

namespace live {
namespace {

class Devlink {
public:
    explicit Devlink(int family) : socket_(NETLINK_GENERIC), family_(family) {}

    Fact<std::vector<DevlinkHandle>> devices() {
        std::vector<DevlinkHandle> list;
        std::optional<Unreadable> broken;
        const int error = socket_.ask(request(DEVLINK_CMD_GET, NLM_F_DUMP), [&](nlmsghdr* message) {
            const auto handle = decode::devlink_handle(netlink::payload(message));
            if (handle.has()) list.push_back(*handle);
            else broken = handle.why();
        });
        if (error) return netlink::failure(error, "devlink devices");
        if (broken) return *broken;
        return list;
    }

    Fact<DevlinkInfo> info(const DevlinkHandle& handle) {
        const std::string what = fmt::format("devlink info of {}/{}", handle.first, handle.second);
        Fact<DevlinkInfo> info = Unreadable{"malformed", what + ": no reply"};
        const auto ask = [&] {
            nl_msg* message = request(DEVLINK_CMD_INFO_GET, 0);
            if (message) {
                nla_put_string(message, DEVLINK_ATTR_BUS_NAME, handle.first.c_str());
                nla_put_string(message, DEVLINK_ATTR_DEV_NAME, handle.second.c_str());
            }
            return socket_.ask(message, [&](nlmsghdr* reply) { info = decode::devlink_info(netlink::payload(reply)); });
        };
        int error = ask();
        if (error == EBUSY || error == EAGAIN) {
            std::this_thread::sleep_for(reset_pause);
            error = ask();
        }
        return error ? netlink::refusal<DevlinkInfo>(socket_, error, what) : info;
    }

    /// What `decoder` finds in one dump over all devices, by device (a kernel before 6.5 cannot dump a single one). Absent
    /// where a device has nothing; a broken message spoils the answer of its device, one without a device that of all.
    template <class T>
    void each(std::vector<DevlinkDevice>& devices, Fact<std::vector<T>> DevlinkDevice::* member, int command, const char* what,
              Fact<std::vector<T>> (*decoder)(decode::Bytes)) {
        std::map<DevlinkHandle, std::vector<T>> found;
        std::map<DevlinkHandle, Unreadable> broken;
        std::optional<Unreadable> lost;
        const int error = socket_.ask(request(command, NLM_F_DUMP), [&](nlmsghdr* message) {
            const auto handle = decode::devlink_handle(netlink::payload(message));
            if (!handle.has()) {
                lost = handle.why();
                return;
            }
            const auto items = decoder(netlink::payload(message));
            if (items.has()) found[*handle].insert(found[*handle].end(), items->begin(), items->end());
            else broken.emplace(*handle, items.why());
        });
        for (DevlinkDevice& device : devices) {
            const DevlinkHandle handle{device.bus, device.device};
            if (error) device.*member = netlink::refusal<std::vector<T>>(socket_, error, what);
            else if (lost) device.*member = *lost;
            else if (broken.contains(handle)) device.*member = broken[handle];
            else if (found.contains(handle)) device.*member = found[handle];
            else device.*member = Absent{};
        }
    }

private:
    nl_msg* request(int command, int flags) { return netlink::generic_request(family_, command, DEVLINK_GENL_VERSION, flags); }

    netlink::Socket socket_;
    int family_;
};

Fact<std::vector<DevlinkHealth>> health(decode::Bytes payload) {
    return decode::devlink_health(payload).then([](const DevlinkHealth& one) { return std::vector{one}; });
}

}  // namespace

Fact<std::vector<DevlinkDevice>> devlink() {
    const Fact<int> family = netlink::Socket(NETLINK_GENERIC).family(DEVLINK_GENL_NAME);
    if (!family.has()) return family.as<std::vector<DevlinkDevice>>();
    if (*family == 0) return Absent{"no devlink"};
    Devlink kernel(*family);
    const auto handles = kernel.devices();
    if (!handles.has()) return handles.as<std::vector<DevlinkDevice>>();
    std::vector<DevlinkDevice> devices;
    for (const DevlinkHandle& handle : *handles) {
        DevlinkDevice& device = devices.emplace_back();
        device.bus = handle.first;
        device.device = handle.second;
        device.info = kernel.info(handle);
    }
    kernel.each(devices, &DevlinkDevice::parameters, DEVLINK_CMD_PARAM_GET, "devlink parameters", decode::devlink_parameter);
    kernel.each(devices, &DevlinkDevice::health, DEVLINK_CMD_HEALTH_REPORTER_GET, "devlink health", health);
    return devices;
}

}  // namespace live
}  // namespace preflight
