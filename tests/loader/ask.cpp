// Prints what the program finds for the libraries of each file named: "FILE", then lines "NAME PATH", "NAME not found" or "NAME broken", and
// "version TEXT" for each symbol version that is missing.
// LD_LIBRARY_PATH of this process stands for the service's.

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "facts/loader.h"

using namespace preflight;

int main(int count, char** arguments) {
    const auto host = live_host();
    LoaderSetting setting;
    if (const char* path = std::getenv("SERVICE_LIBRARY_PATH")) {
        std::istringstream words(path);
        for (std::string word; std::getline(words, word, ':');) setting.library_path.push_back(word);
    }
    setting.levels = hardware_levels(*host);
    for (int i = 1; i < count; ++i) {
        std::printf("%s\n", arguments[i]);
        const auto elf = host->elf(arguments[i]);
        if (!elf) {
            std::printf("  unreadable %s\n", elf.absent() ? "absent" : elf.why().error.c_str());
            continue;
        }
        Loader loader(*host, setting);
        for (const LoadedLibrary& library : loader.load(arguments[i], *elf))
            std::printf("  %s %s\n", library.name.c_str(), library.path ? library.path->c_str() : library.broken.empty() ? "not found" : "broken");
        for (const std::string& version : loader.missing_versions()) std::printf("  version %s\n", version.c_str());
    }
    return 0;
}
