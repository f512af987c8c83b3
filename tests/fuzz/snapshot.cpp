// Snapshots from anywhere: an error that names the place, or a report.
#include <sys/mman.h>
#include <unistd.h>

#include <memory>

#include "fuzz.h"
#include "preflight/engine.h"
#include "preflight/host.h"

using namespace preflight;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const int file = memfd_create("snapshot", 0);
    HOLDS(file >= 0 && write(file, data, size) == static_cast<ssize_t>(size));
    const std::string path = "/proc/self/fd/" + std::to_string(file);
    Options options;
    options.from_snapshot = true;
    try {
        const auto host = snapshot_host(path);
        to_json(judge(modules(), Facts(*host, options)));
    } catch (const InputError& error) {
        HOLDS(!error.message.empty());
    }
    close(file);
    return 0;
}
