#pragma once
// The node, seen through one narrow door. Everything the tool knows about a node is the answer to one of these
// questions; nothing else in the program opens a file below /proc, /sys or /etc, or talks to the kernel.
//
// Three hosts stand behind it: the live node, a snapshot (the recorded answers of a node), and a recorder around either.
// Every answer passes through the same JSON form, live or replayed, so a replay cannot differ from the capture.
//
// All questions are read-only. None starts a child process, creates a kernel object or loads a kernel module.
// Text is passed as the node gave it: it may hold any bytes, valid UTF-8 or not.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "preflight/elf.h"
#include "preflight/fact.h"

namespace preflight {

// ---------------------------------------------------------------------------------------------------- files

/// A file's nature and rights, of the link's target. `type` is one of: file, dir, char, block, fifo, socket.
struct FileInfo {
    std::string type;
    unsigned mode = 0;  ///< permission bits, octal 07777
    unsigned uid = 0;
    unsigned gid = 0;
    std::uint64_t size = 0;      ///< bytes
    std::int64_t modified = 0;   ///< seconds since the epoch
    bool access_list = false;    ///< an ACL (acl(5)) stands beside the permission bits
};

/// The largest text a single read returns; a larger file is Unreadable "too-large".
inline constexpr std::size_t max_file_bytes = 4u << 20;

// ---------------------------------------------------------------------------------------------------- the process and the node

/// uname(2), and what the running tool is allowed to see.
struct Node {
    std::string hostname;
    std::string kernel;        ///< uname release
    std::string architecture;  ///< uname machine
    std::string system;        ///< uname sysname
    int pointer_bits = 0;      ///< of the tool's own process
    unsigned effective_uid = 0;
    std::vector<std::string> capabilities;  ///< effective ones, "CAP_NET_ADMIN" form, sorted
    std::string started;                    ///< when the answers were collected, UTC, "2026-12-01T00:00:00Z"
};

// ---------------------------------------------------------------------------------------------------- rtnetlink

/// IFLA_BOND_* of a bonding master (include/uapi/linux/if_link.h).
struct Bond {
    std::string mode;              ///< "802.3ad", "active-backup", "balance-rr", … as ip-link(8) spells them
    std::optional<int> active_port;///< ifindex of the active member, where the mode has one
    std::string xmit_hash_policy;  ///< "layer2", "layer3+4", …
    std::string lacp_rate;         ///< "slow", "fast"; empty outside 802.3ad
    std::optional<int> aggregator; ///< AD_INFO_AGGREGATOR of the active aggregator
    std::optional<int> aggregator_ports;
    std::string partner_mac;       ///< of the active aggregator; all zero while no LACP partner answers
};

/// IFLA_BOND_SLAVE_* of a member.
struct BondPort {
    std::string state;       ///< "active", "backup"
    std::string mii_status;  ///< "up", "going-down", "down", "going-back"
    std::optional<int> aggregator;
};

struct Vlan {
    int id = 0;
    std::string protocol;                              ///< "802.1Q", "802.1ad"
    std::map<unsigned, unsigned> egress;               ///< skb priority -> PCP
    std::map<unsigned, unsigned> ingress;
};

/// One network interface of the caller's network namespace.
struct Link {
    int index = 0;
    std::string name;
    std::vector<std::string> altnames;
    int arphrd = 0;          ///< ARPHRD_*: 1 Ethernet, 772 loopback, 32 InfiniBand
    unsigned flags = 0;      ///< IFF_*
    std::string operstate;   ///< "up", "down", "lowerlayerdown", "unknown", …
    int mtu = 0;             ///< bytes
    std::optional<bool> carrier;
    std::optional<unsigned> carrier_changes;
    std::string mac;
    std::optional<std::string> permanent_mac;
    std::string kind;              ///< IFLA_INFO_KIND: "bond", "vlan", "bridge", "macvlan", …; empty for a plain device
    std::optional<int> master;     ///< ifindex of bond, bridge or VRF over it
    std::optional<int> lower;      ///< IFLA_LINK: ifindex of the parent of a VLAN or macvlan
    std::optional<std::string> parent_bus;     ///< IFLA_PARENT_DEV_BUS_NAME: "pci"
    std::optional<std::string> parent_device;  ///< IFLA_PARENT_DEV_NAME: "0000:3b:00.0"
    std::optional<Bond> bond;
    std::optional<BondPort> bond_port;
    std::optional<Vlan> vlan;

