// Modules that a later version fills: listed, and unknown on every node, so that no phase can pass by accident.

#include "modules.h"

namespace preflight {
namespace {

struct Row {
    std::string_view id, title;
    unsigned paths = internode | s3;
    unsigned roles = storage;
    unsigned deployments = systemd | container;
};

Module pending(std::string_view name, std::string_view about, char phase, std::initializer_list<Row> rows) {
    Module module{name, about, {}};
    for (const Row& row : rows) {
        Check check{};
        check.id = row.id;
        check.phase = phase;
        check.title = row.title;
        check.why = "RDMA fails silently to TCP, so what was not looked at cannot be called fine.";
        check.judges = "unknown on every node: this version cannot judge it yet.";
        check.paths = row.paths;
        check.roles = row.roles;
        check.deployments = row.deployments;
        check.judge = not_built_yet;
        module.checks.push_back(std::move(check));
    }
    return module;
}

}  // namespace

Module server_module() {
    return pending("server", "the minio.rdma build and its libraries", 'A',
                   {{"server.binary", "The server file is the RDMA build"},
                    {"server.libraries", "Every library the server needs resolves as the service resolves it"},
                    {"server.version", "The server release supports RDMA"}});
}

Module peers_module() {
    return pending("peers", "the other AIStor nodes", 'A',
                   {{"peers.list", "The AIStor nodes are known, this one among them", internode},
                    {"peers.names", "Peer names resolve to storage addresses", internode},
                    {"peers.route", "Routes to the peers leave by a storage port", internode},
                    {"peers.port", "The RDMA peer port of each peer is reachable", internode},
                    {"peers.listener", "The local RDMA peer port is free or AIStor's", internode},
                    {"peers.rdma", "A real RDMA transfer to a peer worked", internode}});
}

}  // namespace preflight
