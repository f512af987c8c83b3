#include "host/elf.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>

#include "host/live.h"
#include "host/opened.h"

namespace preflight {

const std::vector<std::string>& elf_marks() {
    // AIStor documentation (troubleshoot): the feature line; minio/rdma-training: the two libraries of the server.
    static const std::vector<std::string> marks = {"libs3rdma.so", "libp2p_rdma.so", "GPU-Direct RDMA"};
    return marks;
}

namespace elf {
namespace {

constexpr std::uint64_t max_table_bytes = 64u << 20;   // a string table or program header table beyond it is no library's
constexpr std::uint64_t max_dynamic_bytes = 1u << 20;
constexpr std::uint64_t max_text = 4096;
constexpr std::size_t max_needed = 4096, max_versions = 65536;

std::string machine_name(unsigned machine) {
    switch (machine) {
        case EM_X86_64: return "x86_64";
        case EM_AARCH64: return "aarch64";
        case EM_386: return "i386";
        case EM_ARM: return "arm";
        default: return std::to_string(machine);
    }
}

/// Ends the parse of a file with its cause.
struct Broken {
    std::string what;
};

struct Segment {
    std::uint32_t type = 0;
    std::uint64_t offset = 0, address = 0, size = 0;
    bool writable = false;
};

/// The two layouts of what is read, 32 and 64 bits, little endian.
struct Layout64 {
    using Header = Elf64_Ehdr;
    using Program = Elf64_Phdr;
    using Dynamic = Elf64_Dyn;
};
struct Layout32 {
    using Header = Elf32_Ehdr;
    using Program = Elf32_Phdr;
    using Dynamic = Elf32_Dyn;
};

class Parser {
public:
    Parser(const Source& file, Elf& elf) : file_(file), elf_(elf) {}

    template <class Layout>
    void run() {
        const auto header = at<typename Layout::Header>(0, "ELF header");
        elf_.machine = machine_name(header.e_machine);
        entry_ = header.e_entry != 0;
        elf_.kind = header.e_type == ET_EXEC ? "executable" : header.e_type == ET_DYN ? "library" : "";
        if (elf_.kind.empty()) throw Broken{fmt::format("e_type {} is neither a program nor a library", header.e_type)};
        if (header.e_phnum > 0 && header.e_phentsize < sizeof(typename Layout::Program)) throw Broken{fmt::format("e_phentsize {} is too small", header.e_phentsize)};
        for (unsigned i = 0; i < header.e_phnum; ++i) {
            const auto program = at<typename Layout::Program>(header.e_phoff + std::uint64_t{i} * header.e_phentsize, fmt::format("program header {}", i));
            segments_.push_back({program.p_type, program.p_offset, program.p_vaddr, program.p_filesz, (program.p_flags & PF_W) != 0});
        }
        for (const Segment& segment : segments_)
            if (segment.type == PT_INTERP) {
                if (segment.size > max_text) throw Broken{"PT_INTERP is too long"};
                elf_.interpreter = text_in(block(segment.offset, segment.size, "PT_INTERP"), 0, "PT_INTERP");
            }
        for (const Segment& segment : segments_)
            if (segment.type == PT_DYNAMIC) dynamic<typename Layout::Dynamic>(segment);
        go_build_information();
        search();
    }

private:
    std::vector<std::uint8_t> block(std::uint64_t offset, std::uint64_t size, const std::string& what) const {
        if (offset > file_.size || size > file_.size - offset) throw Broken{fmt::format("{} lies outside of the file ({} bytes at {})", what, size, offset)};
        if (size > max_table_bytes) throw Broken{fmt::format("{} of {} bytes is too large", what, size)};
        std::vector<std::uint8_t> bytes(size);
        if (file_.read(offset, bytes) != size) throw Broken{fmt::format("{} could not be read whole ({} bytes at {})", what, size, offset)};
        return bytes;
    }

