// Policy files.
#include "fuzz.h"
#include "preflight/policy.h"
#include "preflight/host.h"

using namespace preflight;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        parse_policy(std::string(text_of(data, size)), "policy.json");
    } catch (const InputError& error) {
        HOLDS(error.message.find("policy.json") != std::string::npos);
    }
    return 0;
}
