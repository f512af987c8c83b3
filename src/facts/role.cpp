#include "facts/role.h"

#include <fmt/format.h>

#include <algorithm>

#include "facts/drivers.h"
#include "facts/pci.h"
#include "facts/server_process.h"

namespace preflight {
namespace {

// Where packages and administrators put AIStor: minio-service's unit, the AIStor packages, systemd.unit(5) search path.
constexpr std::string_view traces[] = {
    "/usr/local/bin/minio.rdma", "/usr/local/bin/minio",          "/usr/bin/minio",
    "/usr/lib/minio",            "/etc/default/minio",            "/etc/minio",
};
constexpr std::string_view unit_folders[] = {"/etc/systemd/system/", "/run/systemd/system/", "/usr/local/lib/systemd/system/", "/usr/lib/systemd/system/",
                                             "/lib/systemd/system/"};
constexpr std::string_view library_folders[] = {"/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/local/lib", "/usr/local/lib64",
                                                "/usr/local/cuda/lib64"};
// Client libraries of both generations: libs3rdma and the cuObject family.
constexpr std::string_view client_library_names[] = {"libs3rdma.so.0", "libminiocpp.so", "libminio.so.1", "libcuobjclient.so.1", "libcuobjclient.so"};

/// An AIStor process runs in a container's cgroup and no unit exists.
bool runs_in_container_only(Host& host, const Options& options) {
    for (const std::string_view folder : unit_folders)
        if (host.info(std::string(folder) + options.service).has()) return false;
    const auto processes = host.processes();
    return processes.has() && std::any_of(processes->servers.begin(), processes->servers.end(), [](const Process& process) { return container_cgroup(process.cgroup); });
}

}  // namespace

RoleFacts RoleFacts::read(Host& host, const Options& options, const PciFunctions& pci) {
    RoleFacts facts;
    bool all_seen = true;
    const auto look = [&](const std::string& path) {
        const auto info = host.info(path);
        if (info) facts.aistor_traces.push_back(path);
        all_seen &= !info.unreadable();
    };
    for (const std::string_view path : traces) look(std::string(path));
    for (const std::string_view folder : unit_folders) look(std::string(folder) + options.service);
    for (const Process& process : host.processes().value_or({}).servers) facts.aistor_traces.push_back(fmt::format("process {} ({})", process.pid, process.name));
    for (const PciFunction& function : pci.list)
        if (function.display() && function.vendor.value_or(0) == pci_vendor_nvidia) facts.gpus.push_back(function.address);
    for (const std::string_view folder : library_folders)
        for (const std::string_view library : client_library_names)
            if (const std::string path = fmt::format("{}/{}", folder, library); host.info(path)) facts.client_libraries.push_back(path);
    const bool looks_like_client = !facts.gpus.empty() || !facts.client_libraries.empty();
    facts.roles = options.roles.value_or(facts.aistor_traces.empty() && all_seen && looks_like_client ? client : storage);
    facts.deployment = options.deployment.value_or(runs_in_container_only(host, options) ? container : systemd);
    return facts;
}

}  // namespace preflight
