#include "probe/identity.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace preflight::probe {
namespace {

rlimit memlock() {
    rlimit limit{};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    return limit;
}

TEST(ServiceIdentity, is_the_services_user_and_limit_and_is_given_back) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root";
    const rlimit before = memlock();
    const auto groups = getgroups(0, nullptr);
    {
        const ServiceIdentity identity({"nobody", 65534, 65534, "/", "/sbin/nologin", {65534}}, 65536);
        EXPECT_EQ(geteuid(), 65534u);
        EXPECT_EQ(getegid(), 65534u);
        EXPECT_EQ(getgroups(0, nullptr), 1);
        EXPECT_EQ(memlock().rlim_cur, 65536u);
    }
    EXPECT_EQ(geteuid(), 0u);
    EXPECT_EQ(getegid(), 0u);
    EXPECT_EQ(getgroups(0, nullptr), groups);
    EXPECT_EQ(memlock().rlim_cur, before.rlim_cur);
    EXPECT_EQ(memlock().rlim_max, before.rlim_max);
}

TEST(ServiceIdentity, needs_root_and_says_so) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root to become another user first";
    ASSERT_EQ(seteuid(65534), 0);
    EXPECT_THROW(ServiceIdentity({"nobody", 65534, 65534, "/", "", {65534}}, 65536), InputError);
    ASSERT_EQ(seteuid(0), 0);
}

}  // namespace
}  // namespace preflight::probe