    bool up() const { return flags & 0x1; }          ///< IFF_UP
    bool running() const { return flags & 0x40; }    ///< IFF_RUNNING
    bool loopback() const { return flags & 0x8; }    ///< IFF_LOOPBACK
};

struct Address {
    int link = 0;         ///< ifindex
    std::string address;  ///< presentation form, IPv4 or IPv6
    int prefix = 0;
    std::string scope;    ///< "global", "site", "link", "host"
    std::vector<std::string> flags;  ///< "tentative", "deprecated", "dadfailed", …
};

/// The kernel's own routing decision for one destination (RTM_GETROUTE).
struct Route {
    std::string type;     ///< "unicast", "local", "unreachable", "prohibit", "blackhole"
    int link = 0;         ///< ifindex it leaves by
    std::string source;   ///< preferred source address; may be empty
    std::string gateway;  ///< empty when on link
    unsigned table = 0;
};

// ---------------------------------------------------------------------------------------------------- ethtool

/// ETHTOOL_GDRVINFO.
struct EthtoolDriver {
    std::string driver;
    std::string version;
    std::string firmware;  ///< ice: NVM, EETRACK id and OROM version, blank separated
    std::string bus;       ///< PCI address
};

/// ETHTOOL_MSG_PAUSE_GET: what was requested, not what was resolved on an autoneg link.
struct EthtoolPause {
    bool autoneg = false;
    bool rx = false;
    bool tx = false;
};

/// ETHTOOL_MSG_CHANNELS_GET maxima and current counts.
struct EthtoolChannels {
    unsigned max_rx = 0, max_tx = 0, max_combined = 0;
    unsigned rx = 0, tx = 0, combined = 0;
};

/// ETHTOOL_MSG_LINKMODES_GET.
struct EthtoolSpeed {
    std::optional<unsigned> mbits;  ///< Mb/s; absent while the link is down
};

// ---------------------------------------------------------------------------------------------------- DCB (IEEE 802.1Qaz by rtnetlink)

/// struct ieee_ets. Eight entries each, index = TC or priority.
struct DcbEts {
    bool willing = false;
    int tcs = 0;  ///< ets_cap
    bool cbs = false;
    std::vector<int> tx_bandwidth;  ///< percent per TC
    std::vector<int> tsa;           ///< per TC: 0 strict, 1 CBS, 2 ETS, 255 vendor
    std::vector<int> priority_tc;   ///< TC per priority
};

/// struct ieee_pfc.
struct DcbPfc {
    int capable = 0;   ///< pfc_cap: how many classes may be lossless at once
    unsigned enabled = 0;  ///< bit n = PFC on for priority n (on ice in L3 DSCP mode: for TC n)
    bool macsec_bypass = false;
    unsigned delay = 0;
    std::vector<std::uint64_t> requests;     ///< PFC frames sent per priority (ice: XOFF sent)
    std::vector<std::uint64_t> indications;  ///< PFC frames received per priority
};

/// struct dcb_app. Selectors: 1 EtherType, 2 stream port, 3 datagram port, 4 any port, 5 DSCP, 255 PCP.
struct DcbApp {
    int selector = 0;
    int priority = 0;
    int protocol = 0;
};

struct DcbBuffer {
    std::vector<int> priority_buffer;
    std::vector<std::uint64_t> size;  ///< bytes
    std::uint64_t total = 0;
};

/// The answer to DCB_CMD_IEEE_GET. An attribute the driver did not send is nullopt: that is not "off".
struct Dcb {
    std::optional<unsigned> dcbx;  ///< HOST 1, LLD_MANAGED 2, VER_CEE 4, VER_IEEE 8, STATIC 16
    std::optional<DcbEts> ets;
    std::optional<DcbPfc> pfc;
    std::optional<std::vector<DcbApp>> apps;
    std::optional<DcbBuffer> buffer;
    std::optional<std::vector<int>> trust;  ///< selectors in order of trust
};

// ---------------------------------------------------------------------------------------------------- devlink

struct DevlinkInfo {
    std::string driver;
    std::string serial;
    std::map<std::string, std::string> fixed, running, stored;  ///< version name -> value; empty values are not sent
};

struct DevlinkParam {
    std::string name;
    bool generic = false;
    std::string mode;   ///< "runtime", "driverinit", "permanent"
    std::string value;  ///< booleans as "true"/"false"; numbers in decimal
};

struct DevlinkHealth {
    std::string reporter;
    bool healthy = true;
    std::uint64_t errors = 0;
    std::uint64_t recoveries = 0;
};

struct DevlinkDevice {
    std::string bus;     ///< "pci"
    std::string device;  ///< "0000:3b:00.0"
    Fact<DevlinkInfo> info;
    Fact<std::vector<DevlinkParam>> parameters;
    Fact<std::vector<DevlinkHealth>> health;
};

// ---------------------------------------------------------------------------------------------------- RDMA netlink (nldev)

struct RdmaPort {
    int port = 0;
    std::string state;           ///< "DOWN", "INIT", "ARMED", "ACTIVE", …
    std::string physical_state;  ///< "LINK_UP", "DISABLED", "POLLING", …
    std::optional<int> netdev;   ///< ifindex, only when it is in the caller's network namespace
    std::string netdev_name;
};

/// A character device the kernel offers for an RDMA device (RDMA_NLDEV_CMD_GET_CHARDEV).
struct RdmaChardev {
    std::string name;                     ///< "uverbs0"
    std::optional<unsigned> driver_id;    ///< enum rdma_driver_id; see rdma_driver_name()
};

struct RdmaDevice {
    int index = 0;
    std::string name;
    std::string firmware;    ///< of the protocol engine, not the NVM version
    std::string node_guid;   ///< "b696:91ff:fea6:0001" form
    std::string node_type;   ///< "CA", "RNIC", "SWITCH", …
    std::string protocol;    ///< "roce", "iw", "ib", "opa", "usnic"; empty on kernels that do not say
    std::vector<RdmaPort> ports;
    Fact<RdmaChardev> uverbs;
};

/// One resource of an RDMA device (RES_QP, RES_CM_ID, RES_MR, RES_CQ, RES_PD, RES_CTX, RES_SRQ).
struct RdmaResource {
    std::string kind;              ///< "qp", "cm_id", "mr", "cq", "pd", "ctx", "srq"
    std::optional<unsigned> number;
    std::optional<int> pid;        ///< in the tool's pid namespace; nullopt: the kernel's, or an owner not visible from here
    std::string kernel_user;       ///< name of a kernel owner
    std::string type;              ///< QP type "RC", "UD", "GSI"; cm_id port space "TCP"
    std::string state;             ///< "RTS", "LISTEN", …
    std::string source, destination;  ///< cm_id: "192.0.2.11:5555"
    std::uint64_t length = 0;         ///< MR: bytes
};

/// The GID table of a port (sysfs gids/, gid_attrs/). Empty slots (all zero) are left out.
struct Gid {
    int index = 0;
    std::string gid;          ///< "fe80:0000:…" as sysfs prints it
    Fact<std::string> type;   ///< "RoCE v2", "IB/RoCE v1"
    Fact<std::string> netdev; ///< interface the GID belongs to
};

struct GidTable {
    int length = 0;  ///< slots, empty ones included
    std::vector<Gid> gids;
    std::vector<std::string> unreadable;  ///< slots that answered with an error other than "empty": "7: EIO"
};

// ---------------------------------------------------------------------------------------------------- verbs (the node's own libibverbs, loaded at run time)

struct VerbsPort {
    int port = 0;
    std::string state;       ///< "ACTIVE", "DOWN", …
    unsigned active_mtu = 0; ///< bytes: 256, 512, 1024, 2048, 4096
    unsigned max_mtu = 0;
    unsigned lid = 0;
    std::string link_layer;  ///< "Ethernet", "InfiniBand"
    int gid_table_length = 0;
};

struct VerbsDevice {
    std::string name;
    std::string transport;  ///< "IB", "iWARP", …: of the device list, not of link_layer
    Fact<unsigned> opened;  ///< Unreadable with the errno when ibv_open_device failed; the value is unused (1)
    unsigned vendor_id = 0, vendor_part_id = 0;
    std::string firmware;
    std::uint64_t max_qp = 0, max_cqe = 0, max_mr_size = 0;
    unsigned max_srq = 0, max_sge = 0;
    std::vector<VerbsPort> ports;
};

struct Verbs {
    std::string library;                 ///< path of the libibverbs that was loaded; empty when unknown
    std::vector<std::string> warnings;   ///< what the library wrote to stderr, a line each
    std::vector<VerbsDevice> devices;
};

// ---------------------------------------------------------------------------------------------------- PCI

/// Configuration space of a PCI function from its start, as much as the kernel gives the caller: 4096 bytes of a PCIe function,
/// 256 of a conventional one, 64 to a caller without CAP_SYS_ADMIN (drivers/pci/pci-sysfs.c, pci_read_config).
struct PciConfig {
    std::string bytes;
};

// ---------------------------------------------------------------------------------------------------- users, processes and the service manager

/// An account as the name service knows it, with all groups it belongs to.
struct User {
    std::string name;
    unsigned uid = 0, gid = 0;
    std::string home, shell;
    std::vector<unsigned> groups;  ///< the primary one included
};

/// RLIMIT_MEMLOCK in bytes; 2^64-1 is no limit.
struct MemlockLimit {
    std::uint64_t soft = 0, hard = 0;
};

/// A process, from /proc. What another user's process does not show to an ordinary user is Unreadable EACCES.
struct Process {
    int pid = 0;
    std::string name;                          ///< comm
    Fact<std::string> executable;              ///< the link's text; " (deleted)" behind a file that was replaced
    Fact<std::vector<std::string>> arguments;  ///< masked, see src/host/secrets.h
    Fact<std::vector<std::string>> environment;///< "NAME=value", masked; what it was started with
    std::string cgroup;                        ///< path of the unified hierarchy, else of the systemd one
    std::string root;                          ///< "/" unless the process has a root of its own; empty: not readable
    std::map<std::string, std::string> namespaces;  ///< "net" -> "net:[4026531840]"; those that can be read
    std::int64_t started = 0;                  ///< seconds since the epoch
    std::optional<unsigned> uid;               ///< effective
    std::uint64_t capabilities = 0;            ///< CapEff
    std::optional<std::uint64_t> pinned;       ///< VmPin in bytes
    std::vector<int> pids;                     ///< NSpid, outermost namespace first
    std::optional<std::string> uid_map;        ///< text of uid_map: "0 0 4294967295" in the initial user namespace
    Fact<MemlockLimit> memlock;
};

struct Processes {
    std::map<std::string, std::string> own_namespaces;  ///< of the tool itself
    bool hidden = false;                ///< /proc is mounted so that other users' processes do not show
    std::vector<Process> servers;       ///< processes whose name, first argument or executable is minio or minio.*
};

/// A line of a configuration file that was chosen for what it says.
struct FileLine {
    int line = 0;  ///< from 1; of a line that goes on behind a backslash the first
    std::string text;
};

/// The tool's own process: what an S3 client that is started from the same shell will find.
struct Caller {
    std::vector<std::string> environment;  ///< "NAME=value" of S3RDMA_DEVICE, CUFILE_ENV_PATH_JSON, LD_LIBRARY_PATH and LD_PRELOAD
    MemlockLimit memlock;
    /// The address from which its SSH session comes: SSH_CONNECTION of itself or, behind sudo, of a process above it.
    std::optional<std::string> ssh_peer = {};
};

/// How a process of a unit ended: si_code of waitid(2) (1 CLD_EXITED, 2 CLD_KILLED, 3 CLD_DUMPED; 0: it has not) and the exit
/// status or the signal's number.
struct ExecResult {
    std::string program;  ///< its path
    int code = 0;
    int status = 0;

