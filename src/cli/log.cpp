#include "cli/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace preflight {
namespace {

spdlog::logger& logger() {
    static const auto instance = [] {
        auto created = std::make_shared<spdlog::logger>("aistor-rdma-check", std::make_shared<spdlog::sinks::stderr_sink_st>());
        created->set_pattern("%n: %l: %v");
        created->set_level(spdlog::level::warn);
        return created;
    }();
    return *instance;
}

}  // namespace

void set_log_level(LogLevel level) {
    logger().set_level(level == LogLevel::debug ? spdlog::level::debug : level == LogLevel::warning ? spdlog::level::warn : spdlog::level::err);
}

bool debugging() {
    return logger().should_log(spdlog::level::debug);
}

void log_debug(const std::string& message) {
    logger().debug("{}", message);
}

void log_warning(const std::string& message) {
    logger().warn("{}", message);
}

}  // namespace preflight
