// RDMA devices, ports, character devices and resources of nldev (include/uapi/rdma/rdma_netlink.h,
// drivers/infiniband/core/nldev.c).

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <rdma/rdma_netlink.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "host/decode.h"
#include "host/live.h"
#include "host/netlink.h"

namespace preflight {
namespace {

using netlink::Attribute;
using netlink::Reader;

// Names in the order of the kernel's numbers, as rdma-link(8) and rdma-resource(8) print them.
constexpr std::array node_types{"",     "CA",    "SWITCH",    "ROUTER",
                                "RNIC", "USNIC", "USNIC_UDP", "UNSPECIFIED"};                // enum rdma_node_type
constexpr std::array port_states{"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};  // enum ib_port_state
constexpr std::array physical_states{
    "NOP",     "SLEEP", "POLLING", "DISABLED", "ARMED", "LINK_UP", "LINK_ERROR_RECOVER",
    "PHY_TEST"};  // enum ib_port_phys_state
constexpr std::array qp_types{"SMI",           "GSI", "RC",         "UC",      "UD",     "RAW_IPV6",
                              "RAW_ETHERTYPE", "",    "RAW_PACKET", "XRC_INI", "XRC_TGT"};  // enum ib_qp_type
constexpr std::array qp_states{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};         // enum ib_qp_state
constexpr std::array cm_states{"IDLE",           "ADDR_QUERY",     "ADDR_RESOLVED", "ROUTE_QUERY",
                               "ROUTE_RESOLVED", "CONNECT",        "DISCONNECT",    "ADDR_BOUND",
                               "LISTEN",         "DEVICE_REMOVAL", "DESTROYING"};  // enum rdma_cm_state
constexpr unsigned driver_qp = 0xff;                                               // IB_QPT_DRIVER

struct PortSpace {
    unsigned number;
    const char* name;
};
constexpr PortSpace port_spaces[]{
    {0x0002, "IPoIB"}, {0x0106, "TCP"}, {0x0111, "UDP"}, {0x013f, "IB"}};  // enum rdma_ucm_port_space

template <std::size_t N>
std::string name_of(const std::array<const char*, N>& names, unsigned number) {
    return number < N && *names[number] ? names[number] : fmt::format("{}", number);
}

std::string qp_type(unsigned type) {
    return type == driver_qp ? "DRIVER" : name_of(qp_types, type);
}

std::string port_space(unsigned number) {
    for (const PortSpace& space : port_spaces)
        if (space.number == number) return space.name;
    return fmt::format("0x{:04x}", number);
}

struct ResourceKind {
    const char* name;
    int command, table, entry, number;
};
constexpr ResourceKind resource_kinds[]{
    {"qp", RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY, RDMA_NLDEV_ATTR_RES_LQPN},
    {"cm_id", RDMA_NLDEV_CMD_RES_CM_ID_GET, RDMA_NLDEV_ATTR_RES_CM_ID, RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY,
     RDMA_NLDEV_ATTR_RES_CM_IDN},
    {"mr", RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY, RDMA_NLDEV_ATTR_RES_MRN},
    {"cq", RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQ_ENTRY, RDMA_NLDEV_ATTR_RES_CQN},
    {"pd", RDMA_NLDEV_CMD_RES_PD_GET, RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_PD_ENTRY, RDMA_NLDEV_ATTR_RES_PDN},
    {"ctx", RDMA_NLDEV_CMD_RES_CTX_GET, RDMA_NLDEV_ATTR_RES_CTX, RDMA_NLDEV_ATTR_RES_CTX_ENTRY,
     RDMA_NLDEV_ATTR_RES_CTXN},
    {"srq", RDMA_NLDEV_CMD_RES_SRQ_GET, RDMA_NLDEV_ATTR_RES_SRQ, RDMA_NLDEV_ATTR_RES_SRQ_ENTRY,
     RDMA_NLDEV_ATTR_RES_SRQN},
};

Reader reader(decode::Bytes payload) {
    return {payload, 0, "nldev"};
}

RdmaResource resource(const ResourceKind& kind, Reader& at) {
    const std::string_view name = kind.name;
    RdmaResource result;
    result.kind = kind.name;
    result.number = at.number<std::uint32_t>(kind.number, "the resource's number");
    result.pid = at.number<std::int32_t>(RDMA_NLDEV_ATTR_RES_PID, "RES_PID");
    result.kernel_user = at.text(RDMA_NLDEV_ATTR_RES_KERN_NAME).value_or("");
    const auto state = at.number<std::uint8_t>(RDMA_NLDEV_ATTR_RES_STATE, "RES_STATE");
    const auto type = at.number<std::uint8_t>(RDMA_NLDEV_ATTR_RES_TYPE, "RES_TYPE");
    if (name == "qp") {
        if (type) result.type = qp_type(*type);
        if (state) result.state = name_of(qp_states, *state);
    } else if (name == "cm_id") {
        if (const auto space = at.number<std::uint32_t>(RDMA_NLDEV_ATTR_RES_PS, "RES_PS"))
            result.type = port_space(*space);
        if (state) result.state = name_of(cm_states, *state);
        for (const auto& [attribute, text] : {std::pair(RDMA_NLDEV_ATTR_RES_SRC_ADDR, &result.source),
                                              std::pair(RDMA_NLDEV_ATTR_RES_DST_ADDR, &result.destination)})
            if (const Attribute* address = at.find(attribute))
                *text = decode::socket_address({address->data, address->size});
    } else if (name == "mr") {
        result.length = at.number<std::uint64_t>(RDMA_NLDEV_ATTR_RES_MRLEN, "RES_MRLEN").value_or(0);
    }
    return result;
}

}  // namespace

namespace decode {

std::string rdma_port_state(unsigned state) {
    return name_of(port_states, state);
}

std::string rdma_node_type(unsigned type) {
    return name_of(node_types, type);
}

std::string socket_address(Bytes sockaddr) {
    const Attribute whole{0, sockaddr.data(), sockaddr.size()};
    char text[INET6_ADDRSTRLEN];
    const auto family = whole.as<sa_family_t>();
    if (family == AF_INET) {
        const auto v4 = whole.as<sockaddr_in>();
        if (v4 && inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text))
            return fmt::format("{}:{}", text, ntohs(v4->sin_port));
    }
    if (family == AF_INET6) {
        const auto v6 = whole.as<sockaddr_in6>();
        if (v6 && inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text))
            return fmt::format("[{}]:{}", text, ntohs(v6->sin6_port));
    }
    return {};
}

Fact<RdmaDevice> rdma_device(Bytes payload) {
    Reader at = reader(payload);
    RdmaDevice device;
    device.index = static_cast<int>(at.required<std::uint32_t>(RDMA_NLDEV_ATTR_DEV_INDEX, "DEV_INDEX"));
    device.name = at.required_text(RDMA_NLDEV_ATTR_DEV_NAME, "DEV_NAME");
    device.firmware = at.text(RDMA_NLDEV_ATTR_FW_VERSION).value_or("");
    if (const auto guid = at.number<std::uint64_t>(RDMA_NLDEV_ATTR_NODE_GUID, "NODE_GUID"))
        device.node_guid = fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", *guid >> 48, *guid >> 32 & 0xffff,
                                       *guid >> 16 & 0xffff, *guid & 0xffff);
    if (const auto type = at.number<std::uint8_t>(RDMA_NLDEV_ATTR_DEV_NODE_TYPE, "DEV_NODE_TYPE"))
        device.node_type = rdma_node_type(*type);
    device.protocol = at.text(RDMA_NLDEV_ATTR_DEV_PROTOCOL).value_or("");
    if (at.broken()) return at.malformed();
    return device;
}

