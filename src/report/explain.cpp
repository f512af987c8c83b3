#include "report/explain.h"

#include <fmt/format.h>

#include "report/wrap.h"

namespace preflight {
namespace {

constexpr int width = 80;

std::string part(std::string_view label, std::string_view text) {
    return text.empty() ? std::string() : fmt::format("{:<10}{}\n", label, wrap(text, width, 10, 10));
}

std::string bits(unsigned value, const char* one, const char* two) {
    return value == 1 ? one : value == 2 ? two : fmt::format("{}, {}", one, two);
}

}  // namespace

std::string list_text(const std::vector<Module>& catalogue) {
    std::string out;
    for (const Module& module : catalogue) {
        out += fmt::format("{}  {}\n", module.name, module.about);
        for (const Check& check : module.checks) out += fmt::format("  {}  {:<20} {}\n", check.phase, check.id, wrap(check.title, width, 26, 26));
    }
    return out;
}

std::string explain_text(const Check& check) {
    std::string after;
    for (const auto id : check.after) after += fmt::format("{}{}", after.empty() ? "" : " ", id);
    std::string out = fmt::format("{}  ({})\n{}\n\n", check.id, check.phase == 'F' ? std::string("of compare") : fmt::format("phase {}", check.phase), wrap(check.title, width, 0, 0));
    out += part("why", check.why);
    out += part("judges", check.judges);
    out += part("remedy", check.remedy);
    out += part("evidence", check.evidence);
    out += part("paths", bits(check.paths, "inter-node RDMA", "S3 over RDMA"));
    out += part("nodes", bits(check.roles, "storage", "client"));
    out += part("runs as", bits(check.deployments, "systemd service", "container"));
    out += part("after", after);
    if (check.unproven) out += part("note", "A warning of this check can leave the outcome open: it marks what nobody has proven yet.");
    return out;
}

}  // namespace preflight
