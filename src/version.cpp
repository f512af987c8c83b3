#include "version.h"

namespace preflight {

const char* const tool_name = "aistor-rdma-check";
const char* const tool_version = AISTOR_VERSION;
const char* const tool_commit = AISTOR_COMMIT;

}  // namespace preflight
