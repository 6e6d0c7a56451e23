#include "gateway/base/uuid.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gateway::base {
namespace uuid_test {

std::string uuid(duration unix_time, std::uint64_t random, std::uint64_t more)
{
    const uuid_text text = make_uuid7(unix_time, random, more);
    return {text.begin(), text.end()};
}

// The example of RFC 9562, appendix A.6.
TEST(uuid, of_version_7_is_that_of_the_rfc)
{
    const std::chrono::milliseconds at{0x017F22E279B0};
    EXPECT_EQ(
        uuid(at, 0x18C4ULL << 12 | 0xCC3, 0xDC0C0C07398F), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
    );
}

TEST(uuid, has_its_version_and_variant_whatever_the_numbers)
{
    EXPECT_EQ(uuid(duration{0}, 0, 0), "00000000-0000-7000-8000-000000000000");
    const std::uint64_t ones = ~std::uint64_t{0};
    EXPECT_EQ(uuid(duration{999'999}, ones, ones), "00000000-0000-7fff-bfff-ffffffffffff");
}

TEST(uuid, sorts_by_its_millisecond)
{
    const duration at = std::chrono::seconds{1'700'000'000};
    EXPECT_LT(
        uuid(at, ~std::uint64_t{0}, ~std::uint64_t{0}),
        uuid(at + std::chrono::milliseconds{1}, 0, 0)
    );
}

}  // namespace uuid_test
}  // namespace gateway::base