    bool failed() const { return code > 1 || (code == 1 && status != 0); }
};

/// One unit as the manager has loaded it (org.freedesktop.systemd1). Sizes in bytes; 2^64-1 is no limit.
struct LoadedUnit {
    std::string id, load_state, load_error, active_state, fragment, user, group, type;
    std::string sub_state;       ///< "running", "auto-restart", "failed", "dead", …
    std::string result;          ///< of the last run: "success", "exit-code", "signal", "timeout", "oom-kill", …
    unsigned restarts = 0;       ///< NRestarts: automatic ones since the unit was last started by somebody
    ExecResult main;             ///< of the last main process
    std::vector<ExecResult> start_pre;  ///< programs of ExecStartPre= in their order; behind a dash a failure does not count and is left out
    std::vector<std::string> drop_ins;
    bool need_daemon_reload = false;
    int main_pid = 0;
    std::vector<std::vector<std::string>> exec_start;  ///< path, then argv; masked
    std::vector<std::string> environment;              ///< masked
    std::vector<std::string> environment_files;        ///< "-" in front of one that may be missing
    std::vector<std::string> pass_environment, unset_environment;
    std::uint64_t memlock_soft = 0, memlock_hard = 0;
    bool dynamic_user = false;
    std::uint64_t ambient_capabilities = 0, bounding_set = 0;
    std::uint64_t memory_max = 0;
    bool assert_result = true, condition_result = true;
    std::map<std::string, std::string> sandbox;        ///< directive -> value in unit file spelling, those that are set
};

struct ServiceManager {
    std::string version;                    ///< "252.39-1~deb12u2"
    std::vector<std::string> environment;   ///< what it gives to every service, masked
    std::uint64_t memlock_soft = 0;         ///< DefaultLimitMEMLOCKSoft
};

// ---------------------------------------------------------------------------------------------------- names, peers, sockets

/// One attempt to open a TCP connection. What an ICMP message said comes from the socket's error queue (IP_RECVERR, for
/// TCP since Linux 5.9); without it `icmp` is empty and EHOSTUNREACH may be a firewall's rejection or a host that is not there.
struct TcpProbe {
    /// "connected"; "refused" (a reset); "reset"; "timed-out"; "prohibited" (a filter said so: ICMP administratively
    /// prohibited or, for TCP, port unreachable; or this node's own policy, EACCES and EPERM); "no-route" (ENETUNREACH,
    /// a blackhole route); "unreachable" (EHOSTUNREACH: no neighbour answered, or a router said so).
    std::string outcome;
    int elapsed_ms = 0;
    std::string error;  ///< errno's name; empty when connected
    std::string icmp;   ///< "type 3 code 13 from 192.0.2.12"
};

/// A TCP socket in LISTEN state, in the caller's network namespace (/proc/net/tcp and tcp6: unlike NETLINK_SOCK_DIAG these
/// never have the kernel load a module).
struct ListeningSocket {
    std::string address;      ///< presentation form; "0.0.0.0" or "::" for any
    int port = 0;
    unsigned uid = 0;         ///< of the socket's creator
    std::optional<int> pid;   ///< a process that holds it; nullopt: not visible to the caller
    std::string comm;         ///< of that process
    std::string executable;   ///< its /proc/PID/exe; empty when not readable
};

// ---------------------------------------------------------------------------------------------------- the door

/// A question in the form in which answers are recorded: kind ("file", "links", "dcb") and argument (a path, a netdev).
struct Question {
    std::string kind;
    std::string argument;

