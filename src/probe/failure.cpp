#include "probe/failure.h"

#include <fmt/format.h>

#include "facts/service.h"

namespace preflight::probe {
namespace {

/// Full packets of a path are this much larger than its MTU on the wire (kernel, include/rdma/ib_addr.h: GRH 40, UDP 8,
/// BTH 12, extended headers 32, ICRC 4).
constexpr unsigned roce_overhead = 96;

Meaning no_answer(const Failure& failure, const Circumstances& around) {
    Meaning told{Status::fail, {}, {}, {}};
    told.observed = fmt::format(
        "{}: no answer to the RDMA connection request within {:g} s ({})", around.target, around.timeout_seconds,
        around.tcp_reached ? "TCP to the same port is answered" : "TCP to the same port is not connected either");
    if (!failure.detail.empty()) told.observed += "; " + failure.detail;
    told.why = around.tcp_reached
                   ? "The host is up and the way is there, so RoCE itself is dropped: UDP port 4791, in one direction "
                     "or both, by a switch or security rule, or by a firewall where RDMA is done in software."
                   : "Either nothing of this node reaches that address, or RoCE (UDP port 4791) is dropped on the way, "
                     "in one direction or both; neither gives an error.";
    told.remedy.summary = fmt::format(
        "Let UDP port 4791 through between the nodes, both ways, on every switch and filter between; first make sure "
        "that {} is up and `listen` runs there.",
        around.peer);
    if (around.gid_type.find("v1") != std::string::npos) {
        told.why += fmt::format(
            " This connection uses a GID of type {}, which is no UDP at all and is not routed: the peer may have only "
            "RoCE v2.",
            around.gid_type);
        told.remedy.summary += " Use a RoCE v2 GID.";
    }
    told.remedy.commands = {"nft list ruleset | grep -n 4791",
                            fmt::format("tcpdump -ni {} udp port 4791", around.by.empty() ? "INTERFACE" : around.by)};
    return told;
}

Meaning silent(const Failure& failure, const Circumstances& around) {
    Meaning told{Status::fail, {}, {}, {}};
    const std::string passed =
        around.passed_bytes ? fmt::format("{} arrived, ", bytes_text(around.passed_bytes)) : "the connection came up, ";
    told.observed = fmt::format("{}: {}{} did not{}", around.target, passed, failure.step,
                                failure.detail.empty() ? "" : " (" + failure.detail + ")");
    const bool full_packets =
        around.path_mtu && around.failed_bytes >= around.path_mtu && around.passed_bytes < around.path_mtu;
    if (full_packets) {
        told.why = fmt::format(
            "Small packets pass and full ones are lost: something between carries less than the path MTU of {}, which "
            "needs {} bytes on the wire. RoCE packets are never fragmented and no error says so.",
            around.path_mtu, around.path_mtu + roce_overhead);
        told.remedy = {fmt::format("Give both nodes and every switch port between them one MTU of at least {} (9000 "
                                   "where the network carries it).",
                                   around.path_mtu + roce_overhead),
                       {fmt::format("ping -M do -s {} -c 3 {}", around.path_mtu + roce_overhead - 28,
                                    around.target.substr(0, around.target.rfind(':'))),
                        "ip -d link show"},
                       {},
                       {}};
    } else {
        told.why =
            "The connection was there and then packets were lost: RoCE (UDP port 4791) is dropped in the meantime, or "
            "the link loses under load.";
        told.remedy = {
            "Look for drops on the ports between the two nodes, and whether a filter lets only some of UDP port 4791 "
            "through.",
            {fmt::format("ethtool -S {} | grep -iE 'drop|discard|err'", around.by.empty() ? "INTERFACE" : around.by)},
            {},
            {}};
    }
    return told;
}

Meaning memlock(const Failure& failure, const Circumstances& around) {
    Meaning told{around.as_service ? Status::fail : Status::unknown, {}, {}, {}};
    const std::string limit = around.memlock == ~0ull ? "no limit" : bytes_text(around.memlock);
    told.observed = fmt::format("{} could not be pinned {}: {}; memlock limit {}", bytes_text(around.pinned),
                                around.as_service ? "as the service" : "as this user", failure.detail, limit);
    told.why = around.as_service ? "The service cannot pin memory under this limit either, and goes on without RDMA."
                                 : "This says what the caller may pin, not what the service may.";
    told.remedy = around.as_service
                      ? Remedy{"Set LimitMEMLOCK=infinity for the service (check memlock.limit).", {}, {}, {}}
                      : Remedy{"Run it as root, or with --as-service to try the limit of the service.", {}, {}, {}};
    return told;
}

Meaning refused(const Failure& failure, const Circumstances& around) {
    return {
        Status::unknown,
        fmt::format("{}: the listener refused: {}", around.target, failure.detail),
        "RoCE reaches the peer and comes back; nothing was transferred.",
        {fmt::format(
             "Look at what `listen` prints on {}; allow this node there with --allow, or try again when it is free.",
             around.peer),
         {},
         {},
         {}}};
}

}  // namespace

Meaning meaning(const Failure& failure, const Circumstances& around) {
    const std::string what =
        failure.detail.empty() ? failure.step : fmt::format("{}: {}", failure.step, failure.detail);
    switch (failure.cause) {
        case Cause::no_library:
            return {Status::unknown,
                    what,
                    "Without librdmacm and libibverbs neither this tool nor AIStor can open an RDMA connection.",
                    {"Install librdmacm and libibverbs (check server.libraries).", {}, {}, {}}};
        case Cause::no_rdma:
            return {Status::fail,
                    what,
                    "The kernel has no RDMA device to connect with.",
                    {"Load the driver of the NIC; the checks rdma.* say what is missing.", {"rdma link show"}, {}, {}}};
        case Cause::no_access:
            return {around.as_service ? Status::fail : Status::unknown,
                    what,
                    around.as_service
                        ? "The user of the service may not open the RDMA devices."
                        : "This user may not open the RDMA devices; whether the service may is not known.",
                    {around.as_service ? "Give the service's user access to /dev/infiniband (check rdma.access)."
                                       : "Run it as root, or with --as-service.",
                     {"ls -l /dev/infiniband"},
                     {},
                     {}}};
        case Cause::provider:
            return {
                Status::fail,
                what,
                "libibverbs cannot open the RDMA device: its provider is missing, or does not fit the kernel's driver.",
                {"Install the provider of the NIC (check rdma.provider).", {"ibv_devinfo"}, {}, {}}};
        case Cause::no_rdma_route:
            return {
                Status::fail,
                fmt::format("{}: no RDMA device on the way ({})", around.target, what),
                "There is no route, or it leaves by an interface without an RDMA device, or the source address has no "
                "GID, or none of the peer's address family.",
                {"Use the address of the peer on the storage network, and give the storage port an address of the same "
                 "family (checks peers.route, rdma.gid).",
                 {fmt::format("ip route get {}", around.target.substr(0, around.target.rfind(':'))), "rdma link show"},
                 {},
                 {}}};
        case Cause::no_neighbour:
            return {Status::fail,
                    fmt::format("{}: the address does not answer on the link ({})", around.target, what),
                    "The peer is down, its port is down, or the address is wrong: no neighbour, no connection.",
                    {fmt::format("Look whether {} is up and at this address.", around.peer),
                     {fmt::format("ping -c 3 {}", around.target.substr(0, around.target.rfind(':'))), "ip neigh"},
                     {},
                     {}}};
        case Cause::iwarp:
            return {Status::fail,
                    what,
                    "iWARP has no RDMA WRITE with immediate, which inter-node traffic uses.",
                    {"Switch the NIC to RoCE v2 (check rdma.protocol).", {}, {}, {}}};
        case Cause::memlock: return memlock(failure, around);
        case Cause::no_listener:
            return {Status::unknown,
                    fmt::format("{}: RoCE reaches the peer, and nothing listens there by rdma_cm ({})", around.target,
                                failure.detail),
                    "UDP port 4791 is open both ways, since the rejection came back; no data was moved.",
                    {fmt::format("Run `listen` on {} first, with this node's address in --allow.", around.peer),
                     {},
                     {},
                     {}}};
        case Cause::refused: return refused(failure, around);
        case Cause::rejected:
            return {Status::fail,
                    fmt::format("{}: the connection was rejected ({})", around.target, failure.detail),
                    "The peer's kernel or NIC did not take the connection's parameters: GID, path, or a resource it "
                    "ran out of.",
                    {"Compare GIDs and device state of both nodes; the peer's kernel log may say more.",
                     {"rdma link show", "dmesg | tail"},
                     {},
                     {}}};
        case Cause::no_answer: return no_answer(failure, around);
        case Cause::ended:
            return {Status::unknown,
                    fmt::format("{}: the other end closed the connection during {}", around.target, what),
                    "The listener ended or was stopped in the middle; nothing is proven.",
                    {fmt::format("Start `listen` on {} again and look at what it prints.", around.peer), {}, {}, {}}};
        case Cause::silent: return silent(failure, around);
        case Cause::denied:
            return {
                Status::fail,
                fmt::format("{}: {} was denied by the peer's NIC ({})", around.target, failure.step, failure.detail),
                "The NIC refused access to memory that was offered to it: driver or firmware do not keep what they "
                "registered.",
                {"Update driver and firmware of the NIC on both nodes, and compare them.",
                 {"ethtool -i INTERFACE", "dmesg | tail"},
                 {},
                 {}}};
        case Cause::wrong_bytes:
            return {Status::fail,
                    fmt::format("{}: {} arrived damaged ({})", around.target, failure.step, failure.detail),
                    "Data that is changed on its way will corrupt objects, or be read again and again.",
                    {"Take this node out of RDMA until NIC, cable, memory and IOMMU are looked at.",
                     {"dmesg | tail", "ethtool -S INTERFACE"},
                     {},
                     {}}};
        case Cause::protocol:
            return {Status::unknown,
                    fmt::format("{}: {}", around.target, what),
                    "What answers there is no `listen` of this tool, or one of another version.",
                    {fmt::format("Run `listen` of the same version on {}.", around.peer), {}, {}, {}}};
        case Cause::system: break;
    }
    return {Status::unknown,
            fmt::format("{}: {}", around.target, what),
            "A call of the RDMA libraries failed in a way that is not understood.",
            {"Report this with the output of `dmesg` of both nodes.", {"dmesg | tail"}, {}, {}}};
}

}  // namespace preflight::probe
