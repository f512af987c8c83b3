// What stands between GPU and NIC on the PCI bus, and the link of each NIC.

#include <algorithm>
#include <set>

#include "facts/node.h"
#include "facts/pci_config.h"
#include "facts/pci_link.h"
#include "facts/pci_paths.h"
#include "gpu.h"
#include "modules.h"
#include "remedies.h"
#include "text.h"

namespace preflight {
namespace {

constexpr const char* acs_unit = "disable-pcie-acs.service";

/// Writes the finding of a node on which there is no way between a GPU and a NIC.
bool without_path(const Facts& facts, Findings& out) {
    if (without_gpu(facts, out)) return true;
    if (!facts.pci_paths().nics.empty()) return false;
    out.unknown(node_subject(), "no RDMA NIC on the PCI bus is known here", "Make the RDMA device appear first (rdma.device).");
    return true;
}

bool redirects(const PciBridge& bridge) {
    return bridge.acs && *bridge.acs & acs_redirect;
}

/// Clears the redirect bits of all bridges on a way between GPU and NIC, now and at every boot.
Remedy clear_acs(const PciPaths& paths) {
    Remedy remedy;
    remedy.summary = "Clear the ACS redirect bits of the bridges between GPU and NIC, now and at every boot";
    std::string unit = "[Unit]\\nDescription=Clear PCIe ACS redirect between GPU and NIC\\n[Service]\\nType=oneshot\\nRemainAfterExit=yes\\n";
    for (const PciBridge& bridge : paths.bridges) {
        if (!redirects(bridge)) continue;
        remedy.commands.push_back(fmt::format("sudo setpci -s {} ECAP_ACS+6.w=0:{:x}", bridge.address, acs_redirect));
        remedy.undo.push_back(fmt::format("sudo setpci -s {} ECAP_ACS+6.w={:x}:{:x}", bridge.address, *bridge.acs & acs_redirect, acs_redirect));
        unit += fmt::format("ExecStart=setpci -s {} ECAP_ACS+6.w=0:{:x}\\n", bridge.address, acs_redirect);
    }
    unit += "[Install]\\nWantedBy=multi-user.target\\n";
    const std::string path = fmt::format("/etc/systemd/system/{}", acs_unit);
    bool replaced = false;
    for (const AcsUnit& known : paths.acs_units) {
        if (known.name != acs_unit) remedy.persist.push_back("sudo systemctl disable " + shell_word(known.name));
        else replaced = known.path == path;
    }
    if (replaced) remedy.persist.push_back(fmt::format("sudo cp -p {0} {0}.before-rdma", path));
    remedy.persist.push_back(fmt::format("printf {} | sudo tee {}", shell_word(unit), path));
    remedy.persist.emplace_back("sudo systemctl daemon-reload");
    remedy.persist.push_back(fmt::format("sudo systemctl enable --now {}", acs_unit));
    remedy.undo.push_back(replaced ? fmt::format("sudo mv {0}.before-rdma {0} && sudo systemctl daemon-reload", path) : fmt::format("sudo systemctl disable {}", acs_unit));
    return remedy;
}

/// What became of the unit that should have cleared the bits at boot; empty without one.
std::string unit_story(const PciPaths& paths) {
    for (const AcsUnit& unit : paths.acs_units) {
        if (!unit.enabled) continue;
        if (!unit.cycle.empty())
            return fmt::format("; {} is enabled, but \"{}\" makes an ordering cycle with the target that a service waits for, and systemd drops the job without marking it failed", unit.name, unit.cycle);
        if (unit.active.has() && !*unit.active && unit.stays_active) return fmt::format("; {} is enabled, but did not run in this boot (journalctl -b -u {})", unit.name, unit.name);
        if (unit.active.has() && *unit.active) return fmt::format("; {} ran in this boot and left them set", unit.name);
        return fmt::format("; {} is enabled, and whether it ran in this boot does not show", unit.name);
    }
    if (!paths.acs_units.empty()) return fmt::format("; {} is there, but not enabled", paths.acs_units.front().name);
    return {};
}

/// Bits are clear: what a unit that does not run means for the next boot.
void judge_cleared(const PciPaths& paths, const Subject& subject, const std::string& observed, Findings& out) {
    const bool runs = std::any_of(paths.acs_units.begin(), paths.acs_units.end(), [](const AcsUnit& unit) {
        return unit.enabled && unit.cycle.empty() && (unit.active.value_or(true) || !unit.stays_active);
    });
    if (paths.acs_units.empty() || runs) {
        out.pass(subject, observed);
        return;
    }
    const AcsUnit& unit = paths.acs_units.front();
    out.warn(subject, fmt::format("{} now; the next boot may set them again{}", observed, unit_story(paths)))
        .want("the unit runs at every boot").from(unit.path)
        .mend({"Let the unit run at boot: without Before=basic.target or Before=sysinit.target, with WantedBy=multi-user.target",
               {"sudo sed -i -E '/^Before=.*(basic|sysinit)[.]target/d' " + shell_word(unit.path), "sudo systemctl daemon-reload", "sudo systemctl enable --now " + shell_word(unit.name)},
               {}, {"sudo systemctl disable " + shell_word(unit.name)}});
}

void judge_acs_of(const PciPaths& paths, const PciPlace& gpu, Findings& out) {
    const Subject subject{"GPU " + gpu.address, {gpu.address}};
    const auto [distance, nearest] = paths.nearest(gpu);
    const bool placed = gpu.root && std::all_of(paths.nics.begin(), paths.nics.end(), [](const PciPlace& nic) { return nic.root.has(); });
    std::set<std::string> near_bridges, far_bridges;
    for (const PciPlace& nic : paths.nics) {
        const bool near = std::find(nearest.begin(), nearest.end(), &nic) != nearest.end();
        for (const std::string& bridge : PciPaths::between(gpu, nic)) (near ? near_bridges : far_bridges).insert(bridge);
    }
    std::vector<std::string> bad, far, unread, bits;
    const PciBridge* first_unread = nullptr;
    for (const std::string& address : near_bridges) {
        const PciBridge& bridge = *paths.bridge(address);
        bits.push_back(address + " " + (bridge.acs ? acs_text(*bridge.acs) : bridge.acs.absent() ? "no ACS" : bridge.acs.why().error));
        if (redirects(bridge)) bad.push_back(address);
        if (!bridge.acs.unreadable()) continue;
        if (!first_unread) first_unread = &bridge;
        unread.push_back(address);
    }
    for (const std::string& address : far_bridges)
        if (!near_bridges.count(address) && redirects(*paths.bridge(address))) far.push_back(address);

    const auto with = [&](Draft draft) {
        return draft.want("ACSCtl ReqRedir- CmpltRedir- on every bridge between").from("configuration space, ACS extended capability; lspci -vvv shows it as ACSCtl").note("bridges", bits);
    };
    if (!bad.empty()) {
        with(out.fail(subject, fmt::format("{} between it and its nearest NIC {} peer-to-peer requests to the root complex: {}{}", bad.size() == 1 ? "one bridge" : "bridges",
                                           bad.size() == 1 ? "redirects" : "redirect", list_of(bad), unit_story(paths)))).mend(clear_acs(paths));
    } else if (!placed) {
        with(out.unknown(subject, "the way to the NICs in the PCI tree is not known", "Run the tool where /sys is mounted."));
    } else if (first_unread) {
        const Unreadable& why = first_unread->acs.why();
        with(out.unknown(subject, fmt::format("the ACS bits of {} could not be read: {}", list_of(unread), why.cause),
                         why.error == "short" ? "Run the tool as root (CAP_SYS_ADMIN): an ordinary user gets 64 bytes only." : how_to_know(why)));
    } else if (paths.hypervisor.unreadable()) {
        with(out.unknown(subject, "whether this is a virtual machine, whose own bridges prove nothing, could not be read: " + paths.hypervisor.why().cause, how_to_know(paths.hypervisor.why())));
    } else if (paths.hypervisor) {
        with(out.unknown(subject, fmt::format("this is a virtual machine ({}): the bridges of the real machine do not show here", *paths.hypervisor),
                         "Look at ACSCtl of the bridges on the host of this machine (lspci -vvv), then waive this with what was found."));
    } else if (!far.empty()) {
        with(out.warn(subject, fmt::format("its way to the nearest NIC is clear, but {} on the way to NICs further away {}", list_of(far), far.size() == 1 ? "redirects" : "redirect"))).mend(clear_acs(paths));
    } else {
        judge_cleared(paths, subject, near_bridges.empty() ? "no bridge between it and its nearest NIC" : fmt::format("{} {} to its nearest NIC, none redirects", near_bridges.size(), near_bridges.size() == 1 ? "bridge" : "bridges"), out);
    }
}

void judge_acs(const Facts& facts, Findings& out) {
    if (without_path(facts, out)) return;
    for (const PciPlace& gpu : facts.pci_paths().gpus) judge_acs_of(facts.pci_paths(), gpu, out);
}

Remedy pass_through(const Facts& facts) {
    if (facts.node().packages == PackageFamily::dnf)
        return {"Let the IOMMU pass DMA through untranslated (or switch it off in the firmware, if no virtual machine gets a device), and reboot",
                {"sudo grubby --update-kernel=ALL --args=iommu=pt", "sudo systemctl reboot"}, {}, {"sudo grubby --update-kernel=ALL --remove-args=iommu=pt"}};
    return {"Let the IOMMU pass DMA through untranslated (or switch it off in the firmware, if no virtual machine gets a device), and reboot",
            {"sudo sed -i -E 's/^(GRUB_CMDLINE_LINUX=\")/\\1iommu=pt /' /etc/default/grub", "sudo update-grub", "sudo systemctl reboot"}, {},
            {"sudo sed -i -E 's/iommu=pt //' /etc/default/grub", "sudo update-grub"}};
}

void judge_iommu(const Facts& facts, Findings& out) {
    if (without_path(facts, out)) return;
    const PciPaths& paths = facts.pci_paths();
    std::vector<std::string> translating, given_away, unread, types;
    std::optional<Unreadable> why;
    bool any_group = false;
    for (const auto* list : {&paths.gpus, &paths.nics})
        for (const PciPlace& place : *list) {
            any_group |= !place.iommu.absent();
            types.push_back(place.address + " " + (place.iommu ? fmt::format("group {} {}", place.iommu_group, *place.iommu) : place.iommu.absent() ? "no group" : place.iommu.why().error));
            if (place.iommu.unreadable()) {
                unread.push_back(place.address);
                if (!why) why = place.iommu.why();
            } else if (place.iommu && (*place.iommu == "unmanaged" || *place.iommu == "blocked")) given_away.push_back(place.address);
            else if (place.iommu && *place.iommu != "identity") translating.push_back(place.address);
        }
    const auto with = [&](Draft draft) { return draft.want("IOMMU off, or type identity for GPUs and NICs").from("/sys/kernel/iommu_groups/*/type").note("groups", types); };
    if (!translating.empty())
        with(out.warn(node_subject(), "the IOMMU translates the DMA of " + list_of(translating))).mend(pass_through(facts));
    else if (!given_away.empty())
        with(out.warn(node_subject(), list_of(given_away) + (given_away.size() == 1 ? " is" : " are") + " given to a virtual machine or a user-space driver (vfio)"))
            .mend({"Bind the function to its own driver again, if this node is to use it", {}, {}, {}});
    else if (why)
        with(out.unknown(node_subject(), fmt::format("how the IOMMU handles {} could not be read: {}", list_of(unread), why->cause),
                         why->error == "not-told" ? "Look for \"iommu: Default domain type\" in the kernel log (dmesg)." : how_to_know(*why)));
    else if (paths.hypervisor)
        with(out.warn(node_subject(), fmt::format("this is a virtual machine ({}): the IOMMU that hands GPU and NIC to it does not show here", *paths.hypervisor)))
            .mend({"Ask who runs the host whether peer-to-peer DMA between this GPU and this NIC is set up (Address Translation Services on the NIC)", {}, {}, {}});
    else with(out.pass(node_subject(), any_group ? "identity: DMA is passed through untranslated" : "off"));
}

void judge_link(const Facts& facts, Findings& out) {
    bool any = false;
    for (const PciLink& link : read_pci_links(facts)) {
        any = true;
        const Subject subject = link.port->subject();
        const std::string source = fmt::format("/sys/bus/pci/devices/{}/current_link_speed, current_link_width", link.port->pci);
        const auto& lacking = link.current ? link.most : link.current;
        if (lacking.unreadable()) {
            out.unknown(subject, "its PCI Express link could not be read: " + lacking.why().cause, how_to_know(lacking.why())).from(source);
        } else if (lacking.absent()) {
            out.skip(subject, "the kernel shows no PCI Express link of it");
        } else if (link.current->transfers < link.most->transfers || link.current->lanes < link.most->lanes) {
            out.warn(subject, fmt::format("its PCI Express link runs at {}, the NIC can do {}", link.current->text(), link.most->text())).want(link.most->text()).from(source)
                .mend({"Look whether the slot offers this width and speed, reseat the card, and check the slot's settings in the firmware", {}, {}, {}});
        } else {
            out.pass(subject, link.current->text()).from(source);
        }
    }
    if (!any) out.skip(node_subject(), "no storage port on the PCI bus");
}

}  // namespace

Module pcie_module() {
    Module module{"pcie", "PCIe between GPU and NIC", {}};
    const auto add = [&](Check check) {
        check.paths = s3;
        check.roles = client;
        module.checks.push_back(std::move(check));
    };
    add(row('C', "pcie.acs", "No bridge redirects peer-to-peer traffic", "Redirected requests fail with remote operation errors (IBV_WC_REM_OP_ERR), or hang, and first on the GPU closest to the NIC.",
            "pass: no bridge between a GPU and its nearest NIC has ReqRedir or CmpltRedir set; SrcValid alone is fine. warn: only on the way to a NIC further away, or a unit "
            "that should clear them at boot does not run. fail: one is set. unknown: the configuration space could not be read as far as ACS, or this is a virtual machine.",
            "setpci, and a oneshot unit for every boot. The unit must not order itself before basic.target: a service waits for that target, so systemd drops the job "
            "while is-enabled still says enabled.",
            "AIStor, validate the fabric; PCI Express Base Specification, ACS; Linux include/uapi/linux/pci_regs.h", {"rdma.device"}, judge_acs));
    add(row('C', "pcie.iommu", "The IOMMU does not translate peer-to-peer traffic", "A translating IOMMU sends peer-to-peer traffic through the root complex, or refuses it.",
            "pass: off, or type identity for all GPUs and NICs. warn: translating (DMA, DMA-FQ), or a function is given to vfio, or this is a virtual machine. unknown: not told (before Linux 5.11).",
            "Boot with iommu=pt, or switch the IOMMU off in the firmware.", "Linux Documentation/ABI/testing/sysfs-kernel-iommu_groups; AIStor hardware tuning", {"rdma.device"}, judge_iommu));
    Check link = row('C', "pcie.link", "Each NIC's PCI Express link runs at what the NIC can do", "A card in a narrow slot, or badly seated, moves less than its port could.",
                     "pass: current speed and width are the NIC's own. warn: below. skip: no PCI Express link. unknown: it could not be read. GPUs are not judged: their link slows down when idle.",
                     "Another slot, a reseated card, the slot's settings in the firmware.", "Linux Documentation/ABI/testing/sysfs-bus-pci", {"nic.selected"}, judge_link);
    link.paths = s3;
    module.checks.push_back(std::move(link));
    return module;
}

}  // namespace preflight
