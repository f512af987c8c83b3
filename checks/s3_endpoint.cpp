// The way from the RDMA ports to the S3 endpoint. The client binds its HTTP socket to the IPv4 address of the RDMA port.

#include "facts/s3_endpoint.h"

#include <algorithm>

#include "s3.h"
#include "text.h"

namespace preflight {

void judge_s3_endpoint(const Facts& facts, Findings& out) {
    const auto way = read_endpoint(facts);
    if (!way) {
        out.skip(node_subject(), "no endpoint was named (--endpoint)");
        return;
    }
    const std::string& name = way->endpoint.host;
    const Subject subject{*facts.options().endpoint, {}};
    const std::string wanted = "the route to the endpoint leaves by an RDMA port that has an address of its family", source = "routing decision of the kernel (ip route get)";
    if (!way->address) {
        out.unknown(subject, fmt::format("{} is no address, and /etc/hosts does not name it", name), "Give the endpoint by the address the client reaches it by.").want(wanted).from("/etc/hosts");
        return;
    }
    const auto ports = ports_to_judge(facts, out);
    if (ports.empty()) return;
    if (way->route.absent()) {
        out.fail(subject, fmt::format("there is no route to {}", *way->address)).want(wanted).from(source)
            .mend({"Add a route by the storage network", {fmt::format("sudo ip route add {} dev {}", *way->address, ports.front()->carrier())}, {}, {fmt::format("sudo ip route del {}", *way->address)}});
        return;
    }
    if (!way->route) {
        out.unknown(subject, "the route could not be asked: " + way->route.why().cause, how_to_know(way->route.why())).want(wanted);
        return;
    }
    const Route& route = *way->route;
    const std::string destination = *way->address;
    if (route.type == "unreachable" || route.type == "prohibit" || route.type == "blackhole") {
        out.fail(subject, fmt::format("the route to {} is {}", destination, route.type)).want(wanted).from(source).mend({"Remove that route, or add one by the storage network", {"ip route show type " + route.type}, {}, {}});
        return;
    }
    std::vector<std::string> addresses, family;
    bool leaves_by_port = false;
    for (const Port* port : ports) {
        leaves_by_port |= port->link.index == route.link || (port->bond && port->bond->index == route.link);
        for (const Link& vlan : port->vlans) leaves_by_port |= vlan.index == route.link;
        for (const PortAddress& address : port->addresses) {
            if (!routable(address.address)) continue;
            addresses.push_back(address.address.address);
            if ((address.address.address.find(':') != std::string::npos) == way->ipv6()) family.push_back(address.address.address);
        }
    }
    if (family.empty()) {
        out.fail(subject, fmt::format("{} is {}, and the RDMA ports have {}", destination, way->ipv6() ? "IPv6" : "IPv4", addresses.empty() ? "no address" : "only " + list_of(addresses))).want(wanted).from(source)
            .mend({"Reach the endpoint by an address of the family the RDMA ports have, or give a port an address of that family", {}, {}, {}});
        return;
    }
    const Link* link = facts.ports().link(route.link);
    const std::string by = link ? link->name : fmt::format("interface {}", route.link);
    if (!leaves_by_port)
        out.warn(subject, fmt::format("the route to {} leaves by {}, which is no RDMA port", destination, by)).want(wanted).from(source)
            .because("The client sends from the RDMA port's address; by another interface such packets are easily dropped (rp_filter, routers).")
            .mend({"Reach the endpoint by its address in the storage network, or add a route by it", {fmt::format("sudo ip route add {} dev {}", destination, ports.front()->carrier())}, {}, {fmt::format("sudo ip route del {}", destination)}});
    else
        out.unknown(subject, fmt::format("the route leaves by {}{}; whether the endpoint answers was not tried", by, route.source.empty() ? "" : " from " + route.source),
                    fmt::format("curl -sI --interface {} {}", family.front(), *facts.options().endpoint)).want(wanted).from(source);
}

}  // namespace preflight
