#pragma once
// env.file and env.syntax: the files themselves; what their values mean stands in env.cpp.

#include "preflight/finding.h"

namespace preflight {

class Facts;

void judge_env_file(const Facts& facts, Findings& out);
void judge_env_syntax(const Facts& facts, Findings& out);

}  // namespace preflight
