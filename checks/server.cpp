// The server's file and its libraries. Two builds exist: the standard one ignores every RDMA setting without a word (AIStor
// documentation, RDMA overview); which one a file is, its content says and not its name.

#include "server.h"

#include <algorithm>
#include <map>

#include "facts/node.h"
#include "facts/server_build.h"
#include "facts/service.h"
#include "modules.h"
#include "preflight/facts.h"
#include "remedies.h"
#include "text.h"

namespace preflight {
namespace {

/// Of a library's name: the key of NodeFacts::install; empty: a package is not known.
std::string package_of(const std::string& library) {
    static const std::map<std::string, std::string> packages = {{"libibverbs.so", "libibverbs"}, {"librdmacm.so", "librdmacm"}, {"libnuma.so", "libnuma"}};
    for (const auto& [begin, package] : packages)
        if (library.rfind(begin, 0) == 0) return package;
    return {};
}

Remedy use_rdma_build(const Facts& facts) {
    if (facts.service().rdma_build_installed && !facts.service().absent()) return start_rdma_build(facts.service(), facts.options());
    return {"Install the RDMA build of the release that the cluster runs.", {"# install the package minio.rdma from MinIO's download page"}, {}, {}};
}

/// The file, or a finding that says why there is none to judge.
const ServerBuild* file_to_judge(const Facts& facts, Findings& out) {
    const ServerBuild& build = facts.server_build();
    if (build.path) return &build;
    if (build.path.unreadable()) out.unknown(node_subject(), "which file the unit starts is not known: " + build.path.why().cause, "Name it with --binary FILE.");
    else out.unknown(node_subject(), fmt::format("{} names no program", facts.service().name), "Name the server's file with --binary FILE.");
    return nullptr;
}

Subject file_subject(const ServerBuild& build) {
    return {*build.path, {"file:" + build.real}};
}

/// The same, for rules about what the file holds.
const ServerBuild* parsed_file(const Facts& facts, Findings& out) {
    const ServerBuild* build = file_to_judge(facts, out);
    if (!build || build->elf) return build;
    out.unknown(file_subject(*build), "the file could not be read: " + no_answer(build->elf), "Mend server.binary first.");
    return nullptr;
}

std::string described(const ServerBuild& build) {
    return build.real == *build.path ? build.origin : fmt::format("{}, a link to {}", build.origin, build.real);
}

/// What Go's linker wrote into the file, for people.
std::vector<std::string> build_information(const ServerBuild& build) {
    std::vector<std::string> lines;
    if (!build.elf || build.elf->go_version.empty()) return lines;
    lines.push_back(build.elf->go_version);
    for (const char* key : {"path", "mod", "vcs.revision", "vcs.time", "-tags"})
        if (const auto found = build.elf->go_build.find(key); found != build.elf->go_build.end()) lines.push_back(fmt::format("{} {}", key, found->second));
    return lines;
}

void judge_binary(const Facts& facts, Findings& out) {
    const ServerBuild* build = file_to_judge(facts, out);
    if (!build) return;
    const Subject subject = file_subject(*build);
    const std::string want = "an RDMA build of AIStor, for this node's processor", source = described(*build);
    const std::string machine = facts.node().self.has() ? facts.node().self->architecture : "";
    if (build->info.absent()) {
        out.fail(subject, "does not exist").want(want).from(source).mend(use_rdma_build(facts));
    } else if (build->info.unreadable()) {
        out.unknown(subject, "could not be looked at: " + build->info.why().cause, how_to_know(build->info.why())).want(want).from(source);
    } else if (build->info->type != "file" || !(build->info->mode & 0111)) {
        out.fail(subject, build->info->type != "file" ? "is a " + build->info->type : fmt::format("is not executable (mode {:04o})", build->info->mode))
            .want(want)
            .from(source)
            .mend({"Make it executable.", {"sudo chmod a+x " + shell_word(build->real)}, {}, {}});
    } else if (build->closed && build->closed->certain) {
        out.fail(subject, fmt::format("may not be executed by {}: {}", build->user.text, build->closed->what))
            .want(want)
            .from(source)
            .mend({"Let the service's user execute it.", {"sudo chmod a+rx " + shell_word(build->closed->path)}, {}, {}});
    } else if (build->closed) {
        out.unknown(subject, fmt::format("whether the service's user may execute it is not known: {}", build->closed->what), "Try it as that user: sudo -u USER test -x " + shell_word(build->real)).want(want).from(source);
    } else if (build->elf.unreadable() && build->elf.why().error == "script") {
        out.unknown(subject, build->elf.why().cause + ": which server it starts is not seen", "Name the server it starts with --binary FILE.").want(want).from(source);
    } else if (build->elf.unreadable() && (build->elf.why().error == "not-elf" || build->elf.why().error == "malformed")) {
        out.fail(subject, "is no program that this node can start: " + build->elf.why().cause).want(want).from(source).mend(use_rdma_build(facts));
    } else if (!build->elf) {
        out.unknown(subject, "could not be read: " + no_answer(build->elf), build->elf.unreadable() ? how_to_know(build->elf.why()) : "Run the tool again.").want(want).from(source);
    } else if (!machine.empty() && build->elf->machine != machine) {
        out.fail(subject, fmt::format("is built for {}, this node is {}", build->elf->machine, machine)).want(want).from(source).mend(use_rdma_build(facts));
    } else if (build->rdma_build()) {
        out.pass(subject, "RDMA build: " + build->sign()).from(source).note("build information", build_information(*build));
    } else if (build->banner.has() || (build->elf->searched && build->real.find("minio.rdma") == std::string::npos)) {
        out.fail(subject, fmt::format("not the RDMA build: {}", build->banner.has() ? "its --version names no RDMA feature" : "it neither needs nor names libs3rdma or libp2p_rdma"))
            .want(want)
            .from(source)
            .because("The standard build ignores every RDMA setting without a word and serves over TCP.")
            .note("build information", build_information(*build))
            .mend(use_rdma_build(facts));
    } else {
        const std::string why = build->elf->searched ? "named as the RDMA build, but its content does not show it"
                                : build->info->size > max_searched_bytes ? "its content shows no sign of RDMA, and it is too large to be searched whole"
                                                                          : "is a library that names no entry point, not a program";
        out.unknown(subject, build->banner.unreadable() && build->banner.why().error != "not-asked" ? why + "; " + build->banner.why().cause : why,
                    fmt::format("Let the tool ask it with --run-binary, or ask by hand: {} --version prints \"Features: GPU-Direct RDMA\".", build->real))
            .want(want)
            .from(source);
    }
}

/// Missing, hidden and found ones of a list of libraries.
struct Tally {
    std::vector<std::string> missing, hidden, found, without_effect;
    std::vector<std::string> commands;

