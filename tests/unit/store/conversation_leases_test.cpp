// Leases in the conversation with a store, by scripted events.
#include "tests/unit/store/conversation_fixture.hpp"

namespace gateway::store::testing {
namespace conversation_leases_test {

class leases_in_conversation : public conversation {
protected:
    // To whom the script says that its bucket is full in ten hours.
    const limit::limit fast = *limit::limit::make(1000, 1s, 100'000'000);
    const limit::token_lease tenth{.percent = 10, .time = 1s};
    const charge hot{
        .limit_name = "l",
        .bucket_name = base::hashed_name{"hot"},
        .limit = &fast,
        .lease = &tenth};
    answer decided;

    bool take() { return it().take_leased({&hot, 1}, now, decided); }

    void ask_and_hear()
    {
        ASSERT_EQ(ask_for(hot), std::nullopt);
        ASSERT_TRUE(reply({1000}));
        end_turn();
    }

    // Four tokens are asked for, and not given yet.
    void connect_and_ask_much()
    {
        connect();
        for (int i = 0; i < 4; ++i) {
            ASSERT_TRUE(wire.empty()) << i;
            ask_and_hear();
        }
    }

    void lease()
    {
        connect_and_ask_much();
        ASSERT_TRUE(reply({1000}));
        ASSERT_TRUE(wire.empty());
    }

    // So that the store is heard of, and not of this bucket.
    void hear()
    {
        ASSERT_EQ(ask("somebody"), std::nullopt);
        ASSERT_TRUE(reply({9}));
    }
};

TEST_F(leases_in_conversation, are_asked_for_beside_the_requests)
{
    connect_and_ask_much();
    ASSERT_EQ(wire.size(), 1U);
    EXPECT_EQ(wire[0].cost, 4);
    EXPECT_FALSE(take());
    ASSERT_EQ(ask_for(hot), std::nullopt) << "nobody waits for it";
    ASSERT_TRUE(reply({1000}));
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(take()) << i;
        EXPECT_TRUE(decided.admitted);
    }
    EXPECT_FALSE(take());
    EXPECT_EQ(metrics.leased_decisions.value(), 4U);
}

TEST_F(leases_in_conversation, travel_with_the_requests_of_their_turn)
{
    connect();
    for (int i = 0; i < 4; ++i) {
        ASSERT_EQ(ask_for(hot), std::nullopt);
    }
    end_turn();
    EXPECT_TRUE(reply({1000}));
    ASSERT_EQ(ask_for(hot), std::nullopt);
    end_turn();
    EXPECT_TRUE(reply({1000, 1000, 1000}));
    end_turn();
    ASSERT_EQ(wire.size(), 1U);
    EXPECT_EQ(wire[0].questions, 2U) << "a request and the lease";
}

TEST_F(leases_in_conversation, are_given_back_when_their_time_is_over)
{
    lease();
    ASSERT_TRUE(take());
    wire.clear();
    pass(999ms);
    EXPECT_TRUE(wire.empty());
    pass(1ms);
    ASSERT_EQ(wire.size(), 1U);
    EXPECT_TRUE(wire[0].gives_back);
    EXPECT_TRUE(reply({1000}));
    pass(5s);
    EXPECT_TRUE(wire.empty());
}

TEST_F(leases_in_conversation, end_within_100_ms_of_a_grant)
{
    lease();
    pass(100ms);
    ASSERT_TRUE(it().take_leased({&hot, 1}, now, decided));
    mark = 1;
    hear();
    EXPECT_FALSE(take());
}

TEST_F(leases_in_conversation, are_not_believed_in_silence)
{
    lease();
    pass(101ms);
    EXPECT_FALSE(take()) << "the store is to be asked";
    hear();
    EXPECT_TRUE(take());
}

TEST_F(leases_in_conversation, outlive_their_store_for_their_time)
{
    lease();
    pass(500ms);
    it().lost(failure::unreachable, now);
    EXPECT_TRUE(take());
    EXPECT_TRUE(take());
    EXPECT_TRUE(wire.empty()) << "and no other is asked for";
    EXPECT_EQ(failures(failure::unreachable), 0U);
    pass(500ms);
    EXPECT_FALSE(take());
    EXPECT_TRUE(wire.empty());
}

TEST_F(leases_in_conversation, go_before_what_was_remembered_of_the_bucket)
{
    lease();
    charge many = hot;
    many.cost = 5;
    ASSERT_EQ(ask_for(many), std::nullopt);
    ASSERT_TRUE(reply({scripted_results::rejected}));
    EXPECT_FALSE(it().recalls({&hot, 1}, now, decided)) << "it is here";
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(take());
    }
}

TEST_F(leases_in_conversation, all_end_when_they_are_to)
{
    lease();
    EXPECT_FALSE(it().end_leases(now));
    EXPECT_FALSE(take());
    ASSERT_EQ(wire.size(), 1U);
    EXPECT_TRUE(wire[0].gives_back);
    EXPECT_TRUE(reply({1000}));
    EXPECT_TRUE(it().end_leases(now));
}

TEST_F(leases_in_conversation, are_lost_with_a_conversation_that_closes)
{
    lease();
    it().close(conversation_state::pending_ones::fail);
    pass(2s);
    EXPECT_TRUE(it().end_leases(now));
    EXPECT_TRUE(wire.empty());
}

TEST_F(leases_in_conversation, on_their_way_go_with_it)
{
    connect_and_ask_much();
    made.reset();
}

}  // namespace conversation_leases_test
}  // namespace gateway::store::testing