    auto operator<=>(const Question&) const = default;
};

struct Answer;  // src/host/answer.h: the JSON form

class Host {
public:
    virtual ~Host() = default;

    // Files. Paths are absolute, as the node itself sees them; with --root they are resolved inside that folder.
    /// The whole text of a file. Absent: ENOENT, ENOTDIR. sysfs errors (EINVAL, EIO, ENODEV) are Unreadable with their name.
    Fact<std::string> read(const std::string& path);
    /// Names in a folder, sorted, without "." and "..".
    Fact<std::vector<std::string>> list(const std::string& path);
    /// The text of a symbolic link. Absent when there is none; Unreadable EINVAL when it is not a link.
    Fact<std::string> link_target(const std::string& path);
    /// The absolute path after all links are resolved.
    Fact<std::string> resolve(const std::string& path);
    Fact<FileInfo> info(const std::string& path);
    /// The lines of a unit, script, udev rule or NetworkManager profile that speak of DCB, without the blanks around them; of any
    /// other ExecStart= line the program. The rest of such files may hold secrets and never leaves the node.
    Fact<std::vector<std::string>> dcb_lines(const std::string& path);

    /// Of a shell script that does nothing but `exec` one command: that command, masked. Absent: it does more, or is no script.
    Fact<std::string> plain_exec(const std::string& path);
    /// Of a modprobe.d(5) file: "blacklist NAME", and "install NAME PROGRAM" without the program's arguments.
    Fact<std::vector<FileLine>> modprobe_lines(const std::string& path);
    /// Of a limits.conf(5) file the lines about memlock: "DOMAIN TYPE memlock VALUE".
    Fact<std::vector<FileLine>> memlock_lines(const std::string& path);
    /// The file of a kernel module, relative to the modules of the running kernel (modules.dep). Absent: it has none; `detail` is
    /// "no modules" when the running kernel has no modules folder, and another kernel has. Unreadable ENOENT: none has, as in a container.
    Fact<std::string> module_file(const std::string& name);

