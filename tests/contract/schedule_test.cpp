// Stores beside the slow model under random schedules (schedule.hpp). The local store runs by its
// monotonic clock, the functions in a server by the wall clock of that, which is set.
//
// GATEWAY_SCHEDULE_SEED=N runs the schedule of that seed alone, and SCOPED_TRACE names the one that
// failed.
#include "tests/contract/schedule.hpp"

#include "tests/contract/timed_postgres.hpp"
#include "tests/contract/timed_redis.hpp"

#include <cstdlib>
#include <string>

namespace gateway::store::testing {
namespace schedule_test {

// A shared store's own functions, in its server with a clock that is set.
template <typename Server>
class shared_functions {
public:
    static constexpr base::duration tick = std::chrono::microseconds{1};
    static constexpr bool shared = true;

    explicit shared_functions(const times& t) : server_(t.unix / tick) { set_clock(t); }

    void set_clock(const times& t)
    {
        gateway_now_ = t.unix;
        server_.set_clock(t.unix / tick);
    }

    // Not that of the server.
    void set_gateway_clock(base::duration away) { gateway_away_ = away; }

    answer take(std::span<const charge> charges)
    {
        return server_.take(charges, gateway_now_ + gateway_away_);
    }

    // Twice, as after a reply that was lost.
    bool correct(charge c, const limit::correction& what, const std::string& receipt)
    {
        c.correction = &what;
        c.receipt = what.what == limit::correction::kind::renew ? std::string_view{} : receipt;
        take({&c, 1});
        return take({&c, 1}).decisions()[0].allowed;
    }

    void walk(const std::vector<std::pair<std::string, const limit::limit*>>& limits)
    {
        server_.walk(limits, gateway_now_);
    }

    void forget(const charge& c) { server_.forget(c); }

    void forget_bans(const charge& c) { server_.forget_bans(c); }

    void end_ban(const charge& c) { server_.end_ban(c); }

    std::int64_t offset(const charge& of, std::int64_t length)
    {
        const std::string key = Server::key_of(of);
        return std::stoll(key.substr(key.size() - 32, 13), nullptr, 16) % length;
    }

    void check_lifetime(const charge& c, base::duration reset)
    {
        if (reset > base::duration{0}) {
            ASSERT_GE(server_.time_to_live(c) * std::chrono::milliseconds{1}, reset);
        }
    }

private:
    Server server_;
    base::duration gateway_now_{0};
    base::duration gateway_away_{0};
};

// How many schedules of each: what one costs differs.
constexpr std::uint64_t schedules_of(const timed_redis*)
{
    return 16;
}

constexpr std::uint64_t schedules_of(const timed_postgres*)
{
    return 4;
}

template <typename Server>
class schedule_test : public ::testing::Test {};

using servers = ::testing::Types<timed_redis, timed_postgres>;
TYPED_TEST_SUITE(schedule_test, servers);

TYPED_TEST(schedule_test, is_answered_as_the_model_does_whatever_the_clocks_do)
{
    const char* const chosen = std::getenv("GATEWAY_SCHEDULE_SEED");
    const std::uint64_t first = chosen == nullptr ? 1 : std::strtoull(chosen, nullptr, 10);
    const TypeParam* const which = nullptr;
    const std::uint64_t all = chosen == nullptr ? schedules_of(which) : 1;
    run_schedules<shared_functions<TypeParam>>(first, first + all - 1);
}

}  // namespace schedule_test
}  // namespace gateway::store::testing
