// AIStor in a pod, judged from outside: what the server process has, not what the chart says it should have.

#include <fmt/format.h>

#include <algorithm>

#include "facts/container.h"
#include "facts/memlock.h"
#include "facts/server_process.h"
#include "facts/service.h"
#include "modules.h"
#include "preflight/facts.h"
#include "text.h"

namespace preflight {
namespace {

Subject process_subject(const Process& process) {
    return {fmt::format("{} (pid {})", process.name, process.pid), {}};
}

bool no_pod(const Facts& facts, Findings& out) {
    if (!facts.server_processes().in_container.empty()) return false;
    out.unknown(node_subject(), "no AIStor process runs in a container here", "Run it again once the pod runs, in the host's pid namespace.");
    return true;
}

void judge_devices(const Facts& facts, Findings& out) {
    if (no_pod(facts, out)) return;
    for (const ContainerView& view : facts.containers()) {
        const Subject subject = process_subject(view.process);
        const Remedy expose{"Give the pod the RDMA devices (device plugin or a privileged pod) and host network or a secondary network on the RDMA NIC", {}, {}, {}};
        if (view.devices.unreadable()) {
            out.unknown(subject, view.devices.why().cause, "Run it as root in the host's pid namespace.");
            continue;
        }
        const auto names = view.devices.value_or({});
        const bool verbs = std::any_of(names.begin(), names.end(), [](const std::string& name) { return name.rfind("uverbs", 0) == 0; });
        const bool cm = std::find(names.begin(), names.end(), "rdma_cm") != names.end();
        if (!verbs || !cm) {
            out.fail(subject, fmt::format("its root has no {}: the pod was not given RDMA", names.empty() ? "/dev/infiniband" : !verbs ? "/dev/infiniband/uverbs*" : "/dev/infiniband/rdma_cm")).want("uverbs and rdma_cm")
                .from(fmt::format("/proc/{}/root/dev/infiniband", view.process.pid)).mend(expose);
            continue;
        }
        if (view.same_network == false) {
            if (view.usable_gids.unreadable()) out.unknown(subject, "its network namespace is its own, and its GIDs cannot be seen from here", "Run it inside the pod (kubectl exec), or use host network.");
            else if (view.usable_gids.has() && *view.usable_gids == 0) out.fail(subject, "no GID is usable in its network namespace: it has only an overlay interface").want("a netdev on the RDMA NIC").mend(expose);
            else out.pass(subject, "has the RDMA devices and a usable GID");
            continue;
        }
        if (!view.same_network) out.unknown(subject, "its network namespace cannot be read", "Run it as root.");
        else if (view.usable_gids.has() && *view.usable_gids == 0)
            out.fail(subject, "no GID is usable in its network namespace: it has only an overlay interface").want("a netdev on the RDMA NIC").mend(expose);
        else out.pass(subject, "has the RDMA devices, in the host's network namespace").from(fmt::format("/proc/{}/root/dev/infiniband", view.process.pid));
    }
}

void judge_memlock(const Facts& facts, Findings& out) {
    if (no_pod(facts, out)) return;
    const auto& need = facts.memlock().need;
    const Remedy runtime{"Lift the limit of the container runtime's own service, then recreate the pods (running ones keep the old limit)",
                         {"sudo mkdir -p /etc/systemd/system/containerd.service.d", "printf '[Service]\\nLimitMEMLOCK=infinity\\n' | sudo tee /etc/systemd/system/containerd.service.d/memlock.conf",
                          "sudo systemctl daemon-reload", "sudo systemctl restart containerd"},
                         {}, {"sudo rm /etc/systemd/system/containerd.service.d/memlock.conf", "sudo systemctl daemon-reload"}};
    for (const Process& process : facts.server_processes().in_container) {
        const Subject subject = process_subject(process);
        const std::string source = fmt::format("/proc/{}/limits", process.pid);
        if (!process.memlock.has()) {
            out.unknown(subject, source + " cannot be read", "Run it as root in the host's pid namespace.");
            continue;
        }
        const std::uint64_t soft = process.memlock->soft;
        const bool capable = process.capabilities >> 14 & 1;
        if (soft == systemd_text::infinity) out.pass(subject, "unlimited").from(source);
        else if (may_lock_everything(process)) out.pass(subject, fmt::format("{}, but it holds CAP_IPC_LOCK in the initial user namespace", bytes_text(soft))).from(source);
        else if (capable && !in_initial_user_namespace(process)) out.unknown(subject, "it holds CAP_IPC_LOCK, but its user namespace cannot be read", "Run it as root.");
        else {
            const std::string cap = capable ? "CAP_IPC_LOCK of its own user namespace does not count" : fmt::format("CapEff {:016x} is without CAP_IPC_LOCK (a pod's added capability reaches root only)", process.capabilities);
            const bool below = !need || soft < need->bytes;
            const std::string observed = fmt::format("{}, and {}{}", bytes_text(soft), cap, need ? "; a pool takes " + need->sum : "");
            if (below) out.fail(subject, observed).want("unlimited").from(source).mend(runtime);
            else out.warn(subject, observed).want("unlimited").from(source).mend(runtime);
        }
    }
}

void judge_image(const Facts& facts, Findings& out) {
    if (no_pod(facts, out)) return;
    for (const Process& process : facts.server_processes().in_container) {
        const Subject subject = process_subject(process);
        const std::string source = fmt::format("/proc/{}/exe", process.pid);
        if (!process.executable.has()) {
            out.unknown(subject, source + " cannot be read", "Run it as root in the host's pid namespace.");
            continue;
        }
        const Fact<bool> build = facts.container_rdma_build(process);
        if (build.has() && *build) out.pass(subject, fmt::format("{} is an RDMA build", *process.executable)).from(source);
        else if (build.has())
            out.fail(subject, fmt::format("{} is no RDMA build: the pod was not mutated, or its image has no .rdma tag", *process.executable)).want("an image tag that ends in .rdma").from(source)
                .mend({"Use the image with the tag RELEASE.rdma and chart aistor-operator 6.0.0 or later; older charts ignore the rdma field", {}, {}, {}});
        else out.unknown(subject, fmt::format("whether {} is an RDMA build: {}", *process.executable, build.unreadable() ? build.why().cause : "not found"), "Run it as root in the host's pid namespace.");
    }
}

}  // namespace

Module container_module() {
    Module module{"container", "AIStor in a pod", {
        row('A', "container.devices", "The pod has the RDMA devices and a usable GID", "A pod without the character devices, or with only an overlay interface, starts and uses TCP.",
            "fail: no uverbs or rdma_cm in the server's root, or no usable GID in its network namespace. unknown: not readable, or no pod runs.", "A device plugin, and host network or a secondary network.",
            "AIStor enable-rdma page; k8s-rdma-shared-dev-plugin", {}, judge_devices),
        row('A', "container.memlock", "The pod may lock enough memory", "Kubernetes has no memlock field: the limit of the runtime's service decides, and IPC_LOCK reaches root only.",
            "pass: unlimited, or CAP_IPC_LOCK effective in the initial user namespace. fail: less than one pool. warn: finite above.", "LimitMEMLOCK=infinity for the runtime's service; recreate the pods.",
            "drivers/infiniband/core/umem.c; nvidia-container-toolkit 2037", {}, judge_memlock),
        row('A', "container.image", "The pod runs the RDMA build", "A chart that is too old leaves the pod as it was; it serves over TCP.", "fail: the process does not run an RDMA build.",
            "Image tag RELEASE.rdma, chart aistor-operator 6.0.0 or later.", "AIStor enable-rdma page", {}, judge_image),
    }};
    for (Check& check : module.checks) {
        check.roles = storage;
        check.deployments = container;
    }
    return module;
}

}  // namespace preflight
