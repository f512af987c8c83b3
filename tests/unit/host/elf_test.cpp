#include "host/elf.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "host/live.h"

namespace preflight {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

using Bytes = std::vector<std::uint8_t>;

/// A small 64-bit x86-64 file put together by hand: one segment that holds all of it.
struct FileBuilder {
    std::vector<std::pair<std::int64_t, std::string>> dynamic;  // tag and text
    std::string interpreter, tail;
    unsigned machine = EM_X86_64, type = ET_DYN;

    Bytes build() const {
        std::string strings(1, '\0');
        std::vector<Elf64_Dyn> entries;
        for (const auto& [tag, text] : dynamic) {
            entries.push_back({tag, {strings.size()}});
            strings += text + '\0';
        }
        const std::uint64_t base = 0x400000, headers = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
        const std::uint64_t strings_at = headers, interp_at = strings_at + strings.size(), dynamic_at = (interp_at + interpreter.size() + 1 + 15) & ~15ull;
        entries.push_back({DT_STRTAB, {base + strings_at}});
        entries.push_back({DT_STRSZ, {strings.size()}});
        entries.push_back({DT_NULL, {0}});
        const std::uint64_t end = dynamic_at + entries.size() * sizeof(Elf64_Dyn);
        Bytes bytes(end);
        Elf64_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_type = static_cast<Elf64_Half>(type);
        header.e_machine = static_cast<Elf64_Half>(machine);
        header.e_phoff = sizeof header;
        header.e_phentsize = sizeof(Elf64_Phdr);
        header.e_phnum = 3;
        const Elf64_Phdr programs[3] = {{PT_LOAD, PF_R, 0, base, base, end, end, 4096},
                                        {PT_DYNAMIC, PF_R, dynamic_at, base + dynamic_at, 0, entries.size() * sizeof(Elf64_Dyn), 0, 8},
                                        {interpreter.empty() ? PT_NULL : static_cast<Elf64_Word>(PT_INTERP), PF_R, interp_at, base + interp_at, 0, interpreter.size() + 1, 0, 1}};
        std::memcpy(bytes.data(), &header, sizeof header);
        std::memcpy(bytes.data() + sizeof header, programs, sizeof programs);
        std::memcpy(bytes.data() + strings_at, strings.data(), strings.size());
        std::memcpy(bytes.data() + interp_at, interpreter.c_str(), interpreter.size() + 1);
        std::memcpy(bytes.data() + dynamic_at, entries.data(), entries.size() * sizeof(Elf64_Dyn));
        bytes.insert(bytes.end(), tail.begin(), tail.end());
        return bytes;
    }
};

Fact<Elf> parse(const Bytes& bytes) { return elf::parse(elf::memory(bytes), "/usr/local/bin/minio"); }

FileBuilder server() {
    FileBuilder file;
    file.interpreter = "/lib64/ld-linux-x86-64.so.2";
    file.dynamic = {{DT_NEEDED, "libs3rdma.so.0"}, {DT_NEEDED, "libc.so.6"}, {DT_RUNPATH, "/usr/lib/minio:$ORIGIN/../lib"}};
    file.tail = std::string("…Features: GPU-Direct RDMA…RELEASE.2026-08-07T18-34-35Z RELEASE.2026-08 EDGE.2026-06-01T02-39-13Z");
    return file;
}

TEST(ElfFile, tells_what_it_needs_where_it_looks_and_what_it_names) {
    const auto elf = parse(server().build());
    ASSERT_TRUE(elf.has());
    EXPECT_EQ(elf->machine, "x86_64");
    EXPECT_EQ(elf->bits, 64);
    EXPECT_EQ(elf->interpreter, "/lib64/ld-linux-x86-64.so.2");
    EXPECT_THAT(elf->needed, ElementsAre("libs3rdma.so.0", "libc.so.6"));
    EXPECT_THAT(elf->runpath, ElementsAre("/usr/lib/minio", "$ORIGIN/../lib"));
    EXPECT_THAT(elf->rpath, IsEmpty());
    EXPECT_THAT(elf->marks, Contains("GPU-Direct RDMA"));
    EXPECT_THAT(elf->releases, ElementsAre("EDGE.2026-06-01T02-39-13Z", "RELEASE.2026-08-07T18-34-35Z"));
    EXPECT_TRUE(elf->searched);
}

TEST(ElfFile, of_a_library_has_a_soname_and_is_not_searched) {
    FileBuilder file;
    file.dynamic = {{DT_SONAME, "libs3rdma.so.0"}, {DT_RPATH, "/opt/lib"}};
    file.machine = EM_AARCH64;
    const auto elf = parse(file.build());
    ASSERT_TRUE(elf.has());
    EXPECT_EQ(elf->soname, "libs3rdma.so.0");
    EXPECT_EQ(elf->machine, "aarch64");
    EXPECT_THAT(elf->rpath, ElementsAre("/opt/lib"));
    EXPECT_FALSE(elf->searched);
}

TEST(ElfFile, finds_a_text_that_lies_across_the_pieces_it_is_read_in) {
    FileBuilder file = server();
    const std::size_t head = file.build().size() - file.tail.size();
    file.tail = std::string((1u << 20) - head - 8, 'x') + "GPU-Direct RDMA" + std::string(100, 'y');
    EXPECT_THAT(parse(file.build())->marks, Contains("GPU-Direct RDMA"));
}

TEST(ElfFile, of_go_shows_its_build_information) {
    FileBuilder file = server();
    // A writable segment that begins with the build information: its program header is the second one, in place of PT_DYNAMIC.
    Bytes bytes = file.build();
    const std::string modules = std::string(16, 'a') + "path\tgithub.com/minio/minio\nmod\tgithub.com/minio/minio\t(devel)\nbuild\t-ldflags=-X cmd.ReleaseTag=RELEASE.2026-09-01T00-00-00Z\nbuild\tvcs.time=2026-09-01\n" +
                                std::string(16, 'b');
    std::string information("\xff Go buildinf:\x08\x02", 16);
    information += std::string(16, '\0') + '\x08' + "go1.25.1" + static_cast<char>(0x80 | (modules.size() & 0x7f)) + static_cast<char>(modules.size() >> 7) + modules;
    bytes.resize((bytes.size() + 15) & ~std::size_t{15});
    const Elf64_Phdr segment{PT_LOAD, PF_R | PF_W, bytes.size(), 0x800000, 0x800000, information.size(), information.size(), 4096};
    std::memcpy(bytes.data() + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), &segment, sizeof segment);
    bytes.insert(bytes.end(), information.begin(), information.end());
    const auto elf = parse(bytes);
    ASSERT_TRUE(elf.has());
    EXPECT_EQ(elf->go_version, "go1.25.1");
    EXPECT_THAT(elf->go_build, Contains(Pair("path", "github.com/minio/minio")));
    EXPECT_THAT(elf->go_build, Contains(Pair("-ldflags", "-X cmd.ReleaseTag=RELEASE.2026-09-01T00-00-00Z")));
}