    /// `address` as in /sys/bus/pci/devices: "0000:3b:00.0". Reading wakes a suspended function, as lspci does.
    Fact<PciConfig> config_space(const std::string& address);

    /// What a program or library file says of itself. Absent: no such file. Unreadable: "not-elf", "script", "malformed", or an errno.
    Fact<Elf> elf(const std::string& path);
    /// Entries of /etc/ld.so.cache for this name, in the loader's order; empty: none. Absent: there is no cache.
    Fact<std::vector<CachedLibrary>> cached_library(const std::string& name);
    /// What `path --version` prints, at most 4 KiB. It starts the program, as the tool's own user, and ends it when the host's timeout is
    /// up; asked only with --run-binary.
    Fact<std::string> version_output(const std::string& path);

    // Texts that hold secrets; what is masked and what is kept stands in src/host/secrets.h.
    /// A file for EnvironmentFile=, masked.
    Fact<std::string> environment_file(const std::string& path);
    /// The file that MINIO_CONFIG_ENV_FILE names, masked: the server's own reader has another grammar.
    Fact<std::string> server_environment_file(const std::string& path);
    /// A unit file, drop-in or system.conf, masked.
    Fact<std::string> unit_file(const std::string& path);

    /// Absent: no such account. Unreadable: a source of the name service other than the files could know it.
    Fact<User> user(const std::string& name);
    Fact<Processes> processes();
    /// Absent: no such process.
    Fact<Process> process(int pid);
    Fact<Caller> caller();
    /// Absent: systemd does not manage this node, or no bus can be reached from here (a container, --root).
    Fact<ServiceManager> service_manager();
    Fact<LoadedUnit> loaded_unit(const std::string& unit);

