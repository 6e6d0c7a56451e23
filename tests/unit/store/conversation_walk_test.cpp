// The conversation with a store by random events, with everything that can fail failing at every
// step: each question ends exactly once, in time, and nothing is sent for who has left.
#include "tests/unit/store/conversation_fixture.hpp"

namespace gateway::store::testing {
namespace conversation_walk_test {

// Random events for each step; the first `steps` of a walk, then everything is closed. Whoever is
// told something may close, leave for others, or ask again, from inside.
class random_walk : public conversation {
protected:
    std::mt19937 random;

    std::size_t draw(std::size_t below) { return random() % below; }

    void begin(unsigned seed)
    {
        random.seed(seed);
        made.reset();
        askers.clear();
        charges.clear();
        names.clear();
        wire.clear();
        wake = base::instant::max();
    }

    void ask_something()
    {
        const auto refused = ask("client " + std::to_string(draw(8)));
        if (refused) {
            askers.back().failed(*refused, taken::no);
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
            const failure why = draw(2) == 0 ? failure::loading : failure::readonly;
            it().refused(oldest.number, why, taken::no, now);
            return;
        }
        std::vector<std::int64_t> numbers;
        for (std::size_t i = std::max<std::size_t>(wire.front().questions, 1); i > 0; --i) {
            numbers.push_back(static_cast<std::int64_t>(draw(40)) - 2);
        }
        if (draw(50) == 0) {
            numbers.push_back(scripted_results::garbage);
        }
        reply(std::move(numbers));
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
            if (a.why) {
                const bool said_so = a.why == failure::loading || a.why == failure::readonly ||
                                     a.why == failure::corrupt;
                ASSERT_EQ(a.tokens, a.sent && !said_so ? taken::perhaps : taken::no);
            }
        }
    }
};

TEST_F(random_walk, ends_every_question_once_and_in_time)
{
    for (unsigned seed = 0; seed < 400; ++seed) {
        begin(seed);
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
        begin(seed);
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

}  // namespace conversation_walk_test
}  // namespace gateway::store::testing
