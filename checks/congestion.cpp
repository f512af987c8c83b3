// ECN and DCQCN. In-tree irdma never runs DCQCN and sets no ECT bits of its own (infiniband/hw/irdma/verbs.c); the knobs of
// mlx5 below /sys/class/net/X/ecn come with the vendor's drivers only, so their absence says nothing.

#include <fmt/format.h>

#include <algorithm>

#include "facts/kernel_modules.h"
#include "lossless.h"
#include "modules.h"
#include "text.h"

namespace preflight {
namespace {

std::string ect_note(const Site& site) {
    if (site.internode.kind != ClassSetting::value || site.internode.number < 64 || site.internode.number & 3u) return {};
    return fmt::format("; MINIO_RDMA_INTERNODE_TRAFFIC_CLASS={} has no ECT bit, so switches drop instead of marking ({} would be ECN-capable)", site.internode.number, site.internode.number | 2u);
}

void judge_irdma(const Facts& facts, const LosslessPort& port, const Site& site, Findings& out) {
    const auto foreign = facts.modules().out_of_tree("irdma");
    const auto parameter = facts.modules().parameter("irdma", "dcqcn_enable");
    if (parameter && (*parameter == "Y" || *parameter == "1") && ect_note(site).empty()) {
        out.pass(subject_of(port), "out-of-tree irdma with dcqcn_enable on");
        return;
    }
    std::string text = parameter ? fmt::format("out-of-tree irdma with dcqcn_enable={}", *parameter)
                       : foreign && *foreign ? std::string("out-of-tree irdma, whose DCQCN setting is not visible")
                                             : std::string("in-tree irdma never runs DCQCN: ECN must come from the ToS byte and the switch, and nothing here reduces the rate");
    out.warn(subject_of(port), text + ect_note(site))
        .want("congestion control, or a fabric that relies on PFC alone")
        .from("/sys/module/irdma")
        .mend(foreign && *foreign ? Remedy{"Load irdma with DCQCN.", {"echo 'options irdma dcqcn_enable=1' | sudo tee /etc/modprobe.d/irdma-dcqcn.conf"}, {}, {"sudo rm /etc/modprobe.d/irdma-dcqcn.conf"}}
                                  : Remedy{"Nothing to set on the host: size the switch's PFC headroom for it.", {}, {}, {}});
}

void judge_mlx5(const Facts&, const LosslessPort& port, Findings& out) {
    const auto& knobs = port.ecn;
    const unsigned priority = port.dcb && port.dcb->pfc && !lossless(*port.dcb->pfc).empty() ? lossless(*port.dcb->pfc).front() : 3;
    std::vector<std::string> off, seen;
    for (const auto& [half, values] : knobs)
        for (const auto& [number, value] : values) {
            if (number != priority || !value) continue;
            seen.push_back(half);
            if (value->empty() || value->front() != '1') off.push_back(half);
        }
    const std::string folder = fmt::format("/sys/class/net/{}/ecn", port.netdev);
    if (seen.size() < 2) {
        out.warn(subject_of(port), fmt::format("{} is not there: in-tree mlx5 does not show its ECN setting, which is not \"off\"", folder))
            .want("DCQCN on for the lossless priority").from(folder)
            .mend({"Look at the firmware's congestion control with the vendor's tool, or as root below debugfs.", {fmt::format("sudo ls /sys/kernel/debug/mlx5/{}/cc_params", port.key)}, {}, {}});
    } else if (off.empty()) {
        out.pass(subject_of(port), fmt::format("reaction and notification point on for priority {}", priority));
    } else {
        Remedy remedy{"Switch ECN on for the lossless priority.", {}, {}, {}};
        for (const std::string& half : off) {
            remedy.commands.push_back(fmt::format("echo 1 | sudo tee {}/{}/enable/{}", folder, half, priority));
            remedy.undo.push_back(fmt::format("echo 0 | sudo tee {}/{}/enable/{}", folder, half, priority));
        }
        out.fail(subject_of(port), fmt::format("{} off for priority {}", list_of(off), priority)).want("roce_np and roce_rp on").from(folder + "/*/enable/" + std::to_string(priority)).mend(std::move(remedy));
    }
}

}  // namespace

void judge_ecn(const Facts& facts, const LosslessPort& port, const Site& site, Findings& out) {
    if (port.rdma_driver == "irdma") judge_irdma(facts, port, site, out);
    else if (port.rdma_driver == "mlx5_ib") judge_mlx5(facts, port, out);
    else {
        const bool software = port.rdma_driver == "rdma_rxe" || port.rdma_driver == "siw";
        out.warn(subject_of(port), (software ? std::string("software RDMA has no congestion control") : fmt::format("the congestion control of {} is not visible here", port.rdma_driver.empty() ? "this NIC" : port.rdma_driver)) + ect_note(site))
            .want("congestion control, or a fabric that relies on PFC alone").from("RDMA driver")
            .mend({software ? "Use a NIC with hardware RDMA." : "Look at it with the vendor's tool.", {}, {}, {}});
    }
}

Module congestion_module() {
    Check check{};
    check.id = "congestion.ecn";
    check.phase = 'B';
    check.title = "Congestion control is as this driver can do it";
    check.why = "Without ECN every congestion ends in pauses, which spread through the fabric.";
    check.judges = "In-tree irdma warns: it never runs DCQCN. ConnectX with readable knobs passes or fails; not visible warns, since absent is not off. An explicit traffic class without ECT bits is named.";
    check.remedy = "ConnectX with the vendor's driver: enable roce_np and roce_rp of the lossless priority. irdma: the switch alone.";
    check.evidence = "Linux infiniband/hw/irdma/verbs.c; README of Intel's out-of-tree irdma; MinIO's public RDMA scripts";
    check.after = {"nic.selected", "nic.driver"};
    check.judge = [](const Facts& facts, Findings& out) {
        const Site site = site_of(facts);
        for (const LosslessPort* port : roce_ports(facts, out)) judge_ecn(facts, *port, site, out);
    };
    return {"congestion", "ECN and DCQCN", {std::move(check)}};
}

}  // namespace preflight
