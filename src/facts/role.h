#pragma once
// What this node is: storage node or client, under systemd or in a container, and by which trace.

#include <string>
#include <vector>

#include "preflight/host.h"
#include "preflight/options.h"

namespace preflight {

struct PciFunctions;

struct RoleFacts {
    std::vector<std::string> aistor_traces;  ///< units, binaries, environment files, processes that speak of AIStor
    std::vector<std::string> gpus;           ///< PCI addresses of NVIDIA GPUs
    std::vector<std::string> client_libraries;
    unsigned roles = storage;
    Deployment deployment = systemd;

    static RoleFacts read(Host& host, const Options& options, const PciFunctions& pci);
};

}  // namespace preflight
