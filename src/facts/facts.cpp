#include "preflight/facts.h"

#include <optional>

#include "facts/container.h"
#include "facts/environment.h"
#include "facts/gpus.h"
#include "facts/keepers.h"
#include "facts/kernel_modules.h"
#include "facts/lossless.h"
#include "facts/memlock.h"
#include "facts/nic.h"
#include "facts/node.h"
#include "facts/owned_objects.h"
#include "facts/pci.h"
#include "facts/peers.h"
#include "facts/pci_paths.h"
#include "facts/ports.h"
#include "facts/probe_result.h"
#include "facts/rdma.h"
#include "facts/role.h"
#include "facts/s3_client.h"
#include "facts/samples.h"
#include "facts/server_build.h"
#include "facts/server_process.h"
#include "facts/service.h"
#include "facts/session.h"

namespace preflight {

struct Facts::Cache {
    std::optional<NodeFacts> node;
    std::optional<Modules> modules;
    std::optional<PciFunctions> pci;
    std::optional<RdmaStack> rdma;
    std::optional<Ports> ports;
    std::optional<NicFacts> nic;
    std::optional<Lossless> lossless;
    std::optional<Keepers> keepers;
    std::optional<Samples> samples;
    std::optional<RoleFacts> role;
    std::optional<ServiceFacts> service;
    std::optional<ServerProcesses> server_processes;
    std::optional<EnvironmentFacts> environment;
    std::optional<ServerBuild> server_build;
    std::optional<MemlockFacts> memlock;
    std::optional<std::vector<ContainerView>> containers;
    std::optional<PeerFacts> peers;
    std::optional<PeerReach> peer_reach;
    std::optional<PortHolders> peer_port_holders;
    std::optional<std::optional<ProbeResult>> probe_result;
    std::optional<PciPaths> pci_paths;
    std::optional<GpuFacts> gpus;
    std::optional<S3ClientFacts> s3_client;
    std::optional<Session> session;
};

namespace {

/// Reads a domain when it is first asked for.
template <class T, class Read>
const T& once(std::optional<T>& cached, Read&& read) {
    if (!cached) cached.emplace(read());
    return *cached;
}

}  // namespace

Facts::Facts(Host& host, Options options) : host_(host), options_(std::move(options)), cache_(std::make_unique<Cache>()) {}
Facts::~Facts() = default;

const NodeFacts& Facts::node() const {
    return once(cache_->node, [&] { return NodeFacts::read(host_); });
}

const Session& Facts::session() const {
    return once(cache_->session, [&] { return Session::read(host_, ports()); });
}

const Modules& Facts::modules() const {
    return once(cache_->modules, [&] { return Modules::read(host_, node()); });
}

const PciFunctions& Facts::pci() const {
    return once(cache_->pci, [&] { return PciFunctions::read(host_); });
}

const RdmaStack& Facts::rdma() const {
    return once(cache_->rdma, [&] { return RdmaStack::read(host_); });
}

const Ports& Facts::ports() const {
    return once(cache_->ports, [&] { return Ports::read(host_, options_, pci(), rdma(), own_endpoint_addresses(host_, environment())); });
}

const NicFacts& Facts::nic() const {
    return once(cache_->nic, [&] { return NicFacts::read(host_, ports()); });
}

const Lossless& Facts::lossless() const {
    return once(cache_->lossless, [&] { return Lossless::read(*this); });
}

const Keepers& Facts::keepers() const {
    return once(cache_->keepers, [&] { return Keepers::read(host_); });
}

const Samples& Facts::samples() const {
    return once(cache_->samples, [&] { return Samples::read(*this); });
}

const RoleFacts& Facts::role() const {
    return once(cache_->role, [&] { return RoleFacts::read(host_, options_, pci()); });
}

const ServiceFacts& Facts::service() const {
    return once(cache_->service, [&] { return read_service(host_, options_); });
}

const ServerProcesses& Facts::server_processes() const {
    return once(cache_->server_processes, [&] { return read_server_processes(host_, service()); });
}

const EnvironmentFacts& Facts::environment() const {
    return once(cache_->environment, [&] { return read_environment(host_, options_, service(), server_processes(), deployment()); });
}

const MemlockFacts& Facts::memlock() const {
    return once(cache_->memlock, [&] { return MemlockFacts::read(host_, environment(), rdma()); });
}

Fact<OwnedObjects> Facts::owned_objects(int pid) const {
    return read_owned_objects(host_, rdma(), pid);
}

const std::vector<ContainerView>& Facts::containers() const {
    return once(cache_->containers, [&] { return read_containers(host_, server_processes(), rdma()); });
}

const PciPaths& Facts::pci_paths() const {
    return once(cache_->pci_paths, [&] { return PciPaths::read(*this); });
}

const GpuFacts& Facts::gpus() const {
    return once(cache_->gpus, [&] { return GpuFacts::read(*this); });
}

const S3ClientFacts& Facts::s3_client() const {
    return once(cache_->s3_client, [&] { return S3ClientFacts::read(*this); });
}

Fact<bool> Facts::container_rdma_build(const Process& process) const {
    return rdma_build_in(host_, process);
}

const ServerBuild& Facts::server_build() const {
    return once(cache_->server_build, [&] { return ServerBuild::read(host_, options_, service(), environment()); });
}

const PeerFacts& Facts::peers() const {
    return once(cache_->peers, [&] { return PeerFacts::read(host_, options_, ports(), PeerSettings::read(environment())); });
}

const PeerReach& Facts::peer_reach() const {
    return once(cache_->peer_reach, [&] { return PeerReach::read(host_, peers()); });
}

const PortHolders& Facts::peer_port_holders() const {
    return once(cache_->peer_port_holders, [&] { return PortHolders::read(host_, rdma(), peers().rdma_port); });
}

const std::optional<ProbeResult>& Facts::probe_result() const {
    return once(cache_->probe_result, [&] {
        return options_.probe_result ? std::optional(ProbeResult::read(*options_.probe_result)) : std::nullopt;
    });
}

unsigned Facts::roles() const {
    return role().roles;
}

Deployment Facts::deployment() const {
    return role().deployment;
}

unsigned Facts::want() const {
    return options_.want.value_or(roles() & storage ? internode | s3 : s3);
}

}  // namespace preflight
