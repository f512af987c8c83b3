#pragma once
// What one node contributes to a comparison of nodes: its place in the cluster, and values under keys that mean the same on every node.
// A key is there only where the check it rests on was asked for, so that nothing is read that the run did not select.

#include <vector>

#include "preflight/facts.h"
#include "preflight/report.h"

namespace preflight {

struct Port;

/// Keys: "env.NAME", "server.build", "server.release", "server.libraries", "network.mtu", "network.path_mtu", "network.protocol", "network.dcb", "network.dscp" (those that lead to
/// lossless priorities),
/// "network.driver", "network.firmware", "peers.listener", "peer.NAME"; the report adds "proof.ID" and "unproven.ID". State "unknown" carries the reason as its value.
std::vector<CompareKey> compare_keys(const Facts& facts);

/// The node among the AIStor nodes. The fingerprint stands for the list of endpoints: equal on all nodes of one cluster; empty without one.
Cluster cluster_of(const Facts& facts);

/// Driver and version of a port's netdev and the module of its RDMA device: "ice 6.12.0-124 with irdma"; empty when not told.
std::string driver_text(const Facts& facts, const Port& port);

/// The server's release as far as this run looked into its file, or --server-release; empty when not told.
std::string server_release(const Facts& facts);

/// What a proof on this node holds for: server release, drivers and firmware of the storage ports. Empty when one is not told.
std::string proven_setup(const Facts& facts);

}  // namespace preflight
