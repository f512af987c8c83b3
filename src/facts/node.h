#pragma once
// The node itself: kernel, distribution, and how to install a package there.

#include <map>
#include <string>

#include "preflight/host.h"

namespace preflight {

/// Which package tool and package names a distribution uses.
enum class PackageFamily { apt, dnf, unknown };

struct NodeFacts {
    Fact<Node> self;
    Fact<std::map<std::string, std::string>> os_release;  ///< os-release(5), unquoted
    Fact<std::string> boot_id;                            ///< /proc/sys/kernel/random/boot_id
    Fact<std::string> kernel_command_line;
    Fact<std::vector<std::string>> kernel_log;
    PackageFamily packages = PackageFamily::unknown;
    bool root = false;  ///< the tool runs with effective uid 0

    static NodeFacts read(Host& host);

    /// "Red Hat Enterprise Linux 10.2 (Coughlan)", or "unknown".
    std::string os_name() const;
    /// "sudo dnf install -y NAME" with this distribution's name of what `what` stands for: "rdma-core", "libibverbs",
    /// "librdmacm", "libnuma", "providers", "firmware" (the ice DDP package), "iproute".
    std::string install(const std::string& what) const;
};

/// Key and value of an os-release text.
std::map<std::string, std::string> parse_os_release(const std::string& text);

/// `major.minor` of a kernel release such as "6.12.0-55.el10.x86_64"; {0, 0} when it has no such form.
std::pair<int, int> kernel_version(const std::string& release);

/// Text without blanks and line ends on either side.
std::string trimmed(const std::string& text);
std::vector<std::string> split_words(const std::string& text);
std::vector<std::string> split_lines(const std::string& text);

}  // namespace preflight
