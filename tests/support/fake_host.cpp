#include "support/fake_host.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "modules.h"
#include "preflight/facts.h"

namespace preflight {
namespace {

constexpr const char* modules_text =
    "irdma 401408 0 - Live 0x0\nmlx5_ib 401408 0 - Live 0x0\nice 1040384 1 irdma, Live 0x0\nmlx5_core 1040384 1 mlx5_ib, Live 0x0\n"
    "rdma_ucm 32768 0 - Live 0x0\nib_uverbs 200704 2 rdma_ucm,irdma, Live 0x0\nib_core 528384 3 irdma,rdma_ucm,ib_uverbs, Live 0x0\n";

}  // namespace

Gid roce_gid(int index, const std::string& gid, const std::string& netdev, const std::string& type) {
    return {index, gid, Fact<std::string>(type), Fact<std::string>(netdev)};
}

std::string ipv4_gid(const std::string& address) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (std::sscanf(address.c_str(), "%u.%u.%u.%u", &a, &b, &c, &d) != 4) return {};
    return fmt::format("0000:0000:0000:0000:0000:ffff:{:02x}{:02x}:{:02x}{:02x}", a, b, c, d);
}

Answer FakeHost::answer(const Question& question) {
    static const std::set<std::string> files{"read", "list", "link_target", "resolve", "info", "elf", "cached_library"};
    if (const auto known = answers.find(question); known != answers.end()) return {known->second};
    if (files.contains(question.kind)) return {Absent{}};
    return {Unreadable{"not-captured", question.kind + " was not captured"}};
}

int FakeHost::index_of(const std::string& netdev) {
    for (const Link& known : (*answers.at({"links", ""})).get<std::vector<Link>>())
        if (known.name == netdev) return known.index;
    ADD_FAILURE() << "no netdev " << netdev;
    return 0;
}

void FakeHost::add_pci(const std::string& address, unsigned class_code, unsigned vendor, unsigned device, const std::string& driver) {
    const std::string folder = "/sys/bus/pci/devices/" + address;
    edit<std::vector<std::string>>("list", "/sys/bus/pci/devices", [&](auto& list) {
        list.push_back(address);
        std::sort(list.begin(), list.end());
    });
    text(folder + "/class", fmt::format("0x{:06x}\n", class_code));
    text(folder + "/vendor", fmt::format("0x{:04x}\n", vendor));
    text(folder + "/device", fmt::format("0x{:04x}\n", device));
    text(folder + "/numa_node", "0\n");
    if (!driver.empty()) set("link_target", folder + "/driver", "../../../../bus/pci/drivers/" + driver);
}

void FakeHost::place(const std::string& address, const std::string& root, const std::vector<std::string>& bridges, int numa_node) {
    std::string path = "/sys/devices/" + root;
    for (const std::string& bridge : bridges) path += "/" + bridge;
    set("resolve", "/sys/bus/pci/devices/" + address, path + "/" + address);
    text("/sys/bus/pci/devices/" + address + "/numa_node", fmt::format("{}\n", numa_node));
}

void FakeHost::add_gpu(const std::string& address, const std::string& root, const std::vector<std::string>& bridges, int numa_node) {
    add_pci(address, 0x030200, 0x10de, 0x2330, "nvidia");
    place(address, root, bridges, numa_node);
    // H100 SXM: a 16 MiB register region, 128 GiB BAR1, 32 MiB.
    text("/sys/bus/pci/devices/" + address + "/resource",
         "0x000025e042000000 0x000025e042ffffff 0x000000000014220c\n0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
         "0x000025c000000000 0x000025dfffffffff 0x000000000014220c\n0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
         "0x000025e040000000 0x000025e041ffffff 0x000000000014220c\n0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
         "0x0000000000000000 0x0000000000000000 0x0000000000000000\n");
}

void FakeHost::add_bridge(const std::string& address, std::optional<unsigned> acs) {
    add_pci(address, 0x060400, 0x1000, 0xc030, "pcieport");
    set("config_space", address, pcie_config(acs));
}

