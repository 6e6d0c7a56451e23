// The local store beside the slow model, without a server: two of them under each schedule.
#include "tests/contract/schedule.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gateway::store::testing {
namespace {

TEST(memory_schedule, is_answered_as_the_model_does_whatever_the_clocks_do)
{
    int rejections = 0;
    int admissions = 0;
    for (std::uint64_t seed = 1001; seed <= 1015 && !HasFatalFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        schedule<local_subject> s{seed};
        s.run(1500);
        rejections += s.rejections();
        admissions += s.admissions();
    }
    EXPECT_GT(rejections, 500);
    EXPECT_GT(admissions, 1000);
}

}  // namespace
}  // namespace gateway::store::testing