    Fact<Node> node();
    /// Lines of the kernel log of this boot that speak of a NIC, its driver, DCB, bonding or RDMA; oldest first.
    Fact<std::vector<std::string>> kernel_log();

    /// `sample` 0 is the first reading; later samples are separate answers, here and below.
    Fact<std::vector<Link>> links(int sample = 0);
    Fact<std::vector<Address>> addresses();
    /// Absent: the kernel has no route (ENETUNREACH). `destination` is an address in presentation form. `vrf`: as a socket bound
    /// to that VRF is routed.
    Fact<Route> route(const std::string& destination, const std::string& vrf = {});

    // ethtool. Absent: the driver does not offer it (EOPNOTSUPP) or the netdev is gone (ENODEV); `detail` says which.
    Fact<EthtoolDriver> ethtool_driver(const std::string& netdev);
    Fact<EthtoolPause> ethtool_pause(const std::string& netdev);
    Fact<EthtoolChannels> ethtool_channels(const std::string& netdev);
    Fact<EthtoolSpeed> ethtool_speed(const std::string& netdev);
    Fact<std::map<std::string, bool>> ethtool_private_flags(const std::string& netdev);
    /// `ethtool -S`.
    Fact<std::map<std::string, std::uint64_t>> ethtool_statistics(const std::string& netdev, int sample = 0);

