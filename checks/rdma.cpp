// The RDMA stack: modules, devices, protocol, port state, limits, strays. GIDs and MTU stand in rdma_gid.cpp, what user
// space needs in rdma_access.cpp. Source of the rules: Linux 6.12 drivers/infiniband.

#include "rdma.h"

#include <algorithm>
#include <map>
#include <set>

#include "facts/kernel_modules.h"
#include "facts/nic.h"
#include "facts/node.h"
#include "facts/samples.h"
#include "modules.h"
#include "nic.h"
#include "text.h"

namespace preflight {

std::vector<StorageDevice> storage_devices(const Facts& facts) {
    std::vector<StorageDevice> list;
    for (const Port* port : facts.ports().storage()) {
        const RdmaDeviceFacts* device = device_of(facts, *port);
        if (!device) continue;
        const auto known = std::find_if(list.begin(), list.end(), [&](const StorageDevice& entry) { return entry.device == device; });
        if (known == list.end()) list.push_back({device, {device->device.name, {port->key}}});
        else known->subject.keys.push_back(port->key);
    }
    return list;
}

std::vector<const Port*> rdma_ports_to_judge(const Facts& facts, Findings& out) {
    auto ports = ports_to_judge(facts, out);
    std::erase_if(ports, [&](const Port* port) { return roce_lag_primary(facts, *port) != nullptr; });
    return ports;
}

std::vector<StorageDevice> devices_to_judge(const Facts& facts, Findings& out) {
    auto devices = storage_devices(facts);
    if (!devices.empty()) return devices;
    for (const Port* port : ports_to_judge(facts, out)) out.unknown(port->subject(), "the port has no RDMA device to judge", "Mend rdma.device first.");
    return devices;
}

namespace {

constexpr std::string_view base_modules[] = {"ib_core", "ib_uverbs", "rdma_ucm"};
constexpr std::string_view modules_source = "/proc/modules, modules.builtin, /sys/module";

Remedy load(const Facts& facts, const std::vector<std::string>& missing, const std::vector<std::string>& blacklisted) {
    if (!blacklisted.empty())
        return {"Take the module out of module_blacklist= or modprobe.blacklist= on the kernel command line and reboot.",
                {facts.node().packages == PackageFamily::dnf ? "sudo grubby --info=DEFAULT | grep -E 'args=.*blacklist'" : "grep blacklist /etc/default/grub"}, {}, {}};
    const std::string names = fmt::format("{}", fmt::join(missing, " "));
    return {"Load the modules; the rdma-core package loads them at each boot.",
            {"sudo modprobe -a " + names},
            {facts.node().install("rdma-core"), fmt::format("printf '%s\\n' {} | sudo tee /etc/modules-load.d/aistor-rdma.conf", names)},
            {"sudo modprobe -r " + names}};
}

/// Which of the sources about modules gave no answer.
std::string unread(const Modules& modules) {
    if (!modules.loaded) return "/proc/modules: " + no_answer(modules.loaded);
    if (!modules.built_in) return "modules.builtin: " + no_answer(modules.built_in);
    return "/sys/module could not be read";
}

/// Judges a set of modules as one finding. Says nothing when all are there; they are added to `present`.
void judge_set(const Facts& facts, const Subject& subject, const std::vector<std::string>& needed, std::vector<std::string>& present, Findings& out) {
    const Modules& modules = facts.modules();
    std::vector<std::string> missing, unknown, blacklisted;
    for (const std::string& name : needed) {
        const ModuleState state = modules.state(name);
        if (state == ModuleState::not_loaded) missing.push_back(name);
        else if (state == ModuleState::unknown) unknown.push_back(name);
        else present.push_back(name + (state == ModuleState::built_in ? " (built in)" : ""));
        if (state == ModuleState::not_loaded && modules.is_blacklisted(name)) blacklisted.push_back(name);
    }
    if (!missing.empty()) {
        std::string seen = fmt::format("not loaded: {}", fmt::join(missing, ", "));
        if (!blacklisted.empty()) seen += fmt::format("; kept away by the kernel command line: {}", fmt::join(blacklisted, ", "));
        out.fail(subject, seen).want(fmt::format("{} loaded or built in", fmt::join(needed, ", "))).from(std::string(modules_source)).mend(load(facts, missing, blacklisted));
    } else if (!unknown.empty()) {
        out.unknown(subject, fmt::format("cannot tell whether {} {} loaded: {}", list_of(unknown), unknown.size() == 1 ? "is" : "are", unread(modules)), "Run the tool on the node itself, with /proc and /sys mounted.")
            .from(std::string(modules_source));
    }
}

void judge_modules(const Facts& facts, Findings& out) {
    std::vector<std::string> present;
    judge_set(facts, node_subject(), {std::begin(base_modules), std::end(base_modules)}, present, out);
    // A port's own driver may be away because of what ails the port (safe mode), so it is the port's finding.
    for (const Port* port : facts.ports().storage()) {
        const RdmaDeviceFacts* device = device_of(facts, *port);
        const std::string own = device ? device->module : port->family ? std::string(port->family->rdma) : "";
        if (!own.empty() && std::find(present.begin(), present.end(), own) == present.end()) judge_set(facts, port->subject(), {own}, present, out);
    }
    if (out.list().empty()) out.pass(node_subject(), fmt::format("{}", fmt::join(present, ", "))).from(std::string(modules_source));
}

/// Hints why an E800 or ConnectX function has no RDMA device, from what else is known.
std::vector<std::string> hints(const Facts& facts, const Port& port) {
    std::vector<std::string> list;
    if (const auto& devlink = facts.nic().devlink; devlink)
        for (const DevlinkDevice& device : *devlink)
            if (device.device == port.pci && device.parameters) {
                std::map<std::string, std::string> values;
                for (const DevlinkParam& parameter : *device.parameters) values.emplace(parameter.name, parameter.value);
                const bool roce_off = values.count("enable_roce") && values["enable_roce"] == "false";
                const bool iwarp_off = !values.count("enable_iwarp") || values["enable_iwarp"] == "false";
                if (roce_off && iwarp_off) list.push_back("devlink enable_roce is false");
            }
    if (facts.node().kernel_log)
        for (const std::string& line : *facts.node().kernel_log)
            if (!port.pci.empty() && line.find(port.pci) != std::string::npos && (line.find("RDMA") != std::string::npos || line.find("rdma") != std::string::npos) && list.size() < 4)
                list.push_back("kernel log: " + line);
    return list;
}

void judge_device(const Facts& facts, Findings& out) {
    const RdmaStack& rdma = facts.rdma();
    for (const Port* port : ports_to_judge(facts, out)) {
        const std::string source = "nldev RDMA_NLDEV_CMD_GET, /sys/class/infiniband";
        if (const RdmaAttachment* attached = port->attachment()) {
            out.pass(port->subject(), attached->device + (attached->merged ? " (one device for the bond)" : "")).from(source);
            continue;
        }
        if (const Port* primary = roce_lag_primary(facts, *port)) {
            out.pass(port->subject(), fmt::format("{} of {} serves {} (RoCE LAG)", primary->attachment()->device, primary->link.name, port->bond->name)).from(source);
            continue;
        }
        if (rdma.blind()) {
            out.unknown(port->subject(), "RDMA devices could not be listed: " + no_answer(rdma.nldev), how_to_know(rdma.nldev.why())).from(source);
            continue;
        }
        if (const RdmaDeviceFacts* portless = rdma.portless(port->pci)) {
            out.unknown(port->subject(), fmt::format("the ports of {} could not be listed", portless->device.name), "Run the tool as root, on the node itself, with /sys mounted.").from(source);
            continue;
        }
        const auto found = hints(facts, *port);
        const bool roce_off = !found.empty() && found.front().rfind("devlink", 0) == 0;
        const std::string module = port->family ? std::string(port->family->rdma) : "its RDMA driver";
        Draft draft = out.fail(port->subject(), found.empty() ? "no RDMA device" : "no RDMA device; " + found.front());
        draft.want("an RDMA device on this port").from(source).note("hints", found);
        if (roce_off)
            draft.mend({"Switch RoCE on (runtime setting, lost at reboot).", {fmt::format("sudo devlink dev param set pci/{} name enable_roce value true cmode runtime", port->pci)}, {}, {fmt::format("sudo devlink dev param set pci/{} name enable_roce value false cmode runtime", port->pci)}});
        else
            draft.mend({fmt::format("Reload {}; if the device stays away, look into the kernel log and the NIC's firmware settings.", module), {fmt::format("sudo modprobe -r {0}; sudo modprobe {0}", module), fmt::format("dmesg | grep -E '{}|{}'", port->pci, module)}, {}, {}});
    }
}

void judge_protocol(const Facts& facts, Findings& out) {
    for (const auto& [device, subject] : devices_to_judge(facts, out)) {
        const std::string protocol = device->protocol(), source = "nldev DEV_PROTOCOL, node_type";
        if (protocol.empty()) {
            out.unknown(subject, "neither nldev nor node_type tells the protocol", "Read it by hand: rdma -d link; cat /sys/class/infiniband/" + device->device.name + "/node_type.").from(source);
        } else if (protocol != "iWARP") {
            out.pass(subject, protocol == "RoCE" ? "RoCE v2" : "InfiniBand").from(source);
        } else {
            const bool parameter = facts.modules().parameter("irdma", "roce_ena").has();
            const std::string pci = device->pci.value_or("");
            Draft draft = out.fail(subject, "iWARP");
            draft.want("RoCE v2 or InfiniBand").from(source).because("AIStor speaks RoCE v2 or InfiniBand; an iWARP device cannot talk to them, although its port is ACTIVE.");
            if (device->software || pci.empty()) draft.mend({"Use a RoCE device; this software device speaks iWARP only.", {fmt::format("sudo rdma link delete {}", device->device.name)}, {}, {}});
            else if (device->module != "irdma" && device->module != "rdma_rxe") draft.mend({"This NIC speaks iWARP only: use another one.", {}, {}, {}});
            else if (parameter)
                draft.mend({"Load the out-of-tree irdma driver in RoCE mode (storage traffic stops meanwhile).",
                            {"sudo modprobe -r irdma && sudo modprobe irdma roce_ena=1"}, {"echo 'options irdma roce_ena=1' | sudo tee /etc/modprobe.d/irdma.conf"}, {"sudo rm /etc/modprobe.d/irdma.conf"}});
            else
                draft.mend({"Switch the function to RoCE by devlink; iWARP has to go off first. The setting is lost at reboot.",
                            {fmt::format("sudo devlink dev param set pci/{} name enable_iwarp value false cmode runtime", pci), fmt::format("sudo devlink dev param set pci/{} name enable_roce value true cmode runtime", pci)},
                            {"# put both lines into a oneshot unit ordered before minio.service"},
                            {fmt::format("sudo devlink dev param set pci/{} name enable_roce value false cmode runtime", pci), fmt::format("sudo devlink dev param set pci/{} name enable_iwarp value true cmode runtime", pci)}});
        }
    }
}

/// Another member of the port's bond with an ACTIVE port.
bool spared_by_bond(const Facts& facts, const Port& port) {
    if (!port.bond) return false;
    for (const Port* member : facts.ports().members(port.bond->index)) {
        const RdmaDeviceFacts* device = device_of(facts, *member);
        if (member == &port || !device) continue;
        const RdmaPort* other = device->port(member->attachment()->port);
        if (other && other->state == "ACTIVE") return true;
    }
    return false;
}

/// An ACTIVE port, read again after the --sample time where there is one.
void judge_steady_port(const Samples& samples, const RdmaDeviceFacts& device, const RdmaPort& port, const Subject& subject, Findings& out) {
    const std::string source = "nldev RDMA_NLDEV_CMD_PORT_GET";
    if (!samples.taken()) {
        out.pass(subject, "ACTIVE, link up").from(source);
        return;
    }
    if (!samples.devices) {
        out.unknown(subject, "ACTIVE; the second reading failed: " + no_answer(samples.devices), samples.devices.unreadable() ? how_to_read_again(samples.devices.why()) : "Run the tool again.").from(source);
        return;
    }
    std::string later = "gone";
    for (const RdmaDevice& again : *samples.devices)
        if (again.name == device.device.name)
            for (const RdmaPort& same : again.ports)
                if (same.port == port.port) later = same.state;
    if (later != port.state)
        out.warn(subject, fmt::format("ACTIVE, and {} {:.1f} s later", later, samples.seconds)).want("ACTIVE all the time").from(source).mend({"Look why the port changes its state.", {"journalctl -k -b | tail -n 50", "rdma link show"}, {}, {}});
    else out.pass(subject, fmt::format("ACTIVE, link up, steady for {:.1f} s", samples.seconds)).from(source);
}

void judge_port(const Facts& facts, Findings& out) {
    for (const Port* port : rdma_ports_to_judge(facts, out)) {
        const Subject subject = port_subject(*port);
        const RdmaDeviceFacts* device = device_of(facts, *port);
        const RdmaPort* rdma_port = device ? device->port(port->attachment()->port) : nullptr;
        const std::string source = "nldev RDMA_NLDEV_CMD_PORT_GET";
        if (!rdma_port || rdma_port->state.empty()) {
            out.unknown(subject, device ? "the port's state is not told" : "no RDMA device", device ? "Read it by hand: rdma link show." : "Mend rdma.device first.").from(source);
        } else if (rdma_port->state == "ACTIVE" && (rdma_port->physical_state == "LINK_UP" || rdma_port->physical_state == "LinkUp" || rdma_port->physical_state.empty())) {
            judge_steady_port(facts.samples(), *device, *rdma_port, subject, out);
        } else {
            const bool spared = spared_by_bond(facts, *port);
            out.add(spared ? Status::warn : Status::fail, subject, fmt::format("{}, physical state {}{}", rdma_port->state, rdma_port->physical_state, spared ? "; the bond's other member is ACTIVE" : ""))
                .want("ACTIVE, link up")
                .from(source)
                .mend({"Bring the port's link up.", {fmt::format("sudo ip link set {} up", port->link.name), fmt::format("ethtool {}", port->link.name)}, {}, {}});
        }
    }
}

void judge_limits(const Facts& facts, Findings& out) {
    for (const auto& [device, subject] : devices_to_judge(facts, out)) {
        const std::string source = "ibv_query_device max_srq";
        if (!device->verbs || !device->verbs->opened) out.unknown(subject, "the device could not be opened to ask its limits", "Mend rdma.provider first, or run the tool as root.").from(source);
        else if (device->verbs->max_srq == 0)
            out.warn(subject, "max_srq is 0: no shared receive queues")
                .want("shared receive queues, which AIStor's inter-node counters speak of")
                .from(source)
                .note("max_srq", std::int64_t{0})
                .because("AIStor's inter-node statistics count reposts to a shared receive queue. Whether it runs without one is not public; no run on such a NIC is known.")
                .mend({"Ask MinIO whether inter-node RDMA runs on this NIC without shared receive queues before buying into it; prove it with a transfer once AIStor runs.", {}, {}, {}})
                .unproven();
        else out.pass(subject, fmt::format("max_srq {}, max_qp {}", device->verbs->max_srq, device->verbs->max_qp)).from(source);
    }
}

void judge_software(const Facts& facts, Findings& out) {
    for (const auto& [device, subject] : devices_to_judge(facts, out)) {
        if (device->pci.unreadable()) out.unknown(subject, "its parent device could not be read: " + device->pci.why().cause, how_to_know(device->pci.why()));
        else if (device->software)
            out.fail(subject, fmt::format("software RDMA ({})", device->module.empty() ? "no PCI function below the device" : device->module))
                .want("an RDMA device of the NIC itself")
                .from("/sys/class/infiniband/" + device->device.name + "/device")
                .because("Software RDMA runs in the processor and gives none of the throughput RDMA is bought for.")
                .mend({"Mend the NIC's own RDMA device, then remove the software one.", {fmt::format("sudo rdma link delete {}", device->device.name)}, {}, {}});
        else out.pass(subject, fmt::format("hardware, PCI {}", *device->pci)).from("/sys/class/infiniband/" + device->device.name + "/device");
    }
}

void judge_namespace(const Facts& facts, Findings& out) {
    const auto& mode = facts.rdma().netns_mode;
    const std::string source = "nldev RDMA_NLDEV_CMD_SYS_GET";
    if (mode.unreadable()) out.unknown(node_subject(), "the RDMA netns mode could not be read: " + mode.why().cause, how_to_know(mode.why())).from(source);
    else if (mode.absent()) out.unknown(node_subject(), "this kernel does not tell the RDMA netns mode", "Read it by hand where the tool knows it: rdma system show.").from(source);
    else if (*mode == "exclusive" && facts.deployment() == container)
        out.fail(node_subject(), "exclusive: a pod sees only RDMA devices that were moved into its network namespace")
            .want("shared, for pods that share the host's RDMA devices")
            .from(source)
            .mend({"Switch the RDMA subsystem to shared mode (only while no other network namespace exists), or give the pod its own device with SR-IOV and rdma-cni.", {"sudo rdma system set netns shared"}, {"echo 'options ib_core netns_mode=1' | sudo tee /etc/modprobe.d/ib_core.conf"}, {"sudo rdma system set netns exclusive"}});
    else if (*mode != "shared" && *mode != "exclusive") out.unknown(node_subject(), fmt::format("the RDMA netns mode reads \"{}\"", *mode), "Read it by hand: rdma system show.").from(source);
    else out.pass(node_subject(), *mode + (*mode == "exclusive" ? "; a service of the host sees the host's devices" : "")).from(source);
}

void judge_strays(const Facts& facts, Findings& out) {
    if (ports_to_judge(facts, out).empty()) return;
    const RdmaStack& rdma = facts.rdma();
    if (rdma.blind()) {
        out.unknown(node_subject(), "RDMA devices could not be listed: " + no_answer(rdma.nldev), how_to_know(rdma.nldev.why()));
        return;
    }
    std::set<std::string> wanted;
    for (const auto& [device, subject] : storage_devices(facts)) wanted.insert(device->device.name);
    std::vector<std::string> strays;
    for (const RdmaDeviceFacts& device : rdma.devices)
        for (const RdmaPort& port : device.device.ports)
            if (port.state == "ACTIVE" && !wanted.count(device.device.name)) strays.push_back(fmt::format("{}/{}{}", device.device.name, port.port, port.netdev_name.empty() ? "" : " on " + port.netdev_name));
    if (strays.empty()) out.pass(node_subject(), "no ACTIVE RDMA port outside the storage network").from("nldev");
    else
        out.warn(node_subject(), fmt::format("ACTIVE outside the storage ports: {}", fmt::join(strays, ", ")))
            .want("ACTIVE RDMA ports on the storage network only")
            .from("nldev")
            .because("AIStor opens every device with an ACTIVE port unless told otherwise, so traffic may take a network it was not meant for.")
            .mend({"Name the devices AIStor shall use, or name all storage ports to this tool with --interface.", {}, {}, {}});
}

}  // namespace

Subject port_subject(const Port& port) {
    const RdmaAttachment* attached = port.attachment();
    if (!attached) return port.subject();
    return {fmt::format("{}/{}{}", attached->device, attached->port, attached->merged ? " on " + port.link.name : ""), {port.key}};
}

Module rdma_module() {
    Module module{"rdma", "RDMA devices, ports, GIDs, and what user space needs to use them", {}};
    module.checks = {
        {.id = "rdma.modules",
         .phase = 'A',
         .title = "The kernel's RDMA modules are loaded",
         .why = "Without them there is no RDMA device, or no way for a program to use it.",
         .judges = "pass: ib_core, ib_uverbs, rdma_ucm and the RDMA driver of each storage port are loaded or built in. fail: one is not; a blacklist on the kernel command line is named. unknown: /proc/modules "
                   "cannot be read.",
         .remedy = "Load them; install rdma-core, which loads them at boot.",
         .evidence = "Linux 6.12 drivers/infiniband; rdma-core's rdma-load-modules@.service.",
         .after = {"nic.driver", "nic.ddp", "nic.functions", "nic.bond"},
         .judge = judge_modules},
        {.id = "rdma.device",
         .phase = 'A',
         .title = "Each storage port has an RDMA device",
         .why = "Without an RDMA device on the port AIStor uses TCP and says nothing.",
         .judges = "pass: there is one, by PCI function or netdev, whatever its name. fail: none. unknown: devices cannot be listed.",
         .remedy = "Mend the cause named; else reload the RDMA driver and read the kernel log.",
         .evidence = "Linux 6.12 drivers/infiniband/core/nldev.c; drivers/net/ethernet/intel/ice/ice_idc.c.",
         .after = {"platform.os", "nic.selected", "nic.driver", "nic.ddp", "nic.functions", "nic.bond", "rdma.modules"},
         .judge = judge_device},
        {.id = "rdma.protocol",
         .phase = 'A',
         .title = "The RDMA device speaks RoCE or InfiniBand",
         .why = "AIStor speaks RoCE v2 or InfiniBand; iWARP devices do not talk to them.",
         .judges = "pass: RoCE or InfiniBand. fail: iWARP. By nldev's protocol or node_type, never by link_layer.",
         .remedy = "In-tree irdma: devlink enable_iwarp false, then enable_roce true. Out-of-tree irdma: module option roce_ena=1.",
         .evidence = "Linux 6.12 drivers/infiniband/hw/irdma/verbs.c, drivers/net/ethernet/intel/ice/devlink/devlink.c.",
         .after = {"rdma.device"},
         .judge = judge_protocol},
        {.id = "rdma.port",
         .phase = 'A',
         .title = "The RDMA port is ACTIVE",
         .why = "Only an ACTIVE port with link up carries RDMA.",
         .judges = "pass: ACTIVE and LinkUp. fail: otherwise. warn: a bond member down while another is ACTIVE; with --sample, another state at the second reading. Unused ports are not judged.",
         .remedy = "Bring the link up.",
         .evidence = "Linux 6.12 drivers/infiniband/core/nldev.c.",
         .after = {"rdma.device", "nic.link"},
         .judge = judge_port},
        rdma_gid_check(),
        rdma_mtu_check(),
        rdma_access_check(),
        rdma_provider_check(),
        {.id = "rdma.limits",
         .phase = 'A',
         .title = "The device offers shared receive queues",
         .why = "AIStor's inter-node statistics speak of a shared receive queue; whether it runs without one is unproven.",
         .judges = "pass: max_srq above 0. warn (unproven): max_srq is 0, as on E810. unknown: the device cannot be opened.",
         .remedy = "Ask MinIO before relying on such a NIC; prove it with a transfer.",
         .evidence = "Linux 6.12 drivers/infiniband/hw/irdma/verbs.c (no create_srq); minio/madmin-go's srq_reposts counter.",
         .paths = internode,
         .after = {"rdma.device", "rdma.access", "rdma.provider"},
         .unproven = true,
         .judge = judge_limits},
        {.id = "rdma.software",
         .phase = 'A',
         .title = "Hardware carries the RDMA traffic",
         .why = "Software RDMA (rxe, siw) works, and gives none of the throughput RDMA is bought for.",
         .judges = "pass: the device belongs to a PCI function; an rxe device beside it does no harm. fail: only a software device carries storage traffic.",
         .remedy = "Mend the NIC's own RDMA device.",
         .evidence = "Linux 6.12 drivers/infiniband/sw.",
         .after = {"rdma.device"},
         .judge = judge_software},
        {.id = "rdma.namespace",
         .phase = 'A',
         .title = "The RDMA netns mode fits how AIStor runs",
         .why = "In exclusive mode a pod sees no RDMA device that was not moved into its network namespace.",
         .judges = "pass: shared; or exclusive for a service of the host. fail: exclusive with a pod. unknown: the kernel does not tell.",
         .remedy = "rdma system set netns shared, or SR-IOV with rdma-cni.",
         .evidence = "Linux 6.12 drivers/infiniband/core/device.c.",
         .after = {"rdma.modules"},
         .judge = judge_namespace},
        {.id = "rdma.strays",
         .phase = 'A',
         .title = "No ACTIVE RDMA port lies outside the storage network",
         .why = "AIStor opens every device with an ACTIVE port unless told otherwise.",
         .judges = "pass: none. warn: an ACTIVE port that belongs to no storage port.",
         .remedy = "Name the devices AIStor shall use.",
         .evidence = "libs3rdma header in minio/minio-cpp: with nothing named every ACTIVE device is opened.",
         .after = {"nic.selected", "rdma.modules"},
         .judge = judge_strays},
    };
    return module;
}

}  // namespace preflight
