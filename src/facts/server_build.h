#pragma once
// The server's file: which one the next start executes, what it is by its own content, and whether its libraries resolve as the service
// resolves them.

#include <string>
#include <vector>

#include "facts/loader.h"
#include "preflight/host.h"
#include "preflight/options.h"

namespace preflight {

struct EnvironmentFacts;
struct ServiceFacts;

struct ServerBuild {
    Fact<std::string> path;      ///< as named: --binary, the unit's ExecStart=, or with --stage ready the installed RDMA build
    std::string origin;          ///< "--binary", "ExecStart= of …:7"
    std::string real;            ///< after links
    Fact<FileInfo> info;
    Fact<Elf> elf;
    std::vector<LoadedLibrary> libraries;    ///< needed ones, transitively
    std::vector<LoadedLibrary> opened;       ///< those loaded by name at run time, by the server or its RDMA library, and what they need
    std::vector<std::string> missing_versions;  ///< as Loader::missing_versions
    bool complete = true;                    ///< as Loader::complete
    std::optional<Barrier> closed;           ///< what keeps the service's user from executing the file
    ServiceUser user;                        ///< of the unit
    std::string ignored_path;                ///< why the loader ignores the service's LD_LIBRARY_PATH; empty: it does not
    std::vector<std::string> shadowed;       ///< "libs3rdma.so.0 from /opt/x by LD_LIBRARY_PATH, not the package's in /usr/lib/minio"
    Fact<std::string> environment;           ///< Unreadable: LD_LIBRARY_PATH of the service is not known for sure
    Fact<std::string> banner;                ///< what --version printed; Absent without --run-binary
    std::string release;                     ///< "RELEASE.2026-08-07T18-34-35Z"; empty: not determinable
    std::string release_origin;

    /// It needs, names or says that it is built with RDMA.
    bool rdma_build() const;
    /// How it shows; empty when it does not.
    std::string sign() const;

    static ServerBuild read(Host& host, const Options& options, const ServiceFacts& service, const EnvironmentFacts& environment);
};

/// How a program file shows by its content that it is an RDMA build; empty when it does not.
std::string rdma_sign(const Elf& elf);

/// The S3 path's library of the server (minio/rdma-training).
inline constexpr const char* s3_library = "libs3rdma.so";
/// Where the RDMA package puts its libraries (minio/rdma-training).
inline constexpr const char* package_library_folder = "/usr/lib/minio";
/// The first stable release with RDMA (AIStor documentation, RDMA overview).
inline constexpr const char* first_rdma_release = "RELEASE.2026-08-07T18-34-35Z";

}  // namespace preflight
