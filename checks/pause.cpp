// Link pause stops every class of a port. Beside PFC it undoes what PFC is for.

#include <fmt/format.h>

#include "lossless.h"
#include "modules.h"
#include "text.h"

namespace preflight {

void judge_pause(const LosslessPort& port, const Site&, Findings& out) {
    const std::string source = "ethtool (netlink) PAUSE_GET";
    if (port.pause.unreadable()) {
        out.unknown(subject_of(port), "link pause could not be read: " + port.pause.why().cause, how_to_know(port.pause.why())).from(source);
        return;
    }
    if (port.pause.absent()) {
        out.pass(subject_of(port), "the driver offers no link pause");
        return;
    }
    const EthtoolPause& pause = *port.pause;
    const bool pfc = port.dcb && port.dcb->pfc && port.dcb->pfc->enabled != 0;
    const bool hidden = port.rules().pause == PauseRule::hidden;
    if (!pause.rx && !pause.tx) {
        out.pass(subject_of(port), pfc && hidden ? "off, as this driver keeps it while PFC is on" : "off");
        return;
    }
    const char* which = pause.rx && pause.tx ? "received and sent" : pause.rx ? "received" : "sent";
    const std::string text = fmt::format("link pause is on ({}{}){}", which, pause.autoneg ? ", as requested in autonegotiation" : "",
                                         pfc      ? ", beside PFC"
                                         : hidden ? "; this driver shows it only while PFC is off"
                                                  : "");
    out.fail(subject_of(port), text)
        .want("off, since PFC shall pause one priority and not the link")
        .from(source)
        .mend({"Switch link pause off, then PFC on.", {fmt::format("sudo ethtool -A {} {}rx off tx off", port.netdev, pause.autoneg ? "autoneg off " : "")}, {}, {fmt::format("sudo ethtool -A {} rx on tx on", port.netdev)}});
}

Module pause_module() {
    Check check{};
    check.id = "pause.global";
    check.phase = 'B';
    check.title = "Link pause is off where PFC is wanted";
    check.why = "Link pause stops all traffic of the port, storage and management alike, and hides that PFC does not work.";
    check.judges = "Pause on in either direction fails. ice shows it only while PFC is off (then dcb.pfc is the cause); ConnectX can have both at once.";
    check.remedy = "ethtool -A PORT rx off tx off";
    check.evidence = "Linux ice_ethtool.c (ice_get_pauseparam), mlx5/core/en_ethtool.c";
    check.after = {"nic.selected", "nic.driver", "nic.ddp", "dcb.control", "dcb.pfc"};
    check.judge = each_port(judge_pause);
    return {"pause", "link-level flow control", {std::move(check)}};
}

}  // namespace preflight