    template <class T>
    T at(std::uint64_t offset, const std::string& what) const {
        const auto bytes = block(offset, sizeof(T), what);
        T value;
        std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }

    static std::string text_in(const std::vector<std::uint8_t>& table, std::uint64_t offset, const std::string& what) {
        if (offset >= table.size()) throw Broken{fmt::format("{} points outside of its table", what)};
        const auto begin = table.begin() + static_cast<std::ptrdiff_t>(offset);
        const auto limit = table.end() - begin > static_cast<std::ptrdiff_t>(max_text) ? begin + static_cast<std::ptrdiff_t>(max_text) : table.end();
        const auto end = std::find(begin, limit, 0);
        if (end == limit) throw Broken{what + (limit == table.end() ? " has no end" : " is too long")};
        return {begin, end};
    }

    std::uint64_t offset_of(std::uint64_t address, const std::string& what) const {
        for (const Segment& segment : segments_)
            if (segment.type == PT_LOAD && address >= segment.address && address - segment.address < segment.size) return segment.offset + (address - segment.address);
        throw Broken{fmt::format("{} at address {:#x} is in no segment", what, address)};
    }

    template <class Entry>
    void dynamic(const Segment& segment) {
        if (segment.size > max_dynamic_bytes) throw Broken{"the dynamic section is too large"};
        const auto bytes = block(segment.offset, segment.size, "the dynamic section");
        std::vector<std::uint64_t> needed;
        std::optional<std::uint64_t> soname, rpath, runpath, strings, strings_size, verneed, verdef;
        std::uint64_t verneed_count = 0, verdef_count = 0;
        for (std::size_t i = 0; i + sizeof(Entry) <= bytes.size(); i += sizeof(Entry)) {
            Entry entry;
            std::memcpy(&entry, bytes.data() + i, sizeof entry);
            const std::uint64_t value = entry.d_un.d_val;
            if (entry.d_tag == DT_NULL) break;
            if (entry.d_tag == DT_NEEDED) {
                if (needed.size() == max_needed) throw Broken{fmt::format("it needs more than {} libraries", max_needed)};
                needed.push_back(value);
            }
            else if (entry.d_tag == DT_SONAME) soname = value;
            else if (entry.d_tag == DT_RPATH) rpath = value;
            else if (entry.d_tag == DT_RUNPATH) runpath = value;
            else if (entry.d_tag == DT_STRTAB) strings = value;
            else if (entry.d_tag == DT_STRSZ) strings_size = value;
            else if (entry.d_tag == DT_VERNEED) verneed = value;
            else if (entry.d_tag == DT_VERNEEDNUM) verneed_count = value;
            else if (entry.d_tag == DT_VERDEF) verdef = value;
            else if (entry.d_tag == DT_VERDEFNUM) verdef_count = value;
            else if (entry.d_tag == DT_FLAGS_1) {
                elf_.no_default_folders = value & DF_1_NODEFLIB;
                program_ = value & DF_1_PIE;
            }
        }
        if (needed.empty() && !soname && !rpath && !runpath && !verneed && !verdef) return;
        if (!strings || !strings_size) throw Broken{"the dynamic section names no string table"};
        const auto table = block(offset_of(*strings, "the dynamic string table"), *strings_size, "the dynamic string table");
        for (const std::uint64_t name : needed) elf_.needed.push_back(text_in(table, name, "DT_NEEDED"));
        if (soname) elf_.soname = text_in(table, *soname, "DT_SONAME");
        if (rpath) elf_.rpath = folders(text_in(table, *rpath, "DT_RPATH"));
        if (runpath) elf_.runpath = folders(text_in(table, *runpath, "DT_RUNPATH"));
        if (verneed) read_version_needs(offset_of(*verneed, "DT_VERNEED"), verneed_count, table);
        if (verdef) read_versions(offset_of(*verdef, "DT_VERDEF"), verdef_count, table);
    }