void FakeHost::add_library(const std::string& folder, const std::string& name, const std::string& file) {
    set("info", folder + "/" + name, FileInfo{"file", 0755, 0, 0, 100000, 0});
    set("resolve", folder + "/" + name, folder + "/" + file);
}

void FakeHost::add_port(const FakePort& port) {
    const std::string mac = fmt::format("b4:96:91:a6:00:{:02x}", port.index);
    Link link;
    link.index = port.index;
    link.name = port.netdev;
    link.arphrd = 1;
    link.flags = 0x1 | 0x2 | 0x40 | 0x1000;
    link.operstate = "up";
    link.mtu = 9000;
    link.carrier = true;
    link.carrier_changes = 1;
    link.mac = mac;
    link.parent_bus = "pci";
    link.parent_device = port.pci;
    edit<std::vector<Link>>("links", "", [&](auto& links) { links.push_back(link); });
    add_pci(port.pci, 0x020000, port.vendor, port.device, port.driver);
    set("resolve", "/sys/class/net/" + port.netdev + "/device", "/sys/devices/pci0000:3a/" + port.pci);
    if (!port.address.empty()) set_addresses(port.netdev, {port.address});

    DevlinkDevice devlink{"pci", port.pci, {}, std::vector<DevlinkParam>{}, std::vector<DevlinkHealth>{}};
    DevlinkInfo info{port.driver, "b4-96-91", {}, {{"fw.psid.api", "4.40"}}, {{"fw.psid.api", "4.40"}}};
    if (port.driver == "ice") {
        info.running["fw.app.name"] = "ICE OS Default Package";
        info.running["fw.app"] = "1.3.36.0";
    }
    devlink.info = info;
    edit<std::vector<DevlinkDevice>>("devlink", "", [&](auto& devices) { devices.push_back(devlink); });
    set("ethtool_driver", port.netdev, EthtoolDriver{port.driver, "6.12.0", "4.40 0x8001c967 1.3534.0", port.pci});
    set("ethtool_channels", port.netdev, EthtoolChannels{0, 0, 64, 0, 0, 64});
    set("ethtool_private_flags", port.netdev, std::map<std::string, bool>{{"fw-lldp-agent", false}});
    set("ethtool_pause", port.netdev, EthtoolPause{});
    set("dcb", port.netdev, Dcb{9u, {}, {}, {}, {}, {}});
    if (port.rdma.empty()) return;

    const auto number = (*answers.at({"rdma_devices", ""})).size();
    const std::string uverbs = fmt::format("uverbs{}", number);
    RdmaDevice device;
    device.index = static_cast<int>(number);
    device.name = port.rdma;
    device.firmware = "1.72";
    device.node_guid = fmt::format("b696:91ff:fea6:{:04x}", port.index);
    device.node_type = "CA";
    device.protocol = "roce";
    device.ports = {{1, "ACTIVE", "LINK_UP", port.index, port.netdev}};
    device.uverbs = RdmaChardev{uverbs, port.driver_id};
    edit<std::vector<RdmaDevice>>("rdma_devices", "", [&](auto& devices) { devices.push_back(device); });
    edit<std::vector<std::string>>("list", "/sys/class/infiniband", [&](auto& list) { list.push_back(port.rdma); });
    set("resolve", "/sys/class/infiniband/" + port.rdma + "/device", "/sys/devices/pci0000:3a/" + port.pci);
    set("info", "/dev/infiniband/" + uverbs, FileInfo{"char", 0666, 0, 0, 0, 0});
    GidTable gids{32, {roce_gid(0, fmt::format("fe80:0000:0000:0000:b696:91ff:fea6:{:04x}", port.index), port.netdev)}, {}};
    if (!port.address.empty()) gids.gids.push_back(roce_gid(1, ipv4_gid(port.address), port.netdev));
    set("rdma_gids", port.rdma + "/1", gids);
    VerbsDevice verbs{port.rdma, "IB", 1u, port.vendor, port.device, "1.72", 262144, 4194303, 1u << 30, port.max_srq, 13, {{1, "ACTIVE", 4096, 4096, 1, "Ethernet", 32}}};
    edit<Verbs>("verbs", "", [&](Verbs& all) { all.devices.push_back(verbs); });
}

