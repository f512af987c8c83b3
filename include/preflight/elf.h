#pragma once
// What a program file or library says of itself, read from its bytes; nothing of it is executed. Formats: the System V gABI (ELF),
// glibc's elf/dl-cache and sysdeps/generic/dl-cache.h (ld.so.cache), Go's debug/buildinfo.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "preflight/fact.h"

namespace preflight {

/// A version of another library's symbols that a file cannot do without (DT_VERNEED, entries without VER_FLG_WEAK).
struct VersionNeed {
    std::string library, version;  ///< "libc.so.6", "GLIBC_2.38"
};

struct Elf {
    std::string machine;      ///< "x86_64", "aarch64", "i386", "arm"; else the number of e_machine
    int bits = 0;             ///< 32 or 64
    std::string kind;         ///< "executable" or "library" (a position-independent executable is a library with an interpreter)
    std::string interpreter;  ///< PT_INTERP; empty: statically linked, or a library
    std::string soname;
    std::vector<std::string> needed;            ///< DT_NEEDED, in order
    std::vector<std::string> rpath, runpath;    ///< their folders, unexpanded
    bool no_default_folders = false;            ///< DF_1_NODEFLIB
    std::vector<VersionNeed> version_needs;
    std::vector<std::string> versions;          ///< what it offers (DT_VERDEF); empty: its symbols carry no versions
    bool capabilities = false;                  ///< the file carries capabilities (security.capability, setcap(8))
    std::string go_version;                     ///< "go1.24.1"; empty: no Go build information
    std::map<std::string, std::string> go_build;///< "path", "mod", and the build settings ("-ldflags", "vcs.time", …)
    std::vector<std::string> marks;             ///< which of elf_marks() stand in its bytes
    std::vector<std::string> releases;          ///< "RELEASE.2026-08-07T18-34-35Z" and "EDGE.…" that stand in its bytes, each once, sorted
    bool searched = false;                      ///< marks and releases are complete: it is no larger than max_searched_bytes
};

/// Texts by which an RDMA build of AIStor shows itself: the libraries it needs or names, and the feature line of its `--version`.
const std::vector<std::string>& elf_marks();

inline constexpr std::uint64_t max_searched_bytes = 1u << 30;

/// One entry of ld.so.cache for a library name.
struct CachedLibrary {
    std::string path;
    std::string machine;  ///< as Elf::machine, of the entry's flags; empty: other kinds of entries
    std::string level;    ///< folder below glibc-hwcaps, "x86-64-v3"; empty: none
    bool other_levels = false;  ///< a legacy hwcap mask (before glibc 2.33), which glibc 2.37 and later ignore
};

}  // namespace preflight
