// The conversation with a store by scripted events.
#include "tests/unit/store/conversation_fixture.hpp"

namespace gateway::store::testing {
namespace conversation_state_test {

TEST_F(conversation, sends_at_once_what_is_asked_first)
{
    connect();
    ASSERT_EQ(ask("a"), std::nullopt);
    ASSERT_EQ(wire.size(), 1U);
    EXPECT_FALSE(turn_waits);
    EXPECT_TRUE(reply({9}));
    ASSERT_TRUE(askers[0].got.has_value());
    EXPECT_EQ(askers[0].got->decisions()[0].remaining, 9);
}

TEST_F(conversation, sends_the_rest_of_a_turn_together)
{
    connect();
    for (int i = 0; i < 70; ++i) {
        ASSERT_EQ(ask("client " + std::to_string(i)), std::nullopt);
    }
    ASSERT_EQ(wire.size(), 1U);
    ASSERT_TRUE(turn_waits);
    end_turn();
    ASSERT_EQ(wire.size(), 3U);
    EXPECT_EQ(wire[1].questions, call::max_questions);
    EXPECT_EQ(wire[2].questions, 5U);
    EXPECT_EQ(metrics.requests.value(), 3U);
}

TEST_F(conversation, has_few_calls_under_way_and_lets_the_others_wait_for_a_reply)
{
    connect();
    for (int i = 0; i < 500; ++i) {
        ASSERT_EQ(ask("client " + std::to_string(i)), std::nullopt);
    }
    end_turn();
    ASSERT_EQ(wire.size(), conversation_state::max_calls);
    end_turn();
    ASSERT_EQ(wire.size(), conversation_state::max_calls);
    EXPECT_TRUE(reply({5}));
    end_turn();
    ASSERT_EQ(wire.size(), conversation_state::max_calls);
    EXPECT_EQ(wire.back().questions, call::max_questions);
}

TEST_F(conversation, does_not_send_what_an_answer_has_decided)
{
    connect();
    for (int i = 0; i < 1000; ++i) {
        ASSERT_EQ(ask("flood"), std::nullopt);
    }
    ASSERT_EQ(ask("other"), std::nullopt);
    end_turn();
    const std::size_t under_way = 1 + 3 * call::max_questions;
    EXPECT_TRUE(reply({9}));
    EXPECT_TRUE(reply_to_all(scripted_results::rejected));
    do {
        end_turn();
    } while (turn_waits);  // a part of them at a time, for the loop's sake
    ASSERT_EQ(wire.size(), 3U);
    EXPECT_EQ(wire.back().questions, 1U) << "the other one's";
    for (std::size_t i = under_way; i < 1000; ++i) {
        ASSERT_TRUE(askers[i].got.has_value()) << i;
        ASSERT_FALSE(askers[i].got->admitted);
    }
    EXPECT_EQ(askers.back().calls, 0);
}

TEST_F(conversation, fails_what_is_late_within_the_timeout_and_a_millisecond)
{
    connect();
    ask("a");
    pass(10ms);
    ask("b");
    end_turn();
    pass(14ms);
    EXPECT_EQ(askers[0].calls, 0);
    pass(2ms);
    EXPECT_EQ(askers[0].why, failure::timeout);
    EXPECT_EQ(askers[1].calls, 0);
    pass(10ms);
    EXPECT_EQ(askers[1].why, failure::timeout);
    EXPECT_EQ(failures(failure::timeout), 2U);
    EXPECT_TRUE(reply({9})) << "too late, but it is an answer";
    EXPECT_TRUE(reply({8}));
    EXPECT_EQ(askers[0].calls, 1);
}

TEST_F(conversation, rejects_what_the_store_once_called_empty_though_it_does_not_answer_now)
{
    connect();
    ask("a");
    EXPECT_TRUE(reply({scripted_results::rejected}));
    pass(200ms);
    ask("a");
    ASSERT_EQ(wire.size(), 1U) << "the word is too old to be believed while the store can be asked";
    pass(26ms);
    ASSERT_TRUE(askers[1].got.has_value());
    EXPECT_FALSE(askers[1].got->admitted);
    EXPECT_EQ(failures(failure::timeout), 0U);
}

TEST_F(conversation, is_in_time_for_who_asked_before_another_that_was_preferred)
{
    connect();
    ask("first");
    ask("a");
    ask("b");
    pass(10ms);
    ask("a");
    end_turn();
    EXPECT_EQ(wire.back().questions, 3U);
    pass(16ms);
    EXPECT_EQ(askers[2].calls, 1) << "the call has both of a, then b";
    EXPECT_EQ(askers[3].calls, 0);
}

TEST_F(conversation, blames_the_store_once_per_call)
{
    options.breaker.failures = 4;
    connect();
    for (int i = 0; i < 300; ++i) {
        ask("client " + std::to_string(i));
    }
    end_turn();
    pass(26ms);
    EXPECT_EQ(failures(failure::timeout), 1 + 3 * call::max_questions);
    EXPECT_EQ(failures(failure::overload), 300 - 1 - 3 * call::max_questions) << "never sent";
    EXPECT_TRUE(it().breaker_open());
}

TEST_F(conversation, does_not_blame_the_store_for_its_own_queue)
{
    connect();
    for (int i = 0; i < 300; ++i) {
        ask("client " + std::to_string(i));
    }
    end_turn();
    pass(26ms);
    EXPECT_FALSE(it().breaker_open()) << "four calls are late, and five must be";
}

TEST_F(conversation, blames_a_silent_store_for_what_waited_in_vain)
{
    connect();
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(ask("client " + std::to_string(i)), std::nullopt);
        end_turn();
        pass(27ms);
        EXPECT_EQ(askers.back().why, failure::timeout) << i;
    }
    EXPECT_EQ(wire.size(), conversation_state::max_calls);
    EXPECT_TRUE(it().breaker_open());
    EXPECT_EQ(ask("x"), failure::open);
}

TEST_F(conversation, gives_up_a_connection_that_is_silent_for_long)
{
    connect();
    ask("a");
    pass(25ms + 249ms);
    EXPECT_EQ(hung_up, 0);
    pass(2ms);
    EXPECT_EQ(hung_up, 1);
    EXPECT_FALSE(it().healthy());
    EXPECT_EQ(ask("b"), failure::timeout) << "why it was lost";
}

TEST_F(conversation, probes_until_the_store_answers)
{
    options.breaker.failures = 1;
    connect();
    ask("a");
    pass(26ms);
    ASSERT_TRUE(it().breaker_open());
    EXPECT_TRUE(reply({9}));
    pass_until_a_probe();
    EXPECT_EQ(ask("b"), failure::open) << "nobody asks meanwhile";
    it().refused(wire.front().number, failure::loading, taken::no, now);
    wire.clear();
    EXPECT_TRUE(it().breaker_open());
    pass_until_a_probe();
    EXPECT_TRUE(reply({999}));
    EXPECT_TRUE(it().healthy());
    EXPECT_EQ(reports.back(), std::nullopt);
    EXPECT_EQ(ask("b"), std::nullopt);
}

TEST_F(conversation, does_not_believe_a_probe_that_is_late)
{
    options.breaker.failures = 1;
    fail_until_a_probe();
    pass(26ms);
    EXPECT_TRUE(reply({999}));
    EXPECT_TRUE(it().breaker_open());
    pass_until_a_probe();
    EXPECT_TRUE(reply({999}));
    EXPECT_TRUE(it().healthy());
}

TEST_F(conversation, probes_on_after_a_late_answer_to_a_probe)
{
    options.breaker.failures = 1;
    options.breaker.pause = 30ms;
    fail_until_a_probe();
    pass(100ms);
    ASSERT_EQ(wire.size(), 1U) << "not a second one meanwhile";
    EXPECT_TRUE(reply({999}));
    ASSERT_TRUE(it().breaker_open());
    pass_until_a_probe();
    EXPECT_TRUE(reply({999}));
    EXPECT_TRUE(it().healthy());
}

TEST_F(conversation, sends_nothing_for_who_leaves_while_a_call_is_filled)
{
    connect();
    ask("limited");
    EXPECT_TRUE(reply({scripted_results::rejected}));
    ask("first");
    ask("leaves");
    ask("stays");
    ask("limited");
    askers.back().then = [this] { leave(2); };
    end_turn();
    ASSERT_EQ(wire.size(), 2U);
    EXPECT_EQ(wire.back().questions, 1U);
    EXPECT_TRUE(reply({9}));
    EXPECT_TRUE(reply({7}));
    EXPECT_EQ(askers[3].got->decisions()[0].remaining, 7);
    EXPECT_EQ(askers[2].calls, 0);
}

TEST_F(conversation, does_not_blame_a_store_that_answers_for_a_queue_that_is_too_long)
{
    connect();
    std::size_t asked = 0;
    for (int round = 0; round < 100; ++round) {  // twice as many as four calls in 5 ms can carry
        for (int i = 0; i < 512; ++i) {
            ask("client " + std::to_string(asked++));
        }
        end_turn();
        pass(5ms);
        for (std::size_t calls = wire.size(); calls > 0; --calls) {
            ASSERT_TRUE(reply_to_all(9));
        }
        end_turn();
        ASSERT_FALSE(it().breaker_open()) << round;
    }
    EXPECT_GT(failures(failure::overload), 0U);
    EXPECT_EQ(failures(failure::timeout), 0U);
}

TEST_F(conversation, begins_with_a_probe_after_a_loss_that_opened_the_breaker)
{
    options.breaker.failures = 1;
    connect();
    ask("a");
    it().lost(failure::unreachable, now);
    EXPECT_EQ(askers[0].why, failure::unreachable);
    ASSERT_TRUE(it().breaker_open());
    wire.clear();
    connect();
    ASSERT_EQ(wire.size(), 1U);
    EXPECT_EQ(wire[0].questions, 0U);
}

TEST_F(conversation, lets_questions_wait_for_the_first_connection_only)
{
    EXPECT_EQ(ask("a"), std::nullopt);
    connect();
    EXPECT_EQ(wire.size(), 1U);
    EXPECT_TRUE(reply({9}));
    it().lost(failure::unreachable, now);
    EXPECT_EQ(ask("b"), failure::unreachable);
}

TEST_F(conversation, a_corrupt_bucket_fails_its_own_question_only)
{
    connect();
    ask("first");
    ask("a");
    ask("b");
    end_turn();
    EXPECT_TRUE(reply({9}));
    EXPECT_TRUE(reply({scripted_results::corrupt, 7}));
    EXPECT_EQ(askers[1].why, failure::corrupt);
    EXPECT_TRUE(askers[2].got.has_value());
    EXPECT_FALSE(it().breaker_open());
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(
        lines[0],
        "store s: the key a of limit ten holds something else than a bucket, so on_store_failure "
        "decides: delete it (logged once in 10 s)"
    );
}

TEST_F(conversation, corrupt_buckets_are_told_once_in_ten_seconds)
{
    connect();
    for (const auto& [passed, logged] :
         {std::pair{0s, 1U}, {9s, 1U}, {1s, 2U}, {1s, 2U}, {9s, 3U}}) {
        pass(passed);
        ask("a");
        EXPECT_TRUE(reply({scripted_results::corrupt}));
        EXPECT_EQ(lines.size(), logged);
    }
}

TEST_F(conversation, logs_all_keys_of_a_call_that_is_corrupt)
{
    connect();
    ask("first");
    for (const char* name : {"a", "left", "a", "b", "c", "d", "e", "f", "g"}) {
        ask(name);
    }
    end_turn();
    EXPECT_TRUE(reply({9}));
    leave(2);
    it().refused(wire.front().number, failure::corrupt, taken::no, now);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_NE(
        lines[0].find("one of the keys a of limit ten, b of limit ten, c of limit ten, d of limit "
                      "ten, e of limit ten, f of limit ten and 1 more holds something else"),
        std::string::npos
    ) << lines[0];
    EXPECT_EQ(failures(failure::corrupt), 8U);
}

TEST_F(conversation, hangs_up_on_garbage_and_on_too_much_or_little)
{
    const std::vector<std::vector<std::int64_t>> wrong{{scripted_results::garbage}, {}, {9, 9}};
    for (const auto& numbers : wrong) {
        connect();
        askers.clear();
        ask("a");
        EXPECT_FALSE(reply(numbers));
        EXPECT_EQ(askers[0].calls, 1);
        EXPECT_FALSE(it().healthy());
    }
    EXPECT_EQ(hung_up, 3);
}

TEST_F(conversation, answers_from_memory_what_fails)
{
    connect();
    ask("limited");
    EXPECT_TRUE(reply({scripted_results::rejected}));
    ask("limited");
    ask("other");
    it().lost(failure::unreachable, now);
    ASSERT_TRUE(askers[1].got.has_value());
    EXPECT_FALSE(askers[1].got->admitted);
    EXPECT_EQ(askers[2].why, failure::unreachable);
}

TEST_F(conversation, says_of_what_fails_whether_it_may_have_been_done)
{
    options.breaker.failures = 100;
    const auto fail_two = [this](auto how) {
        askers.clear();
        connect();
        ask("sent");
        ask("waiting");
        how();
        return std::pair{askers[0].tokens, askers[1].tokens};
    };
    const std::pair<std::optional<taken>, std::optional<taken>> expected{taken::perhaps, taken::no};
    EXPECT_EQ(fail_two([this] { it().lost(failure::unreachable, now); }), expected);
    EXPECT_EQ(fail_two([this] { pass(26ms); }), expected);
    it().lost(failure::unreachable, now);
    const auto refuse = [this](taken tokens) {
        it().refused(wire.back().number, failure::loading, tokens, now);
        it().lost(failure::unreachable, now);
    };
    EXPECT_EQ(fail_two([&] { refuse(taken::perhaps); }), expected);
    EXPECT_EQ(fail_two([&] { refuse(taken::no); }).first, taken::no);
    EXPECT_EQ(fail_two([this] { it().close(conversation_state::pending_ones::fail); }), expected);
}

TEST_F(conversation, refuses_more_than_may_wait)
{
    options.max_pending = 100;
    connect();
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(ask("client " + std::to_string(i)), std::nullopt);
        if (i == 50) {
            end_turn();
        }
    }
    EXPECT_EQ(ask("x"), failure::overload);
    EXPECT_TRUE(reply({9}));
    EXPECT_EQ(ask("x"), std::nullopt);
}

