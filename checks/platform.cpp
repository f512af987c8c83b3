// Platform floor of AIStor's RDMA build: 64-bit Linux on amd64 or arm64 with kernel 5.4 or newer (AIStor documentation,
// operations/rdma/configure-the-rdma-fabric).

#include <fmt/format.h>

#include "facts/node.h"
#include "modules.h"
#include "preflight/facts.h"

namespace preflight {
namespace {

constexpr std::pair<int, int> oldest_kernel{5, 4};

void judge_os(const Facts& facts, Findings& out) {
    const auto& self = facts.node().self;
    const std::string want = fmt::format("64-bit Linux, x86_64 or aarch64, kernel {}.{} or newer", oldest_kernel.first, oldest_kernel.second);
    if (!self) {
        out.unknown(node_subject(), "uname could not be read", "Run the tool on the node itself.").want(want);
        return;
    }
    const std::string seen = fmt::format("{} {}, {}", self->system, self->kernel, self->architecture);
    const auto version = kernel_version(self->kernel);
    const bool machine = self->architecture == "x86_64" || self->architecture == "aarch64";
    if (version == std::pair{0, 0}) {
        out.unknown(node_subject(), seen + ": the kernel release has no version number", "Compare `uname -r` with 5.4 by hand.").want(want).from("uname");
        return;
    }
    if (self->system == "Linux" && machine && version >= oldest_kernel) {
        out.pass(node_subject(), seen).want(want).from("uname");
        return;
    }
    out.fail(node_subject(), seen)
        .want(want)
        .from("uname")
        .mend({machine ? "Update the node to a kernel that AIStor's RDMA build supports." : "AIStor's RDMA build exists for x86_64 and aarch64 only.", {}, {}, {}});
}

}  // namespace

Module platform_module() {
    return {"platform",
            "operating system and kernel",
            {{.id = "platform.os",
              .phase = 'A',
              .title = "The platform can run AIStor's RDMA build",
              .why = "The RDMA build ships for 64-bit amd64 and arm64 and needs the RDMA subsystem of kernel 5.4 or newer.",
              .judges = "pass: Linux on x86_64 or aarch64 with kernel >= 5.4. fail: anything else. unknown: the kernel release carries no version.",
              .remedy = "Install a supported kernel.",
              .evidence = "AIStor documentation, operations/rdma/configure-the-rdma-fabric.",
              .judge = judge_os}}};
}

}  // namespace preflight
