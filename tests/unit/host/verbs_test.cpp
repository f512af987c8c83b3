#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/live.h"

namespace preflight {
namespace {

bool exists(const char* path) {
    struct stat status {};
    return stat(path, &status) == 0;
}

TEST(Verbs, answers_for_the_library_and_the_kernel_apart) {
    void* library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
    const bool core = exists("/sys/module/ib_core") || exists("/sys/class/infiniband");
    const bool uverbs = exists("/sys/class/infiniband_verbs");
    const auto verbs = live::verbs();
    if (!library) {
        EXPECT_TRUE(verbs.absent());
    } else if (!core || !uverbs) {
        ASSERT_TRUE(verbs.unreadable());
        EXPECT_EQ(verbs.why().error, "ENOSYS");
        EXPECT_NE(verbs.why().cause.find(core ? "ib_uverbs" : "ib_core"), std::string::npos) << verbs.why().cause;
        EXPECT_NE(verbs.why().cause.find("the kernel has no RDMA subsystem loaded"), std::string::npos) << verbs.why().cause;
        EXPECT_EQ(exists("/sys/class/infiniband_verbs"), uverbs) << "asking must not load it";
    } else {
        ASSERT_TRUE(verbs.has());
        EXPECT_NE(verbs->library.find("libibverbs"), std::string::npos) << verbs->library;
    }
    if (library) dlclose(library);
}

TEST(Verbs, leaves_stderr_as_it_was) {
    struct stat before {}, after {};
    ASSERT_EQ(fstat(STDERR_FILENO, &before), 0);
    live::verbs();
    ASSERT_EQ(fstat(STDERR_FILENO, &after), 0);
    EXPECT_EQ(before.st_ino, after.st_ino);
    EXPECT_EQ(before.st_dev, after.st_dev);
}

}  // namespace
}  // namespace preflight
