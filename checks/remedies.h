#pragma once
// Remedies that several modules of the service share: drop-ins of the unit, lines of the environment file.

#include <string>
#include <vector>

#include "facts/ports.h"
#include "facts/service.h"
#include "preflight/facts.h"
#include "preflight/finding.h"

namespace preflight {

/// Writes /etc/systemd/system/UNIT.d/FILE with these lines and restarts the service; undone by removing it.
Remedy drop_in(const ServiceFacts& service, std::string summary, const std::string& file, const std::vector<std::string>& lines);

/// Restart alone: what changed since the service started takes effect. Not `mc admin service restart`, which keeps the old
/// environment.
std::vector<std::string> restart_commands(const ServiceFacts& service, bool reload = false);

/// A drop-in by which the unit starts the RDMA build: the one that --binary names, or the package's.
Remedy start_rdma_build(const ServiceFacts& service, const Options& options);

/// Sets one variable in an environment file: a line that is there is replaced, else one is appended.
Remedy set_variable(const ServiceFacts& service, std::string summary, const std::string& file, const std::string& name, const std::string& value);

/// A remedy whose `script` (shell, run as root) takes the links of `ports` down meanwhile. Where the operator's own way to
/// this node leaves by one of them, the summary says so and the script runs as a transient unit, which outlives the session.
Remedy with_links_down(const Facts& facts, Remedy remedy, const std::string& script, const std::vector<const Port*>& ports);

/// The text in single quotes for a shell.
std::string shell_word(const std::string& text);

}  // namespace preflight
