#pragma once
// The rules of the lossless modules for one port. Each writes its findings; what is common to them (no port, InfiniBand, no
// DCB, no answer) is said in one place, each_port().

#include <functional>

#include "facts/keepers.h"
#include "facts/lossless.h"
#include "facts/samples.h"
#include "preflight/facts.h"
#include "preflight/finding.h"
#include "preflight/policy.h"

namespace preflight {

/// What the rules know besides the port.
struct Site {
    ClassSetting internode, s3;
    Expect expect;
    bool wants_internode = true;
};
Site site_of(const Facts& facts);

using PortRule = void (*)(const LosslessPort& port, const Site& site, Findings& out);

void judge_control(const LosslessPort& port, const Site& site, Findings& out);
void judge_pfc(const LosslessPort& port, const Site& site, Findings& out);
void judge_mode(const LosslessPort& port, const Site& site, Findings& out);
void judge_class(const LosslessPort& port, const Site& site, Findings& out);
void judge_chain(const LosslessPort& port, const Site& site, Findings& out);
void judge_ets(const LosslessPort& port, const Site& site, Findings& out);
void judge_pause(const LosslessPort& port, const Site& site, Findings& out);

void judge_ecn(const Facts& facts, const LosslessPort& port, const Site& site, Findings& out);
void judge_pause_counters(const LosslessPort& port, const CounterView& view, const PortSamples& samples, Findings& out);
void judge_loss_counters(const LosslessPort& port, const CounterView& view, Findings& out);

/// Cross-port: all ports carry the same plan. `guessed`: nobody named them, so a difference is a warning.
void judge_same_plan(const std::vector<LosslessPort>& ports, bool guessed, const Site& site, Findings& out);
void judge_persistence(const LosslessPort& port, const Site& site, const Keepers& keepers, Findings& out);

Subject subject_of(const LosslessPort& port);
/// "TC 3" on ice in L3 DSCP mode, else "priority 3".
std::string class_name(const LosslessPort& port, unsigned number);
/// "the firmware's LLDP agent" or "DCBX": who owns DCB when the host does not.
std::string agent_name(const LosslessPort& port);

/// A judge that calls `rule` for every storage port that carries RoCE.
std::function<void(const Facts&, Findings&)> each_port(PortRule rule);
/// The ports a rule is to judge; the others have got their skip or unknown.
std::vector<const LosslessPort*> roce_ports(const Facts& facts, Findings& out);
/// Writes what is to be said when the port's DCB is no value, and returns true. `absent` is the status for a port without DCB.
bool without_dcb(const LosslessPort& port, Status absent, Findings& out);

}  // namespace preflight
