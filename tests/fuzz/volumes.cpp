// MINIO_VOLUMES and its ellipses. An error names a column inside the value.
#include "facts/volumes.h"
#include "fuzz.h"

using namespace preflight;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = text_of(data, size);
    const Volumes volumes = parse_volumes(text);
    for (const VolumeError& error : volumes.errors) HOLDS(error.column <= size + 1);
    return 0;
}
