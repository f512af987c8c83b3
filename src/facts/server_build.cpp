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

/// Why the kernel starts the file in secure mode, where LD_LIBRARY_PATH counts for nothing (security/commoncap.c); empty: it does not.
std::string gained_rights(const ServerBuild& build, const ServiceFacts& service) {
    const UnitLine* no_new = service.unit.sandbox_line("NoNewPrivileges");
    if (!build.info || (no_new && systemd_text::parse_boolean(no_new->value).value_or(false))) return {};
    const ServiceUser& user = build.user;
    if (build.info->mode & 04000 && (!user.known() || user.uid != build.info->uid)) return "the file is set-user-ID";
    if ((build.info->mode & 02010) == 02010 && !user.groups.count(build.info->gid)) return "the file is set-group-ID";
    if (build.elf && build.elf->capabilities && user.known() && user.uid != 0) return "the file carries capabilities (getcap) and the service is not root";
    return {};
}

/// The server's RDMA libraries that it only names, and those that they open in turn.
void open_libraries(Loader& loader, ServerBuild& build) {
    const auto loaded = [&](std::string_view begin) {
        const auto found = std::find_if(build.libraries.begin(), build.libraries.end(), [&](const LoadedLibrary& library) { return begins(library.name, begin); });
        return found == build.libraries.end() ? nullptr : &*found;
    };
    const auto add = [&](std::vector<LoadedLibrary> list) { build.opened.insert(build.opened.end(), list.begin(), list.end()); };
    for (const std::string& name : build.elf->marks) {
        if (name.find(".so") == std::string::npos || loaded(name)) continue;
        // The packages name it with its major version; a server may also know its folder.
        const std::string versioned = name + ".0", folder = package_library_folder;
        std::vector<LoadedLibrary> first;
        for (const std::string& asked : {versioned, name, folder + "/" + versioned, folder + "/" + name}) {
            auto list = loader.open(asked, build.real);
            const bool here = !list.empty() && !list.front().path.absent();
            const bool given_up = !list.empty() && !list.front().broken.empty();
            if (first.empty() || here || given_up) first = std::move(list);
            if (here || given_up) break;
        }
        add(std::move(first));
    }
    std::string caller = build.real;
    for (const auto* list : {&build.libraries, &build.opened})
        for (const LoadedLibrary& library : *list)
            if (library.path && library.name.find(s3_library) != std::string::npos) caller = *library.path;
    for (const char* name : opened_by_name) add(loader.open(name, caller));
}

}  // namespace

std::string ServerBuild::sign() const {
    if (banner) return banner->find(feature_line) == std::string::npos ? std::string() : fmt::format("its --version prints \"{}\"", feature_line);
    return elf ? rdma_sign(*elf) : std::string();
}

std::string rdma_sign(const Elf& elf) {
    for (const char* library : {"libs3rdma.so", "libp2p_rdma.so"})
        for (const std::string& needed : elf.needed)
            if (begins(needed, library)) return "it needs " + needed;
    if (!elf.marks.empty()) return fmt::format("its bytes name {}", elf.marks.front());
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

    build.user = ServiceUser::read(service);
    if (!service.absent())
        for (const std::string& way : {*build.path, build.real})
            if (!build.closed) build.closed = barrier(host, build.user, way, Permission::execute);

    // The loader reads the environment that systemd gives, not the file that the server reads later.
    LoaderSetting setting;
    const Variable* library_path = environment.find("LD_LIBRARY_PATH");
    if (library_path) setting.library_path = split(library_path->value, ":;");
    if (const Variable* preload = environment.find("LD_PRELOAD")) setting.preload = split(preload->value, ": ");
    if (library_path) build.environment = library_path->value;
    else if (!environment.missing.empty()) build.environment = Unreadable{"incomplete", environment.missing.front()};
    else build.environment = Absent{};
    const std::string gain = gained_rights(build, service);
    setting.secure = !gain.empty();
    if (library_path && setting.secure) build.ignored_path = gain;
    setting.user = build.user;
    setting.levels = hardware_levels(host);
    Loader loader(host, setting);
    build.libraries = loader.load(build.real, *build.elf);
    if (build.rdma_build()) open_libraries(loader, build);
    build.missing_versions = loader.missing_versions();
    build.complete = loader.complete();

    const std::string package_folder = host.resolve(package_library_folder).value_or(package_library_folder);
    for (const LoadedLibrary& library : build.libraries)
        if (library.path && !begins(host.resolve(*library.path).value_or(*library.path), package_folder + "/") && host.info(fmt::format("{}/{}", package_library_folder, library.name)).has())
            build.shadowed.push_back(fmt::format("{} from {} by {}, not the package's in {}", library.name, *library.path, library.by, package_library_folder));
    return build;
}

}  // namespace preflight
