#pragma once
// Shared by the modules about the service.

#include <vector>

#include "preflight/check.h"

namespace preflight {

/// service.running and service.rdma; the unit's own rows stand in service.cpp.
std::vector<Check> service_process_checks();

}  // namespace preflight
