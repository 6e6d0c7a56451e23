// The conversation with a store by scripted events; then by random ones, with everything that can
// fail failing at every step: each question ends exactly once, in time, and nothing is sent too
// much.
#include "gateway/store/conversation_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gateway::store {
namespace {

using namespace std::chrono_literals;

struct asker final : question {
    std::optional<answer> got;
    std::optional<failure> why;
    int calls = 0;
    // The clock of the test, and the last moment at which it may hear.
    const base::instant* now = nullptr;
    base::instant until{};
    std::function<void()> then;

    void answered(const answer& a) override
    {
        got = a;
        end();
    }

    void failed(failure f) override
    {
        why = f;
        end();
    }

    void end()
    {
        ++calls;
        EXPECT_TRUE(now == nullptr || *now <= until);
        if (then) {
            then();
        }
    }
};

// Admits every question with so many tokens left, or says something else.
class scripted_results final : public call_results {
public:
    explicit scripted_results(std::vector<std::int64_t> remaining)
        : remaining_(std::move(remaining))
    {}

    static constexpr std::int64_t corrupt = -2;
    static constexpr std::int64_t garbage = -3;
    static constexpr std::int64_t rejected = -1;

    kind next(std::size_t charges, answer& into) override
    {
        if (ended() || remaining_[at_] == garbage) {
            return kind::garbage;
        }
        const std::int64_t left = remaining_[at_++];
        if (left == corrupt) {
            return kind::corrupt;
        }
        into.clear();
        into.admitted = left != rejected;
        for (std::size_t i = 0; i < charges; ++i) {
            into.add({
                .allowed = into.admitted,
                .remaining = std::max<std::int64_t>(left, 0),
                .retry_after = into.admitted ? 0s : 1h,
                .reset_after = 10h,
            });
        }
        return kind::answer;
    }

    bool ended() const override { return at_ == remaining_.size(); }

private:
    std::vector<std::int64_t> remaining_;
    std::size_t at_ = 0;
};

class conversation : public ::testing::Test, private conversation_port {
protected:
    struct sent {
        std::int64_t number = 0;
        std::size_t questions = 0;  // none: a probe
    };

    const limit::limit ten = *limit::limit::make(1, 1h, 10);
    conversation_options options;
    telemetry::store_metrics metrics;
    std::optional<conversation_state> made;
    base::instant now{1h};
    std::deque<sent> wire;
    base::instant wake = base::instant::max();
    bool turn_waits = false;
    int hung_up = 0;
    std::vector<std::optional<failure>> reports;
    std::deque<asker> askers;
    std::deque<std::string> names;
    std::deque<charge> charges;

    conversation_state& it()
    {
        if (!made) {
            made.emplace(static_cast<conversation_port&>(*this), options, metrics, 1U);
        }
        return *made;
    }

    void connect()
    {
        it().link().connecting();
        it().link().connected();
        it().ready(now);
    }

    std::optional<failure> ask(const std::string& name)
    {
        names.push_back(name);
        charges.push_back({"ten", names.back(), &ten, 1, true});
        askers.emplace_back();
        askers.back().now = &now;
        askers.back().until = now + options.timeout + 5ms;
        return it().ask({&charges.back(), 1}, askers.back(), now);
    }

    void end_turn()
    {
        turn_waits = false;
        it().turn_ended(now);
    }

    // Time goes on, and the timer with it.
    void pass(base::duration time)
    {
        const base::instant end = now + time;
        while (wake <= end) {
            now = std::max(now, wake);
            wake = base::instant::max();
            it().passed(now);
        }
        now = end;
    }

    void pass_until_a_probe()
    {
        for (int i = 0; i < 1000 && (wire.empty() || wire.back().questions != 0); ++i) {
            pass(1ms);
        }
        ASSERT_FALSE(wire.empty());
    }

    // The store's reply to the oldest call.
    bool reply(std::vector<std::int64_t> remaining)
    {
        const sent oldest = wire.front();
        wire.pop_front();
        scripted_results results{std::move(remaining)};
        return it().answered(oldest.number, results, now);
    }

    // Its charges are not there any more, either.
    void leave(std::size_t i)
    {
        askers[i].abandon_question();
        charges[i].limit = nullptr;
    }

    bool reply_to_all(std::int64_t remaining)
    {
        return reply(
            std::vector<std::int64_t>(std::max<std::size_t>(wire.front().questions, 1), remaining)
        );
    }

    std::uint64_t failures(failure f)
    {
        return metrics.failures[static_cast<std::size_t>(f)].value();
    }

private:
    void send(const call& c) override
    {
        EXPECT_GT(c.count, 0U);
        for (const pending_question& p : c.all()) {
            EXPECT_EQ(p.charges[0].limit, &ten) << "of somebody who has left";
        }
        wire.push_back({c.number, c.count});
    }

    void send_probe(std::int64_t number) override { wire.push_back({number, 0}); }

    void hang_up() override
    {
        ++hung_up;
        wire.clear();
    }

    void wake_at(base::instant at) override { wake = at; }

    void wake_after_turn() override { turn_waits = true; }

