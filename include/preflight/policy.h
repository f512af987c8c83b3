#pragma once
// The site's policy: what it expects of its nodes, what it attests of things no host can see, and which findings it has
// decided to live with (aistor-rdma-check/policy/1, JSON with comments).

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace preflight {

/// Expected values. What is not set is judged for consistency only.
struct Expect {
    std::optional<unsigned> priority;      ///< the lossless priority, 0 to 7
    std::optional<unsigned> dscp;          ///< of RoCE traffic, 0 to 63
    std::optional<unsigned> mtu;           ///< bytes, of the storage netdevs
    std::optional<std::string> dcb_owner;  ///< "host" or "switch" (DCBX by the firmware's LLDP agent)
    std::map<std::string, std::string> driver;    ///< netdev driver -> glob over its version as `ethtool -i` prints it: "ice" -> "6.12.*"
    std::map<std::string, std::string> firmware;  ///< PCI ids -> glob over the firmware version of `ethtool -i`: "8086:1592" -> "4.40 *"
};

struct Attestation {
    std::string who, when, what;  ///< `when` is a date, 2026-12-01
};

/// Somebody has seen work what no host can prove: a warning that leaves the outcome open passes.
struct AttestedProof {
    std::string id;       ///< glob over check ids
    std::string release;  ///< glob over the server's release
    std::string driver;   ///< glob over driver and version as `fleet.driver` compares them: "ice 6.12* with irdma"
    Attestation by;       ///< `what` says how it was seen
};

/// A decision to live with a finding.
struct WaiverRule {
    std::string id;       ///< glob over check ids
    std::string scope;    ///< glob over the finding's subject; empty: every subject
    std::string reason, owner;
    std::string expires;  ///< the last day on which it holds, 2026-12-31
};

struct Policy {
    std::string path;  ///< empty: no policy was given
    Expect expect;
    std::optional<Attestation> attested_switch;
    std::vector<AttestedProof> proofs;
    std::vector<WaiverRule> waivers;
};

/// Reads a policy file. Throws InputError that names the file and the place when it cannot be used.
Policy read_policy(const std::string& path);
/// The same for a text; `path` is only for messages.
Policy parse_policy(const std::string& text, const std::string& path);

}  // namespace preflight
