// EnvironmentFile= and MINIO_CONFIG_ENV_FILE: both readers, and the mask, which must leave the file parsing alike.
#include "facts/server_env.h"
#include "fuzz.h"
#include "grammar/env_file.h"
#include "host/secrets.h"

using namespace preflight;

namespace {

void compare(std::string_view text, std::string_view masked, CommentContinues comments) {
    const EnvFile before = read_env_file(text, comments), after = read_env_file(masked, comments);
    HOLDS(before.lines.size() == after.lines.size());
    for (std::size_t i = 0; i < before.lines.size(); ++i) {
        HOLDS(before.lines[i].name == after.lines[i].name);
        HOLDS(before.lines[i].line == after.lines[i].line);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = text_of(data, size);
    const std::string masked = secrets::mask_environment_file(text);
    compare(text, masked, CommentContinues::yes);
    compare(text, masked, CommentContinues::no);
    read_server_env(text);
    HOLDS(secrets::mask_environment_file(masked) == masked);
    return 0;
}