void FakeHost::set_addresses(const std::string& netdev, const std::vector<std::string>& addresses) {
    const int index = index_of(netdev);
    edit<std::vector<Address>>("addresses", "", [&](std::vector<Address>& all) {
        std::erase_if(all, [&](const Address& known) { return known.link == index; });
        for (const std::string& address : addresses) {
            const bool local = address.starts_with("fe80") || address.starts_with("169.254.");
            all.push_back({index, address, address.find(':') == std::string::npos ? 24 : 64, local ? "link" : "global", {}});
        }
    });
}

void FakeHost::drop_verbs(const std::string& device) {
    edit<Verbs>("verbs", "", [&](Verbs& verbs) { std::erase_if(verbs.devices, [&](const auto& known) { return known.name == device; }); });
}

void FakeHost::drop_rdma(const std::string& device) {
    edit<std::vector<RdmaDevice>>("rdma_devices", "", [&](auto& devices) { std::erase_if(devices, [&](const auto& known) { return known.name == device; }); });
    edit<std::vector<std::string>>("list", "/sys/class/infiniband", [&](auto& list) { std::erase(list, device); });
    drop_verbs(device);
}

void FakeHost::add_vlan(const std::string& name, int index, int lower) {
    Link vlan;
    vlan.index = index;
    vlan.name = name;
    vlan.kind = "vlan";
    vlan.lower = lower;
    vlan.mtu = 9000;
    vlan.flags = 0x41;
    vlan.vlan = Vlan{100, "802.1Q", {}, {}};
    edit<std::vector<Link>>("links", "", [&](auto& links) { links.push_back(vlan); });
}

void FakeHost::add_bond(const std::string& name, int index, const std::string& mode, const std::vector<std::string>& members) {
    Link bond;
    bond.index = index;
    bond.name = name;
    bond.kind = "bond";
    bond.arphrd = 1;
    bond.flags = 0x1 | 0x40;
    bond.operstate = "up";
    bond.mtu = 9000;
    bond.carrier = true;
    bond.bond = Bond{mode, {}, "layer3+4", mode == "802.3ad" ? "fast" : "", {}, {}, {}};
    if (mode == "802.3ad") bond.bond->aggregator = 1;
    if (mode == "active-backup") bond.bond->active_port = index_of(members.front());
    std::vector<int> below;
    for (const std::string& member : members) {
        below.push_back(index_of(member));
        link(member, [&](Link& port) {
            port.master = index;
            port.bond_port = BondPort{mode == "active-backup" && member != members.front() ? "backup" : "active", "up", {}};
            if (mode == "802.3ad") port.bond_port->aggregator = 1;
        });
        set_addresses(member, {});
    }
    edit<std::vector<Link>>("links", "", [&](auto& links) { links.push_back(bond); });
    set_addresses(name, {"192.0.2.11"});
    for (const RdmaDevice& device : (*answers.at({"rdma_devices", ""})).get<std::vector<RdmaDevice>>()) {
        const auto owner = std::find(below.begin(), below.end(), device.ports.front().netdev.value_or(0));
        if (owner == below.end()) continue;
        GidTable gids{32, {}, {}};
        if (mode != "active-backup" || owner == below.begin())
            gids.gids = {roce_gid(0, "fe80:0000:0000:0000:b696:91ff:fea6:0000", name), roce_gid(1, ipv4_gid("192.0.2.11"), name)};
        set("rdma_gids", device.name + "/1", gids);
    }
}

void FakeHost::unload(const std::string& module) {
    std::string kept;
    const std::string all = text_from_json(*answers.at({"read", "/proc/modules"}));
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t end = all.find('\n', at) + 1;
        if (all.compare(at, module.size() + 1, module + " ") != 0) kept += all.substr(at, end - at);
        at = end;
    }
    text("/proc/modules", kept);
    absent("info", "/sys/module/" + module);
    absent("read", "/sys/module/" + module + "/taint");
}

void FakeHost::blacklist(const std::string& argument) { text("/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro " + argument + "\n"); }

