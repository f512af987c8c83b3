#include "lossless.h"

#include <fmt/format.h>

#include <algorithm>

#include "text.h"

namespace preflight {

Site site_of(const Facts& facts) {
    return {facts.lossless().internode, facts.lossless().s3, facts.options().policy.expect, (facts.want() & internode) != 0};
}

Subject subject_of(const LosslessPort& port) {
    return {port.netdev, {port.key}};
}

std::string class_name(const LosslessPort& port, unsigned number) {
    const bool tc = port.rules().classifier == Classifier::ice_dscp && !port.uppers.empty() && mode(port, port.uppers.front()) == Mode::dscp;
    return fmt::format("{} {}", tc ? "TC" : "priority", number);
}

std::string agent_name(const LosslessPort& port) {
    return port.rules().agent_flag.empty() ? "DCBX in the NIC's firmware" : "the firmware's LLDP agent";
}

std::vector<const LosslessPort*> roce_ports(const Facts& facts, Findings& out) {
    std::vector<const LosslessPort*> list;
    if (ports_to_judge(facts, out).empty()) return list;
    for (const LosslessPort& port : facts.lossless().ports) {
        if (port.infiniband) out.skip(subject_of(port), "InfiniBand is lossless by itself: RoCE rules do not apply");
        else list.push_back(&port);
    }
    return list;
}

std::function<void(const Facts&, Findings&)> each_port(PortRule rule) {
    return [rule](const Facts& facts, Findings& out) {
        const Site site = site_of(facts);
        for (const LosslessPort* port : roce_ports(facts, out)) rule(*port, site, out);
    };
}

bool without_dcb(const LosslessPort& port, Status absent, Findings& out) {
    if (port.dcb) return false;
    if (port.dcb.unreadable()) {
        out.unknown(subject_of(port), "DCB could not be asked: " + port.dcb.why().cause, how_to_know(port.dcb.why())).from("dcb (netlink) DCB_CMD_IEEE_GET");
        return true;
    }
    const std::string detail = port.dcb.gone().detail;
    const std::string text = detail == "ENODEV" ? "the netdev is gone" : fmt::format("the port offers no DCB at all ({}), which is not \"PFC off\"", detail.empty() ? "EOPNOTSUPP" : detail);
    Draft draft = out.add(absent, subject_of(port), text);
    draft.from("dcb (netlink) DCB_CMD_IEEE_GET");
    if (absent != Status::skip)
        draft.want("a RoCE port whose driver offers DCB")
            .mend({port.driver == "ice" ? "ice offers no DCB in safe mode, or on a function without the capability: look at the driver's log."
                                        : "The driver offers DCB only to the function that manages the port, and only with DCB built in.",
                   {fmt::format("sudo dmesg | grep -i {}", port.driver.empty() ? "dcb" : port.driver)}, {}, {}});
    return true;
}

}  // namespace preflight
