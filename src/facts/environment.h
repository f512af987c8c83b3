#pragma once
// The environment the server gets at its next start: what the manager gives to every service, PassEnvironment=,
// Environment=, EnvironmentFile= and UnsetEnvironment= in the manager's order, and over it the file that
// MINIO_CONFIG_ENV_FILE names, as the server reads it. In a container: the environment of the running process.

#include <string>
#include <vector>

#include "facts/server_env.h"
#include "facts/unit_file.h"
#include "facts/volumes.h"
#include "grammar/env_file.h"
#include "preflight/options.h"

namespace preflight {

struct ServiceFacts;
struct ServerProcesses;

struct EnvironmentFileRead {
    NamedFile named;            ///< as the unit names it
    std::string path;           ///< the file itself, after a pattern was expanded
    Fact<EnvFile> file;         ///< Absent: it does not exist
};

struct Variable {
    std::string name, value;
    Origin origin;
    std::vector<Assigned> overridden;  ///< earlier assignments without effect, oldest first
};

/// One argument of the server. What is masked is never read as text.
struct Argument {
    std::string text;
    bool masked = false;
};

/// A value as the server sees it, and where it stands.
struct ServerValue {
    std::string value;
    Origin origin;
    bool second = false;  ///< from the file that MINIO_CONFIG_ENV_FILE names
    std::vector<Assigned> overridden;
};

struct SecondFile {
    std::string path;
    Fact<ServerEnv> env;  ///< Absent: the server ignores a missing file without a word
};

struct EnvironmentFacts {
    bool from_process = false;     ///< of a running process, not of files
    std::vector<EnvironmentFileRead> files;
    std::vector<Variable> variables;
    std::vector<std::string> missing;  ///< why an absence is not certain: files that could not be read
    std::optional<Origin> no_start;    ///< a file without a dash that is missing or refused: the service does not start
    std::string no_start_why;
    std::optional<SecondFile> second;
    std::vector<std::string> removed;  ///< variables that matter and that UnsetEnvironment= takes away
    std::vector<Argument> arguments;   ///< argv of the server after variables were replaced, argv[0] first
    Origin arguments_origin;           ///< where ExecStart= stands, or the process
    /// The server's file, where ExecStart= starts a script that does nothing but exec it.
    std::optional<std::string> script_starts;
    bool wrapper = false;              ///< ExecStart= starts a script: what the server gets is in it

    const Variable* find(std::string_view name) const;
    /// Absent: surely not set. Unreadable: a file that could set it could not be read.
    Fact<ServerValue> server_value(std::string_view name) const;
    /// Names of all variables with this prefix, of both files, sorted.
    std::vector<std::string> names(std::string_view prefix) const;

    /// The argument of a flag ("--address"), as "--address X" or "--address=X".
    std::optional<std::string> flag(std::string_view name) const;
    /// What stands behind "server" and is neither a flag nor its argument.
    std::vector<Argument> positional() const;

    /// The variable that names the endpoints, or the positional arguments where none does. Absent: nobody names them. Unreadable:
    /// a YAML start-up file does, or a part of them is hidden or could not be read.
    Fact<ServerValue> volumes_text() const;
    /// What names endpoints too, and other ones, without effect: "MINIO_VOLUMES (/etc/default/minio:3)".
    std::vector<std::string> other_endpoints() const;
    /// A YAML start-up file replaces all of these.
    bool configured_by_file() const;
};

/// The variables that name the server's endpoints; the first one that is set holds, and each holds over the positional
/// arguments (serverCmdArgs of the community server's cmd/server-main.go). MINIO_VOLUMES alone is in AIStor's documentation.
inline constexpr std::string_view endpoint_variables[] = {"MINIO_ARGS", "MINIO_VOLUMES", "MINIO_ENDPOINTS"};

/// Whether the server's RDMA depends on this variable.
bool matters(std::string_view variable);

EnvironmentFacts read_environment(Host& host, const Options& options, const ServiceFacts& service, const ServerProcesses& processes, Deployment deployment);

/// This node's own addresses among the endpoints, from literal addresses and /etc/hosts.
std::vector<std::string> own_endpoint_addresses(Host& host, const EnvironmentFacts& environment);

/// The usual place of the environment file on a package install.
inline constexpr std::string_view usual_environment_file = "/etc/default/minio";

}  // namespace preflight