    /// Both tables have one layout for 32 and 64 bits. An entry's vn_next or vd_next of 0 ends its list.
    void read_version_needs(std::uint64_t at_file, std::uint64_t count, const std::vector<std::uint8_t>& strings) {
        std::size_t budget = max_versions;
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto need = at<Elf64_Verneed>(at_file, "DT_VERNEED");
            const std::string library = text_in(strings, need.vn_file, "vn_file");
            std::uint64_t at_version = at_file + need.vn_aux;
            for (unsigned k = 0; k < need.vn_cnt; ++k) {
                if (budget-- == 0) throw Broken{"DT_VERNEED names too many versions"};
                const auto version = at<Elf64_Vernaux>(at_version, "an entry of DT_VERNEED");
                if (!(version.vna_flags & VER_FLG_WEAK)) elf_.version_needs.push_back({library, text_in(strings, version.vna_name, "vna_name")});
                if (version.vna_next == 0) break;
                at_version += version.vna_next;
            }
            if (need.vn_next == 0) break;
            at_file += need.vn_next;
        }
    }
    void read_versions(std::uint64_t at_file, std::uint64_t count, const std::vector<std::uint8_t>& strings) {
        if (count > max_versions) throw Broken{"DT_VERDEF names too many versions"};
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto version = at<Elf64_Verdef>(at_file, "DT_VERDEF");
            const auto name = at<Elf64_Verdaux>(at_file + version.vd_aux, "an entry of DT_VERDEF");
            if (!(version.vd_flags & VER_FLG_BASE)) elf_.versions.push_back(text_in(strings, name.vda_name, "vda_name"));
            if (version.vd_next == 0) break;
            at_file += version.vd_next;
        }
    }

    static std::vector<std::string> folders(const std::string& list) {
        std::vector<std::string> result;
        for (std::size_t begin = 0; begin <= list.size();) {
            const auto end = std::min(list.find(':', begin), list.size());
            result.push_back(list.substr(begin, end - begin));
            begin = end + 1;
        }
        return result;
    }

    // -------------------------------------------------------------------------------------------- Go

    /// debug/buildinfo: a 32-byte header at the begin of the data segment, 16-byte aligned; since Go 1.18 two strings follow it,
    /// each behind its length as a varint.
    void go_build_information() {
        static constexpr char magic[] = "\xff Go buildinf:";
        constexpr std::uint64_t window = 1u << 20, most = 8u << 20, header_size = 32;
        std::uint64_t looked = 0;
        for (const Segment& segment : segments_) {
            if (segment.type != PT_LOAD || !segment.writable || segment.offset >= file_.size) continue;
            const std::uint64_t size = std::min({segment.size, window, file_.size - segment.offset});
            if ((looked += size) > most) return;
            const auto bytes = block(segment.offset, size, "the data segment");
            for (std::size_t i = 0; i + header_size <= bytes.size(); i += 16) {
                if (std::memcmp(bytes.data() + i, magic, sizeof magic - 1) != 0) continue;
                if (!(bytes[i + 15] & 2)) return;  // pointers, before Go 1.18
                std::size_t at = i + header_size;
                const auto version = varint_text(bytes, at), modules = varint_text(bytes, at);
                if (!version || !modules) return;
                elf_.go_version = *version;
                // The module text stands between two marks of 16 bytes.
                if (modules->size() > 32) read_modules(modules->substr(16, modules->size() - 32));
                return;
            }
        }
    }

    static std::optional<std::string> varint_text(const std::vector<std::uint8_t>& bytes, std::size_t& at) {
        std::uint64_t size = 0;
        for (unsigned shift = 0; shift < 35; shift += 7) {
            if (at >= bytes.size()) return std::nullopt;
            const std::uint8_t byte = bytes[at++];
            size |= std::uint64_t{byte & 0x7fu} << shift;
            if (byte & 0x80) continue;
            if (size > bytes.size() - at) return std::nullopt;
            at += size;
            return std::string(bytes.begin() + static_cast<std::ptrdiff_t>(at - size), bytes.begin() + static_cast<std::ptrdiff_t>(at));
        }
        return std::nullopt;
    }