FakeHost bare_node() {
    FakeHost host;
    host.set("node", "", Node{"n1", "6.12.0-55.el10.x86_64", "x86_64", "Linux", 64, 0, {}, "2026-12-01T00:00:00Z"});
    host.text("/etc/os-release", "ID=\"rhel\"\nID_LIKE=\"centos fedora\"\nPRETTY_NAME=\"Red Hat Enterprise Linux 10.1\"\n");
    host.text("/proc/cmdline", "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro\n");
    host.text("/proc/modules", modules_text);
    host.text("/lib/modules/6.12.0-55.el10.x86_64/modules.builtin", "kernel/fs/fuse/fuse.ko\n");
    for (const char* name : {"ice", "irdma", "mlx5_core", "mlx5_ib", "ib_core", "ib_uverbs", "rdma_ucm"}) {
        host.text(std::string("/sys/module/") + name + "/taint", "\n");
        host.set("info", std::string("/sys/module/") + name, FileInfo{"dir", 0755, 0, 0, 0, 0});
    }
    host.set("info", "/sys/class/net", FileInfo{"dir", 0755, 0, 0, 0, 0});
    host.set("kernel_log", "", std::vector<std::string>{});
    Link loopback;
    loopback.index = 1;
    loopback.name = "lo";
    loopback.arphrd = 772;
    loopback.flags = 0x1 | 0x8 | 0x40;
    loopback.mtu = 65536;
    host.set("links", "", std::vector<Link>{loopback});
    host.set("addresses", "", std::vector<Address>{{1, "127.0.0.1", 8, "host", {}}});
    host.set("list", "/sys/bus/pci/devices", std::vector<std::string>{});
    host.set("list", "/sys/class/infiniband", std::vector<std::string>{});
    host.set("devlink", "", std::vector<DevlinkDevice>{});
    host.set("rdma_devices", "", std::vector<RdmaDevice>{});
    host.set("rdma_netns_mode", "", std::string("shared"));
    host.set("info", "/dev/infiniband/rdma_cm", FileInfo{"char", 0666, 0, 0, 0, 0});
    host.set("verbs", "", Verbs{"/usr/lib64/libibverbs.so.1", {}, {}});
    return host;
}

FakeHost e810_node() {
    FakeHost host = bare_node();
    host.add_port({"eno1", 2, "0000:01:00.0", 0x14e4, 0x165f, "tg3", "", 0, "203.0.113.11"});
    host.add_port({"ens1f0np0", 3, "0000:3b:00.0", 0x8086, 0x1592, "ice", "rocep59s0f0", 9, "192.0.2.11"});
    host.add_port({"ens1f1np1", 4, "0000:3b:00.1", 0x8086, 0x1592, "ice", "rocep59s0f1", 9, "198.51.100.11"});
    return host;
}

FakeHost mlx5_node() {
    FakeHost host = bare_node();
    host.add_port({"eno1", 2, "0000:01:00.0", 0x14e4, 0x165f, "tg3", "", 0, "203.0.113.11"});
    host.add_port({"ens1f0np0", 3, "0000:3b:00.0", 0x15b3, 0x101d, "mlx5_core", "mlx5_0", 1, "192.0.2.11", 8388608});
    host.add_port({"ens1f1np1", 4, "0000:3b:00.1", 0x15b3, 0x101d, "mlx5_core", "mlx5_1", 1, "198.51.100.11", 8388608});
    return host;
}

PciConfig pcie_config(std::optional<unsigned> acs) {
    PciConfig config{std::string(4096, '\0')};
    const auto put = [&](std::size_t at, std::initializer_list<unsigned> bytes) {
        for (const unsigned byte : bytes) config.bytes[at++] = static_cast<char>(byte);
    };
    put(0x00, {0x00, 0x10, 0x30, 0xc0});
    put(0x06, {0x10, 0x00});
    put(0x34, {0x40});
    put(0x40, {0x01, 0x68});              // power management, then PCI Express
    put(0x68, {0x10, 0x00});
    put(0x100, {0x01, 0x00, 0x82, 0x14});  // AER, next at 0x148
    if (!acs) return put(0x100, {0x01, 0x00, 0x02, 0x00}), config;
    put(0x148, {0x0d, 0x00, 0x01, 0x00, 0x5f, 0x00, *acs & 0xff, *acs >> 8});
    return config;
}