TEST_F(conversation, hears_of_nobody_who_has_left)
{
    connect();
    ask("a");
    ask("b");
    ask("c");
    askers[0].abandon_question();
    askers[1].abandon_question();
    end_turn();
    EXPECT_EQ(wire.back().questions, 1U) << "who left before is not asked for";
    EXPECT_TRUE(reply({9}));
    EXPECT_TRUE(reply({8}));
    EXPECT_EQ(askers[0].calls, 0);
    EXPECT_EQ(askers[1].calls, 0);
    EXPECT_EQ(askers[2].got->decisions()[0].remaining, 8);
}

TEST_F(conversation, closing_fails_all_or_tells_nobody)
{
    for (const auto what :
         {conversation_state::pending_ones::fail, conversation_state::pending_ones::abandon}) {
        made.reset();
        askers.clear();
        wire.clear();
        connect();
        for (int i = 0; i < 100; ++i) {
            ask("client " + std::to_string(i));
        }
        end_turn();
        it().close(what);
        for (const asker& a : askers) {
            EXPECT_EQ(a.calls, what == conversation_state::pending_ones::fail ? 1 : 0);
            EXPECT_FALSE(a.asked());
        }
        EXPECT_EQ(ask("x"), failure::unreachable);
    }
}

}  // namespace conversation_state_test
}  // namespace gateway::store::testing
