// What is peculiar to a store in a cluster: questions in several slots, slots that move, nodes that
// fail, grants that nobody tells of.
#include "tests/contract/redis_cluster.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gateway::store::testing {
namespace cluster_test {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

using subject = shared_subject;

class cluster : public ::testing::Test {
protected:
    std::shared_ptr<redis_cluster> kept = redis_cluster::shared();
    const limit::limit slow = *limit::limit::make(1, hours{1}, 3);
    // Clients whose buckets are at the first node, the second, the third.
    const std::string a = client_at(0);
    const std::string b = client_at(1);
    const std::string c = client_at(2);

    redis_options options(base::duration timeout = seconds{2}) const
    {
        redis_options o;
        o.timeout = timeout;
        return kept->options(o);
    }

    charge of(std::string_view name, std::int64_t cost = 1) const
    {
        return {
            .limit_name = "l",
            .bucket_name = base::hashed_name{name},
            .limit = &slow,
            .cost = cost};
    }

    static std::size_t node_of(const charge& one)
    {
        return redis::slot_of(redis::tag_of(one)) / (redis::slot_count / 3 + 1);
    }

    // Some client whose buckets are at that node.
    std::string client_at(std::size_t node) const
    {
        for (int i = 0;; ++i) {
            std::string name = "client " + std::to_string(i);
            if (node_of(of(name)) == node) {
                return name;
            }
        }
    }

    std::int64_t remaining(subject& s, std::string_view name)
    {
        const charge look = of(name, 0);
        const auto said = s.take({&look, 1});
        return said ? said->decisions()[0].remaining : -1;
    }

