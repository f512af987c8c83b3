#pragma once
// Masks what a node's files and processes must not tell. It stands at the door: the live node's answers are masked before
// anything else in the program sees them, so no report, snapshot, log or error can hold more, and a replay is judged alike.
//
// Kept are the values of MINIO_RDMA_*, MINIO_CONFIG_ENV_FILE, LD_LIBRARY_PATH and the variables that name the server's endpoints,
// and of MINIO_OPTS and of command lines the flags and endpoints that checks need; each up to its first line end. Of any other
// variable, whatever its name, words with a range of MinIO's ("http://n{1...4}:9000/mnt") and the flags that checks need stay: a
// unit may make arguments of it. Every other byte of a value becomes 'x' while quotes, backslashes, blanks and line ends stay, so
// that the text parses alike. What is masked is told by grammar/masked.h, and no rule reads it as text.

#include <string>
#include <string_view>
#include <vector>

namespace preflight::secrets {

/// Whether the whole value stays.
bool kept(std::string_view variable);

/// The text of a file for EnvironmentFile= or MINIO_CONFIG_ENV_FILE.
std::string mask_environment_file(std::string_view text);
/// The text of the file that MINIO_CONFIG_ENV_FILE names, by the server's own grammar.
std::string mask_server_env(std::string_view text);
/// The text of any other file: of the kernel command line only the parameters that are needed, of /etc/hosts and the loader's
/// configuration no comments; all else as it is.
std::string mask_plain_file(std::string_view path, std::string_view text);
/// The text of a unit file or drop-in.
std::string mask_unit_file(std::string_view text);
/// One entry of an environment block, "NAME=value".
std::string mask_assignment(std::string_view entry);
/// A command line: its program stays, its words are masked like arguments.
std::string mask_command(std::string_view command);
/// The arguments of a command, argv[0] first.
std::vector<std::string> mask_arguments(std::vector<std::string> arguments);

}  // namespace preflight::secrets
