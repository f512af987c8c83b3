#pragma once

#include "preflight/check.h"

namespace preflight {

/// s3.server: a row of the s3 module about the server's file.
Check s3_server_check();

}  // namespace preflight
