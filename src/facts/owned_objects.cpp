#include "facts/owned_objects.h"

#include <fmt/format.h>

#include "facts/rdma.h"

namespace preflight {

std::string OwnedObjects::text() const {
    const auto count = [](std::size_t n, const char* one, const char* many) { return fmt::format("{} {}", n, n == 1 ? one : many); };
    return fmt::format("{}, {}, {}, {}", count(contexts, "context", "contexts"), count(memory_regions, "memory region", "memory regions"),
                       count(listeners, "listener", "listeners"), count(connected, "connected queue pair", "connected queue pairs"));
}

Fact<OwnedObjects> read_owned_objects(Host& host, const RdmaStack& rdma, int pid) {
    if (!rdma.nldev.has()) return rdma.nldev.as<OwnedObjects>();
    if (rdma.nldev->empty()) return Absent{"no RDMA device"};
    OwnedObjects owned;
    for (const RdmaDevice& device : *rdma.nldev) {
        const auto resources = host.rdma_resources(device.name);
        if (resources.unreadable()) return resources.as<OwnedObjects>();
        for (const RdmaResource& resource : resources.value_or({})) {
            if (resource.pid != pid) continue;
            owned.contexts += resource.kind == "ctx";
            owned.memory_regions += resource.kind == "mr";
            owned.registered += resource.kind == "mr" ? resource.length : 0;
            owned.listeners += resource.kind == "cm_id" && resource.state == "LISTEN";
            const bool connected = resource.kind == "qp" && resource.type == "RC" && resource.state == "RTS";
            owned.connected += connected;
            if (connected) ++owned.connected_on[device.name];
        }
    }
    return owned;
}

}  // namespace preflight
