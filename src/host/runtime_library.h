#pragma once
// A library of the node's own, loaded at run time: the program starts where it is missing, and uses what a service
// would use.

#include <dlfcn.h>

#include <string>
#include <type_traits>

#include "preflight/fact.h"

namespace preflight {

class RuntimeLibrary {
public:
    /// Absent: there is no such library. Unreadable ELIBACC: it, or one that it needs, cannot be loaded. It stays
    /// loaded, since what it has loaded in turn cannot be taken back.
    static Fact<RuntimeLibrary> load(const char* name);

    /// Points `function` to the exported function `name`, or to nullptr.
    template <class F>
    void bind(F& function, const char* name) {
        static_assert(std::is_pointer_v<F>);
        void* address = dlsym(handle_, name);
        function = reinterpret_cast<F>(address);
        if (!address && missing_.empty()) missing_ = name;
        if (address && !bound_) bound_ = address;
    }

    /// Why the library cannot be used: the first function it did not export; empty when all were there.
    std::string trouble() const;
    /// The file, after links, by its first bound function.
    std::string path() const;

private:
    std::string name_, missing_;
    void* handle_ = nullptr;
    void* bound_ = nullptr;
};

}  // namespace preflight