Fact<RdmaPort> rdma_port(Bytes payload) {
    Reader at = reader(payload);
    RdmaPort port;
    port.port = static_cast<int>(at.required<std::uint32_t>(RDMA_NLDEV_ATTR_PORT_INDEX, "PORT_INDEX"));
    if (const auto state = at.number<std::uint8_t>(RDMA_NLDEV_ATTR_PORT_STATE, "PORT_STATE"))
        port.state = rdma_port_state(*state);
    if (const auto state = at.number<std::uint8_t>(RDMA_NLDEV_ATTR_PORT_PHYS_STATE, "PORT_PHYS_STATE"))
        port.physical_state = name_of(physical_states, *state);
    port.netdev = at.number<std::uint32_t>(RDMA_NLDEV_ATTR_NDEV_INDEX, "NDEV_INDEX");
    port.netdev_name = at.text(RDMA_NLDEV_ATTR_NDEV_NAME).value_or("");
    if (at.broken()) return at.malformed();
    return port;
}

Fact<RdmaChardev> rdma_chardev(Bytes payload) {
    Reader at = reader(payload);
    RdmaChardev device;
    device.name = at.required_text(RDMA_NLDEV_ATTR_CHARDEV_NAME, "CHARDEV_NAME");
    // The header says u64, the kernel sends u32 (drivers/infiniband/core/uverbs_main.c).
    device.driver_id = at.number<std::uint32_t>(RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, "UVERBS_DRIVER_ID");
    if (at.broken()) return at.malformed();
    return device;
}

