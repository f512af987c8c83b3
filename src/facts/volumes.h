#pragma once
// MINIO_VOLUMES: endpoints in MinIO's ellipsis notation (minio/pkg/ellipses and the endpoint rules of the community server).
// "{1...4}" has three dots; decimal first, hexadecimal if that fails; zero padding has the width of the end when either
// side begins with 0; several ranges multiply. No shell has a hand in it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace preflight {

/// The port of an endpoint that names none, where the service does not say another one (--address).
inline constexpr int default_api_port = 9000;

struct VolumeError {
    std::size_t column = 0;  ///< byte offset into the value, from 0
    std::size_t width = 1;
    std::string message;
};

struct VolumeHost {
    std::string name;  ///< host name or address, IPv6 without brackets
    int port = 0;      ///< 0: none given

    bool operator==(const VolumeHost&) const = default;
};

struct Volumes {
    std::vector<VolumeError> errors;
    std::vector<VolumeHost> hosts;  ///< different ones, in order of appearance
    std::size_t pools = 0;          ///< one per argument with ellipses; all arguments without are one pool
    std::uint64_t drives = 0;       ///< endpoints
    bool ellipses = false;
    /// Arguments such as "node1:/tmp/drive1", which look like a host and are a folder to the server (newEndpoint of the community
    /// server's cmd/endpoint.go takes what has no scheme for a local path).
    std::vector<std::string> host_without_scheme;

    /// No host part: one node, nobody to talk RDMA to.
    bool single_node() const { return errors.empty() && drives > 0 && hosts.empty() && host_without_scheme.empty(); }
};

/// More endpoints than this are an error, not an answer.
inline constexpr std::uint64_t most_endpoints = 100000;

/// All strings a pattern stands for; errors get the column within `pattern` plus `column`.
std::vector<std::string> expand_ellipses(std::string_view pattern, std::size_t column, std::vector<VolumeError>& errors);

Volumes parse_volumes(std::string_view value);

}  // namespace preflight
