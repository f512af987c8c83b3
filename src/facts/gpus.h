#pragma once
// The NVIDIA driver, and the two ways in which an RDMA driver can register GPU memory: dma-buf, which kernel, RDMA library and
// GPU driver have to support together, and nvidia_peermem, which needs the peer-memory API of the NIC vendor's RDMA stack.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "facts/kernel_modules.h"
#include "preflight/host.h"

namespace preflight {

class Facts;

enum class DriverFlavour { open, proprietary, not_told };

struct Gpu {
    std::string address;
    Fact<std::string> driver;       ///< name of the bound driver; Absent: none
    Fact<std::uint64_t> bar1;       ///< bytes of the largest memory region; 0: the firmware assigned none
};

/// Yes and no are facts; maybe is a kernel or library between the known ones.
enum class Support { no, maybe, yes };

/// dma-buf with one RDMA driver.
struct DmaBuf {
    Support support = Support::no;
    std::string kernel, provider, gpu;  ///< what each of the three says, for a person
};

struct GpuFacts {
    std::vector<Gpu> list;
    Fact<std::string> version;          ///< "570.86.15"; Absent: the driver is not loaded
    DriverFlavour flavour = DriverFlavour::not_told;
    ModuleState peermem = ModuleState::unknown;   ///< of nvidia_peermem
    Fact<std::vector<std::string>> peer_clients;  ///< /sys/kernel/mm/memory_peers: Absent: no peer-memory API, or nobody registered
    Fact<int> rdma_core;                ///< release of rdma-core behind libibverbs: 50

    static GpuFacts read(const Facts& facts);
    /// With the RDMA driver of this module name ("mlx5_ib").
    DmaBuf dma_buf(const Facts& facts, const std::string& module) const;
};

/// Whether nvidia_peermem can serve this RDMA driver: it is built for the adapters of NVIDIA (Mellanox) alone.
bool uses_peermem(std::string_view module);
/// The first number of a driver version: 570 of "570.86.15"; 0 when there is none.
int driver_branch(const std::string& version);

inline constexpr int oldest_gpu_driver = 470;  ///< AIStor, configure the RDMA fabric

}  // namespace preflight
