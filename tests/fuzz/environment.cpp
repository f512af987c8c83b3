// EnvironmentFile= and MINIO_CONFIG_ENV_FILE: both readers, and the mask, which keeps the length.
#include "facts/server_env.h"
#include "fuzz.h"
#include "grammar/env_file.h"
#include "host/secrets.h"

using namespace preflight;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = text_of(data, size);
    const std::string masked = secrets::mask_environment_file(text);
    for (const std::string_view version : {text, std::string_view(masked)}) {
        read_env_file(version, CommentContinues::yes);
        read_env_file(version, CommentContinues::no);
        read_server_env(version);
    }
    HOLDS(masked.size() == text.size());
    const std::string by_server = secrets::mask_server_env(text);
    read_server_env(by_server);
    HOLDS(by_server.size() == text.size());
    return 0;
}
