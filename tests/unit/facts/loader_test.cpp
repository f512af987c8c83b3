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
    // Whether the loader takes the hidden one or this one is not known.
    put("/usr/lib64/liba.so.1", library("liba.so.1"));
    EXPECT_EQ(first(), "EACCES");
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
    EXPECT_TRUE(loader.open("libb.so.1", "/usr/local/bin/minio").front().path.absent());
    EXPECT_EQ(*loader.open("libb.so.1", "/usr/lib64/liba.so.1").front().path, "/bundled/libb.so.1");
    EXPECT_EQ(loader.open("liba.so.1", "/usr/local/bin/minio").front().by, "already loaded");
}

TEST_F(LoaderRules, what_is_opened_brings_what_it_needs) {
    put("/usr/lib64/liba.so.1", library("liba.so.1"));
    put("/usr/lib64/libb.so.1", library("libb.so.1", {"libc.so.1"}));
    host.absent("cached_library", "libc.so.1");
    Loader loader(host, setting);
    loader.load("/usr/local/bin/minio", program);
    const auto list = loader.open("libb.so.1", "/usr/local/bin/minio");
    ASSERT_EQ(list.size(), 2u);
    EXPECT_EQ(list[1].name, "libc.so.1");
    EXPECT_TRUE(list[1].path.absent());
}

TEST_F(LoaderRules, a_broken_file_ends_the_search_though_a_good_one_lies_behind_it) {
    program.runpath = {"/broken", "/good"};
    put("/good/liba.so.1", library("liba.so.1"));
    for (const char* error : {"not-elf", "malformed", "script", "EISDIR"}) {
        host.unreadable("elf", "/broken/liba.so.1", error);
        EXPECT_EQ(first(), "not found") << error;
        EXPECT_FALSE(load().front().broken.empty()) << error;
    }
}

TEST_F(LoaderRules, a_file_that_the_user_may_not_read_is_passed_over) {
    program.runpath = {"/closed", "/good"};
    setting.user = {"User=minio-user", false, false, 990, {990}};
    for (const char* path : {"/closed/liba.so.1", "/good/liba.so.1"}) {
        put(path, library("liba.so.1"));
        host.set("info", path, FileInfo{"file", 0644, 0, 0, 1000, 0});
    }
    for (const char* folder : {"/closed", "/good"}) host.set("info", folder, FileInfo{"dir", 0755, 0, 0, 0, 0});
    EXPECT_EQ(first(), "/closed/liba.so.1 by RUNPATH");
    host.set("info", "/closed", FileInfo{"dir", 0700, 0, 0, 0, 0});
    EXPECT_EQ(first(), "/good/liba.so.1 by RUNPATH");
    host.set("info", "/closed", FileInfo{"dir", 0750, 0, 990, 0, 0});
    EXPECT_EQ(first(), "/closed/liba.so.1 by RUNPATH");
    host.set("info", "/closed", FileInfo{"dir", 0700, 0, 0, 0, 0, true});
    EXPECT_EQ(first(), "EACCES");
}

TEST_F(LoaderRules, of_the_cache_the_best_entry_is_tried_and_no_other) {
    host.set("cached_library", "liba.so.1", std::vector<CachedLibrary>{{"/old/liba.so.1", "x86_64", "", false}, {"/v3/liba.so.1", "x86_64", "x86-64-v3", false}, {"/v2/liba.so.1", "x86_64", "x86-64-v2", false}});
    setting.levels = {"x86-64-v2", "x86-64-v3"};
    put("/old/liba.so.1", library("liba.so.1"));
    EXPECT_EQ(first(), "not found");
    put("/v3/liba.so.1", library("liba.so.1"));
    EXPECT_EQ(first(), "/v3/liba.so.1 by ld.so.cache");
}

TEST_F(LoaderRules, a_version_that_a_library_does_not_offer_is_missing_unless_it_offers_none_at_all) {
    program.version_needs = {{"liba.so.1", "A_9"}};
    Elf with = library("liba.so.1");
    const auto missing = [&](std::vector<std::string> offers) {
        with.versions = std::move(offers);
        put("/usr/lib64/liba.so.1", with);
        Loader loader(host, setting);
        loader.load("/usr/local/bin/minio", program);
        return loader.missing_versions();
    };
    EXPECT_THAT(missing({"A_1", "A_9"}), testing::IsEmpty());
    EXPECT_THAT(missing({}), testing::IsEmpty());
    EXPECT_THAT(missing({"A_1"}), ElementsAre(HasSubstr("A_9 in /usr/lib64/liba.so.1")));
}

TEST_F(LoaderRules, secure_execution_takes_origin_only_to_its_own_folders) {
    setting.secure = true;
    program.runpath = {"$ORIGIN/../lib", "/opt/lib"};
    put("/usr/local/bin/../lib/liba.so.1", library("liba.so.1"));
    EXPECT_EQ(first(), "not found");
    put("/opt/lib/liba.so.1", library("liba.so.1"));
    EXPECT_EQ(first(), "/opt/lib/liba.so.1 by RUNPATH");
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
