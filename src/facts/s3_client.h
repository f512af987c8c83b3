#pragma once
// What an S3 client on this node will find: libraries of either generation, their configuration, the environment and limits of
// the shell the tool was started from.

#include <optional>
#include <string>
#include <vector>

#include "preflight/host.h"

namespace preflight {

class Facts;

struct S3ClientFacts {
    static S3ClientFacts read(const Facts& facts);
};

}  // namespace preflight
