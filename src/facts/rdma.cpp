#include "facts/rdma.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "facts/drivers.h"
#include "facts/node.h"
#include "facts/pci.h"
#include "preflight/rdma_drivers.h"

namespace preflight {
namespace {

// Where providers stand: RPM systems, Debian multiarch (rdma-core packaging).
constexpr std::string_view provider_folders[] = {"/usr/lib64/libibverbs", "/usr/lib/x86_64-linux-gnu/libibverbs", "/usr/lib/aarch64-linux-gnu/libibverbs",
                                                 "/usr/lib/libibverbs"};

constexpr std::string_view class_folder = "/sys/class/infiniband/";

/// "4: ACTIVE" -> "ACTIVE", as sysfs prints port state, physical state and node type.
std::string after_colon(const std::string& text) {
    const auto colon = text.find(": ");
    return trimmed(colon == std::string::npos ? text : text.substr(colon + 2));
}

/// The device as sysfs tells it, for kernels or containers where nldev does not answer.
RdmaDevice from_sysfs(Host& host, const std::string& name) {
    RdmaDevice device;
    device.name = name;
    const std::string folder = fmt::format("{}{}/", class_folder, name);
    device.node_type = after_colon(host.read(folder + "node_type").value_or(""));
    device.node_guid = trimmed(host.read(folder + "node_guid").value_or(""));
    for (const std::string& number : host.list(folder + "ports").value_or({})) {
        RdmaPort port;
        if (std::from_chars(number.data(), number.data() + number.size(), port.port).ec != std::errc()) continue;
        port.state = after_colon(host.read(fmt::format("{}ports/{}/state", folder, number)).value_or(""));
        port.physical_state = after_colon(host.read(fmt::format("{}ports/{}/phys_state", folder, number)).value_or(""));
        // Of an IB or RoCE device only the link layer tells which it is (core/sysfs.c).
        if (device.node_type == "CA" && device.protocol.empty()) {
            const std::string layer = trimmed(host.read(fmt::format("{}ports/{}/link_layer", folder, number)).value_or(""));
            device.protocol = layer == "Ethernet" ? "roce" : layer == "InfiniBand" ? "ib" : "";
        }
        port.netdev_name = trimmed(host.read(fmt::format("{}ports/{}/gid_attrs/ndevs/0", folder, number)).value_or(""));
        device.ports.push_back(port);
    }
    device.uverbs = host.list(folder + "device/infiniband_verbs").then([](const std::vector<std::string>& names) -> Fact<RdmaChardev> {
        if (names.empty()) return Absent{};
        return RdmaChardev{names.front(), std::nullopt};
    });
    return device;
}

// Older kernels hang rxe and siw below the NIC's PCI function; there the driver's id decides. Since which release they no
// longer do is not looked up: 6.0 is on the safe side, and no hardware uses these ids.
bool posing_as_hardware(Host& host, const std::string& module) {
    if (module != "rdma_rxe" && module != "siw") return false;
    const auto node = host.node();
    return !node || kernel_version(node->kernel) < std::pair{6, 0};
}

RdmaDeviceFacts describe(Host& host, RdmaDevice device, const Fact<Verbs>& verbs) {
    RdmaDeviceFacts facts;
    const Fact<std::string> parent = host.resolve(fmt::format("{}{}/device", class_folder, device.name));
    facts.pci = parent.then([](const std::string& path) -> Fact<std::string> {
        const std::string address = pci_address_in(path);
        return address.empty() ? Fact<std::string>(Absent{}) : address;
    });
    if (device.uverbs && device.uverbs->driver_id) facts.module = rdma_driver_name(*device.uverbs->driver_id);
    if (facts.module.empty() && facts.pci) {
        const auto driver = host.link_target(fmt::format("/sys/bus/pci/devices/{}/driver", *facts.pci));
        if (driver)
            if (const DriverFamily* family = family_of_netdev(driver->substr(driver->rfind('/') + 1))) facts.module = family->rdma;
    }
    facts.software = facts.pci.absent() || posing_as_hardware(host, facts.module);
    for (const RdmaPort& port : device.ports) facts.gids[port.port] = host.rdma_gids(device.name, port.port);
    if (verbs)
        for (const VerbsDevice& known : verbs->devices)
            if (known.name == device.name) facts.verbs = known;
    if (device.uverbs) facts.uverbs = host.info("/dev/infiniband/" + device.uverbs->name);
    else facts.uverbs = device.uverbs.as<FileInfo>();
    facts.device = std::move(device);
    return facts;
}

}  // namespace

bool RdmaDeviceFacts::iwarp() const {
    return protocol() == "iWARP";
}

std::string RdmaDeviceFacts::protocol() const {
    if (device.protocol == "roce") return "RoCE";
    if (device.protocol == "ib") return "IB";
    if (device.protocol == "iw") return "iWARP";
    if (device.node_type == "RNIC" || device.node_type == "rnic") return "iWARP";
    if (verbs && !verbs->ports.empty() && verbs->transport == "IB") return verbs->ports.front().link_layer == "InfiniBand" ? "IB" : "RoCE";
    return {};
}

const RdmaPort* RdmaDeviceFacts::port(int number) const {
    for (const RdmaPort& known : device.ports)
        if (known.port == number) return &known;
    return nullptr;
}

RdmaStack RdmaStack::read(Host& host) {
    RdmaStack stack;
    stack.nldev = host.rdma_devices();
    stack.sysfs = host.list("/sys/class/infiniband");
    stack.verbs = host.verbs();
    stack.netns_mode = host.rdma_netns_mode();
    stack.rdma_cm = host.info("/dev/infiniband/rdma_cm");
    for (const std::string_view folder : provider_folders)
        for (const std::string& file : host.list(std::string(folder)).value_or({})) stack.provider_files.push_back(fmt::format("{}/{}", folder, file));
    if (stack.nldev)
        for (const RdmaDevice& device : *stack.nldev) stack.devices.push_back(describe(host, device, stack.verbs));
    else if (stack.sysfs)
        for (const std::string& name : *stack.sysfs) stack.devices.push_back(describe(host, from_sysfs(host, name), stack.verbs));
    return stack;
}

const RdmaDeviceFacts* RdmaStack::portless(const std::string& pci) const {
    for (const RdmaDeviceFacts& known : devices)
        if (known.device.ports.empty() && !pci.empty() && known.pci.value_or("") == pci) return &known;
    return nullptr;
}

std::string RdmaStack::provider_file(const std::string& name) const {
    for (const std::string& path : provider_files)
        if (path.find("/lib" + name + "-rdmav") != std::string::npos) return path;
    return {};
}

const RdmaDeviceFacts* RdmaStack::find(const std::string& device) const {
    const auto found = std::find_if(devices.begin(), devices.end(), [&](const RdmaDeviceFacts& known) { return known.device.name == device; });
    return found == devices.end() ? nullptr : &*found;
}

std::optional<GidAddress> gid_address(const std::string& gid) {
    in6_addr raw{};
    if (std::count(gid.begin(), gid.end(), ':') != 7 || inet_pton(AF_INET6, gid.c_str(), &raw) != 1) return std::nullopt;
    GidAddress address;
    char text[INET6_ADDRSTRLEN];
    if (IN6_IS_ADDR_V4MAPPED(&raw)) {
        inet_ntop(AF_INET, raw.s6_addr + 12, text, sizeof text);
        address.text = text;
        address.kind = raw.s6_addr[12] == 169 && raw.s6_addr[13] == 254 ? GidKind::link_local : GidKind::ipv4;
        return address;
    }
    inet_ntop(AF_INET6, &raw, text, sizeof text);
    address.text = text;
    const std::array<std::uint8_t, 16> zero{};
    if (std::equal(zero.begin(), zero.end(), raw.s6_addr)) address.kind = GidKind::zero;
    else address.kind = IN6_IS_ADDR_LINKLOCAL(&raw) ? GidKind::link_local : GidKind::ipv6;
    return address;
}

}  // namespace preflight
