// GPUDirect: an RDMA NIC reads and writes GPU memory itself. Only S3 over RDMA does so, and only with buffers in GPU memory.

#include "facts/gpus.h"

#include <algorithm>
#include <set>

#include "facts/kernel_modules.h"
#include "facts/pci_paths.h"
#include "facts/rdma.h"
#include "facts/role.h"
#include "facts/service.h"
#include "gpu.h"
#include "modules.h"
#include "text.h"

namespace preflight {
namespace {

constexpr const char* no_gpu = "this node has no NVIDIA GPU: S3 over RDMA uses host memory";
// One BAR1 of this size is what GPUs without a large one have; the driver maps GPU memory for peers through it.
constexpr std::uint64_t small_bar1 = 256ull << 20;

Subject subject_of(const std::string& address) {
    return {"GPU " + address, {address}};
}

/// A PCI function that could be a GPU, for all that could be read. Empty: none.
std::string unread_function(const PciFunctions& pci) {
    for (const std::string& address : pci.addresses.value_or({})) {
        const auto known = std::find_if(pci.list.begin(), pci.list.end(), [&](const PciFunction& function) { return function.address == address; });
        if (known == pci.list.end() || (known->display() && !known->vendor)) return address;
    }
    return {};
}

void judge_present(const Facts& facts, Findings& out) {
    if (without_gpu(facts, out)) return;
    for (const Gpu& gpu : facts.gpus().list) {
        const std::string source = "/sys/bus/pci/devices/" + gpu.address + "/resource";
        if (!gpu.bar1) {
            out.pass(subject_of(gpu.address), "present; the size of BAR1 could not be read").from(source);
            continue;
        }
        const std::string size = bytes_text(*gpu.bar1);
        const auto with_size = [&](Draft draft) { draft.from(source).note("bar1_bytes", static_cast<std::int64_t>(*gpu.bar1)); };
        if (*gpu.bar1 > small_bar1) with_size(out.pass(subject_of(gpu.address), "present, BAR1 " + size));
        else if (*gpu.bar1 == 0)
            with_size(out.warn(subject_of(gpu.address), "the firmware assigned no memory region to it").want("a BAR1 as large as the GPU's memory")
                          .mend({"Switch \"Above 4G Decoding\" on in the firmware setup of this machine", {}, {}, {}}));
        else
            with_size(out.warn(subject_of(gpu.address), fmt::format("present, BAR1 is only {}: buffers beyond that cannot be registered at once", size))
                          .want("a BAR1 as large as the GPU's memory")
                          .mend({"Switch \"Above 4G Decoding\" and \"Resizable BAR\" on in the firmware setup; some GPUs have no larger BAR1", {}, {}, {}}));
    }
}

void judge_driver(const Facts& facts, Findings& out) {
    if (without_gpu(facts, out)) return;
    const GpuFacts& gpus = facts.gpus();
    const std::string wanted = fmt::format("NVIDIA driver {} or newer", oldest_gpu_driver), source = "/proc/driver/nvidia/version";
    const Remedy install{"Install the NVIDIA data-center driver with the open kernel modules, from the vendor's repository for this distribution, and reboot",
                         {}, {}, {}};
    if (gpus.version.unreadable()) {
        out.unknown(node_subject(), "the driver version could not be read: " + gpus.version.why().cause, how_to_know(gpus.version.why()));
        return;
    }
    if (gpus.version.absent()) {
        std::set<std::string> bound;
        for (const Gpu& gpu : gpus.list)
            if (gpu.driver) bound.insert(*gpu.driver);
        const std::string others = bound.empty() ? "" : "; bound to the GPU: " + list_of({bound.begin(), bound.end()});
        out.fail(node_subject(), "the NVIDIA driver is not loaded" + others).want(wanted).from(source + ", /sys/module/nvidia/version").mend(install);
        return;
    }
    const char* flavour = gpus.flavour == DriverFlavour::open ? ", open kernel modules" : gpus.flavour == DriverFlavour::proprietary ? ", proprietary kernel modules" : "";
    const std::string observed = fmt::format("NVIDIA driver {}{}", *gpus.version, flavour);
    const int branch = driver_branch(*gpus.version);
    if (branch == 0) out.unknown(node_subject(), observed + ": not a version", "Read it by hand: nvidia-smi.").want(wanted).from(source);
    else if (branch < oldest_gpu_driver) out.fail(node_subject(), observed).want(wanted).from(source).mend(install);
    else out.pass(node_subject(), observed).want(wanted).from(source);
}

/// RDMA driver modules of the hardware devices here.
std::set<std::string> rdma_modules(const Facts& facts) {
    std::set<std::string> modules;
    for (const RdmaDeviceFacts& device : facts.rdma().devices)
        if (!device.software && !device.module.empty()) modules.insert(device.module);
    return modules;
}

const Remedy use_dma_buf{"Install the open kernel modules of the NVIDIA driver (515 or newer): they offer dma-buf, which needs no further module", {}, {}, {}};

void judge_peermem_of(const Facts& facts, const std::string& module, Findings& out) {
    const GpuFacts& gpus = facts.gpus();
    const Subject subject{module, {}};
    const DmaBuf dma_buf = gpus.dma_buf(facts, module);
    const std::string three = fmt::format("{}, {}, {}", dma_buf.kernel, dma_buf.provider, dma_buf.gpu);
    const bool loaded = gpus.peermem == ModuleState::loaded || gpus.peermem == ModuleState::built_in;
    const std::string source = "/proc/driver/nvidia/version, /proc/modules, /sys/kernel/mm/memory_peers";
    const std::string wanted = uses_peermem(module) ? "dma-buf in kernel, RDMA library and GPU driver together, or nvidia_peermem registered with the RDMA stack"
                                                    : fmt::format("dma-buf in kernel, RDMA library and GPU driver together; nvidia_peermem does not serve {}", module);
    const auto all = [&](Draft draft) { return draft.want(wanted).from(source).note("dma-buf", three).note("nvidia_peermem loaded", loaded ? "yes" : gpus.peermem == ModuleState::unknown ? "not known" : "no"); };
    const Remedy load{"Load nvidia_peermem, and at every boot", {"sudo modprobe nvidia_peermem"}, {"echo nvidia_peermem | sudo tee /etc/modules-load.d/nvidia_peermem.conf"},
                      {"sudo modprobe -r nvidia_peermem", "sudo rm /etc/modules-load.d/nvidia_peermem.conf"}};

    const bool peermem = loaded && uses_peermem(module);
    if (peermem && gpus.peer_clients) {
        all(out.pass(subject, "nvidia_peermem is loaded, and the RDMA stack has the peer-memory API"));
        return;
    }
    if (dma_buf.support == Support::yes) {
        if (uses_peermem(module))
            all(out.warn(subject, fmt::format("dma-buf works here ({}); nvidia_peermem is {}", three, loaded ? "loaded, but without effect" : gpus.peermem == ModuleState::unknown ? "not known to be loaded" : "not loaded")))
                .because("A client that registers GPU memory by dma-buf works; one that needs nvidia_peermem does not. Which way MinIO's client library takes is not "
                         "published; its messages name nvidia_peermem, and cuFile has to be told (rdma_peer_type: dmabuf).")
                .mend({"Nothing, if your client uses dma-buf: prove it with one transfer from GPU memory. Else install the RDMA stack of the NIC vendor (DOCA-OFED), "
                       "rebuild the GPU driver, load nvidia_peermem", {}, {}, {}});
        else all(out.pass(subject, "dma-buf: " + three));
        return;
    }
    if (peermem && gpus.peer_clients.unreadable()) {
        all(out.unknown(subject, "whether nvidia_peermem is registered could not be read: " + gpus.peer_clients.why().cause, how_to_know(gpus.peer_clients.why())));
    } else if (peermem) {
        all(out.warn(subject, "nvidia_peermem is loaded, but its registration does not show: /sys/kernel/mm/memory_peers is not there"))
            .because("The kernel's own RDMA stack has no peer-memory API; the module then loads without effect, also where the GPU driver was built before the RDMA stack.")
            .mend({"Rebuild the GPU driver after the RDMA stack was installed (sudo dkms autoinstall --force), or use dma-buf", {}, {}, {}});
    } else if (dma_buf.support == Support::maybe) {
        all(out.unknown(subject, "whether dma-buf works could not be determined: " + three,
                        "Prove it with one transfer from GPU memory (perftest built with CUDA: ib_write_bw --use_cuda=0 --use_cuda_dmabuf)."));
    } else if (gpus.peermem == ModuleState::unknown && uses_peermem(module)) {
        all(out.unknown(subject, "whether nvidia_peermem is loaded could not be read, and dma-buf is not there: " + three, "Look with `lsmod | grep nvidia_peermem`."));
    } else {
        const std::string peer = loaded ? fmt::format("nvidia_peermem is loaded, but does not serve {}", module) : "nvidia_peermem is not loaded";
        all(out.fail(subject, fmt::format("GPU memory cannot be registered: {}; no dma-buf ({})", peer, three)))
            .mend(uses_peermem(module) && gpus.peer_clients ? load : use_dma_buf);
    }
}

void judge_peermem(const Facts& facts, Findings& out) {
    if (without_gpu(facts, out)) return;
    const auto modules = rdma_modules(facts);
    if (modules.empty()) out.unknown(node_subject(), "no RDMA device with a known driver", "Make the RDMA device appear first (rdma.device).");
    for (const std::string& module : modules) judge_peermem_of(facts, module, out);
}

void judge_topology(const Facts& facts, Findings& out) {
    if (without_gpu(facts, out)) return;
    const PciPaths& paths = facts.pci_paths();
    if (paths.nics.empty()) {
        out.unknown(node_subject(), "no RDMA NIC on the PCI bus is known here", "Make the RDMA device appear first (rdma.device).");
        return;
    }
    for (const PciPlace& gpu : paths.gpus) {
        const auto [distance, nearest] = paths.nearest(gpu);
        std::vector<std::string> names, all;
        for (const PciPlace* nic : nearest) names.push_back(nic->label);
        for (const PciPlace& nic : paths.nics) all.push_back(fmt::format("{} {} {}", nic.address, nic.label, name(paths.distance(gpu, nic))));
        const auto with = [&](Draft draft) {
            return draft.want("a NIC on the same NUMA node, best below the same switch").from("/sys/bus/pci/devices/" + gpu.address + ", numa_node").note("distances", all);
        };
        const std::string vm = !paths.hypervisor ? "" : " in the tree of the virtual machine";
        if (distance == Distance::unknown)
            with(out.unknown(subject_of(gpu.address), gpu.root ? "the firmware names no NUMA node for GPU or NIC, and they hang on different host bridges" : "its place in the PCI tree is not known: " + no_answer(gpu.root),
                             "Look at `nvidia-smi topo -m`, or let the firmware report NUMA nodes (SRAT)."));
        else if (distance == Distance::sys)
            with(out.warn(subject_of(gpu.address), fmt::format("no NIC on its NUMA node; the nearest, {}, {} on another socket (SYS)", list_of(names), names.size() == 1 ? "is" : "are")))
                .mend({"Use a NIC in a slot of the GPU's socket; until then expect less bandwidth for this GPU", {}, {}, {}});
        else with(out.pass(subject_of(gpu.address), fmt::format("nearest NIC {} ({}){}", list_of(names), name(distance), vm)));
    }
}

}  // namespace

bool without_gpu(const Facts& facts, Findings& out) {
    if (!facts.role().gpus.empty()) return false;
    const auto& addresses = facts.pci().addresses;
    if (addresses.unreadable()) out.unknown(node_subject(), "the PCI functions could not be listed: " + addresses.why().cause, how_to_know(addresses.why()));
    else if (const std::string address = unread_function(facts.pci()); !address.empty())
        out.unknown(node_subject(), fmt::format("what kind of function {} is could not be read", address), fmt::format("Look with `lspci -nn -s {}`, or run the tool as root.", address));
    else out.skip(node_subject(), no_gpu);
    return true;
}

Module gpu_module() {
    Module module{"gpu", "GPUDirect", {}};
    const auto add = [&](Check check) {
        check.paths = s3;
        check.roles = client;
        module.checks.push_back(std::move(check));
    };
    add(row('C', "gpu.present", "An NVIDIA GPU is present", "Only buffers in GPU memory need GPUDirect; host memory works without.",
            "pass: NVIDIA display controllers on the PCI bus. warn: one whose BAR1 is 256 MiB or less, or has no memory region. skip: none.",
            "Switch \"Above 4G Decoding\" on in the firmware setup.", "PCI class 0x0300 and 0x0302 of vendor 0x10de; sysfs resource", {}, judge_present));
    add(row('C', "gpu.driver", "The GPU driver supports GPUDirect RDMA", "Without a driver that supports it, the NIC cannot reach GPU memory.",
            "pass: NVIDIA driver 470 or newer; open or proprietary kernel modules are shown. fail: older, or not loaded.",
            "Install the NVIDIA data-center driver.", "AIStor, configure the RDMA fabric; /proc/driver/nvidia/version", {}, judge_driver));
    add(row('C', "gpu.peermem", "GPU memory can be registered with this NIC driver", "Where neither way works, registering a GPU buffer fails with \"Bad address\".",
            "pass: nvidia_peermem with the peer-memory API of the NIC vendor's RDMA stack, or dma-buf where the NIC's driver knows no other way. warn: dma-buf without "
            "nvidia_peermem on an adapter that could use it; nvidia_peermem loaded without a visible registration. fail: neither. unknown: kernel or library between "
            "the known ones.",
            "Install the open kernel modules of the NVIDIA driver, or load nvidia_peermem.",
            "Linux drivers/infiniband/hw (reg_user_mr_dmabuf); NVIDIA GPU Operator documentation, GPUDirect RDMA", {"rdma.device", "gpu.driver"}, judge_peermem));
    add(row('C', "gpu.topology", "Each GPU has a near NIC", "A transfer between sockets passes their interconnect, which peer-to-peer traffic uses badly.",
            "pass: a NIC on the GPU's NUMA node. warn: the nearest is on another. unknown: the firmware names no NUMA node.",
            "Put a NIC into a slot of the GPU's socket.", "sysfs PCI tree and numa_node; distances as `nvidia-smi topo -m` names them", {"rdma.device"}, judge_topology));
    return module;
}

}  // namespace preflight
