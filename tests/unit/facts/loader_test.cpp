#include "facts/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_host.h"

namespace preflight {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The rules of ld.so(8), one by one.
class LoaderRules : public testing::Test {
protected:
    LoaderRules() {
        program.machine = "x86_64";
        program.bits = 64;
        program.kind = "library";
        program.interpreter = "/lib64/ld-linux-x86-64.so.2";
        program.needed = {"liba.so.1"};
        host.absent("cached_library", "liba.so.1");
        host.absent("cached_library", "libb.so.1");
        host.answers[{"elf", ""}] = Absent{};
    }
    Elf library(const std::string& soname, std::vector<std::string> needed = {}) {
        Elf elf;
        elf.machine = "x86_64";
        elf.bits = 64;
        elf.kind = "library";
        elf.soname = soname;
        elf.needed = std::move(needed);
        return elf;
    }
    void put(const std::string& path, const Elf& elf) {
        host.set("elf", path, elf);
        host.set("resolve", path, path);
    }
    void cached(const std::string& name, const std::string& path, const std::string& level = {}) {
        host.set("cached_library", name, std::vector<CachedLibrary>{{path, "x86_64", level, false}});
    }
    std::vector<LoadedLibrary> load() { return Loader(host, setting).load("/usr/local/bin/minio", program); }
    /// "path by RULE" of the first library, or what stands in its place.
    std::string first() {
        const auto list = load();
        if (list.empty()) return "nothing asked for";
        const LoadedLibrary& library = list.front();
        return library.path ? *library.path + " by " + library.by : library.path.absent() ? "not found" : library.path.why().error;
    }

