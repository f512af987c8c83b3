#pragma once
// The unit that starts AIStor: its files, what the manager has loaded, and which of both the next start will use.
//
// The manager's view counts, since that is what it will start; where it says that files changed after it read them
// (NeedDaemonReload), the files count. Without a manager to ask the files count.

#include <string>
#include <vector>

#include "facts/unit_file.h"
#include "grammar/env_file.h"
#include "preflight/host.h"
#include "preflight/options.h"

namespace preflight {

/// The soft limit of locked memory the service will get, in bytes, and where it comes from.
struct MemlockSource {
    std::uint64_t soft = 0;
    std::string origin;        ///< "/etc/systemd/system/minio.service.d/rdma.conf:3", "the kernel's default"
    bool from_default = false; ///< no unit file sets it
};

/// An assert or condition of the unit, and whether it holds on this node.
struct TestResult {
    UnitTest test;
    Fact<bool> holds;  ///< Absent: a kind that is not evaluated here
};

struct ServiceFacts {
    std::string name;       ///< unit asked for
    UnitFiles files;
    ServiceUnit on_disk;
    Fact<LoadedUnit> loaded;
    Fact<ServiceManager> manager;
    bool from_manager = false;         ///< `unit` holds what the manager has loaded
    std::vector<std::string> differs;  ///< what manager and files disagree about
    ServiceUnit unit;                  ///< what the next start uses
    MemlockSource memlock;
    int systemd_version = 0;           ///< 0: not known
    CommentContinues comments = CommentContinues::yes;
    Fact<User> account;                ///< of User=; root without one
    std::vector<TestResult> tests;
    /// Programs of ExecStartPre= that cannot run: the command, and why. Behind a dash they do not count.
    std::vector<std::pair<ExecCommand, std::string>> broken_start_pre;
    Fact<FileInfo> executable_info;    ///< of that file; Absent: it is not there, or none is named
    Fact<std::string> real_executable; ///< the file ExecStart= starts, after links
    bool rdma_build_installed = false; ///< the RDMA package's file is there

    std::string user_name() const { return unit.user ? unit.user->value : "root"; }
    /// No unit file and nothing loaded.
    bool absent() const;
    /// A file of the unit could not be read and the manager could not be asked, so that nothing is certain.
    bool uncertain() const;
    /// The file that the next start executes, as the unit names it (before links are followed). Absent: no unit or no
    /// ExecStart=. Unreadable: a relative name, or files that could not be read.
    Fact<std::string> executable() const;
    /// Where the effective ExecStart= stands.
    std::string executable_origin() const;
};

/// Where the RDMA package installs its server (AIStor package layout).
inline constexpr const char* rdma_build_path = "/usr/local/bin/minio.rdma";

ServiceFacts read_service(Host& host, const Options& options);

/// The [Manager] lines of system.conf and its drop-ins (systemd-system.conf(5)), in order of application.
std::vector<UnitLine> manager_settings(Host& host);

/// "1.5 GiB", "64 KiB", "unlimited".
std::string bytes_text(std::uint64_t bytes);

}  // namespace preflight
