#include "gateway/proxy/tunnel_state.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>

namespace gateway::proxy {
namespace tunnel_state_test {

using enum tunnel_side;

class recorder final : public tunnel_port {
public:
    tunnel_state tunnel{*this};
    std::array<std::string, 2> got;  // [side]
    std::array<bool, 2> finished{};
    std::array<bool, 2> blocked{};
    std::optional<bool> over;  // cut?
    std::string why;

    recorder() { tunnel.start(); }

    std::string& at(tunnel_side s) { return got[static_cast<std::size_t>(s)]; }

    bool finished_to(tunnel_side s) const { return finished[static_cast<std::size_t>(s)]; }

    void block(tunnel_side s, bool blocks)
    {
        blocked[static_cast<std::size_t>(s)] = blocks;
        if (!blocks) {
            tunnel.drained();
        }
    }

    void tunnel_send(tunnel_side to, std::string_view bytes) override
    {
        EXPECT_FALSE(over || finished_to(to) || bytes.empty());
        at(to).append(bytes);
    }

    void tunnel_finish(tunnel_side to) override
    {
        EXPECT_FALSE(over || finished_to(to));
        finished[static_cast<std::size_t>(to)] = true;
    }

    bool tunnel_blocked(tunnel_side to) const override
    {
        return blocked[static_cast<std::size_t>(to)];
    }

    void tunnel_over(bool cut, std::string_view text) override
    {
        EXPECT_FALSE(over) << "it is over once";
        over = cut;
        why = text;
    }
};

TEST(tunnel_state, carries_bytes_both_ways_and_counts_them)
{
    recorder r;
    r.tunnel.bytes(client, "to the server");
    r.tunnel.bytes(upstream, "to the client");
    r.tunnel.bytes(upstream, {});
    r.tunnel.bytes(upstream, "!");
    EXPECT_EQ(r.at(upstream), "to the server");
    EXPECT_EQ(r.at(client), "to the client!");
    EXPECT_EQ(r.tunnel.bytes_from(client), 13U);
    EXPECT_EQ(r.tunnel.bytes_from(upstream), 14U);
    EXPECT_TRUE(r.tunnel.is_idle());
    EXPECT_FALSE(r.over);
}

TEST(tunnel_state, passes_an_end_on_and_lets_the_other_side_go_on)
{
    for (const tunnel_side first : {client, upstream}) {
        recorder r;
        r.tunnel.ended(first, true);
        EXPECT_TRUE(r.finished_to(other(first)));
        EXPECT_FALSE(r.finished_to(first));
        EXPECT_FALSE(r.tunnel.wants_bytes(first));
        EXPECT_TRUE(r.tunnel.wants_bytes(other(first)));
        EXPECT_FALSE(r.tunnel.is_idle()) << "a side that does not answer an end has not long";
        r.tunnel.bytes(other(first), "last words");
        EXPECT_EQ(r.at(first), "last words");
        EXPECT_FALSE(r.over);
        r.tunnel.ended(other(first), true);
        EXPECT_EQ(r.over, false);
        EXPECT_EQ(r.why, "");
    }
}

TEST(tunnel_state, ends_only_when_what_was_sent_has_gone)
{
    for (const tunnel_side slow : {client, upstream}) {
        recorder r;
        r.tunnel.bytes(other(slow), "much");
        r.block(slow, true);
        EXPECT_FALSE(r.tunnel.is_idle());
        r.tunnel.ended(client, true);
        r.tunnel.ended(upstream, true);
        EXPECT_FALSE(r.over);
        r.block(slow, false);
        EXPECT_EQ(r.over, false);
    }
}

TEST(tunnel_state, is_ended_by_a_reset_of_either_side_and_cut_unless_that_side_had_ended)
{
    for (const tunnel_side broken : {client, upstream}) {
        for (const bool ended_before : {false, true}) {
            recorder r;
            if (ended_before) {
                r.tunnel.ended(broken, true);
            }
            r.tunnel.ended(broken, false);
            EXPECT_EQ(r.over, !ended_before) << "the other side has all that will come";
            EXPECT_EQ(
                r.why,
                broken == client ? "the client reset the connection"
                                 : "the upstream reset the connection"
            );
        }
    }
}

TEST(tunnel_state, ends_in_order_where_nothing_is_lost_by_it)
{
    for (const bool expires : {false, true}) {
        for (const bool waits : {false, true}) {
            recorder r;
            r.block(upstream, waits);
            expires ? r.tunnel.expired() : r.tunnel.abort();
            EXPECT_EQ(r.over, waits);
            EXPECT_NE(r.why, "");
        }
    }
}

TEST(tunnel_state, starts_anew_with_nothing_of_the_last_one)
{
    recorder r;
    r.tunnel.bytes(client, "x");
    r.tunnel.ended(client, true);
    r.tunnel.ended(upstream, true);
    r.over.reset();
    r.tunnel.start();
    EXPECT_TRUE(r.tunnel.wants_bytes(client) && r.tunnel.wants_bytes(upstream));
    EXPECT_EQ(r.tunnel.bytes_from(client), 0U);
}

// The recorder holds it to its promises; whatever happens, a tunnel ends once, and after both sides
// have ended and taken what is theirs it is over.
TEST(tunnel_state, keeps_its_promises_whatever_happens_in_whatever_order)
{
    std::mt19937 random(20240311);
    for (int round = 0; round < 5000; ++round) {
        recorder r;
        for (int step = 0; step < 30; ++step) {
            const auto roll = random();
            const tunnel_side s = (roll & 1) != 0 ? client : upstream;
            switch (roll / 2 % 64) {
                case 0:
                    r.tunnel.ended(s, false);
                    break;
                case 1:
                    r.tunnel.expired();
                    break;
                case 2:
                    r.tunnel.abort();
                    break;
                case 3:
                case 4:
                    r.tunnel.ended(s, true);
                    break;
                case 5:
                case 6:
                case 7:
                    r.block(s, (roll & 1024) != 0);
                    break;
                default:
                    if (r.tunnel.wants_bytes(s)) {
                        r.tunnel.bytes(s, "abc");
                    }
            }
        }
        ASSERT_EQ(r.at(upstream).size(), r.tunnel.bytes_from(client));
        ASSERT_EQ(r.at(client).size(), r.tunnel.bytes_from(upstream));
        r.tunnel.ended(client, true);
        r.tunnel.ended(upstream, true);
        r.block(client, false);
        r.block(upstream, false);
        ASSERT_TRUE(r.over);
        ASSERT_FALSE(r.tunnel.wants_bytes(client) || r.tunnel.wants_bytes(upstream));
    }
}

}  // namespace tunnel_state_test
}  // namespace gateway::proxy