    void report(std::optional<failure> why) override { reports.push_back(why); }
};

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
    it().refused(wire.front().number, failure::loading, now);
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
    connect();
    ask("a");
    pass(26ms);
    EXPECT_TRUE(reply({9}));
    pass_until_a_probe();
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
    connect();
    ask("a");
    pass(26ms);
    EXPECT_TRUE(reply({9}));
    pass_until_a_probe();
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
}

TEST_F(conversation, hangs_up_on_garbage_and_on_too_much_or_little)
{
    const std::vector<std::vector<std::int64_t>> wrong{{scripted_results::garbage}, {}, {9, 9}};
    for (const auto& said : wrong) {
        connect();
        askers.clear();
        ask("a");
        EXPECT_FALSE(reply(said));
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

// Random events for each step; the first `steps` of a walk, then everything is closed. Whoever is
// told something may close, leave for others, or ask again, from inside.
class random_walk : public conversation {
protected:
    std::mt19937 random;

    std::size_t draw(std::size_t below) { return random() % below; }

    void ask_something()
    {
        const auto refused = ask("client " + std::to_string(draw(8)));
        if (refused) {
            askers.back().failed(*refused);
            return;
        }
        switch (draw(12)) {
            case 0:
                askers.back().then = [this] { ask_something(); };
                break;
            case 1:
                askers.back().then = [this] { leave(draw(askers.size())); };
                break;
            case 2:
                askers.back().then = [this] { end_turn(); };
                break;
            default:
                break;
        }
    }

    void answer_something()
    {
        if (wire.empty()) {
            return;
        }
        if (draw(6) == 0) {
            const sent oldest = wire.front();
            wire.pop_front();
            it().refused(oldest.number, draw(2) == 0 ? failure::loading : failure::readonly, now);
            return;
        }
        std::vector<std::int64_t> said;
        for (std::size_t i = std::max<std::size_t>(wire.front().questions, 1); i > 0; --i) {
            said.push_back(static_cast<std::int64_t>(draw(40)) - 2);
        }
        if (draw(50) == 0) {
            said.push_back(scripted_results::garbage);
        }
        reply(std::move(said));
    }

    void step()
    {
        switch (draw(8)) {
            case 0:
            case 1:
            case 2:
                ask_something();
                break;
            case 3:
                end_turn();
                break;
            case 4:
                pass(draw(4) == 0 ? draw(600) * 1ms : draw(20) * 1ms);
                break;
            case 5:
            case 6:
                answer_something();
                break;
            default:
                if (!it().link().ready()) {
                    connect();
                } else if (draw(20) == 0) {
                    wire.clear();
                    it().lost(failure::unreachable, now);
                }
                break;
        }
        EXPECT_LE(wire.size(), conversation_state::max_calls + 1);
    }

    void check_ends() const
    {
        for (std::size_t i = 0; i < askers.size(); ++i) {
            const asker& a = askers[i];
            ASSERT_LE(a.calls, 1);
            ASSERT_EQ(a.calls == 1, a.got.has_value() || a.why.has_value());
        }
    }
};

TEST_F(random_walk, ends_every_question_once_and_in_time)
{
    for (unsigned seed = 0; seed < 400; ++seed) {
        random.seed(seed);
        made.reset();
        askers.clear();
        charges.clear();
        names.clear();
        wire.clear();
        wake = base::instant::max();
        for (std::size_t steps = draw(120); steps > 0; --steps) {
            step();
            check_ends();
        }
        for (asker& a : askers) {
            a.then = nullptr;
        }
        // Whoever still waits hears within the timeout and the 5 ms that we may be late.
        pass(options.timeout + 5ms);
        for (const asker& a : askers) {
            ASSERT_FALSE(a.asked()) << "seed " << seed;
        }
        it().close(
            draw(2) == 0 ? conversation_state::pending_ones::fail
                         : conversation_state::pending_ones::abandon
        );
        check_ends();
    }
}

TEST_F(random_walk, may_be_closed_from_inside_at_every_step)
{
    for (unsigned seed = 0; seed < 400; ++seed) {
        random.seed(seed);
        made.reset();
        askers.clear();
        charges.clear();
        names.clear();
        wire.clear();
        wake = base::instant::max();
        connect();
        for (int i = 0; i < 200; ++i) {
            ask(draw(2) == 0 ? "flood" : "client " + std::to_string(i));
        }
        askers[draw(200)].then = [this] { it().close(conversation_state::pending_ones::fail); };
        end_turn();
        for (int i = 0; i < 12 && !it().link().closed(); ++i) {
            switch (draw(4)) {
                case 0:
                    pass(26ms);
                    break;
                case 1:
                    it().lost(failure::unreachable, now);
                    wire.clear();
                    break;
                default:
                    answer_something();
                    break;
            }
            if (!it().link().closed()) {
                end_turn();
            }
        }
        it().close(conversation_state::pending_ones::fail);
        for (const asker& a : askers) {
            ASSERT_EQ(a.calls, 1) << "seed " << seed;
        }
    }
}

}  // namespace
}  // namespace gateway::store
