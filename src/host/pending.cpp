// Sources that are not linked yet answer "not-asked".
#include "host/live.h"

namespace preflight::live {
#define PENDING(type, signature) __attribute__((weak)) Fact<type> signature { return Unreadable{"not-asked", "no source yet"}; }
using Counters = std::map<std::string, std::uint64_t>;
PENDING(std::vector<RdmaDevice>, rdma_devices())
PENDING(std::vector<RdmaResource>, rdma_resources(const std::string&))
PENDING(std::string, rdma_netns_mode())
PENDING(GidTable, rdma_gids(const std::string&, const std::string&, int))
PENDING(Counters, rdma_counters(const std::string&, const std::string&, int))
PENDING(Verbs, verbs())
}  // namespace preflight::live