FakeHost gpu_node() {
    FakeHost host = mlx5_node();
    host.add_gpu("0000:18:00.0", "pci0000:15", {"0000:15:01.0", "0000:16:00.0", "0000:17:00.0"});
    for (const char* nic : {"0000:3b:00.0", "0000:3b:00.1"}) host.place(nic, "pci0000:15", {"0000:15:01.0", "0000:16:00.0", "0000:17:01.0"});
    for (const char* bridge : {"0000:15:01.0", "0000:16:00.0", "0000:17:00.0", "0000:17:01.0"}) host.add_bridge(bridge, 0x01);
    host.text("/proc/driver/nvidia/version",
              "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build  (dvs-builder@U16-I3-B03-4-3)\nGCC version:  gcc version 14.2.1\n");
    host.text("/proc/modules", std::string(modules_text) + "nvidia_peermem 16384 0 - Live 0x0\nnvidia 14376960 1 nvidia_peermem, Live 0x0\n");
    host.set("list", "/sys/kernel/mm/memory_peers", std::vector<std::string>{"nv_mem"});
    host.set("list", "/sys/devices/system/node", std::vector<std::string>{"has_cpu", "node0", "node1", "online", "possible"});
    host.set("resolve", "/usr/lib64/libibverbs.so.1", std::string("/usr/lib64/libibverbs.so.1.14.50.0"));
    for (const auto& [name, file] : {std::pair{"libs3rdma.so.0", "libs3rdma.so.0.3.3"}, {"libibverbs.so.1", "libibverbs.so.1.14.50.0"}, {"librdmacm.so.1", "librdmacm.so.1.3.50.0"}, {"libnuma.so.1", "libnuma.so.1.0.0"}})
        host.add_library("/usr/lib64", name, file);
    host.set("caller", "", Caller{{}, {~0ull, ~0ull}});
    return host;
}

Report judged(FakeHost& host, Options options) {
    const Facts facts(host, std::move(options));
    return judge({platform_module(), nic_module(), rdma_module()}, facts);
}

std::vector<Finding> found(const Report& report, std::string_view id) {
    std::vector<Finding> list;
    for (const Finding& finding : report.findings)
        if (finding.id == id) list.push_back(finding);
    return list;
}

Finding only(const Report& report, std::string_view id) {
    const auto list = found(report, id);
    EXPECT_EQ(list.size(), 1u) << id;
    return list.empty() ? Finding{} : list.front();
}

Finding about(const Report& report, std::string_view id, const std::string& subject) {
    std::string subjects;
    for (const Finding& finding : found(report, id)) {
        if (finding.subject.text == subject) return finding;
        subjects += " " + finding.subject.text;
    }
    ADD_FAILURE() << id << " says nothing about " << subject << ", only about" << subjects;
    return {};
}

std::vector<std::string> complaints(const Report& report) {
    std::vector<std::string> list;
    for (const Finding& finding : report.findings)
        if (finding.status == Status::fail || finding.status == Status::unknown || finding.status == Status::blocked)
            list.push_back(fmt::format("{} {} {}", finding.id, finding.subject.text, name(finding.status)));
    return list;
}

void FakeHost::sample_again() {
    for (const char* kind : {"links", "rdma_devices"}) answers[{kind, "@1"}] = answers.at({kind, ""});
}

void FakeHost::add_service(const User& user) {
    set("list", "/etc/systemd/system", std::vector<std::string>{"minio.service"});
    answers[{"unit_file", "/etc/systemd/system/minio.service"}] = text_to_json("[Service]\nUser=" + user.name + "\nExecStart=/usr/local/bin/minio server\n");
    set("user", user.name, user);
}

Options sampling(Options options) {
    options.from_snapshot = true;
    options.sample_seconds = 60;
    return options;
}

Options interfaces(std::vector<std::string> names) {
    Options options;
    options.interfaces = std::move(names);
    return options;
}

}  // namespace preflight