Fact<std::string> rdma_netns_mode(Bytes payload) {
    Reader at = reader(payload);
    const auto shared = at.number<std::uint8_t>(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, "SYS_ATTR_NETNS_MODE");
    if (at.broken()) return at.malformed();
    if (!shared) return Absent{};
    return std::string(*shared ? "shared" : "exclusive");
}

Fact<std::vector<RdmaResource>> rdma_resources(std::string_view kind, Bytes payload) {
    Reader at = reader(payload);
    std::vector<RdmaResource> list;
    for (const ResourceKind& known : resource_kinds) {
        if (known.name != kind) continue;
        const Reader table = at.nest(known.table, "the resource table");
        for (const Attribute& attribute : table.all()) {
            if (attribute.type != known.entry) continue;
            Reader entry = at.nest(attribute, "a resource");
            list.push_back(resource(known, entry));
        }
    }
    if (at.broken()) return at.malformed();
    return list;
}

}  // namespace decode

namespace live {
namespace {

class Nldev {
public:
    Nldev() : socket_(NETLINK_RDMA) {}

    /// What `decoder` finds in each message of the answer; one broken message spoils it.
    template <class T>
    Fact<std::vector<T>> ask(nl_msg* message, const std::string& what,
                             const std::function<Fact<std::vector<T>>(decode::Bytes)>& decoder) {
        std::vector<T> list;
        std::optional<Unreadable> broken;
        error_ = socket_.ask(message, [&](nlmsghdr* reply) {
            const auto items = decoder(netlink::payload(reply));
            if (items.has()) list.insert(list.end(), items->begin(), items->end());
            else broken = items.why();
        });
        if (error_) return netlink::failure(error_, what);
        if (broken) return *broken;
        return list;
    }

    template <class T>
    Fact<std::vector<T>> each(nl_msg* message, const std::string& what, Fact<T> (*decoder)(decode::Bytes)) {
        return ask<T>(message, what, [decoder](decode::Bytes payload) {
            return decoder(payload).then([](const T& one) { return std::vector<T>{one}; });
        });
    }

    /// Whether the kernel itself said that it does not know the last question: EINVAL is nldev's answer to a command it
    /// lacks.
    bool unknown() const { return socket_.answered() && (error_ == EINVAL || error_ == EOPNOTSUPP); }
    std::string error() const { return errno_name(error_); }

    Fact<std::vector<RdmaDevice>> devices() {
        return each(request(RDMA_NLDEV_CMD_GET, NLM_F_DUMP), "RDMA devices", decode::rdma_device);
    }

    Fact<std::vector<RdmaPort>> ports(const RdmaDevice& device) {
        return each(request(RDMA_NLDEV_CMD_PORT_GET, NLM_F_DUMP, device.index), "ports of " + device.name,
                    decode::rdma_port);
    }

