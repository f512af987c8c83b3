#include "facts/pci_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "facts/node.h"
#include "facts/pci.h"
#include "facts/pci_config.h"
#include "facts/ports.h"
#include "facts/role.h"
#include "preflight/facts.h"

namespace preflight {
namespace {

const std::string devices = "/sys/bus/pci/devices/";

// What the firmware tables of virtual machines say (systemd src/basic/virt.c).
constexpr std::string_view hypervisor_words[] = {"QEMU", "KVM", "VMware", "VirtualBox", "Xen", "Virtual Machine", "HVM domU", "OpenStack", "KubeVirt",
                                                 "Google Compute Engine", "Amazon EC2", "Bochs", "Parallels", "BHYVE"};

std::vector<std::string> parts_of(const std::string& path) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        if (end > at) parts.push_back(path.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

PciPlace place_of(Host& host, const std::string& address, std::string label) {
    PciPlace place;
    place.address = address;
    place.label = std::move(label);
    place.root = host.resolve(devices + address).then([&](const std::string& path) -> Fact<std::string> {
        std::string root;
        for (const std::string& part : parts_of(path)) {
            if (root.empty() && part.rfind("pci", 0) == 0) root = part;
            else if (!root.empty() && part != address && pci_address_in(part) == part) place.bridges.push_back(part);
        }
        if (root.empty()) return Unreadable{"malformed", path + " names no host bridge"};
        return root;
    });
    place.numa_node = sysfs_number(host.read(devices + address + "/numa_node"));
    const auto group = host.link_target(devices + address + "/iommu_group");
    place.iommu = group.then([&](const std::string& link) -> Fact<std::string> {
        place.iommu_group = link.substr(link.rfind('/') + 1);
        const std::string file = "/sys/kernel/iommu_groups/" + place.iommu_group + "/type";
        const auto type = host.read(file);
        if (type.absent()) return Unreadable{"not-told", file + " is not there (kernels before 5.11)"};
        return type.then(trimmed);
    });
    return place;
}

/// The RDMA NICs a client could use: those named with --interface, else every hardware RDMA device.
std::vector<PciPlace> nics_of(const Facts& facts) {
    std::vector<PciPlace> nics;
    for (const RdmaDeviceFacts& rdma : facts.rdma().devices) {
        if (rdma.software || !rdma.pci) continue;
        std::string netdev;
        bool named = facts.options().interfaces.empty();
        for (const Port& port : facts.ports().all) {
            if (port.pci != *rdma.pci) continue;
            netdev = port.link.name;
            named |= port.classed == PortClass::storage;
        }
        if (named) nics.push_back(place_of(facts.host(), *rdma.pci, rdma.device.name + (netdev.empty() ? "" : " (" + netdev + ")")));
    }
    std::sort(nics.begin(), nics.end(), [](const PciPlace& a, const PciPlace& b) { return a.address < b.address; });
    return nics;
}

int count_numa_nodes(Host& host) {
    const auto names = host.list("/sys/devices/system/node");
    if (!names) return names.absent() ? 1 : 0;  // a kernel without NUMA has no such folder
    return static_cast<int>(std::count_if(names->begin(), names->end(), [](const std::string& name) { return name.size() > 4 && name.rfind("node", 0) == 0 && std::isdigit(static_cast<unsigned char>(name[4])); }));
}

Fact<std::string> hypervisor_of(Host& host) {
    Fact<std::string> found = Absent{};
    for (const char* file : {"sys_vendor", "product_name"}) {
        const auto text = host.read(std::string("/sys/class/dmi/id/") + file).then(trimmed);
        if (text.unreadable() && !found) found = text;
        if (!text) continue;
        if (text->find(".metal") != std::string::npos) return Absent{};  // a cloud's whole machine: "i3.metal"
        for (const std::string_view word : hypervisor_words)
            if (!found && text->find(word) != std::string::npos) found = text;
    }
    return found;
}

/// "disable-pcie-acs.service", "acs_off.service": "acs" stands alone.
bool speaks_of_acs(const std::string& unit) {
    if (unit.size() < 8 || unit.compare(unit.size() - 8, 8, ".service") != 0) return false;
    const auto letter = [&](std::size_t at) { return at < unit.size() && std::isalpha(static_cast<unsigned char>(unit[at])); };
    for (auto at = unit.find("acs"); at != std::string::npos; at = unit.find("acs", at + 1))
        if ((at == 0 || !letter(at - 1)) && !letter(at + 3)) return true;
    return false;
}

std::vector<AcsUnit> acs_units_of(Host& host) {
    const std::string folder = "/etc/systemd/system";
    std::vector<AcsUnit> units;
    std::set<std::string> wanted;
    for (const std::string& name : host.list(folder).value_or({})) {
        const bool wants = name.size() > 6 && (name.ends_with(".wants") || name.ends_with(".requires"));
        if (wants)
            for (const std::string& unit : host.list(folder + "/" + name).value_or({})) wanted.insert(unit);
        else if (speaks_of_acs(name)) units.push_back({name, folder + "/" + name, false, {}, false, {}});
    }
    for (const std::string& name : host.list("/usr/lib/systemd/system").value_or({}))
        if (speaks_of_acs(name) && std::none_of(units.begin(), units.end(), [&](const AcsUnit& unit) { return unit.name == name; }))
            units.push_back({name, "/usr/lib/systemd/system/" + name, false, {}, false, {}});
    for (AcsUnit& unit : units) {
        unit.enabled = wanted.count(unit.name) > 0;
        const auto link = host.link_target("/run/systemd/units/invocation:" + unit.name);
        unit.active = link.unreadable() ? link.as<bool>() : Fact<bool>(link.has());
        bool ordered = true;  // a service is After=basic.target by itself (systemd.service(5), DefaultDependencies=)
        for (const std::string& raw : split_lines(host.unit_file(unit.path).value_or(""))) {
            const std::string line = trimmed(raw);
            if (line == "RemainAfterExit=yes" || line == "RemainAfterExit=true" || line == "RemainAfterExit=1") unit.stays_active = true;
            if (line.rfind("Before=", 0) == 0)
                for (const std::string& target : split_words(line.substr(7)))
                    if (target == "basic.target" || target == "sysinit.target") unit.cycle = line;
            if (line == "DefaultDependencies=no" || line == "DefaultDependencies=false") ordered = false;
        }
        if (!ordered) unit.cycle.clear();
    }
    return units;
}

}  // namespace

std::string_view name(Distance distance) {
    constexpr std::string_view names[] = {"PIX", "PXB", "PHB", "NODE", "SYS", "?"};
    return names[static_cast<std::size_t>(distance)];
}

PciPaths PciPaths::read(const Facts& facts) {
    Host& host = facts.host();
    PciPaths paths;
    for (const std::string& address : facts.role().gpus) paths.gpus.push_back(place_of(host, address, {}));
    if (paths.gpus.empty()) return paths;
    paths.nics = nics_of(facts);
    std::set<std::string> addresses;
    for (const PciPlace& gpu : paths.gpus)
        for (const PciPlace& nic : paths.nics)
            for (const std::string& bridge : between(gpu, nic)) addresses.insert(bridge);
    for (const std::string& address : addresses) paths.bridges.push_back({address, acs_control(host.config_space(address))});
    paths.acs_units = acs_units_of(host);
    paths.numa_nodes = count_numa_nodes(host);
    paths.hypervisor = hypervisor_of(host);
    return paths;
}

std::vector<std::string> PciPaths::between(const PciPlace& gpu, const PciPlace& nic) {
    if (!gpu.root || !nic.root) return {};
    std::size_t common = 0;
    if (*gpu.root == *nic.root)
        while (common < gpu.bridges.size() && common < nic.bridges.size() && gpu.bridges[common] == nic.bridges[common]) ++common;
    std::vector<std::string> list(gpu.bridges.begin() + static_cast<std::ptrdiff_t>(common), gpu.bridges.end());
    list.insert(list.end(), nic.bridges.begin() + static_cast<std::ptrdiff_t>(common), nic.bridges.end());
    return list;
}

Distance PciPaths::distance(const PciPlace& gpu, const PciPlace& nic) const {
    if (!gpu.root || !nic.root) return Distance::unknown;
    if (*gpu.root == *nic.root) {
        if (gpu.bridges.empty() || nic.bridges.empty() || gpu.bridges.front() != nic.bridges.front()) return Distance::phb;
        std::size_t common = 0;
        while (common < gpu.bridges.size() && common < nic.bridges.size() && gpu.bridges[common] == nic.bridges[common]) ++common;
        return gpu.bridges.size() - common <= 1 && nic.bridges.size() - common <= 1 ? Distance::pix : Distance::pxb;
    }
    if (numa_nodes == 1) return Distance::node;
    if (!gpu.numa_node || !nic.numa_node || *gpu.numa_node < 0 || *nic.numa_node < 0) return Distance::unknown;
    return *gpu.numa_node == *nic.numa_node ? Distance::node : Distance::sys;
}

std::pair<Distance, std::vector<const PciPlace*>> PciPaths::nearest(const PciPlace& gpu) const {
    std::pair<Distance, std::vector<const PciPlace*>> best{Distance::unknown, {}};
    for (const PciPlace& nic : nics) {
        const Distance here = distance(gpu, nic);
        if (here < best.first) best = {here, {}};
        if (here == best.first) best.second.push_back(&nic);
    }
    return best;
}

const PciBridge* PciPaths::bridge(const std::string& address) const {
    const auto found = std::find_if(bridges.begin(), bridges.end(), [&](const PciBridge& known) { return known.address == address; });
    return found == bridges.end() ? nullptr : &*found;
}

std::string PciPaths::table() const {
    if (gpus.empty() || nics.empty()) return {};
    std::string text = fmt::format("{:<14}", "GPU");
    for (std::size_t i = 0; i < nics.size(); ++i) text += fmt::format("{:<6}", fmt::format("NIC{}", i));
    text += "nearest";
    for (const PciPlace& gpu : gpus) {
        text += fmt::format("\n{:<14}", gpu.address);
        for (const PciPlace& nic : nics) text += fmt::format("{:<6}", name(distance(gpu, nic)));
        const auto [how, best] = nearest(gpu);
        if (how == Distance::unknown) text += "not known";
        else
            for (const PciPlace* nic : best) text += fmt::format("{}NIC{}", nic == best.front() ? "" : " ", nic - nics.data());
    }
    for (std::size_t i = 0; i < nics.size(); ++i) text += fmt::format("\nNIC{:<3}{} {}", i, nics[i].address, nics[i].label);
    return text;
}

}  // namespace preflight
