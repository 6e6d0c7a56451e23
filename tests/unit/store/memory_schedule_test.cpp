// The local store beside the slow model, without a server: two of them under each schedule.
#include "tests/contract/schedule.hpp"

#include <gtest/gtest.h>

namespace gateway::store::testing {
namespace memory_schedule_test {

TEST(memory_schedule, is_answered_as_the_model_does_whatever_the_clocks_do)
{
    run_schedules<local_subject>(1001, 1015);
}

}  // namespace memory_schedule_test
}  // namespace gateway::store::testing