    Fact<RdmaChardev> uverbs(const RdmaDevice& device) {
        const auto loaded = rdma_uverbs();
        if (!loaded.has()) return loaded.as<RdmaChardev>();
        nl_msg* message = request(RDMA_NLDEV_CMD_GET_CHARDEV, 0, device.index);
        if (message) nla_put_string(message, RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs");
        const std::string what = "uverbs device of " + device.name;
        const auto found = each(message, what, decode::rdma_chardev);
        if (found.unreadable() && (unknown() || (socket_.answered() && (error_ == ENOENT || error_ == ENODEV))))
            return Absent{error()};
        return found.then([&](const auto& list) {
            return list.empty() ? Fact<RdmaChardev>(Unreadable{"malformed", what + ": no reply"})
                                : Fact<RdmaChardev>(list.front());
        });
    }

    Fact<std::string> netns_mode() {
        const auto found = each(request(RDMA_NLDEV_CMD_SYS_GET, 0), "RDMA netns mode", decode::rdma_netns_mode);
        if (found.unreadable() && unknown()) return Absent{error()};
        return found.then([](const auto& list) {
            return list.empty() ? Fact<std::string>(Absent{}) : Fact<std::string>(list.front());
        });
    }

    Fact<std::vector<RdmaResource>> resources(const ResourceKind& kind, const RdmaDevice& device) {
        return ask<RdmaResource>(request(kind.command, NLM_F_DUMP, device.index),
                                 fmt::format("{} of {}", kind.name, device.name),
                                 [&kind](decode::Bytes payload) { return decode::rdma_resources(kind.name, payload); });
    }

private:
    static nl_msg* request(int command, int flags, std::optional<int> device = {}) {
        nl_msg* message = netlink::request(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command), flags, nullptr, 0);
        if (message && device) nla_put_u32(message, RDMA_NLDEV_ATTR_DEV_INDEX, static_cast<std::uint32_t>(*device));
        return message;
    }

    netlink::Socket socket_;
    int error_ = 0;
};

/// "1: CA" of sysfs, for kernels whose nldev does not send the node type.
std::string node_type_from_sysfs(const std::string& device) {
    const std::string text = read("/", "/sys/class/infiniband/" + device + "/node_type").value_or("");
    unsigned number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    return end.ec == std::errc() ? decode::rdma_node_type(number) : std::string();
}

}  // namespace

Fact<FileInfo> rdma_subsystem() {
    const auto sysfs = info("/", "/sys/module");
    if (sysfs.absent())
        return Unreadable{"ENOENT", "/sys/module: sysfs is not mounted, so nothing tells whether ib_core is loaded"};
    if (sysfs.unreadable()) return sysfs;
    const auto module = info("/", "/sys/module/ib_core");
    const auto found = module.absent() ? info("/", "/sys/class/infiniband") : module;
    return found.absent() ? Fact<FileInfo>(Absent{"ib_core is not loaded"}) : found;
}

Fact<FileInfo> rdma_uverbs() {
    const auto found = info("/", "/sys/class/infiniband_verbs");
    return found.absent() ? Fact<FileInfo>(Absent{"ib_uverbs is not loaded"}) : found;
}

Fact<std::vector<RdmaDevice>> rdma_devices() {
    const auto loaded = rdma_subsystem();
    if (!loaded.has()) return loaded.as<std::vector<RdmaDevice>>();
    Nldev kernel;
    const auto found = kernel.devices();
    if (!found.has()) return found;
    std::vector<RdmaDevice> devices = *found;
    for (RdmaDevice& device : devices) {
        if (device.node_type.empty()) device.node_type = node_type_from_sysfs(device.name);
        const auto ports = kernel.ports(device);
        if (!ports.has()) return ports.as<std::vector<RdmaDevice>>();
        device.ports = *ports;
        device.uverbs = kernel.uverbs(device);
    }
    return devices;
}

Fact<std::vector<RdmaResource>> rdma_resources(const std::string& name) {
    const auto loaded = rdma_subsystem();
    if (!loaded.has()) return loaded.as<std::vector<RdmaResource>>();
    Nldev kernel;
    const auto devices = kernel.devices();
    if (!devices.has()) return devices.as<std::vector<RdmaResource>>();
    const auto device =
        std::find_if(devices->begin(), devices->end(), [&](const RdmaDevice& one) { return one.name == name; });
    if (device == devices->end()) return Absent{"ENODEV"};
    std::vector<RdmaResource> list;
    bool answered = false;
    Fact<std::vector<RdmaResource>> refused;
    for (const ResourceKind& kind : resource_kinds) {
        const auto found = kernel.resources(kind, *device);
        if (found.has()) list.insert(list.end(), found->begin(), found->end());
        else if (!kernel.unknown()) return found;
        else refused = found;
        answered |= found.has();
    }
    if (!answered) return refused;
    return list;
}

Fact<std::string> rdma_netns_mode() {
    const auto loaded = rdma_subsystem();
    if (!loaded.has()) return loaded.as<std::string>();
    return Nldev().netns_mode();
}

}  // namespace live
}  // namespace preflight
