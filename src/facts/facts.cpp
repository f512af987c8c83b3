#include "preflight/facts.h"

#include <optional>

#include "facts/keepers.h"
#include "facts/kernel_modules.h"
#include "facts/lossless.h"
#include "facts/nic.h"
#include "facts/node.h"
#include "facts/pci.h"
#include "facts/ports.h"
#include "facts/rdma.h"
#include "facts/role.h"
#include "facts/samples.h"

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
    return once(cache_->ports, [&] { return Ports::read(host_, options_, pci(), rdma(), {}); });
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