    /// Lines "path\tX", "mod\tX\tversion", "build\tkey=value".
    void read_modules(const std::string& text) {
        for (std::size_t begin = 0; begin < text.size();) {
            const auto end = std::min(text.find('\n', begin), text.size());
            const std::string line = text.substr(begin, end - begin);
            begin = end + 1;
            const auto tab = line.find('\t');
            if (tab == std::string::npos) continue;
            const std::string kind = line.substr(0, tab), rest = line.substr(tab + 1);
            if (kind == "path" || kind == "mod") elf_.go_build[kind] = rest.substr(0, max_text);
            else if (const auto equals = rest.find('='); kind == "build" && equals != std::string::npos) elf_.go_build[rest.substr(0, equals)] = rest.substr(equals + 1, max_text);
        }
    }

    // -------------------------------------------------------------------------------------------- texts

    /// "RELEASE.2026-08-07T18-34-35Z" at this place.
    static std::optional<std::string> release_at(std::string_view text) {
        static constexpr std::string_view shape = "dddd-dd-ddTdd-dd-ddZ";
        for (const std::string_view lead : {"RELEASE.", "EDGE."}) {
            if (text.substr(0, lead.size()) != lead || text.size() < lead.size() + shape.size()) continue;
            for (std::size_t i = 0; i < shape.size(); ++i) {
                const char c = text[lead.size() + i];
                if (shape[i] == 'd' ? c < '0' || c > '9' : c != shape[i]) return std::nullopt;
            }
            return std::string(text.substr(0, lead.size() + shape.size()));
        }
        return std::nullopt;
    }

    /// Only what can be started is searched: of a library its links say what it is.
    void search() {
        if (elf_.interpreter.empty() && elf_.kind == "library" && !program_ && !entry_) return;
        if (file_.size > max_searched_bytes) return;
        constexpr std::size_t piece = 1u << 20, overlap = 64;
        std::set<std::string> marks, releases;
        std::vector<std::uint8_t> buffer(piece + overlap);
        for (std::uint64_t offset = 0; offset < file_.size; offset += piece) {
            const std::size_t want = std::min<std::uint64_t>(buffer.size(), file_.size - offset);
            if (file_.read(offset, std::span(buffer).first(want)) != want) throw Broken{fmt::format("{} bytes at {} could not be read", want, offset)};
            const std::string_view text(reinterpret_cast<const char*>(buffer.data()), want);
            for (const std::string& mark : elf_marks())
                if (!marks.count(mark) && memmem(text.data(), text.size(), mark.data(), mark.size())) marks.insert(mark);
            for (const std::string_view lead : {std::string_view("RELEASE.20"), std::string_view("EDGE.20")})
                for (const char* at = text.data(); (at = static_cast<const char*>(memmem(at, static_cast<std::size_t>(text.data() + text.size() - at), lead.data(), lead.size())));) {
                    if (const auto release = release_at(text.substr(static_cast<std::size_t>(at - text.data())))) releases.insert(*release);
                    ++at;
                }
        }
        elf_.marks.assign(marks.begin(), marks.end());
        elf_.releases.assign(releases.begin(), releases.end());
        elf_.searched = true;
    }