    // What is given back may take a moment.
    bool comes_back(subject& s, std::string_view name, std::int64_t tokens)
    {
        for (int tries = 0; tries < 200; ++tries) {
            if (remaining(s, name) == tokens) {
                return true;
            }
            run_until(
                s.io(), [] { return false; }, milliseconds{10}
            );
        }
        return false;
    }
};

TEST_F(cluster, a_question_in_several_slots_takes_from_all_or_in_the_end_from_none)
{
    subject s{options()};
    const std::vector<charge> all{of(a, 2), of(b, 1), of(c, 3)};
    const auto passed = s.take(all);
    ASSERT_TRUE(passed && passed->admitted);
    EXPECT_EQ(passed->decisions()[0].remaining, 1);
    EXPECT_EQ(passed->decisions()[1].remaining, 2);
    EXPECT_EQ(passed->decisions()[2].remaining, 0);

    const std::vector<charge> again{of(b, 1), of(a, 1), of(c, 1), of(b, 1)};
    const auto refused = s.take(again);
    ASSERT_TRUE(refused);
    EXPECT_FALSE(refused->admitted);
    EXPECT_EQ(refused->decisions().size(), 4U);
    EXPECT_TRUE(refused->decisions()[0].allowed);
    EXPECT_TRUE(refused->decisions()[1].allowed);
    EXPECT_EQ(refused->decisions()[1].remaining, 1) << "as it was before";
    EXPECT_FALSE(refused->decisions()[2].allowed);
    EXPECT_TRUE(comes_back(s, a, 1));
    EXPECT_TRUE(comes_back(s, b, 2));
    EXPECT_EQ(remaining(s, c), 0);
}

TEST_F(cluster, a_slot_that_is_not_asked_any_more_is_unknown)
{
    subject s{options()};
    const std::vector<charge> all{of(a, 4), of(b)};
    const auto refused = s.take(all);
    ASSERT_TRUE(refused);
    EXPECT_FALSE(refused->admitted);
    EXPECT_TRUE(refused->knows(0));
    EXPECT_FALSE(refused->knows(1));
    EXPECT_EQ(remaining(s, b), 3);
}

TEST_F(cluster, shadow_mode_refuses_nobody_in_another_slot)
{
    subject s{options()};
    charge shadow = of(a, 4);
    shadow.enforced = false;
    const std::vector<charge> all{shadow, of(b)};
    const auto passed = s.take(all);
    ASSERT_TRUE(passed);
    EXPECT_TRUE(passed->admitted);
    EXPECT_FALSE(passed->decisions()[0].allowed);
    EXPECT_EQ(passed->decisions()[1].remaining, 2);
}

TEST_F(cluster, a_node_that_fails_costs_a_question_its_timeout_and_nobody_tokens)
{
    subject s{options(milliseconds{100})};
    ASSERT_EQ(remaining(s, a), 3);
    kept->nodes()[1].freeze();
    const std::vector<charge> both{of(a), of(b)};
    answer into;
    const base::instant asked = base::now();
    EXPECT_EQ(s.ask(both, into), failure::timeout);
    EXPECT_LT(base::now() - asked, milliseconds{250});
    EXPECT_TRUE(comes_back(s, a, 3)) << "while the other node is still away";
    kept->nodes()[1].thaw();
    EXPECT_TRUE(s.becomes_healthy());
}

// As at the end of a worker, or of a reload that replaces the store.
TEST_F(cluster, is_not_settled_before_what_was_taken_in_vain_is_back)
{
    subject s{options(milliseconds{100})};
    ASSERT_EQ(remaining(s, a), 3);
    EXPECT_TRUE(s.store().settle_up());
    kept->nodes()[1].freeze();
    const std::vector<charge> both{of(a), of(b)};
    answer into;
    EXPECT_EQ(s.ask(both, into), failure::timeout);
    EXPECT_FALSE(s.store().settle_up());
    EXPECT_TRUE(run_until(s.io(), [&] { return s.store().settle_up(); }));
    EXPECT_EQ(remaining(s, a), 3);
    kept->nodes()[1].thaw();
    EXPECT_TRUE(s.becomes_healthy());
}

TEST_F(cluster, one_who_leaves_hears_nothing_and_the_others_go_on)
{
    subject s{options()};
    s.becomes_healthy();
    const std::vector<charge> all{of(a), of(b), of(c)};
    {
        asker gone;
        ASSERT_EQ(s.store().ask(all, gone), std::nullopt);
    }
    {
        // One that outlives its store.
        asker stays;
        subject ends{options()};
        ends.becomes_healthy();
        ASSERT_EQ(ends.store().ask(all, stays), std::nullopt);
        ends.abandon();
        EXPECT_FALSE(stays.asked());
        EXPECT_FALSE(stays.settled());
    }
    asker stays;
    ASSERT_EQ(s.store().ask(all, stays), std::nullopt);
    ASSERT_TRUE(run_until(s.io(), [&stays] { return stays.settled(); }));
    EXPECT_TRUE(stays.got && stays.got->admitted);
    asker closed;
    ASSERT_EQ(s.store().ask(all, closed), std::nullopt);
    s.store().close();
    EXPECT_EQ(closed.why, failure::unreachable);
    EXPECT_EQ(closed.calls, 1);
    EXPECT_EQ(s.store().ask(all, closed), failure::unreachable);
}

TEST_F(cluster, a_rejection_is_remembered_and_a_grant_by_another_gateway_counts_within_100_ms)
{
    subject here{options()};
    subject elsewhere{options()};
    const charge one = of(a);
    const charge all = of(a, 3);
    ASSERT_TRUE(elsewhere.take({&all, 1})->admitted);
    ASSERT_FALSE(here.take({&one, 1})->admitted);
    answer known;
    const auto recalls = [&](base::instant at) {
        return here.store().recalls({&one, 1}, at, known);
    };
    const base::instant told = base::now();
    EXPECT_TRUE(recalls(told));

    const limit::correction reset{.what = limit::correction::kind::reset};
    charge grant = of(a, 0);
    grant.correction = &reset;
    grant.receipt = "00000000000000000000000000000001";
    grant.is_grant = true;
    ASSERT_TRUE(elsewhere.take({&grant, 1}));
    EXPECT_FALSE(recalls(told + milliseconds{100}));
    EXPECT_TRUE(here.take({&one, 1})->admitted);
    EXPECT_EQ(kept->keys().find("grant"), std::string::npos);
}

TEST_F(cluster, what_one_slot_is_known_to_refuse_is_not_asked_for)
{
    subject s{options()};
    const charge all = of(c, 3);
    ASSERT_TRUE(s.take({&all, 1})->admitted);
    const std::vector<charge> both{of(a), of(c)};
    answer known;
    ASSERT_TRUE(s.store().recalls(both, base::now(), known));
    EXPECT_FALSE(known.admitted);
    EXPECT_FALSE(known.knows(0));
    EXPECT_TRUE(known.knows(1));
}

TEST_F(cluster, slots_that_have_moved_cost_no_failure)
{
    subject s{options()};
    ASSERT_EQ(remaining(s, a), 3);
    const std::string slot = std::to_string(redis::slot_of(redis::tag_of(of(a))));
    const std::string id = kept->nodes()[2].command({"CLUSTER", "MYID"});
    const std::string first = kept->nodes()[0].command({"CLUSTER", "MYID"});
    for (redis_server& node : kept->nodes()) {
        EXPECT_EQ(node.command({"CLUSTER", "SETSLOT", slot, "NODE", id}), "OK");
    }
    EXPECT_EQ(remaining(s, a), 3);
    const charge one = of(a);
    EXPECT_TRUE(s.take({&one, 1})->admitted);
    EXPECT_NE(kept->nodes()[2].command({"DBSIZE"}), "0");
    kept->flush();
    for (redis_server& node : kept->nodes()) {
        EXPECT_EQ(node.command({"CLUSTER", "SETSLOT", slot, "NODE", first}), "OK");
    }
    EXPECT_EQ(remaining(s, a), 3);
}

// A batch whose clients are at all nodes.
TEST_F(cluster, many_questions_in_one_turn_get_their_own_answers)
{
    subject s{options()};
    s.becomes_healthy();
    std::vector<std::string> names;
    for (int i = 0; i < 150; ++i) {
        names.push_back("client " + std::to_string(i / 3));
    }
    std::vector<charge> charges;
    for (const std::string& name : names) {
        charges.push_back(of(name));
    }
    std::vector<asker> askers(charges.size());
    for (std::size_t i = 0; i < askers.size(); ++i) {
        ASSERT_EQ(s.store().ask({&charges[i], 1}, askers[i]), std::nullopt);
    }
    ASSERT_TRUE(run_until(s.io(), [&] {
        return std::all_of(askers.begin(), askers.end(), [](const asker& one) {
            return one.settled();
        });
    }));
    for (std::size_t i = 0; i < askers.size(); ++i) {
        ASSERT_TRUE(askers[i].got) << i;
        EXPECT_EQ(askers[i].got->decisions()[0].remaining, static_cast<std::int64_t>(2 - i % 3));
    }
}

}  // namespace cluster_test
}  // namespace gateway::store::testing