TEST(ElfFile, cut_at_each_byte_names_the_file_and_never_reads_behind_its_end) {
    FileBuilder file = server();
    file.tail.clear();
    const Bytes whole = file.build();
    std::size_t refused = 0;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        const auto elf = parse(part);
        if (elf.has()) continue;
        ++refused;
        EXPECT_THAT(elf.why().cause, HasSubstr("/usr/local/bin/minio"));
    }
    EXPECT_GT(refused, whole.size() * 9 / 10);
}

TEST(ElfFile, with_any_byte_changed_ends_in_an_answer) {
    const Bytes whole = server().build();
    for (std::size_t at = 0; at < 512 && at < whole.size(); ++at)
        for (const std::uint8_t value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
            Bytes bytes = whole;
            bytes[at] = value;
            parse(bytes);
        }
}

TEST(ElfFile, is_told_from_scripts_zeros_and_other_byte_orders) {
    const std::string script = "#!/bin/sh\nexec minio.rdma\n";
    EXPECT_EQ(parse(Bytes(script.begin(), script.end())).why().error, "script");
    EXPECT_EQ(parse(Bytes(4096, 0)).why().error, "not-elf");
    EXPECT_EQ(parse({}).why().error, "not-elf");
    Bytes big = server().build();
    big[EI_DATA] = ELFDATA2MSB;
    EXPECT_EQ(parse(big).why().error, "not-elf");
}

TEST(ElfFile, of_four_gibibytes_is_parsed_without_being_searched) {
    const Bytes head = server().build();
    std::uint64_t most = 0;
    const elf::Source source{4ull << 30, [&](std::uint64_t offset, std::span<std::uint8_t> into) -> std::size_t {
                                 most = std::max<std::uint64_t>(most, offset + into.size());
                                 for (std::size_t i = 0; i < into.size(); ++i) into[i] = offset + i < head.size() ? head[offset + i] : 0;
                                 return into.size();
                             }};
    const auto elf = elf::parse(source, "huge");
    ASSERT_TRUE(elf.has());
    EXPECT_FALSE(elf->searched);
    EXPECT_LT(most, 1u << 20);
}