    /// Absent with detail EOPNOTSUPP: this netdev offers no DCB. That never means "PFC off".
    Fact<Dcb> dcb(const std::string& netdev, int sample = 0);

    Fact<std::vector<DevlinkDevice>> devlink();

    /// Absent: the kernel has no RDMA subsystem loaded (no ib_core). Never loads it.
    Fact<std::vector<RdmaDevice>> rdma_devices(int sample = 0);
    Fact<std::vector<RdmaResource>> rdma_resources(const std::string& device);
    /// "shared" or "exclusive". Absent: a kernel that cannot say.
    Fact<std::string> rdma_netns_mode();
    Fact<GidTable> rdma_gids(const std::string& device, int port);
    /// Port counters, hw_counters and where offered counters/, by name.
    Fact<std::map<std::string, std::uint64_t>> rdma_counters(const std::string& device, int port, int sample = 0);

    /// Absent: the node has no libibverbs. Unreadable ENOSYS: no verbs in the kernel.
    Fact<Verbs> verbs();

    /// The addresses the system's resolver has for each name, in its order and without doubles; all names at once, within half
    /// of the host's timeout. Absent: there is no such name (EAI_NONAME) or it has no address (EAI_NODATA). Unreadable
    /// "timeout", or the resolver's error ("EAI_AGAIN").
    std::vector<Fact<std::vector<std::string>>> resolve_names(const std::vector<std::string>& names);
    /// Tries each target, "192.0.2.12:5555" or "[2001:db8::12]:5555", all at once and within the host's timeout. Unreadable:
    /// "timeout" when its turn never came, else the errno of what this node lacked (EMFILE, EADDRNOTAVAIL).
    std::vector<Fact<TcpProbe>> probe_tcp(const std::vector<std::string>& targets);
    /// The sockets that listen on a TCP port.
    Fact<std::vector<ListeningSocket>> listening(int port);

protected:
    /// Answers one question, or says why not. Implementations never throw for what a node can do to them; a snapshot
    /// whose text is not what a snapshot may hold throws InputError.
    virtual Answer answer(const Question& question) = 0;
    /// Answers questions of one kind, in their order. A host that has to wait for the network waits for all of them together.
    virtual std::vector<Answer> answers(const std::vector<Question>& questions);
    friend class Recorder;

private:
    template <class T>
    Fact<T> ask(std::string kind, std::string argument = {});
    template <class T>
    std::vector<Fact<T>> ask_all(const std::string& kind, const std::vector<std::string>& arguments);
};

/// An input file that cannot be used: the message names the file and the place in it. Ends the program with exit code 3.
struct InputError {
    std::string message;
};

/// The node this process runs on. `root`: read host files below this folder instead of "/", links resolved inside it.
/// `timeout`: seconds that all questions to the network may take together.
std::unique_ptr<Host> live_host(const std::string& root = "/", double timeout = 5);

/// The answers in a snapshot file. Throws InputError when the file is not a snapshot this version can read.
std::unique_ptr<Host> snapshot_host(const std::string& path);

/// Asks `inner` each question once and remembers the answer.
class Recorder : public Host {
public:
    explicit Recorder(Host& inner);
    ~Recorder() override;
    /// The snapshot text (aistor-rdma-check/snapshot/1) of all that was asked so far; secrets are masked.
    std::string snapshot() const;
    /// What could not be read so far: question and error, in order of the question.
    std::vector<std::pair<std::string, std::string>> unreadable() const;
    /// How often `inner` was asked; a test asserts that it never exceeds the number of different questions.
    std::size_t asked() const;
    /// Called once for each question the inner host answered: with "value", "absent" or the error's name, never the value.
    void watch(std::function<void(const Question&, const std::string&)> watch) { watch_ = std::move(watch); }

protected:
    Answer answer(const Question& question) override;
    std::vector<Answer> answers(const std::vector<Question>& questions) override;

private:
    struct Memory;
    const Answer& remember(const Question& question, const Answer& reply);

    Host& inner_;
    std::unique_ptr<Memory> memory_;
    std::function<void(const Question&, const std::string&)> watch_;
};

}  // namespace preflight
