#include "facts/server_build.h"

#include <fmt/format.h>

#include <algorithm>

#include "facts/environment.h"
#include "facts/service.h"

namespace preflight {
namespace {

constexpr std::string_view feature_line = "GPU-Direct RDMA";  // AIStor documentation, troubleshoot: "Features: GPU-Direct RDMA"

// libs3rdma needs only libc at link time and loads these by name (minio/minio-cpp, header and package dependencies of 0.6.0).
constexpr const char* opened_by_name[] = {"libibverbs.so.1", "librdmacm.so.1", "libnuma.so.1"};

std::vector<std::string> split(const std::string& text, const char* separators) {
    std::vector<std::string> list;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = std::min(text.find_first_of(separators, begin), text.size());
        list.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return list;
}

bool begins(const std::string& text, std::string_view begin) {
    return text.rfind(begin, 0) == 0;
}

/// "RELEASE.2026-08-07T18-34-35Z" in a text, or empty.
std::string release_in(const std::string& text) {
    for (const char* lead : {"RELEASE.20", "EDGE.20"})
        if (const auto at = text.find(lead); at != std::string::npos) return text.substr(at, text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-", at) - at);
    return {};
}

void find_release(ServerBuild& build, const Options& options) {
    const auto take = [&](const std::string& release, const std::string& origin) {
        if (!build.release.empty() || release.empty()) return;
        build.release = release;
        build.release_origin = origin;
    };
    take(options.server_release.value_or(""), "--server-release");
    if (build.banner) take(release_in(*build.banner), build.real + " --version");
    if (!build.elf) return;
    if (const auto flags = build.elf->go_build.find("-ldflags"); flags != build.elf->go_build.end()) take(release_in(flags->second), "its Go build information");
    if (build.elf->releases.size() == 1) take(build.elf->releases.front(), "the only release that its bytes name");
}

}  // namespace

std::string ServerBuild::sign() const {
    if (banner) return banner->find(feature_line) == std::string::npos ? std::string() : fmt::format("its --version prints \"{}\"", feature_line);
    if (!elf) return {};
    for (const char* library : {"libs3rdma.so", "libp2p_rdma.so"})
        for (const std::string& needed : elf->needed)
            if (begins(needed, library)) return "it needs " + needed;
    if (!elf->marks.empty()) return fmt::format("its bytes name {}", elf->marks.front());
    return {};
}

bool ServerBuild::rdma_build() const {
    return !sign().empty();
}

ServerBuild ServerBuild::read(Host& host, const Options& options, const ServiceFacts& service, const EnvironmentFacts& environment) {
    ServerBuild build;
    build.path = service.executable();
    build.origin = "ExecStart= of " + service.executable_origin();
    if (options.stage == Stage::ready && service.rdma_build_installed) {
        build.path = std::string(rdma_build_path);
        build.origin = "the installed RDMA build";
    }
    if (options.binary) {
        build.path = *options.binary;
        build.origin = "--binary";
    }
    if (!build.path) return build;
    build.info = host.info(*build.path);
    build.real = host.resolve(*build.path).value_or(*build.path);
    build.elf = host.elf(*build.path);
    if (options.run_binary) build.banner = host.version_output(*build.path);
    find_release(build, options);
    if (!build.elf) return build;

    LoaderSetting setting;
    const auto library_path = environment.server_value("LD_LIBRARY_PATH"), preload = environment.server_value("LD_PRELOAD");
    if (library_path) setting.library_path = split(library_path->value, ":;");
    if (preload) setting.preload = split(preload->value, ": ");
    build.environment = library_path.then([](const ServerValue& value) { return value.value; });
    setting.secure = build.info && (build.info->mode & 06000);
    setting.levels = hardware_levels(host);
    Loader loader(host, setting);
    build.libraries = loader.load(build.real, *build.elf);

    const auto package = std::find_if(build.libraries.begin(), build.libraries.end(), [](const LoadedLibrary& library) { return begins(library.name, "libs3rdma.so") && library.path.has(); });
    const std::string caller = package == build.libraries.end() ? build.real : *package->path;
    if (build.rdma_build())
        for (const char* name : opened_by_name) build.opened.push_back(loader.open(name, caller));
    for (const LoadedLibrary& library : build.libraries)
        if (library.path && library.path->rfind(std::string(package_library_folder) + "/", 0) != 0 && host.info(fmt::format("{}/{}", package_library_folder, library.name)).has())
            build.shadowed.push_back(fmt::format("{} from {} by {}, not the package's in {}", library.name, *library.path, library.by, package_library_folder));
    return build;
}

}  // namespace preflight
