#pragma once
// What the modules gpu and pcie share.

#include "preflight/check.h"

namespace preflight {

/// On a node without a GPU: writes the skip, or unknown where the PCI functions could not be read as far as that, and returns true.
bool without_gpu(const Facts& facts, Findings& out);

}  // namespace preflight
