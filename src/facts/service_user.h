#pragma once
// Whom the service runs as, and which files the permission bits keep from this user (path_resolution(7), execve(2)).

#include <optional>
#include <set>
#include <string>

#include "preflight/host.h"

namespace preflight {

struct ServiceFacts;

struct ServiceUser {
    std::string text;          ///< "User=minio-user"; empty: not known
    bool overrides = false;    ///< has CAP_DAC_OVERRIDE: as root, or by AmbientCapabilities= as in MinIO's own unit
    bool more_groups = false;  ///< the unit adds groups that are not followed
    unsigned uid = 0;
    std::set<unsigned> groups;

    bool known() const { return !text.empty(); }
    static ServiceUser read(const ServiceFacts& service);
};

enum class Permission : unsigned { read = 4, write = 2, execute = 1, read_write = 6 };
enum class Allowed { yes, no, unclear };  ///< unclear: it depends on an access list, on groups, or on a user who is not known

Allowed allowed(const ServiceUser& user, const FileInfo& file, Permission permission);

/// What keeps the user from a file: a folder on the way that may not be searched, or the file itself.
struct Barrier {
    std::string what;      ///< "/opt/minio has mode 0700, owner 0:0"
    std::string path;      ///< of that folder or file
    bool certain = false;  ///< false: Allowed::unclear
};

/// Nothing when the way is open, or when a part of it could not be looked at (the file's own reading says why).
std::optional<Barrier> barrier(Host& host, const ServiceUser& user, const std::string& path, Permission permission);

}  // namespace preflight
