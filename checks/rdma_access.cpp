// What a program needs of the node to use RDMA: the character devices, and a user-space provider that fits the kernel driver
// (rdma-core: /etc/libibverbs.d/NAME.driver names it, libNAME-rdmavNN.so holds it). umad and issm nodes are not needed.

#include <algorithm>

#include "facts/node.h"
#include "facts/role.h"
#include "facts/service_user.h"
#include "rdma.h"
#include "text.h"

namespace preflight {
namespace {

void judge_access(const Facts& facts, Findings& out) {
    const auto devices = storage_devices(facts);
    const ServiceUser user = facts.deployment() == systemd ? ServiceUser::read(facts.service()) : ServiceUser{};
    std::vector<std::string> missing, closed, open, blind, repairs;
    bool unclear = false;
    const auto look = [&](const std::string& path, const Fact<FileInfo>& info) {
        if (info.absent()) missing.push_back(path);
        else if (info.unreadable()) blind.push_back(fmt::format("{}: {}", path, info.why().error));
        else if (const Allowed answer = allowed(user, *info, Permission::read_write); answer == Allowed::yes) open.push_back(path);
        else {
            unclear |= answer == Allowed::unclear;
            closed.push_back(fmt::format("{} has mode {:04o}, owner {}:{}", path, info->mode, info->uid, info->gid));
            repairs.push_back("sudo chmod 0666 " + path);
        }
    };
    for (const auto& [device, subject] : devices) look(device->device.uverbs ? "/dev/infiniband/" + device->device.uverbs->name : "the uverbs node of " + device->device.name, device->uverbs);
    look("/dev/infiniband/rdma_cm", facts.rdma().rdma_cm);
    const std::string source = "/dev/infiniband", want = "the uverbs nodes of the storage devices and rdma_cm, usable by the service's user";
    if (!missing.empty())
        out.fail(node_subject(), fmt::format("missing: {}", fmt::join(missing, ", ")))
            .want(want)
            .from(source)
            .mend({"Load ib_uverbs and rdma_ucm; udev then makes the nodes.", {"sudo modprobe -a ib_uverbs rdma_ucm", "sudo udevadm trigger --subsystem-match=infiniband_verbs"}, {facts.node().install("rdma-core")}, {}});
    else if (!blind.empty()) out.unknown(node_subject(), fmt::format("could not be looked at: {}", fmt::join(blind, ", ")), "Run the tool on the node itself, as root.").want(want).from(source);
    else if (devices.empty()) out.unknown(node_subject(), "no storage port has an RDMA device to open", "Mend rdma.device first.").want(want);
    else if (closed.empty()) out.pass(node_subject(), fmt::format("{}: open to {}", fmt::join(open, ", "), user.known() ? user.text : "all")).from(source);
    else if (unclear)
        out.unknown(node_subject(), fmt::format("{}; whether the service's user may open it is not known", fmt::join(closed, "; ")), "Look at the unit's User= and its groups: systemctl show -p User,Group,SupplementaryGroups minio.service; distributions use mode 0666.")
            .want(want)
            .from(source);
    else
        out.fail(node_subject(), fmt::format("{}; closed to {}", fmt::join(closed, "; "), user.text))
            .want(want)
            .from(source)
            .mend({"Give the nodes the mode that rdma-core's udev rules give them, and look for the rule that took it.", repairs, {"grep -rn infiniband /etc/udev/rules.d /run/udev/rules.d"}, {}});
}

std::string provider_name(const RdmaDeviceFacts& device) {
    if (const DriverFamily* family = family_of_rdma(device.module)) return std::string(family->provider);
    if (device.module == "rdma_rxe") return "rxe";
    return device.module;
}

void judge_provider_of(const Facts& facts, const RdmaDeviceFacts& device, const Subject& subject, Findings& out) {
    const auto& verbs = facts.rdma().verbs;
    const std::string source = "ibv_get_device_list, ibv_open_device", want = "libibverbs opens the device", name = provider_name(device);
    const Remedy install{"Install the user-space provider that fits the kernel driver.", {facts.node().install("providers")}, {}, {}};
    if (verbs.absent()) {
        out.fail(subject, "libibverbs is not installed").want(want).from(source).mend({"Install libibverbs with its providers.", {facts.node().install("libibverbs"), facts.node().install("providers")}, {}, {}});
        return;
    }
    if (verbs.unreadable()) {
        out.unknown(subject, "libibverbs could not be asked: " + verbs.why().cause, how_to_know(verbs.why())).want(want).from(source);
        return;
    }
    std::vector<std::string> own_warnings;
    for (const std::string& warning : verbs->warnings)
        if ((!name.empty() && warning.find(name) != std::string::npos) || warning.find(device.device.name) != std::string::npos) own_warnings.push_back(warning);
    if (!device.verbs) {
        const auto abi = std::find_if(own_warnings.begin(), own_warnings.end(), [](const std::string& warning) { return warning.find("does not support the kernel ABI") != std::string::npos; });
        Draft draft = out.fail(subject, abi != own_warnings.end() ? "kernel driver and provider do not fit: " + *abi : fmt::format("libibverbs does not list it: no provider for {} was loaded", name.empty() ? "its driver" : name));
        draft.want(want).from(source).note("warnings", verbs->warnings);
        if (abi != own_warnings.end()) draft.mend({"Install the provider library that the kernel driver's vendor ships with it, or use the kernel's own driver.", {"rpm -qf /etc/libibverbs.d/" + name + ".driver || dpkg -S /etc/libibverbs.d/" + name + ".driver"}, {}, {}});
        else draft.mend(install);
    } else if (device.verbs->opened) {
        out.pass(subject, fmt::format("opened{}", device.verbs->firmware.empty() ? "" : ", firmware " + device.verbs->firmware)).from(source);
    } else {
        const auto& why = device.verbs->opened;
        const bool refused = why.unreadable() && (why.why().error == "EACCES" || why.why().error == "EPERM");
        if (refused && !facts.node().root) out.unknown(subject, "this user may not open the device", "Run the tool as root.").want(want).from(source);
        else out.fail(subject, "libibverbs lists it but cannot open it: " + no_answer(why)).want(want).from(source).note("warnings", own_warnings).mend(install);
    }
}

void judge_provider(const Facts& facts, Findings& out) {
    for (const auto& [device, subject] : devices_to_judge(facts, out)) {
        if (facts.options().root == "/") {
            judge_provider_of(facts, *device, subject, out);
            continue;
        }
        // Below another root the libraries of that root are not ours to load: their files decide.
        const std::string name = provider_name(*device);
        const std::string found = facts.rdma().provider_file(name);
        if (!found.empty()) out.pass(subject, "provider " + found).from("files below " + facts.options().root);
        else out.fail(subject, fmt::format("no lib{}-rdmav*.so below {}", name, facts.options().root)).want("the provider of the device's driver").from("files below " + facts.options().root).mend({"Install the user-space provider.", {facts.node().install("providers")}, {}, {}});
    }
}

}  // namespace

Check rdma_access_check() {
    return {.id = "rdma.access",
            .phase = 'A',
            .title = "The service's user may use the RDMA character devices",
            .why = "Without the uverbs and rdma_cm nodes, or without the right to open them, a program finds no RDMA.",
            .judges = "pass: the uverbs node of each storage device and rdma_cm are there and usable by the service's user. fail: one is missing, or closed to that user. unknown: the user is not known. umad "
                      "and issm nodes are not needed.",
            .remedy = "Load ib_uverbs and rdma_ucm; keep the distribution's udev rules (mode 0666).",
            .evidence = "rdma-core's udev rules.",
            .after = {"rdma.modules", "rdma.device"},
            .judge = judge_access};
}

Check rdma_provider_check() {
    return {.id = "rdma.provider",
            .phase = 'A',
            .title = "The node's libibverbs opens the device",
            .why = "A kernel driver without its user-space provider, or with one of another version, is invisible to every program.",
            .judges = "pass: the device opens. fail: libibverbs is missing, does not list the device, or cannot open it; an ABI mismatch is named. unknown: not allowed to open it. Warnings about providers of "
                      "absent NICs do not count. Below --root: judged by files.",
            .remedy = "Install the provider (libibverbs on RHEL, ibverbs-providers on Debian) that fits the kernel driver.",
            .evidence = "rdma-core libibverbs; Linux 6.12 drivers/infiniband/core/uverbs_main.c.",
            .after = {"rdma.modules", "rdma.device", "rdma.access"},
            .judge = judge_provider};
}

}  // namespace preflight
