#include "facts/gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "facts/kernel_modules.h"
#include "facts/node.h"
#include "facts/rdma.h"
#include "facts/role.h"
#include "preflight/facts.h"

namespace preflight {
namespace {

/// Kernel release from which an RDMA driver registers dma-bufs (op reg_user_mr_dmabuf), and the last one known not to.
struct DmaBufDriver {
    std::string_view module;
    std::pair<int, int> last_without, first_with;
    int rdma_core;  ///< first release whose provider offers it
};
// mlx5_ib: Linux 5.12, rdma-core v34. irdma: absent in 6.1, there in 6.12, rdma-core v47.
constexpr DmaBufDriver dma_buf_drivers[] = {
    {"mlx5_ib", {5, 11}, {5, 12}, 34},
    {"irdma", {6, 1}, {6, 12}, 47},
};
// NVIDIA GPU Operator documentation: open kernel modules, CUDA 11.7 (driver 515), kernel 5.12.
constexpr int first_open_driver = 515;

/// Vendor kernels carry later drivers under an old number.
bool vendor_kernel(const std::string& release) {
    for (const char* mark : {".el", "-azure", "-aws", "-gcp", "-oracle", "-nvidia", ".uek", "default"})
        if (release.find(mark) != std::string::npos) return true;
    return false;
}

std::string first_version(const std::string& text) {
    for (const std::string& word : split_words(text))
        if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos) return word;
    return {};
}

Fact<std::uint64_t> largest_region(const std::string& text) {
    constexpr std::size_t bars = 6;                 // the lines after them are the ROM and bridge windows
    constexpr std::uint64_t memory = 0x200;         // IORESOURCE_MEM, include/linux/ioport.h
    std::uint64_t largest = 0;
    const auto lines = split_lines(text);
    if (lines.empty()) return Unreadable{"malformed", "resource: empty"};
    for (std::size_t i = 0; i < std::min(bars, lines.size()); ++i) {
        const auto words = split_words(lines[i]);
        if (words.size() != 3) return Unreadable{"malformed", "resource: \"" + lines[i].substr(0, 60) + "\""};
        const auto number = [&](std::size_t at) { return std::strtoull(words[at].c_str(), nullptr, 16); };
        if (number(2) & memory && number(1) > number(0)) largest = std::max<std::uint64_t>(largest, number(1) - number(0) + 1);
    }
    return largest;
}

/// libibverbs.so.1.14.50.0 belongs to rdma-core 50.
Fact<int> rdma_core_release(Host& host, const RdmaStack& rdma) {
    if (!rdma.verbs) return rdma.verbs.as<int>();
    if (rdma.verbs->library.empty()) return Unreadable{"not-told", "the path of libibverbs is not known"};
    return host.resolve(rdma.verbs->library).then([](const std::string& path) -> Fact<int> {
        const std::string mark = "libibverbs.so.1.";
        const auto at = path.rfind(mark);
        const auto dot = at == std::string::npos ? at : path.find('.', at + mark.size());
        const int release = dot == std::string::npos ? 0 : std::atoi(path.c_str() + dot + 1);
        if (release <= 0) return Unreadable{"not-told", path + " does not name its rdma-core release"};
        return release;
    });
}

}  // namespace

bool uses_peermem(std::string_view module) {
    return module == "mlx5_ib" || module == "mlx4_ib";
}

int driver_branch(const std::string& version) {
    return std::atoi(version.c_str());
}

GpuFacts GpuFacts::read(const Facts& facts) {
    Host& host = facts.host();
    GpuFacts gpus;
    for (const std::string& address : facts.role().gpus) {
        const std::string folder = "/sys/bus/pci/devices/" + address;
        Gpu gpu{address, host.link_target(folder + "/driver").then([](const std::string& link) { return link.substr(link.rfind('/') + 1); }),
                host.read(folder + "/resource").then(largest_region)};
        gpus.list.push_back(std::move(gpu));
    }
    if (gpus.list.empty()) return gpus;
    const auto text = host.read("/proc/driver/nvidia/version");
    gpus.version = text.then([](const std::string& all) -> Fact<std::string> {
        const std::string version = first_version(all.substr(0, all.find('\n')));
        if (version.empty()) return Unreadable{"malformed", "/proc/driver/nvidia/version names no version"};
        return version;
    });
    if (text.absent()) gpus.version = host.read("/sys/module/nvidia/version").then(trimmed);
    if (text) gpus.flavour = text->find("Open Kernel Module") != std::string::npos ? DriverFlavour::open : DriverFlavour::proprietary;
    gpus.peermem = facts.modules().state("nvidia_peermem");
    gpus.peer_clients = host.list("/sys/kernel/mm/memory_peers");
    gpus.rdma_core = rdma_core_release(host, facts.rdma());
    return gpus;
}

DmaBuf GpuFacts::dma_buf(const Facts& facts, const std::string& module) const {
    DmaBuf all;
    const auto known = std::find_if(std::begin(dma_buf_drivers), std::end(dma_buf_drivers), [&](const DmaBufDriver& driver) { return driver.module == module; });
    Support kernel = Support::maybe, provider = Support::maybe, gpu = Support::maybe;

    const std::string release = facts.node().self ? facts.node().self->kernel : "";
    const auto running = kernel_version(release);
    if (known != std::end(dma_buf_drivers) && running != std::pair{0, 0}) {
        if (running >= known->first_with) kernel = Support::yes;
        else if (running <= known->last_without && !vendor_kernel(release) && !facts.modules().out_of_tree(module).value_or(false)) kernel = Support::no;
    }
    all.kernel = fmt::format("{} on kernel {}", module, release.empty() ? "not known" : release);

    if (rdma_core && known != std::end(dma_buf_drivers)) provider = *rdma_core >= known->rdma_core ? Support::yes : Support::no;
    all.provider = rdma_core ? fmt::format("rdma-core {}", *rdma_core) : "rdma-core of unknown release";

    if (flavour == DriverFlavour::proprietary) gpu = Support::no;
    if (flavour == DriverFlavour::open && version) gpu = driver_branch(*version) >= first_open_driver ? Support::yes : Support::no;
    all.gpu = fmt::format("{} NVIDIA driver{}", flavour == DriverFlavour::open ? "open" : flavour == DriverFlavour::proprietary ? "proprietary" : "unknown kind of",
                          version.has() ? " " + *version : "");
    all.support = std::min({kernel, provider, gpu});
    return all;
}

}  // namespace preflight
