#pragma once
// The other AIStor nodes as this node sees them: who they are, where their names lead, which way packets take to them, and
// what their ports answer. Each part is read when a check asks for it, since the ports of a thousand peers take a while.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "facts/volumes.h"
#include "preflight/finding.h"
#include "preflight/host.h"
#include "preflight/options.h"

namespace preflight {

struct EnvironmentFacts;
struct Ports;
struct RdmaStack;

/// "n2", "n2:5556", "192.0.2.12:5555", "[2001:db8::12]:5555", "2001:db8::12"; nullopt when it is none of these.
std::optional<VolumeHost> parse_peer(const std::string& text);

/// What the server's environment says about its peers.
struct PeerSettings {
    Fact<std::vector<VolumeHost>> hosts;  ///< ports are API ports; Absent: none are named
    std::string hosts_origin = "MINIO_VOLUMES";
    bool single_node = false;            ///< drives without a host: nobody to talk to
    Fact<int> rdma_port;                 ///< MINIO_RDMA_PEER_PORT; Absent: unset, or a value the server drops
    std::string rdma_port_origin = "MINIO_RDMA_PEER_PORT";
    int api_port = default_api_port;     ///< of endpoints that name none

    static PeerSettings read(const EnvironmentFacts& environment);
};

struct PeerAddress {
    std::string text;
    bool loopback = false;
    bool own = false;      ///< an address of this node, or loopback
    std::vector<int> on_link;  ///< interfaces whose subnet holds it
    Fact<Route> route;
    std::string vrf;       ///< the VRF of a storage port by which alone a storage port is reached; else empty
};

struct PeerNode {
    std::string name;      ///< as it was given
    int rdma_port = 0;
    int api_port = default_api_port;
    Fact<std::vector<PeerAddress>> addresses;  ///< Absent: the name does not resolve

    /// Recognised by address, never by name.
    bool self() const;
    Subject subject() const { return {name, {"peer:" + name}}; }
};

struct PeerFacts {
    Fact<std::vector<PeerNode>> nodes;     ///< Absent: nobody is named
    std::vector<std::string> doubles;      ///< "n2 and n5 are both 192.0.2.12", or a name given twice
    std::string origin;                    ///< "--peers", or where MINIO_VOLUMES stands
    bool single_node = false;
    int rdma_port = 0;     ///< of this node
    Fact<std::string> rdma_port_origin;    ///< Unreadable: the setting could not be read, the default is assumed
    std::set<int> storage_links;           ///< storage ports, their bonds and VLANs
    std::set<std::string> storage_addresses;

    static PeerFacts read(Host& host, const Options& options, const Ports& ports, const PeerSettings& settings);
};

/// "192.0.2.12:5555", "[2001:db8::12]:5555".
std::string target_of(const std::string& address, int port);

/// What the peers' ports answered, by target.
struct PeerReach {
    std::map<std::string, Fact<TcpProbe>> probes;

    static PeerReach read(Host& host, const PeerFacts& peers);
    /// Only for a peer address that was probed.
    const Fact<TcpProbe>& at(const std::string& address, int port) const { return probes.at(target_of(address, port)); }
};

/// Who holds the local RDMA peer port, for TCP or for rdma_cm.
struct PortHolder {
    bool rdma_cm = false;
    std::string address;
    std::optional<int> pid;  ///< nullopt: not visible to the tool
    unsigned uid = 0;        ///< TCP only
    std::string name;        ///< of its executable, else of the process, else of a kernel user
    bool aistor = false;     ///< its executable is named minio or minio.SOMETHING
};
struct PortHolders {
    Fact<std::vector<PortHolder>> tcp;
    Fact<std::vector<PortHolder>> rdma_cm;  ///< Absent: no RDMA device

    static PortHolders read(Host& host, const RdmaStack& rdma, int port);
    /// AIStor itself listens for peers here, by TCP or by rdma_cm.
    bool aistor_by_tcp() const;
    bool aistor_by_rdma_cm() const;
};

}  // namespace preflight
