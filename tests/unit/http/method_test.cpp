#include "gateway/http/method.hpp"

#include <gtest/gtest.h>

namespace gateway::http {
namespace method_test {

TEST(method, that_is_a_standard_one_in_another_case_is_told)
{
    EXPECT_EQ(standard_in_another_case("post"), "POST");
    EXPECT_EQ(standard_in_another_case("Patch"), "PATCH");
    for (const char* other : {"POST", "PATCH", "PURGE", "purge", "POS", "POSTS", ""}) {
        EXPECT_EQ(standard_in_another_case(other), "") << other;
    }
}

}  // namespace method_test
}  // namespace gateway::http
