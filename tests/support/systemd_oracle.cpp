#include "support/systemd_oracle.h"

#include <dlfcn.h>
#include <glob.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace preflight::systemd_oracle {
namespace {

void* library() {
    static void* const handle = [] {
        glob_t found{};
        void* opened = nullptr;
        for (const char* pattern : {"/usr/lib/*/systemd/libsystemd-shared-*.so", "/usr/lib/systemd/libsystemd-shared-*.so", "/usr/lib64/systemd/libsystemd-shared-*.so"})
            if (!opened && glob(pattern, 0, nullptr, &found) == 0) opened = dlopen(found.gl_pathv[0], RTLD_NOW | RTLD_LOCAL);
        globfree(&found);
        if (opened)
            if (auto* quiet = reinterpret_cast<void (*)(int)>(dlsym(opened, "log_set_max_level"))) quiet(0);
        return opened;
    }();
    return handle;
}

template <class F>
F* symbol(const char* name) {
    return reinterpret_cast<F*>(dlsym(library(), name));
}

std::vector<std::string> taken(char** list) {
    std::vector<std::string> out;
    for (char** entry = list; entry && *entry; ++entry) {
        out.emplace_back(*entry);
        free(*entry);
    }
    free(list);
    return out;
}

struct Pointers {
    explicit Pointers(std::vector<std::string>& texts) {
        for (std::string& text : texts) list.push_back(text.data());
        list.push_back(nullptr);
    }
    std::vector<char*> list;
};

}  // namespace

bool available() {
    return library() && symbol<int()>("load_env_file") && symbol<int()>("replace_env_argv");
}

std::optional<std::map<std::string, std::string>> load_env_file(const std::string& text) {
    FILE* file = text.empty() ? fopen("/dev/null", "r") : fmemopen(const_cast<char*>(text.data()), text.size(), "r");
    char** list = nullptr;
    const int result = symbol<int(FILE*, const char*, char***)>("load_env_file")(file, "corpus", &list);
    fclose(file);
    if (result < 0) return std::nullopt;
    if (list) list = symbol<char**(char**, void (*)(const char*, void*), void*)>("strv_env_clean_with_callback")(list, nullptr, nullptr);
    std::map<std::string, std::string> out;
    for (const std::string& entry : taken(list)) out[entry.substr(0, entry.find('='))] = entry.substr(entry.find('=') + 1);
    return out;
}

std::optional<std::vector<std::string>> words(const std::string& text, unsigned flags) {
    const auto next = symbol<int(const char**, char**, const char*, unsigned)>("extract_first_word");
    std::vector<std::string> out;
    const char* rest = text.c_str();
    for (;;) {
        char* word = nullptr;
        const int result = next(&rest, &word, nullptr, flags);
        if (result < 0) return std::nullopt;
        if (result == 0) return out;
        out.emplace_back(word);
        free(word);
    }
}

std::vector<std::string> expand(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& variables) {
    std::vector<std::string> argv = arguments, entries;
    for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
    Pointers a(argv), e(entries);
    return taken(symbol<char**(char**, char**)>("replace_env_argv")(a.list.data(), e.list.data()));
}

std::optional<unsigned long long> parse_size(const std::string& text) {
    std::uint64_t size = 0;
    if (symbol<int(const char*, std::uint64_t, std::uint64_t*)>("parse_size")(text.c_str(), 1024, &size) < 0) return std::nullopt;
    return size;
}

}  // namespace preflight::systemd_oracle
