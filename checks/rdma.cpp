// The RDMA stack: modules, devices, protocol, port state, limits, strays. GIDs and MTU stand in rdma_gid.cpp, what user
// space needs in rdma_access.cpp. Source of the rules: Linux 6.12 drivers/infiniband.

#include "rdma.h"

#include <algorithm>
#include <map>
#include <set>

#include "facts/kernel_modules.h"
#include "facts/nic.h"
#include "facts/node.h"
#include "facts/owned_objects.h"
#include "facts/samples.h"
#include "facts/server_process.h"
#include "modules.h"
#include "nic.h"
#include "remedies.h"
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
constexpr std::string_view modules_source = "/proc/modules, modules.builtin, modules.dep, /sys/module, modprobe.d";

/// Why modules are not loaded, as far as the node tells.
struct Absence {
    std::vector<std::string> missing;
    std::vector<ModuleBlock> blocks;       ///< what keeps them away
    std::vector<std::string> without_file; ///< not among the running kernel's modules
    bool kernel_gone = false;              ///< the running kernel has no modules folder any more
    std::vector<std::string> unread;

    void add(const Modules& modules, const std::string& name) {
        missing.push_back(name);
        for (ModuleBlock& block : modules.blocks(name, unread)) blocks.push_back(std::move(block));
        const auto file = modules.file(name);
        if (!file.absent()) return;
        without_file.push_back(name);
        kernel_gone |= file.gone().detail == "no modules";
    }

    std::string text() const {
        std::string seen = fmt::format("not loaded: {}", fmt::join(missing, ", "));
        if (kernel_gone) return seen + "; the modules of the running kernel are gone: another kernel was installed, and not booted";
        if (!without_file.empty()) seen += fmt::format("; the running kernel has no file of {}", list_of(without_file));
        for (const ModuleBlock& block : blocks)
            seen += block.path.empty() ? "; kept away by the kernel command line: " + block.text
                                       : fmt::format("; kept away by \"{}\" at {}:{}", block.text, block.path, block.line);
        return seen;
    }
};

/// The packages that hold modules of the running kernel which the base package leaves out.
std::string module_packages(const NodeFacts& node) {
    const std::string kernel = node.self ? node.self->kernel : "KERNEL";
    const bool ubuntu = node.os_release && node.os_release->count("ID") && node.os_release->at("ID") == "ubuntu";
    if (node.packages == PackageFamily::dnf)
        return fmt::format("sudo dnf install -y kernel-modules-{0} kernel-modules-extra-{0}", kernel);
    if (ubuntu) return "sudo apt-get install -y linux-modules-extra-" + kernel;
    if (node.packages == PackageFamily::apt) return "sudo apt-get install -y --reinstall linux-image-" + kernel;
    return "# install the kernel's package of further modules with this distribution's package tool";
}

Remedy load(const Facts& facts, const Absence& absence) {
    const std::string names = fmt::format("{}", fmt::join(absence.missing, " "));
    const std::string modprobe = "sudo modprobe -a " + names;
    if (absence.kernel_gone)
        return {.summary = "Reboot into the installed kernel in a maintenance window.", .commands = {"sudo systemctl reboot"}};
    if (!absence.without_file.empty())
        return {.summary = "Install the package with these modules for the running kernel, then load them.",
                .commands = {module_packages(facts.node()), modprobe}};
    const auto of_kind = [&](ModuleBlock::Kind kind) {
        return std::any_of(absence.blocks.begin(), absence.blocks.end(), [&](const ModuleBlock& block) { return block.kind == kind; });
    };
    if (of_kind(ModuleBlock::command_line))
        return {.summary = "Take the module out of module_blacklist= or modprobe.blacklist= on the kernel command line and reboot.",
                .commands = {facts.node().packages == PackageFamily::dnf ? "sudo grubby --info=DEFAULT | grep -E 'args=.*blacklist'"
                                                                         : "grep blacklist /etc/default/grub"}};
    if (!absence.blocks.empty()) {
        Remedy remedy{.summary = "Take the line out that keeps the module away, then load it."};
        for (const ModuleBlock& block : absence.blocks) {
            const std::string path = shell_word(block.path);
            remedy.commands.push_back(fmt::format("sudo sed -i.before-rdma '{}s/^/#/' {}", block.line, path));
            remedy.undo.push_back(fmt::format("sudo mv {0}.before-rdma {0}", path));
        }
        remedy.commands.push_back(modprobe);
        return remedy;
    }
    return {.summary = "Load the modules; the rdma-core package loads them at each boot.",
            .commands = {modprobe},
            .persist = {facts.node().install("rdma-core"),
                        fmt::format("printf '%s\\n' {} | sudo tee /etc/modules-load.d/aistor-rdma.conf", names)},
            .undo = {"sudo modprobe -r " + names}};
}