    FakeHost host;
    LoaderSetting setting;
    Elf program;
};

TEST_F(LoaderRules, rpath_stands_before_the_library_path_and_runpath_behind_it) {
    for (const char* folder : {"/r", "/env", "/usr/lib64"}) put(std::string(folder) + "/liba.so.1", library("liba.so.1"));
    setting.library_path = {"/env"};
    program.rpath = {"/r"};
    EXPECT_EQ(first(), "/r/liba.so.1 by RPATH");
    program.runpath = {"/r"};
    EXPECT_EQ(first(), "/env/liba.so.1 by LD_LIBRARY_PATH") << "a RUNPATH makes the RPATH void";
    setting.library_path.clear();
    EXPECT_EQ(first(), "/r/liba.so.1 by RUNPATH");
    program.rpath.clear();
    program.runpath.clear();
    EXPECT_EQ(first(), "/usr/lib64/liba.so.1 by default folders");
}

TEST_F(LoaderRules, a_set_user_id_program_ignores_the_library_path) {
    put("/env/liba.so.1", library("liba.so.1"));
    setting.library_path = {"/env"};
    EXPECT_EQ(first(), "/env/liba.so.1 by LD_LIBRARY_PATH");
    setting.secure = true;
    EXPECT_EQ(first(), "not found");
}

TEST_F(LoaderRules, runpath_is_the_asking_files_alone_and_rpath_is_inherited) {
    put("/r/liba.so.1", library("liba.so.1", {"libb.so.1"}));
    put("/r/libb.so.1", library("libb.so.1"));
    program.runpath = {"/r"};
    auto list = load();
    ASSERT_EQ(list.size(), 2u);
    EXPECT_TRUE(list[1].path.absent()) << "RUNPATH does not serve what a library needs";
    program.rpath = {"/r"};
    program.runpath.clear();
    list = load();
    EXPECT_EQ(*list[1].path, "/r/libb.so.1");
    Elf with_own = library("liba.so.1", {"libb.so.1"});
    with_own.runpath = {"/elsewhere"};
    put("/r/liba.so.1", with_own);
    EXPECT_TRUE(load()[1].path.absent()) << "a library with a RUNPATH of its own does not inherit";
}

TEST_F(LoaderRules, origin_is_the_folder_of_the_file_that_holds_it) {
    host.set("resolve", "/usr/local/bin/minio", std::string("/opt/minio/bin/minio"));
    put("/opt/minio/bin/../lib/liba.so.1", library("liba.so.1"));
    program.runpath = {"${ORIGIN}/../lib"};
    EXPECT_EQ(first(), "/opt/minio/bin/../lib/liba.so.1 by RUNPATH");
    program.runpath = {"$ORIGINAL/lib"};
    EXPECT_EQ(first(), "not found") << "only a whole word is replaced";
}

TEST_F(LoaderRules, the_cache_is_followed_where_the_file_is_there_and_the_hardware_level_fits) {
    cached("liba.so.1", "/opt/lib/liba.so.1");
    EXPECT_EQ(first(), "not found") << "a stale entry";
    put("/opt/lib/liba.so.1", library("liba.so.1"));
    EXPECT_EQ(first(), "/opt/lib/liba.so.1 by ld.so.cache");
    cached("liba.so.1", "/opt/lib/liba.so.1", "x86-64-v3");
    EXPECT_EQ(first(), "not found");
    setting.levels = {"x86-64-v2", "x86-64-v3"};
    EXPECT_EQ(first(), "/opt/lib/liba.so.1 by ld.so.cache");
}

TEST_F(LoaderRules, a_library_for_another_machine_is_passed_over_and_told) {
    Elf other = library("liba.so.1");
    other.machine = "i386";
    other.bits = 32;
    put("/r/liba.so.1", other);
    program.rpath = {"/r"};
    const auto list = load();
    EXPECT_TRUE(list[0].path.absent());
    EXPECT_THAT(list[0].other_machines, ElementsAre("/r/liba.so.1"));
    put("/usr/lib/liba.so.1", library("liba.so.1"));
    EXPECT_EQ(first(), "/usr/lib/liba.so.1 by default folders");
}

TEST_F(LoaderRules, what_may_not_be_read_is_not_missing) {
    host.unreadable("elf", "/r/liba.so.1", "EACCES");
    program.rpath = {"/r"};
    EXPECT_EQ(first(), "EACCES");
    put("/usr/lib64/liba.so.1", library("liba.so.1"));
    EXPECT_EQ(first(), "/usr/lib64/liba.so.1 by default folders");
}

TEST_F(LoaderRules, a_cycle_ends_and_each_name_is_asked_for_once) {
    put("/usr/lib64/liba.so.1", library("liba.so.1", {"libb.so.1", "ld-linux-x86-64.so.2"}));
    put("/usr/lib64/libb.so.1", library("libb.so.1", {"liba.so.1"}));
    EXPECT_EQ(load().size(), 2u);
}

TEST_F(LoaderRules, a_soname_that_is_loaded_serves_later_requests) {
    program.needed = {"libplain.so", "liba.so.1"};
    host.absent("cached_library", "libplain.so");
    put("/usr/lib64/libplain.so", library("liba.so.1"));
    EXPECT_EQ(load().size(), 1u);
}

TEST_F(LoaderRules, a_static_program_needs_nothing) {
    program.interpreter.clear();
    EXPECT_EQ(first(), "nothing asked for");
}

TEST_F(LoaderRules, musl_takes_its_own_folders_and_no_cache) {
    program.interpreter = "/lib/ld-musl-x86_64.so.1";
    cached("liba.so.1", "/opt/lib/liba.so.1");
    put("/opt/lib/liba.so.1", library("liba.so.1"));
    EXPECT_EQ(first(), "not found");
    put("/usr/local/lib/liba.so.1", library("liba.so.1"));
    EXPECT_EQ(first(), "/usr/local/lib/liba.so.1 by default folders");
}

TEST_F(LoaderRules, what_is_opened_by_name_is_looked_for_as_the_caller_looks) {
    Elf caller = library("liba.so.1");
    caller.runpath = {"/bundled"};
    put("/usr/lib64/liba.so.1", caller);
    put("/bundled/libb.so.1", library("libb.so.1"));
    Loader loader(host, setting);
    loader.load("/usr/local/bin/minio", program);
    EXPECT_EQ(*loader.open("libb.so.1", "/usr/lib64/liba.so.1").path, "/bundled/libb.so.1");
    EXPECT_TRUE(loader.open("libb.so.1", "/usr/local/bin/minio").path.absent());
    EXPECT_EQ(loader.open("liba.so.1", "/usr/local/bin/minio").by, "already loaded");
}

TEST(HardwareLevels, follow_the_processors_flags) {
    FakeHost host;
    host.text("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3 avx\n");
    EXPECT_EQ(hardware_levels(host), std::set<std::string>{"x86-64-v2"});
    host.text("/proc/cpuinfo", "processor : 0\nFeatures : fp asimd\n");
    EXPECT_TRUE(hardware_levels(host).empty());
}

}  // namespace
}  // namespace preflight