    void add(const Facts& facts, const LoadedLibrary& library, const char* how) {
        const std::string name = fmt::format("{} ({} {})", library.name, how, library.needed_by.substr(library.needed_by.rfind('/') + 1));
        if (library.path) {
            found.push_back(fmt::format("{}: {}, by {}", library.name, *library.path, library.by));
        } else if (library.path.unreadable()) {
            hidden.push_back(fmt::format("{}: {}", name, library.path.why().cause));
        } else if (library.preload) {
            without_effect.push_back(fmt::format("{} of LD_PRELOAD", library.name));
        } else if (!library.broken.empty()) {
            missing.push_back(fmt::format("{}: the loader gives up at a broken file: {}", name, library.broken));
            install(facts, library.name);
        } else if (!library.closed.empty()) {
            missing.push_back(fmt::format("{}, only where {} may not read: {}", name, facts.server_build().user.text, library.closed.front().what));
            commands.push_back("sudo chmod a+rX " + shell_word(library.closed.front().path));
        } else {
            missing.push_back(library.other_machines.empty() ? name : fmt::format("{}, only for another machine: {}", name, library.other_machines.front()));
            install(facts, library.name);
        }
    }
    void install(const Facts& facts, const std::string& library) {
        const std::string package = package_of(library);
        if (!package.empty()) commands.push_back(facts.node().install(package));
    }
};

void report_tally(const ServerBuild& build, const Tally& tally, const Subject& subject, const std::string& want, Findings& out) {
    const std::string source = "DT_NEEDED, RPATH, RUNPATH, LD_LIBRARY_PATH of the service, /etc/ld.so.cache";
    if (!tally.missing.empty() && build.environment.unreadable()) {
        out.unknown(subject, fmt::format("not found: {}; but LD_LIBRARY_PATH of the service is not known: {}", list_of(tally.missing), build.environment.why().cause), how_to_know(build.environment.why())).want(want).from(source);
    } else if (!tally.missing.empty()) {
        std::vector<std::string> commands = tally.commands;
        if (commands.empty()) commands = {"# install the package minio.rdma again, or let the loader find its libraries: see " + std::string(package_library_folder)};
        const std::string ignored = build.ignored_path.empty() ? "" : fmt::format("; the loader ignores LD_LIBRARY_PATH, since {}", build.ignored_path);
        out.fail(subject, fmt::format("not found: {}{}", list_of(tally.missing), ignored)).want(want).from(source).note("found", tally.found).mend({"Give the service the libraries that are missing.", commands, {}, {}});
    } else if (!build.missing_versions.empty()) {
        out.fail(subject, "symbol versions are missing, without which the loader gives up: " + list_of(build.missing_versions))
            .want(want)
            .from("DT_VERNEED, DT_VERDEF")
            .note("found", tally.found)
            .mend({"Use the server's package for this distribution, or a distribution as new as the one it was built on.", {}, {}, {}});
    } else if (!build.complete) {
        out.unknown(subject, "it needs more libraries than are followed", "Look at them by hand: ldd.").want(want).from(source);
    } else if (!tally.hidden.empty()) {
        out.unknown(subject, "could not be looked at: " + list_of(tally.hidden), "Run the tool as root, on the node itself.").want(want).from(source);
    } else if (!build.shadowed.empty()) {
        out.warn(subject, list_of(build.shadowed))
            .want("the libraries of the RDMA package")
            .from(source)
            .note("found", tally.found)
            .mend({"Take the other copy away, or out of LD_LIBRARY_PATH.", {}, {}, {}});
    } else {
        const std::string without = tally.without_effect.empty() ? "" : "; not there and without effect: " + list_of(tally.without_effect);
        out.pass(subject, (tally.found.empty() ? "needs no library" : fmt::format("{} {} resolve", tally.found.size(), tally.found.size() == 1 ? "library" : "libraries")) + without).from(source).note("found", tally.found);
    }
}

void judge_libraries(const Facts& facts, Findings& out) {
    const ServerBuild* build = parsed_file(facts, out);
    if (!build) return;
    const Subject subject = file_subject(*build);
    Tally tally;
    for (const LoadedLibrary& library : build->libraries) tally.add(facts, library, "needed by");
    for (const LoadedLibrary& library : build->opened) tally.add(facts, library, "loaded at run time by");
    report_tally(*build, tally, subject, "every library, needed or loaded by name, is found as the service finds it", out);
}

/// "2026-08-07T18-34-35Z" of "RELEASE.2026-08-07T18-34-35Z".
std::string moment(const std::string& release) {
    return release.substr(release.find('.') + 1);
}

void judge_version(const Facts& facts, Findings& out) {
    const ServerBuild* build = file_to_judge(facts, out);
    if (!build) return;
    const Subject subject = file_subject(*build);
    const std::string want = fmt::format("{} or later", first_rdma_release);
    const Remedy update{"Use the current stable release on all nodes.", {}, {}, {}};
    if (build->release.empty())
        out.warn(subject, build->elf.has() && build->elf->releases.size() > 1 ? fmt::format("its bytes name {} releases, its build information none", build->elf->releases.size()) : "its release cannot be read from the file")
            .want(want)
            .mend({"Ask it by hand, or name the release with --server-release.", {shell_word(build->real) + " --version"}, {}, {}});
    else if (build->release.rfind("EDGE.", 0) == 0)
        out.warn(subject, build->release + ", an edge release").want(want).from(build->release_origin).mend(update);
    else if (moment(build->release) < moment(first_rdma_release))
        out.warn(subject, build->release + ", from before the first stable release with RDMA").want(want).from(build->release_origin).mend(update);
    else out.pass(subject, build->release).from(build->release_origin);
}

void judge_s3_server(const Facts& facts, Findings& out) {
    const ServerBuild* build = parsed_file(facts, out);
    if (!build) return;
    const Subject subject = file_subject(*build);
    Tally tally;
    bool there = false;
    for (const auto* list : {&build->libraries, &build->opened})
        for (const LoadedLibrary& library : *list)
            if (library.name.find(s3_library) != std::string::npos) {
                there = true;
                tally.add(facts, library, list == &build->libraries ? "needed by" : "loaded at run time by");
            }
    if (!there && !build->banner.has()) {
        if (build->elf->searched) out.fail(subject, "neither needs nor names libs3rdma").want("libs3rdma.so.0, by which the server speaks RDMA to S3 clients").from(described(*build)).mend(use_rdma_build(facts));
        else out.unknown(subject, "does not need libs3rdma, and is too large to be searched for its name", "Let the tool ask it with --run-binary.");
        return;
    }
    if (!there) {
        out.unknown(subject, "neither needs nor names libs3rdma, though its --version names the RDMA feature", "Look which libraries the running server has mapped: grep rdma /proc/$(pidof minio)/maps").from(described(*build));
        return;
    }
    report_tally(*build, tally, subject, "libs3rdma resolves as the service resolves it", out);
}

}  // namespace

Check s3_server_check() {
    Check check = row('C', "s3.server", "The server's S3 RDMA library resolves", "Without libs3rdma the server answers every S3 request over TCP.",
                      "pass: the RDMA build's libs3rdma is found as the service finds it. fail: it is not, or the file is no RDMA build. unknown: no file to judge.",
                      "Install the RDMA build with its libraries.", "minio/rdma-training (install script); minio/minio-cpp header of libs3rdma.", {"server.binary", "server.libraries", "service.unit"}, judge_s3_server);
    check.paths = s3;
    check.roles = storage;
    check.deployments = systemd;
    return check;
}

Module server_module() {
    Module module{"server", "the minio.rdma build and its libraries", {}};
    module.checks = {
        row('A', "server.binary", "The server file is the RDMA build", "The standard build ignores every RDMA setting without a word: the service runs, and all traffic is TCP.",
            "What the file is by its content: exists, executable, for this processor, and needs or names libs3rdma or libp2p_rdma; with --run-binary by its feature line. A name alone is no proof: unknown.",
            "Install the package minio.rdma and let ExecStart= name /usr/local/bin/minio.rdma.", "AIStor documentation: RDMA overview, troubleshoot; minio/rdma-training.", {"service.unit", "service.exec"}, judge_binary),
        row('A', "server.libraries", "Every library the server needs resolves as the service resolves it", "A library that the loader does not find ends the server, or leaves RDMA out without a word.",
            "Needed libraries, transitively, and those loaded by name at run time, by the loader's own rules with the service's environment; nothing is executed. A copy that hides the package's warns.",
            "Install the missing package.", "ld.so(8); glibc 2.39 elf/dl-load.c; warp's package dependencies.", {"server.binary", "service.unit", "env.file"}, judge_libraries),
        row('A', "server.version", "The server release supports RDMA", "RDMA is stable from the first stable release on; edge releases of before changed its settings.",
            "pass: the first stable release with RDMA, or later. warn: older, edge, or not determinable without --run-binary or --server-release.", "Use the current stable release on all nodes.",
            "AIStor documentation, RDMA overview.", {"server.binary"}, judge_version)};
    for (Check& check : module.checks) {
        check.paths = internode | s3;
        check.roles = storage;
        check.deployments = systemd;
    }
    return module;
}

}  // namespace preflight
