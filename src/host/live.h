#pragma once
// The sources of the live node, one function per question. Each answers from the kernel or a file and keeps no state but
// the sockets of its source.

#include <chrono>

#include "preflight/host.h"

namespace preflight::live {

using Clock = std::chrono::steady_clock;

// files.cpp; `root` is "/" or the folder given with --root.
Fact<std::string> read(const std::string& root, const std::string& path, std::size_t limit = max_file_bytes);
Fact<std::vector<std::string>> list(const std::string& root, const std::string& path);
Fact<std::string> link_target(const std::string& root, const std::string& path);
Fact<std::string> resolve(const std::string& root, const std::string& path);
Fact<FileInfo> info(const std::string& root, const std::string& path);

// pci.cpp
Fact<PciConfig> config_space(const std::string& root, const std::string& address);

// boot_files.cpp
Fact<std::vector<std::string>> dcb_lines(const std::string& root, const std::string& path);
Fact<std::string> plain_exec(const std::string& root, const std::string& path);
Fact<std::vector<FileLine>> modprobe_lines(const std::string& root, const std::string& path);
Fact<std::vector<FileLine>> memlock_lines(const std::string& root, const std::string& path);
Fact<std::string> module_file(const std::string& root, const std::string& name);

// node.cpp
Fact<Node> node();
Fact<std::vector<std::string>> kernel_log();

// users.cpp
Fact<User> user(const std::string& root, const std::string& name);

// elf.cpp
Fact<Elf> elf(const std::string& root, const std::string& path);
Fact<std::vector<CachedLibrary>> cached_library(const std::string& root, const std::string& name);

// version_output.cpp
Fact<std::string> version_output(const std::string& root, const std::string& path, Clock::duration limit);

// processes.cpp
Fact<Processes> processes(const std::string& root);
Fact<Process> process(const std::string& root, int pid);

// caller.cpp
Fact<Caller> caller();

// systemd_bus.cpp
Fact<ServiceManager> service_manager(const std::string& root);
Fact<LoadedUnit> loaded_unit(const std::string& root, const std::string& unit);

// rtnetlink.cpp
Fact<std::vector<Link>> links();
Fact<std::vector<Address>> addresses();
/// `vrf`: the index of a VRF, or 0.
Fact<Route> route(const std::string& destination, unsigned vrf);

// ethtool.cpp
Fact<EthtoolDriver> ethtool_driver(const std::string& netdev);
Fact<EthtoolPause> ethtool_pause(const std::string& netdev);
Fact<EthtoolChannels> ethtool_channels(const std::string& netdev);
Fact<EthtoolSpeed> ethtool_speed(const std::string& netdev);
Fact<std::map<std::string, bool>> ethtool_private_flags(const std::string& netdev);
Fact<std::map<std::string, std::uint64_t>> ethtool_statistics(const std::string& netdev);

// dcb.cpp
Fact<Dcb> dcb(const std::string& netdev);

// devlink.cpp
Fact<std::vector<DevlinkDevice>> devlink();

// rdma_netlink.cpp
/// What sysfs shows of ib_core. Absent: it is not loaded, and neither NETLINK_RDMA nor libibverbs may be touched, since
/// both would load it. Unreadable where sysfs is not there to say.
Fact<FileInfo> rdma_subsystem();
/// The same for ib_uverbs, which libibverbs and RDMA_NLDEV_CMD_GET_CHARDEV load.
Fact<FileInfo> rdma_uverbs();
Fact<std::vector<RdmaDevice>> rdma_devices();
Fact<std::vector<RdmaResource>> rdma_resources(const std::string& device);
Fact<std::string> rdma_netns_mode();

// rdma_sysfs.cpp
Fact<GidTable> rdma_gids(const std::string& root, const std::string& device, int port);
Fact<std::map<std::string, std::uint64_t>> rdma_counters(const std::string& root, const std::string& device, int port);

// verbs.cpp
Fact<Verbs> verbs();

// names.cpp
std::vector<Fact<std::vector<std::string>>> resolve_names(const std::vector<std::string>& names, Clock::time_point deadline);

// tcp_probe.cpp
std::vector<Fact<TcpProbe>> probe_tcp(const std::vector<std::string>& targets, Clock::time_point deadline);

// sockets.cpp
Fact<std::vector<ListeningSocket>> listening(int port);

/// "EACCES" for 13; "errno 9999" for a number the table does not know.
std::string errno_name(int error);
/// Absent for ENOENT and ENOTDIR, Unreadable with the errno's name otherwise. `what` names the place.
template <class T>
Fact<T> file_error(int error, const std::string& what);

}  // namespace preflight::live

#include <cerrno>
#include <cstring>

template <class T>
preflight::Fact<T> preflight::live::file_error(int error, const std::string& what) {
    if (error == ENOENT || error == ENOTDIR) return Absent{};
    return Unreadable{errno_name(error), what + ": " + std::strerror(error)};
}
