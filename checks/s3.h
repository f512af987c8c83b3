#pragma once
// Judges of the module s3 that stand in files of their own.

#include "preflight/check.h"

namespace preflight {

void judge_s3_endpoint(const Facts& facts, Findings& out);

}  // namespace preflight
