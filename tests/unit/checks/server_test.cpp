#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "facts/server_build.h"
#include "facts/service.h"
#include "modules.h"
#include "server.h"
#include "support/fake_host.h"

namespace preflight {
namespace {

using testing::Contains;
using testing::HasSubstr;

// The E810 node with a unit that starts /usr/local/bin/minio; the file is the RDMA build and all its libraries are there.
class Server : public testing::Test {
protected:
    Server() {
        host.add_service({"minio-user", 990, 990, "/", "/sbin/nologin", {990}});
        for (const char* kind : {"service_manager", "loaded_unit"}) host.absent(kind, kind[0] == 'l' ? "minio.service" : "", "systemd does not manage this node");
        host.set("info", path, FileInfo{"file", 0755, 0, 0, 1000, 0});
        host.set("resolve", path, path);
        binary.machine = "x86_64";
        binary.bits = 64;
        binary.kind = "executable";
        binary.interpreter = "/lib64/ld-linux-x86-64.so.2";
        binary.needed = {"libs3rdma.so.0"};
        binary.runpath = {"/usr/lib/minio"};
        binary.releases = {"RELEASE.2026-08-07T18-34-35Z"};
        binary.searched = true;
        put("/usr/lib/minio/libs3rdma.so.0", "libs3rdma.so.0");
        host.set("info", "/usr/lib/minio/libs3rdma.so.0", FileInfo{"file", 0644, 0, 0, 1000, 0});
        for (const char* name : {"libibverbs.so.1", "librdmacm.so.1", "libnuma.so.1"}) {
            put(std::string("/usr/lib64/") + name, name);
            host.set("cached_library", name, std::vector<CachedLibrary>{{std::string("/usr/lib64/") + name, "x86_64", "", false}});
        }
        host.absent("cached_library", "libs3rdma.so.0");
    }
    void put(const std::string& file, const std::string& soname) {
        Elf elf;
        elf.machine = "x86_64";
        elf.bits = 64;
        elf.kind = "library";
        elf.soname = soname;
        host.set("elf", file, elf);
        host.set("resolve", file, file);
    }
    void gone(const std::string& name) {
        host.absent("elf", "/usr/lib64/" + name);
        host.absent("cached_library", name);
    }
    void unit(const std::string& service_lines) {
        host.set("list", "/etc/systemd/system", std::vector<std::string>{"minio.service"});
        host.answers[{"unit_file", "/etc/systemd/system/minio.service"}] = text_to_json("[Service]\n" + service_lines + "ExecStart=/usr/local/bin/minio server\n");
    }
    Report report() {
        host.set("elf", path, binary);
        return again();
    }
    Report again() {
        const Facts facts(host, options);
        Module s3{"s3", "", {s3_server_check()}};
        return judge({server_module(), s3}, facts);
    }
    Finding binary_finding() { return only(report(), "server.binary"); }

