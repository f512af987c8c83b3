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

constexpr unsigned both = storage | client;

}  // namespace

Module s3_module() {
    return pending("s3", "S3 over RDMA", 'C',
                   {{"s3.server", "The server's S3 RDMA library resolves", s3},
                    {"s3.transport", "The device offers the transport S3 clients need", s3, both},
                    {"s3.endpoint", "The S3 endpoint is reachable from the RDMA address", s3, client},
                    {"s3.client", "The client libraries are usable", s3, client},
                    {"s3.device", "S3RDMA_DEVICE names an existing device", s3, client},
                    {"s3.memlock", "The client job may lock enough memory", s3, client}});
}

}  // namespace preflight
