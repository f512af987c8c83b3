#pragma once
// What one node contributes to a comparison of nodes: its place in the cluster, and values under keys that mean the same on every node.
// A key is there only where the check it rests on was asked for, so that nothing is read that the run did not select.

#include <vector>

#include "preflight/facts.h"
#include "preflight/report.h"

namespace preflight {

/// Keys: "env.NAME", "server.build", "server.release", "server.libraries", "network.mtu", "network.path_mtu", "network.protocol", "network.dcb", "network.dscp" (those that lead to
/// lossless priorities),
/// "network.driver", "network.firmware", "peers.listener", "peer.NAME". State "unknown" carries the reason as its value.
std::vector<CompareKey> compare_keys(const Facts& facts);

/// The node among the AIStor nodes. The fingerprint stands for the list of endpoints: equal on all nodes of one cluster; empty without one.
Cluster cluster_of(const Facts& facts);

}  // namespace preflight
