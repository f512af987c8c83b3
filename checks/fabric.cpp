// What no host can see, and only a person can vouch for.

#include <fmt/format.h>

#include "lossless.h"
#include "modules.h"
#include "text.h"

namespace preflight {
namespace {

void judge_switch(const Facts& facts, Findings& out) {
    if (facts.ports().links.has() && !facts.lossless().ports.empty()) {
        bool roce = false;
        for (const LosslessPort& port : facts.lossless().ports) roce |= !port.infiniband;
        if (!roce) {
            out.skip(node_subject(), "InfiniBand is lossless by itself: RoCE rules do not apply");
            return;
        }
    }
    const Policy& policy = facts.options().policy;
    if (policy.attested_switch) {
        const Attestation& by = *policy.attested_switch;
        out.pass(node_subject(), fmt::format("attested by {} on {}: {}", by.who, by.when, by.what)).from(policy.path);
        return;
    }
    out.warn(node_subject(), "the switch cannot be seen from the host: nobody has attested its profile")
        .want("attest.switch in the policy file: who, when, what")
        .from(policy.path.empty() ? "no --policy" : policy.path)
        .mend({"On every switch port of a storage node and client: trust DSCP, map the DSCP in use to the lossless priority, PFC on that priority alone, a buffer with headroom, ECN marking, MTU, "
               "no DCBX that overrides the host. Then write attest.switch into the policy file.",
               {"aistor-rdma-check schema policy"}, {}, {}});
}

}  // namespace

Module fabric_module() {
    Check check{};
    check.id = "fabric.switch";
    check.phase = 'B';
    check.title = "The switch profile is attested";
    check.why = "Host settings alone cannot keep a switch from dropping.";
    check.judges = "Warns until somebody attests the switch in the policy file; then it passes and says who, when and what.";
    check.remedy = "Configure the switch, and write attest.switch into the policy file.";
    check.evidence = "MinIO's public RDMA scripts: host settings are necessary, not sufficient";
    check.judge = judge_switch;
    return {"fabric", "what the host cannot see", {std::move(check)}};
}

}  // namespace preflight
