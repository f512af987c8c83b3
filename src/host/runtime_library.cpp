#include "host/runtime_library.h"

#include <fmt/format.h>

#include <climits>
#include <cstdlib>

namespace preflight {

Fact<RuntimeLibrary> RuntimeLibrary::load(const char* name) {
    RuntimeLibrary library;
    library.name_ = name;
    library.handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library.handle_) return library;
    const char* reason = dlerror();
    const std::string text = reason ? reason : "no reason given";
    // What ld.so says of the library itself, not of one it needs.
    if (text == fmt::format("{}: cannot open shared object file: No such file or directory", name)) return Absent{};
    return Unreadable{"ELIBACC", text};
}

std::string RuntimeLibrary::trouble() const {
    return missing_.empty() ? "" : fmt::format("{}: no function {}", name_, missing_);
}

std::string RuntimeLibrary::path() const {
    Dl_info info{};
    if (!bound_ || !dladdr(bound_, &info) || !info.dli_fname) return {};
    char resolved[PATH_MAX];
    return realpath(info.dli_fname, resolved) ? resolved : info.dli_fname;
}

}  // namespace preflight
