// The way from the RDMA ports to the S3 endpoint. The client binds its HTTP socket to the IPv4 address of the RDMA port.

#include "facts/s3_endpoint.h"

#include <algorithm>

#include "s3.h"
#include "text.h"

namespace preflight {

namespace {

/// What the endpoint answered, by a route that is right.
void judge_answer(const EndpointRoute& way, const std::string& by, const Subject& subject, Findings& out) {
    const std::string wanted = "the endpoint answers by an RDMA port", source = "connect " + *way.address;
    if (!way.probe) {
        out.unknown(subject, fmt::format("the route leaves by {}; the endpoint could not be tried: {}", by, no_answer(way.probe)), "Try it by hand: curl -sI " + subject.text).want(wanted).from(source);
    } else if (way.probe->outcome == "connected") {
        out.pass(subject, fmt::format("answers by {}", by)).from(source);
    } else if (way.probe->outcome == "refused") {
        out.warn(subject, fmt::format("reachable by {}, but nothing listens there", by)).want(wanted).from(source).mend({"Start the service, or name the port it listens on", {"curl -sI " + subject.text}, {}, {}});
    } else {
        out.fail(subject, fmt::format("does not answer by {}: {}{}", by, way.probe->outcome, way.probe->icmp.empty() ? "" : " (ICMP " + way.probe->icmp + ")"))
            .want(wanted)
            .from(source)
            .mend({"Look what drops the way to the endpoint: its firewall, the network between, or the host itself", {"curl -sI " + subject.text, "ping -c 3 " + *way.address}, {}, {}});
    }
}

}  // namespace

void judge_s3_endpoint(const Facts& facts, Findings& out) {
    const auto way = read_endpoint(facts);
    if (!way) {
        out.skip(node_subject(), "no endpoint was named (--endpoint)");
        return;
    }
    const std::string& name = way->endpoint.host;
    const Subject subject{*facts.options().endpoint, {}};
    const std::string wanted = "the route to the endpoint leaves by an RDMA port that has an address of its family", source = "routing decision of the kernel (ip route get)";
    if (way->address.absent()) {
        out.fail(subject, name + " does not resolve").want(wanted).from("getaddrinfo " + name).mend({"Let the name resolve to the endpoint's address in the storage network", {"getent ahosts " + name}, {}, {}});
        return;
    }
    if (!way->address) {
        out.unknown(subject, fmt::format("{} could not be resolved: {}", name, no_answer(way->address)), "Give the endpoint by the address the client reaches it by.").want(wanted);
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
        for (const Link& upper : port->uppers) leaves_by_port |= upper.index == route.link;
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
    else judge_answer(*way, fmt::format("{}{}", by, route.source.empty() ? "" : " from " + route.source), subject, out);
}

}  // namespace preflight
