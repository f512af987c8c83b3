// Unit files and drop-ins, and the words of their values.
#include "facts/unit_file.h"
#include "fuzz.h"
#include "grammar/systemd_text.h"
#include "host/secrets.h"

using namespace preflight;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = text_of(data, size);
    const std::string masked = secrets::mask_unit_file(text);
    const Specifiers specifiers{{{'n', "minio.service"}, {'H', "node"}}};
    for (const std::string_view version : {text, std::string_view(masked)}) {
        UnitFiles files;
        const UnitText read = read_unit_text(version, "minio.service");
        files.lines = read.lines;
        files.troubles = read.troubles;
        interpret(files, specifiers);
    }
    HOLDS(masked.size() == text.size());
    environment_words(text, specifiers);
    systemd_text::parse_byte_limit(text);
    systemd_text::parse_size(text);
    systemd_text::parse_boolean(text);
    return 0;
}