    const std::string path = "/usr/local/bin/minio";
    FakeHost host = e810_node();
    Elf binary;
    Options options;
};

TEST_F(Server, is_the_rdma_build_by_what_it_needs_or_names_whatever_its_name) {
    for (const char* id : {"server.binary", "server.libraries", "server.version", "s3.server"}) EXPECT_EQ(only(report(), id).status, Status::pass) << id << ": " << only(report(), id).observed;
    EXPECT_THAT(binary_finding().observed, HasSubstr("libs3rdma.so.0"));
    binary.needed.clear();
    binary.marks = {"libp2p_rdma.so"};
    EXPECT_EQ(binary_finding().status, Status::pass);
}

TEST_F(Server, fails_as_the_standard_build_and_says_how_to_start_the_other_one) {
    binary.needed = {"libc.so.6"};
    host.set("info", rdma_build_path, FileInfo{"file", 0755, 0, 0, 1000, 0});
    const Finding finding = binary_finding();
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.remedy.commands, Contains(HasSubstr("ExecStart=/usr/local/bin/minio.rdma")));
    EXPECT_EQ(only(report(), "s3.server").status, Status::blocked);
}

TEST_F(Server, with_stage_ready_is_the_installed_rdma_build) {
    binary.needed = {"libc.so.6"};
    Elf rdma = binary;
    rdma.needed = {"libs3rdma.so.0"};
    host.set("elf", rdma_build_path, rdma);
    host.set("info", rdma_build_path, FileInfo{"file", 0755, 0, 0, 1000, 0});
    EXPECT_EQ(binary_finding().status, Status::fail);
    options.stage = Stage::ready;
    EXPECT_EQ(binary_finding().status, Status::pass);
}

TEST_F(Server, is_unknown_by_its_name_alone_or_too_large_or_a_script) {
    binary.needed.clear();
    host.set("resolve", path, std::string("/opt/minio.rdma"));
    EXPECT_EQ(binary_finding().status, Status::unknown);
    host.set("resolve", path, path);
    binary.searched = false;
    EXPECT_EQ(binary_finding().status, Status::unknown);
    host.unreadable("elf", path, "script");
    EXPECT_EQ(only(again(), "server.binary").status, Status::unknown);
    host.unreadable("elf", path, "EACCES");
    EXPECT_EQ(only(again(), "server.binary").status, Status::unknown);
}

TEST_F(Server, fails_when_missing_not_executable_broken_or_for_another_processor) {
    binary.machine = "aarch64";
    EXPECT_EQ(binary_finding().status, Status::fail);
    host.unreadable("elf", path, "malformed");
    EXPECT_EQ(only(again(), "server.binary").status, Status::fail);
    binary.machine = "x86_64";
    host.set("info", path, FileInfo{"file", 0644, 0, 0, 1000, 0});
    EXPECT_EQ(binary_finding().status, Status::fail);
    host.absent("info", path);
    EXPECT_EQ(binary_finding().status, Status::fail);
}

TEST_F(Server, is_asked_itself_only_with_run_binary) {
    binary.needed.clear();
    options.run_binary = true;
    host.set("version_output", path, std::string("minio version RELEASE.2026-09-01T00-00-00Z\nFeatures: GPU-Direct RDMA\n"));
    EXPECT_EQ(binary_finding().status, Status::pass);
    EXPECT_THAT(only(report(), "server.version").observed, HasSubstr("RELEASE.2026-09-01"));
    host.set("version_output", path, std::string("minio version RELEASE.2026-09-01T00-00-00Z\n"));
    EXPECT_EQ(binary_finding().status, Status::fail);
}

TEST_F(Server, names_the_library_that_is_missing_and_its_package) {
    gone("libibverbs.so.1");
    const Finding finding = only(report(), "server.libraries");
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("libibverbs.so.1"));
    EXPECT_THAT(finding.remedy.commands, Contains(HasSubstr("libibverbs")));
}

TEST_F(Server, needs_no_libminiocpp_and_no_fixed_list_of_files) {
    host.set("list", "/usr/lib/minio", std::vector<std::string>{"libs3rdma.so.0"});
    EXPECT_EQ(only(report(), "server.libraries").status, Status::pass);
}

TEST_F(Server, warns_of_a_copy_that_hides_the_packages_library) {
    unit("User=minio-user\nEnvironment=LD_LIBRARY_PATH=/opt/old\n");
    put("/opt/old/libs3rdma.so.0", "libs3rdma.so.0");
    const Finding finding = only(report(), "server.libraries");
    EXPECT_EQ(finding.status, Status::warn);
    EXPECT_THAT(finding.observed, HasSubstr("/opt/old/libs3rdma.so.0"));
}

TEST_F(Server, library_that_may_not_be_read_is_unknown) {
    host.unreadable("elf", "/usr/lib/minio/libs3rdma.so.0", "EACCES");
    EXPECT_EQ(only(report(), "server.libraries").status, Status::unknown);
}

TEST_F(Server, library_that_is_only_named_is_looked_for_and_its_own_needs_too) {
    binary.needed = {"libc.so.6"};
    binary.marks = {"libs3rdma.so"};
    host.absent("cached_library", "libc.so.6");
    put("/usr/lib64/libc.so.6", "libc.so.6");
    EXPECT_EQ(only(report(), "server.libraries").status, Status::pass) << only(report(), "server.libraries").observed;
    EXPECT_EQ(only(report(), "s3.server").status, Status::pass);
    host.absent("elf", "/usr/lib/minio/libs3rdma.so.0");
    EXPECT_EQ(only(report(), "server.libraries").status, Status::fail);
    Elf needing;
    needing.machine = "x86_64";
    needing.bits = 64;
    needing.needed = {"libgone.so.1"};
    host.set("elf", "/usr/lib/minio/libs3rdma.so.0", needing);
    host.absent("cached_library", "libgone.so.1");
    EXPECT_THAT(only(report(), "server.libraries").observed, HasSubstr("libgone.so.1"));
}

TEST_F(Server, fails_with_a_broken_library_and_names_the_file) {
    host.unreadable("elf", "/usr/lib/minio/libs3rdma.so.0", "not-elf");
    const Finding finding = only(report(), "server.libraries");
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("gives up"));
}

TEST_F(Server, fails_when_a_symbol_version_is_missing) {
    binary.version_needs = {{"libs3rdma.so.0", "S3_9"}};
    EXPECT_EQ(only(report(), "server.libraries").status, Status::pass);
    Elf library;
    library.machine = "x86_64";
    library.bits = 64;
    library.versions = {"S3_1"};
    host.set("elf", "/usr/lib/minio/libs3rdma.so.0", library);
    EXPECT_THAT(only(report(), "server.libraries").observed, HasSubstr("S3_9"));
}

