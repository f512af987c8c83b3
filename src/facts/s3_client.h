#pragma once
// What an S3 client on this node will find: libraries of either generation, their configuration, and the environment and limits of
// the shell the tool was started from.

#include <optional>
#include <string>
#include <vector>

#include "preflight/host.h"

namespace preflight {

class Facts;

/// A shared library as the dynamic loader would find it by its name.
struct ClientLibrary {
    std::string name;                  ///< "libs3rdma.so.0"
    std::string path;                  ///< where the loader finds it; empty: nowhere
    std::string real;                  ///< the file behind links: "/usr/lib64/libs3rdma.so.0.3.2"
    std::vector<std::string> shadowed; ///< further ones of that name, which it will not take

    bool found() const { return !path.empty(); }
};

/// cufile.json, which the cuObject generation needs.
struct CufileConfig {
    std::string path;
    std::string origin;                        ///< "CUFILE_ENV_PATH_JSON" or "the default"
    Fact<std::vector<std::string>> addresses;  ///< properties.rdma_dev_addr_list; Absent: no such file, or no such member
    bool file = false;                         ///< the file is there
};

struct S3ClientFacts {
    std::vector<std::string> folders;  ///< the loader's, in its order: LD_LIBRARY_PATH, ld.so.conf, its own
    std::vector<std::pair<std::string, Unreadable>> unreadable;  ///< places that could not be looked into
    std::vector<ClientLibrary> libraries;
    CufileConfig cufile;
    Fact<Caller> caller;

    static S3ClientFacts read(const Facts& facts);

    const ClientLibrary& library(std::string_view name) const;
    /// The libs3rdma generation (minio-cpp 0.6.0 and later).
    bool s3rdma() const { return library("libs3rdma.so.0").found(); }
    /// The cuObject generation (minio-cpp up to 0.5.0, NVIDIA's own clients).
    bool cuobject() const { return library("libcuobjclient.so.1").found() || library("libcuobjclient.so").found(); }
    /// A variable of the shell. Absent: not set.
    Fact<std::string> variable(std::string_view name) const;
};

/// "1.18" of "/usr/local/cuda/lib64/libcufile.so.1.18.0", as major and minor; nullopt when the file's name has no version.
std::optional<std::pair<int, int>> version_in(const std::string& file);

/// One entry of S3RDMA_DEVICE (public header of libs3rdma).
struct DeviceChoice {
    enum Kind { wildcard, address, device } kind = device;
    std::string text;                 ///< as written
    std::string name;                 ///< address without port and zone, or device
    std::string zone;                 ///< of a link-local address
    std::optional<int> port, gid;     ///< of a device
};
/// What the library makes of a value. A pin whose numbers are out of range is taken whole for a device's name.
std::vector<DeviceChoice> parse_device_choice(const std::string& value);

/// The date of an AIStor release, "2026-08-07" of "RELEASE.2026-08-07T18-34-35Z"; empty when there is none.
std::string release_date(const std::string& release);

}  // namespace preflight
