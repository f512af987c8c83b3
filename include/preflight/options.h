#pragma once
// What the caller asked to be judged. Filled by the command line; read by facts, checks and the engine.

#include <optional>
#include <string>
#include <vector>

#include "preflight/policy.h"

namespace preflight {

enum Path : unsigned { internode = 1, s3 = 2 };             ///< the two RDMA paths of AIStor
enum Role : unsigned { storage = 1, client = 2 };
enum Deployment : unsigned { systemd = 1, container = 2 };
enum class Stage { on, ready };

struct Options {
    std::optional<unsigned> want;        ///< Path bits; default by role: both on a storage node, s3 on a client
    Stage stage = Stage::on;
    std::optional<unsigned> roles;       ///< Role bits; nullopt: auto
    std::optional<Deployment> deployment;///< nullopt: auto
    std::vector<char> phases;            ///< empty: all
    std::vector<std::string> only, skip; ///< globs over check ids
    std::vector<std::string> interfaces; ///< storage netdevs; empty: found out, see Ports
    std::string service = "minio.service";
    std::optional<std::string> env_file;
    std::optional<std::string> binary;
    bool run_binary = false;
    std::optional<std::vector<std::string>> peers;  ///< HOST[:PORT]; nullopt: from MINIO_VOLUMES
    bool no_peers = false;
    std::optional<std::string> endpoint;
    std::optional<std::string> server_release;
    std::optional<std::string> probe_result;
    double timeout_seconds = 5;
    std::optional<double> sample_seconds;
    Policy policy;
    std::string root = "/";
    bool from_snapshot = false;
};

}  // namespace preflight
