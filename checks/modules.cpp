// The policy: every module, in the order in which it runs. A cause stands before what it explains.

#include "modules.h"

namespace preflight {

const std::vector<Module>& modules() {
    static const std::vector<Module> list = {
        // Phase A: base RDMA
        platform_module(),
        nic_module(),
        rdma_module(),
        server_module(),
        service_module(),
        env_module(),
        memlock_module(),
        peers_module(),
        container_module(),
        // Phase B: lossless RoCE, host side
        dcb_module(),
        pause_module(),
        congestion_module(),
        counters_module(),
        fabric_module(),
        // Phase C: GPUDirect and S3 over RDMA
        s3_module(),
        gpu_module(),
        pcie_module(),
    };
    return list;
}

const Check* find_check(std::string_view id) {
    for (const Module& module : modules())
        for (const Check& check : module.checks)
            if (check.id == id) return &check;
    return nullptr;
}

}  // namespace preflight
