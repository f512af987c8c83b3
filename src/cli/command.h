#pragma once
// The commands. One table serves dispatch, help and "did you mean"; each command adds its options to its own CLI11 app and
// returns the exit code.

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "preflight/check.h"
#include "preflight/host.h"
#include "preflight/options.h"
#include "preflight/report.h"

namespace CLI {
class App;
}

namespace preflight {

struct Command {
    const char* name;
    const char* help;
    /// Declares options on `app`; the returned function runs the command after parsing.
    std::function<std::function<Exit()>(CLI::App& app)> declare;
};

/// All commands, in the order of the help.
const std::vector<Command>& commands();

Command run_command();
Command fix_command();
Command compare_command();
Command capture_command();
Command list_command();
Command explain_command();
Command schema_command();
Command listen_command();
Command probe_command();

/// A mistake of the caller: printed to stderr, exit code 3.
struct UsageError {
    std::string message;
};

/// The node a command judges: the live one below `root`, or a snapshot. `timeout`: seconds for all questions to the network.
std::unique_ptr<Host> open_host(const std::string& snapshot, const std::string& root, double timeout);

/// Declares --peers, --no-peers and --timeout, which fill `options`.
void add_network_options(CLI::App& app, Options& options);

/// --sample SECONDS; the wait shows on stderr where that is a terminal.
void add_sample_option(CLI::App& app, Options& options);

/// Every check of the catalogue, those of `compare` included.
const std::vector<Module>& catalogue();

/// Judges the node by these modules and fills the whole report.
Report make_report(Host& host, const Options& options, const std::vector<Module>& judged_by = modules());

/// Writes `text` to `path` ("-": stdout). A file is created with mode 0600 beside its place and moved there, so it is whole or
/// not there, and never written through a symbolic link. Throws UsageError naming the file when it cannot be written.
void write_output(const std::string& path, const std::string& text);

/// Writes to stdout; throws std::runtime_error when it is closed or full.
void print(const std::string& text);

}  // namespace preflight