// ------------------------------------------------------------------------------------------------ ld.so.cache

/// A cache of glibc 2.33 or later with two libraries, one of them for a hardware level.
Bytes cache() {
    const auto put = [](Bytes& bytes, auto value) {
        const auto* begin = reinterpret_cast<const std::uint8_t*>(&value);
        bytes.insert(bytes.end(), begin, begin + sizeof value);
    };
    const std::string strings = std::string("libx.so.1\0/usr/lib64/libx.so.1\0/usr/lib64/glibc-hwcaps/x86-64-v3/libx.so.1\0x86-64-v3\0", 31 + 45 + 10 + 0);
    const std::uint32_t strings_at = 48 + 3 * 24, name = strings_at, plain = name + 10, tuned = plain + 21, level = tuned + 44;
    Bytes bytes;
    for (const char c : std::string("glibc-ld.so.cache1.1")) bytes.push_back(static_cast<std::uint8_t>(c));
    put(bytes, std::uint32_t{3});
    put(bytes, static_cast<std::uint32_t>(strings.size()));
    put(bytes, std::uint32_t{2});                                                                   // little endian, padding
    const std::uint32_t extension = (strings_at + static_cast<std::uint32_t>(strings.size()) + 7u) & ~7u;
    put(bytes, extension);
    for (int i = 0; i < 3; ++i) put(bytes, std::uint32_t{0});
    const auto entry = [&](std::uint32_t flags, std::uint32_t path, std::uint64_t hwcap) {
        put(bytes, flags);
        put(bytes, name);
        put(bytes, path);
        put(bytes, std::uint32_t{0});
        put(bytes, hwcap);
    };
    entry(0x0303, tuned, 1ull << 62);
    entry(0x0303, plain, 0);
    entry(0x0003, plain, 0);
    bytes.insert(bytes.end(), strings.begin(), strings.end());
    bytes.resize(extension);
    put(bytes, std::uint32_t{0xeaa42174});
    put(bytes, std::uint32_t{1});
    put(bytes, std::uint32_t{1});
    put(bytes, std::uint32_t{0});
    put(bytes, extension + 24u);
    put(bytes, std::uint32_t{4});
    put(bytes, level);
    return bytes;
}

TEST(LoaderCache, lists_the_entries_of_a_name_in_order_with_their_hardware_level) {
    const auto found = elf::cached(cache(), "libx.so.1", "cache");
    ASSERT_TRUE(found.has()) << found.why().cause;
    ASSERT_EQ(found->size(), 3u);
    EXPECT_EQ((*found)[0].level, "x86-64-v3");
    EXPECT_EQ((*found)[1].path, "/usr/lib64/libx.so.1");
    EXPECT_EQ((*found)[1].machine, "x86_64");
    EXPECT_EQ((*found)[2].machine, "i386");
    EXPECT_THAT(*elf::cached(cache(), "liby.so.1", "cache"), IsEmpty());
}

TEST(LoaderCache, cut_at_each_byte_is_refused_with_the_place) {
    const Bytes whole = cache();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        const auto found = elf::cached(part, "libx.so.1", "/etc/ld.so.cache");
        ASSERT_TRUE(found.unreadable()) << size;
        EXPECT_THAT(found.why().cause, HasSubstr("/etc/ld.so.cache"));
    }
}

TEST(LoaderCache, of_this_host_knows_libc) {
    const auto found = live::cached_library("/", "libc.so.6");
    ASSERT_TRUE(found.has());
    EXPECT_FALSE(found->empty());
}

// ------------------------------------------------------------------------------------------------ --run-binary

TEST(VersionOutput, is_what_the_program_prints_or_says_why_not) {
    EXPECT_THAT(*live::version_output("/", "/bin/bash", std::chrono::seconds(5)), HasSubstr("GNU bash"));
    EXPECT_EQ(live::version_output("/", "/bin/false", std::chrono::seconds(5)).why().error, "failed");
    EXPECT_TRUE(live::version_output("/", "/no/such/program", std::chrono::seconds(5)).absent());
    // A program that closes its output and goes on.
    const std::string script = testing::TempDir() + "closes-its-output";
    std::ofstream(script) << "#!/bin/sh\nexec >&-\nexec sleep 60\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    EXPECT_EQ(live::version_output("/", script, std::chrono::milliseconds(300)).why().error, "timeout");
    EXPECT_EQ(live::version_output("/srv", "/bin/bash", std::chrono::seconds(5)).why().error, "other-root");
}

}  // namespace
}  // namespace preflight
