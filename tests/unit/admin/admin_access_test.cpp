#include "gateway/admin/admin_access.hpp"

#include <gtest/gtest.h>

namespace gateway::admin {
namespace admin_access_test {

TEST(admin_access, is_closed_without_a_token)
{
    for (const char* line : {"", "Bearer ", "Bearer x"}) {
        EXPECT_EQ(access_with("", line), access::closed) << line;
    }
}

TEST(admin_access, is_granted_to_the_token_alone)
{
    for (const char* line : {"Bearer abc", "bearer abc", "BEARER  abc", "Bearer abc "}) {
        EXPECT_EQ(access_with("abc", line), access::granted) << line;
    }
    for (const char* line :
         {"",
          "abc",
          "Bearer",
          "Bearer ",
          "Bearer ab",
          "Bearer abcd",
          "Bearer ABC",
          "Basic abc",
          "Bearerabc",
          "Bearer:abc",
          "Bearer abc,abc",
          "Bearer abc abc",
          "Bearer\tabc"}) {
        EXPECT_EQ(access_with("abc", line), access::refused) << line;
    }
}

}  // namespace admin_access_test
}  // namespace gateway::admin