    const Source& file_;
    Elf& elf_;
    std::vector<Segment> segments_;
    bool program_ = false;  // a static position-independent executable
    bool entry_ = false;
};

// ------------------------------------------------------------------------------------------------ ld.so.cache

// elf/cache.c and sysdeps/generic/dl-cache.h of glibc 2.39.
constexpr std::string_view old_magic = "ld.so-1.7.0", new_magic = "glibc-ld.so.cache1.1";
constexpr std::size_t old_header = 16, old_entry = 12, new_header = 48, new_entry = 24;
constexpr std::uint32_t extension_magic = 0xeaa42174;
constexpr std::uint64_t hwcap_extension = 1ull << 62;

std::string machine_of_flags(std::uint32_t flags) {
    switch (flags) {
        case 0x0303: return "x86_64";
        case 0x0a03: return "aarch64";
        case 0x0003: return "i386";
        case 0x0903:
        case 0x0b03: return "arm";
        default: return {};
    }
}

class CacheReader {
public:
    explicit CacheReader(Bytes cache) : cache_(cache) {
        if (begins(0, old_magic)) {
            // The new format follows the old one's entries, aligned to 8 (glibc's ALIGN_CACHE).
            const std::uint64_t libraries = number<std::uint32_t>(12);
            begin_ = (old_header + libraries * old_entry + 7) & ~std::uint64_t{7};
        }
        if (!begins(begin_, new_magic)) throw Broken{"it does not begin as a cache of glibc 2.2 or later"};
        count_ = number<std::uint32_t>(begin_ + 20);
        if (number<std::uint8_t>(begin_ + 28) == 3) throw Broken{"it is in big-endian order"};
        const std::uint64_t extension = number<std::uint32_t>(begin_ + 32);
        if (extension) read_levels(begin_ + extension);
    }

    std::vector<CachedLibrary> find(const std::string& name) const {
        std::vector<CachedLibrary> list;
        for (std::uint64_t i = 0; i < count_; ++i) {
            const std::uint64_t entry = begin_ + new_header + i * new_entry;
            if (text(begin_ + number<std::uint32_t>(entry + 4)) != name) continue;
            const auto hwcap = number<std::uint64_t>(entry + 16);
            CachedLibrary library;
            library.path = text(begin_ + number<std::uint32_t>(entry + 8));
            library.machine = machine_of_flags(number<std::uint32_t>(entry));
            if (hwcap & hwcap_extension) {
                const auto index = static_cast<std::uint32_t>(hwcap);
                if (index >= levels_.size()) throw Broken{fmt::format("entry {} names hardware level {} of {}", i, index, levels_.size())};
                library.level = levels_[index];
            } else {
                library.other_levels = hwcap != 0;
            }
            list.push_back(std::move(library));
        }
        return list;
    }

private:
    bool begins(std::uint64_t offset, std::string_view magic) const {
        return offset <= cache_.size() && cache_.size() - offset >= magic.size() && std::memcmp(cache_.data() + offset, magic.data(), magic.size()) == 0;
    }
    template <class T>
    T number(std::uint64_t offset) const {
        if (offset > cache_.size() || cache_.size() - offset < sizeof(T)) throw Broken{fmt::format("it ends before byte {}", offset + sizeof(T))};
        T value;
        std::memcpy(&value, cache_.data() + offset, sizeof value);
        return value;
    }
    std::string_view text(std::uint64_t offset) const {
        if (offset >= cache_.size()) throw Broken{fmt::format("a string at byte {} lies behind its end", offset)};
        const auto* begin = reinterpret_cast<const char*>(cache_.data() + offset);
        const std::size_t size = strnlen(begin, cache_.size() - offset);
        if (size == cache_.size() - offset) throw Broken{fmt::format("the string at byte {} has no end", offset)};
        return {begin, size};
    }
    /// The extension directory; section 1 is the table of glibc-hwcaps folders.
    void read_levels(std::uint64_t at) {
        if (number<std::uint32_t>(at) != extension_magic) throw Broken{fmt::format("no extension directory at byte {}", at)};
        const std::uint64_t sections = number<std::uint32_t>(at + 4);
        for (std::uint64_t i = 0; i < sections; ++i) {
            const std::uint64_t section = at + 8 + i * 16;
            if (number<std::uint32_t>(section) != 1) continue;
            const std::uint64_t table = begin_ + number<std::uint32_t>(section + 8), size = number<std::uint32_t>(section + 12);
            for (std::uint64_t offset = 0; offset + 4 <= size; offset += 4) levels_.emplace_back(text(begin_ + number<std::uint32_t>(table + offset)));
        }
    }

