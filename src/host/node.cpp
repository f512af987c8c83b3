// Who asks, on which kernel, and what that kernel logged. The log comes from /dev/kmsg record by record; reading it is
// refused to ordinary users where kernel.dmesg_restrict is set.

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "host/live.h"

namespace preflight::live {
namespace {

// include/uapi/linux/capability.h, by number.
constexpr std::array capability_names = {
    "CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_DAC_READ_SEARCH", "CAP_FOWNER", "CAP_FSETID", "CAP_KILL", "CAP_SETGID", "CAP_SETUID",
    "CAP_SETPCAP", "CAP_LINUX_IMMUTABLE", "CAP_NET_BIND_SERVICE", "CAP_NET_BROADCAST", "CAP_NET_ADMIN", "CAP_NET_RAW",
    "CAP_IPC_LOCK", "CAP_IPC_OWNER", "CAP_SYS_MODULE", "CAP_SYS_RAWIO", "CAP_SYS_CHROOT", "CAP_SYS_PTRACE", "CAP_SYS_PACCT",
    "CAP_SYS_ADMIN", "CAP_SYS_BOOT", "CAP_SYS_NICE", "CAP_SYS_RESOURCE", "CAP_SYS_TIME", "CAP_SYS_TTY_CONFIG", "CAP_MKNOD",
    "CAP_LEASE", "CAP_AUDIT_WRITE", "CAP_AUDIT_CONTROL", "CAP_SETFCAP", "CAP_MAC_OVERRIDE", "CAP_MAC_ADMIN", "CAP_SYSLOG",
    "CAP_WAKE_ALARM", "CAP_BLOCK_SUSPEND", "CAP_AUDIT_READ", "CAP_PERFMON", "CAP_BPF", "CAP_CHECKPOINT_RESTORE"};

// Words of the log lines that any check reads; the rest of the log never leaves the node.
constexpr std::array log_words = {"ice ", "ice:", "irdma", "i40e", "iavf", "mlx5", "bnxt", "infiniband", "rdma", "RDMA", "DDP", "HMC",
                                  "OICR", "bond", "L3 DSCP", "L2 VLAN", "LLDP", "nvidia-peermem", "nvidia_peermem"};

std::vector<std::string> effective_capabilities() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct data[2]{};
    std::vector<std::string> names;
    if (syscall(SYS_capget, &header, data) != 0) return names;
    for (std::size_t bit = 0; bit < capability_names.size(); ++bit)
        if (data[bit / 32].effective >> (bit % 32) & 1u) names.emplace_back(capability_names[bit]);
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

Fact<Node> node() {
    utsname name{};
    if (uname(&name) != 0) return Unreadable{errno_name(errno), "uname"};
    Node result;
    result.hostname = name.nodename;
    result.kernel = name.release;
    result.architecture = name.machine;
    result.system = name.sysname;
    result.pointer_bits = static_cast<int>(sizeof(void*) * 8);
    result.effective_uid = geteuid();
    result.capabilities = effective_capabilities();
    std::time_t now = std::time(nullptr);
    if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH")) now = static_cast<std::time_t>(std::strtoll(epoch, nullptr, 10));
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    result.started = text;
    return result;
}

Fact<std::vector<std::string>> kernel_log() {
    const int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return file_error<std::vector<std::string>>(errno, "/dev/kmsg");
    std::vector<std::string> lines;
    char record[8192];
    int error = 0;
    for (;;) {
        const ssize_t size = ::read(fd, record, sizeof record);
        if (size < 0 && (errno == EPIPE || errno == EINTR)) continue;  // EPIPE: the record was overwritten meanwhile
        if (size <= 0) {
            error = size < 0 && errno != EAGAIN ? errno : 0;
            break;
        }
        const std::string_view text(record, static_cast<std::size_t>(size));
        const auto start = text.find(';');
        if (start == std::string_view::npos) continue;
        const std::string_view line = text.substr(start + 1, text.find('\n', start) - start - 1);
        if (std::any_of(log_words.begin(), log_words.end(), [&](const char* word) { return line.find(word) != std::string_view::npos; }))
            lines.emplace_back(line);
    }
    close(fd);
    if (error) return Unreadable{errno_name(error), std::string("/dev/kmsg: ") + std::strerror(error)};
    return lines;
}

}  // namespace preflight::live
