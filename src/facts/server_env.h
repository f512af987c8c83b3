#pragma once
// The server's own reader of the file that MINIO_CONFIG_ENV_FILE names (cmd/common-main.go of the community server). It
// runs after the process has started, lays its values over the environment, and differs from systemd's reader in nearly
// every odd case; a line it cannot read stops the server.

#include <string>
#include <string_view>
#include <vector>

namespace preflight {

struct ServerEnvLine {
    std::string key, value;  ///< the key may end in a blank: then no setting is ever read from it
    int line = 0;
};

struct ServerEnv {
    std::vector<ServerEnvLine> lines;  ///< in file order; the last one holds
    int malformed_line = 0;            ///< line that stops the server; 0: none
    std::string malformed;             ///< what is wrong with it, without its text

    /// The last value of a key, or nullptr.
    const ServerEnvLine* find(std::string_view key) const;
};

ServerEnv read_server_env(std::string_view text);

}  // namespace preflight