    Bytes cache_;
    std::uint64_t begin_ = 0, count_ = 0;
    std::vector<std::string> levels_;
};

}  // namespace

Source memory(Bytes bytes) {
    return {bytes.size(), [bytes](std::uint64_t offset, std::span<std::uint8_t> into) -> std::size_t {
                if (offset >= bytes.size()) return 0;
                const std::size_t size = std::min<std::uint64_t>(into.size(), bytes.size() - offset);
                std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), size, into.begin());
                return size;
            }};
}

Fact<Elf> parse(const Source& file, const std::string& path) {
    std::array<std::uint8_t, EI_NIDENT> ident{};
    const std::size_t got = file.read(0, ident);
    if (got >= 2 && ident[0] == '#' && ident[1] == '!') {
        std::array<std::uint8_t, 128> line{};
        const std::size_t size = file.read(0, line);
        const std::string text(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(size));
        return Unreadable{"script", fmt::format("{} is a script ({})", path, text.substr(0, text.find('\n')))};
    }
    if (got < ident.size() || std::memcmp(ident.data(), ELFMAG, SELFMAG) != 0) return Unreadable{"not-elf", fmt::format("{} is no ELF file", path)};
    if (ident[EI_DATA] != ELFDATA2LSB) return Unreadable{"not-elf", fmt::format("{} is an ELF file of a big-endian machine", path)};
    Elf elf;
    try {
        Parser parser(file, elf);
        elf.bits = ident[EI_CLASS] == ELFCLASS64 ? 64 : ident[EI_CLASS] == ELFCLASS32 ? 32 : 0;
        if (elf.bits == 64) parser.run<Layout64>();
        else if (elf.bits == 32) parser.run<Layout32>();
        else throw Broken{fmt::format("its class {} is neither 32 nor 64 bits", ident[EI_CLASS])};
    } catch (const Broken& broken) {
        return Unreadable{"malformed", fmt::format("{}: {}", path, broken.what)};
    }
    return elf;
}

Fact<std::vector<CachedLibrary>> cached(Bytes cache, const std::string& name, const std::string& path) {
    try {
        return CacheReader(cache).find(name);
    } catch (const Broken& broken) {
        return Unreadable{"malformed", fmt::format("{}: {}", path, broken.what)};
    }
}

}  // namespace elf

namespace live {

Fact<Elf> elf(const std::string& root, const std::string& path) {
    Opened file;
    open_below(file, root, path, O_RDONLY | O_NONBLOCK);
    if (file.fd < 0) return file_error<Elf>(file.error, path);
    struct stat status {};
    if (fstat(file.fd, &status) != 0) return file_error<Elf>(errno, path);
    if (!S_ISREG(status.st_mode)) return Unreadable{S_ISDIR(status.st_mode) ? "EISDIR" : "not-a-file", path + ": is no file"};
    int error = 0;
    const elf::Source source{static_cast<std::uint64_t>(status.st_size), [&](std::uint64_t offset, std::span<std::uint8_t> into) {
                                 std::size_t done = 0;
                                 while (done < into.size()) {
                                     const ssize_t got = pread(file.fd, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
                                     if (got < 0 && errno == EINTR) continue;
                                     if (got < 0) error = errno;
                                     if (got <= 0) break;
                                     done += static_cast<std::size_t>(got);
                                 }
                                 return done;
                             }};
    const Fact<Elf> fact = elf::parse(source, path);
    if (error) return file_error<Elf>(error, path);
    return fact.then([&](Elf elf) {
        elf.capabilities = fgetxattr(file.fd, "security.capability", nullptr, 0) > 0;
        return elf;
    });
}

Fact<std::vector<CachedLibrary>> cached_library(const std::string& root, const std::string& name) {
    const std::string path = "/etc/ld.so.cache";
    return read(root, path).then([&](const std::string& cache) {
        return elf::cached({reinterpret_cast<const std::uint8_t*>(cache.data()), cache.size()}, name, path);
    });
}

}  // namespace live
}  // namespace preflight