TEST_F(Server, must_be_open_to_the_units_user) {
    host.set("info", "/usr/local/bin", FileInfo{"dir", 0700, 0, 0, 0, 0});
    host.set("info", "/usr/local", FileInfo{"dir", 0755, 0, 0, 0, 0});
    host.set("info", "/usr", FileInfo{"dir", 0755, 0, 0, 0, 0});
    const Finding finding = binary_finding();
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("User=minio-user"));
    host.set("info", "/usr/local/bin", FileInfo{"dir", 0700, 0, 0, 0, 0, true});
    EXPECT_EQ(binary_finding().status, Status::unknown);
    unit("User=minio-user\nAmbientCapabilities=CAP_DAC_OVERRIDE\n");
    host.set("info", "/usr/local/bin", FileInfo{"dir", 0700, 0, 0, 0, 0});
    EXPECT_EQ(binary_finding().status, Status::pass);
    unit("User=root\n");
    host.set("user", "root", User{"root", 0, 0, "/root", "/bin/sh", {0}});
    EXPECT_EQ(binary_finding().status, Status::pass);
}

TEST_F(Server, with_capabilities_on_its_file_has_no_library_path) {
    binary.runpath.clear();
    unit("User=minio-user\nEnvironment=LD_LIBRARY_PATH=/usr/lib/minio\n");
    EXPECT_EQ(only(report(), "server.libraries").status, Status::pass);
    binary.capabilities = true;
    const Finding finding = only(report(), "server.libraries");
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("ignores LD_LIBRARY_PATH"));
    unit("User=minio-user\nNoNewPrivileges=yes\nEnvironment=LD_LIBRARY_PATH=/usr/lib/minio\n");
    EXPECT_EQ(only(report(), "server.libraries").status, Status::pass);
}

TEST_F(Server, library_path_of_the_servers_own_file_comes_too_late) {
    binary.runpath.clear();
    unit("User=minio-user\nEnvironment=MINIO_CONFIG_ENV_FILE=/etc/minio/config.env\n");
    host.answers[{"server_environment_file", "/etc/minio/config.env"}] = text_to_json("LD_LIBRARY_PATH=/usr/lib/minio\n");
    EXPECT_EQ(only(report(), "server.libraries").status, Status::fail);
}

TEST_F(Server, starts_without_a_preload_that_is_not_there) {
    unit("User=minio-user\nEnvironment=LD_PRELOAD=/opt/trace.so\n");
    host.absent("elf", "/opt/trace.so");
    const Finding finding = only(report(), "server.libraries");
    EXPECT_EQ(finding.status, Status::pass);
    EXPECT_THAT(finding.observed, HasSubstr("/opt/trace.so"));
}

TEST_F(Server, finds_the_packages_own_copy_through_a_link) {
    unit("User=minio-user\nEnvironment=LD_LIBRARY_PATH=/opt/minio-libs\n");
    put("/opt/minio-libs/libs3rdma.so.0", "libs3rdma.so.0");
    host.set("resolve", "/opt/minio-libs/libs3rdma.so.0", std::string("/usr/lib/minio/libs3rdma.so.0"));
    EXPECT_EQ(only(report(), "server.libraries").status, Status::pass);
}

TEST_F(Server, release_is_judged_or_said_to_be_undeterminable) {
    binary.releases = {"RELEASE.2025-12-20T04-58-37Z"};
    EXPECT_EQ(only(report(), "server.version").status, Status::warn);
    binary.releases = {"EDGE.2026-09-01T02-39-13Z"};
    EXPECT_EQ(only(report(), "server.version").status, Status::warn);
    binary.releases = {"RELEASE.2025-12-20T04-58-37Z", "RELEASE.2026-08-07T18-34-35Z"};
    EXPECT_EQ(only(report(), "server.version").status, Status::warn);
    binary.go_build = {{"-ldflags", "-s -X github.com/minio/minio/cmd.ReleaseTag=RELEASE.2026-08-07T18-34-35Z -X x=y"}};
    EXPECT_EQ(only(report(), "server.version").status, Status::pass);
    options.server_release = "RELEASE.2026-10-01T00-00-00Z";
    EXPECT_THAT(only(report(), "server.version").observed, HasSubstr("2026-10-01"));
}

TEST_F(Server, of_a_node_without_a_unit_is_unknown_until_it_is_named) {
    host.set("list", "/etc/systemd/system", std::vector<std::string>{});
    EXPECT_NE(only(report(), "server.binary").status, Status::pass);
    options.binary = path;
    EXPECT_EQ(only(report(), "server.binary").status, Status::pass);
}

}  // namespace
}  // namespace preflight