/// Which of the sources about modules gave no answer.
std::string unread(const Modules& modules) {
    if (!modules.loaded) return "/proc/modules: " + no_answer(modules.loaded);
    if (!modules.built_in) return "modules.builtin: " + no_answer(modules.built_in);
    return "/sys/module could not be read";
}

/// modules.builtin went with the folder, so that a module which is not loaded may be built in.
bool kernel_gone(const Modules& modules, const std::vector<std::string>& unknown) {
    const auto file = modules.file(unknown.front());
    return file.absent() && file.gone().detail == "no modules";
}

/// Judges a set of modules as one finding. Says nothing when all are there; they are added to `present`.
void judge_set(const Facts& facts, const Subject& subject, const std::vector<std::string>& needed, std::vector<std::string>& present, Findings& out) {
    const Modules& modules = facts.modules();
    Absence absence;
    std::vector<std::string> unknown;
    for (const std::string& name : needed) {
        const ModuleState state = modules.state(name);
        if (state == ModuleState::not_loaded) absence.add(modules, name);
        else if (state == ModuleState::unknown) unknown.push_back(name);
        else present.push_back(name + (state == ModuleState::built_in ? " (built in)" : ""));
    }
    if (!absence.missing.empty()) {
        auto draft = out.fail(subject, absence.text());
        draft.want(fmt::format("{} loaded or built in", fmt::join(needed, ", "))).from(std::string(modules_source)).mend(load(facts, absence));
        if (!absence.unread.empty()) draft.note("could not be read", absence.unread);
    } else if (!unknown.empty() && kernel_gone(modules, unknown)) {
        out.unknown(subject, fmt::format("cannot tell whether {} {} loaded: the modules of the running kernel are gone, another kernel was installed and not booted",
                                         list_of(unknown), unknown.size() == 1 ? "is" : "are"),
                    "Reboot into the installed kernel in a maintenance window, and run this again.")
            .from(std::string(modules_source));
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

/// Queue pairs of running AIStor servers that are connected on this device.
std::size_t connected_of_servers(const Facts& facts, const std::string& device) {
    std::size_t connected = 0;
    const ServerProcesses& servers = facts.server_processes();
    for (const auto* list : {&servers.of_unit, &servers.in_container})
        for (const Process& process : *list)
            if (const auto owned = facts.owned_objects(process.pid); owned)
                if (const auto of_device = owned->connected_on.find(device); of_device != owned->connected_on.end())
                    connected += of_device->second;
    return connected;
}

void judge_limits(const Facts& facts, Findings& out) {
    static constexpr const char* source = "ibv_query_device max_srq";
    for (const auto& [device, subject] : devices_to_judge(facts, out)) {
        if (!device->verbs || !device->verbs->opened) {
            out.unknown(subject, "the device could not be opened to ask its limits", "Mend rdma.provider first, or run the tool as root.").from(source);
            continue;
        }
        if (device->verbs->max_srq > 0) {
            out.pass(subject, fmt::format("max_srq {}, max_qp {}", device->verbs->max_srq, device->verbs->max_qp)).from(source);
            continue;
        }
        if (const std::size_t connected = connected_of_servers(facts, device->device.name)) {
            out.pass(subject, fmt::format("max_srq is 0, and the running server works without: it owns {} connected queue {} here", connected,
                                          connected == 1 ? "pair" : "pairs"))
                .from(std::string(source) + "; nldev RES_QP: RC, RTS")
                .proven();
            continue;
        }
        out.warn(subject, "max_srq is 0: no shared receive queues")
            .want("shared receive queues, which AIStor's inter-node counters speak of")
            .from(source)
            .note("max_srq", std::int64_t{0})
            .because("AIStor's inter-node statistics count reposts to a shared receive queue. Whether it runs without one is not public; no run on such a NIC is known.")
            .mend({.summary = "Prove it: start AIStor with RDMA switched on and run this again; queue pairs of the running server count. Or ask MinIO, and write what they "
                              "or your own test say into attest.proven of the policy file. One node that is proven counts for others of the same release, driver and "
                              "firmware in `compare`."})
            .unproven("start AIStor with RDMA switched on and run this again");
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
         .judges = "pass: ib_core, ib_uverbs, rdma_ucm and the RDMA driver of each storage port are loaded or built in. fail: one is not; a blacklist or install line of the kernel command line or of modprobe.d is named, and a module without a file for the running kernel. unknown: /proc/modules "
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
         .judges = "pass: max_srq above 0; or it is 0, and the running server owns connected RC queue pairs (RTS) on the device; or the policy "
                   "attests it for this release and driver. warn (unproven): max_srq is 0, as on E810. unknown: the device cannot be opened.",
         .remedy = "Start AIStor with RDMA switched on and run this again: its queue pairs prove it. Or write what you or MinIO have seen into "
                   "attest.proven of the policy file. One proven node counts for others of its release, driver and firmware in `compare`.",
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
