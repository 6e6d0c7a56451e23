// What was admitted while a store failed is charged to it once, when it can be asked again.
#include "gateway/server/fallback_debts.hpp"

#include "gateway/identity/bucket_name.hpp"
#include "gateway/store/call.hpp"

#include <gtest/gtest.h>

#include <map>

namespace gateway::server {
namespace {

class far_store final : public store::shared_store {
public:
    bool well = false;
    // Tokens charged, by the name of the bucket.
    std::map<std::string, std::int64_t> charged;

    bool recalls(std::span<const store::charge>, base::instant, store::answer&) const override
    {
        return false;
    }

    std::optional<store::failure> ask(std::span<const store::charge> charges, store::question& q)
        override
    {
        const store::charge& c = charges.front();
        EXPECT_EQ(c.correction->what, limit::correction::kind::charge);
        EXPECT_FALSE(c.correction->into_debt);
        EXPECT_FALSE(c.receipt.empty());
        charged[std::string{c.bucket_name.bytes()}] += c.correction->of.tokens;
        places_.emplace_back().hold(q);
        return std::nullopt;
    }

    void answer_all()
    {
        for (store::pending_question& p : places_) {
            if (auto* const q = p.release()) {
                q->answered({});
            }
        }
        places_.clear();
    }

    void close() override {}

    void retire() override {}

    bool healthy() const override { return well; }

private:
    std::list<store::pending_question> places_;
};

class debts : public ::testing::Test {
protected:
    net::loop loop;
    store::memory_store local{{.max_buckets = 16}};
    corrections made{local, loop};
    fallback_debts all{made, loop};
    std::shared_ptr<far_store> far = std::make_shared<far_store>();
    std::shared_ptr<const policy_view> view = std::make_shared<policy_view>();
    const policy::limit_rule rule{
        .name = "l", .key = {}, .limit = *limit::limit::make(10, std::chrono::hours{1}, 10)};
    telemetry::limit_metrics metrics;

    static std::string name_of(std::string_view client)
    {
        identity::bucket_name name;
        name.start("l");
        name.add(client);
        return std::string{name.bytes()};
    }

    void owe(const std::string& client, std::int64_t tokens)
    {
        all.add(
            view,
            {.rule = &rule,
             .limit = &rule.limit,
             .metrics = &metrics,
             .bucket_name = name_of(client),
             .cost = tokens,
             .taken_at = loop.now(),
             .shared = far.get()}
        );
    }

    std::uint64_t lost() const { return metrics.corrections_lost.value(); }
};

TEST_F(debts, wait_until_the_store_is_well_and_are_charged_once)
{
    owe("a", 1);
    owe("b", 2);
    owe("a", 3);
    all.settle();
    EXPECT_TRUE(far->charged.empty());
    far->well = true;
    all.settle();
    all.settle();
    EXPECT_EQ(
        far->charged, (std::map<std::string, std::int64_t>{{name_of("a"), 4}, {name_of("b"), 2}})
    );
    far->answer_all();
    EXPECT_TRUE(made.idle());
}

TEST_F(debts, are_a_full_bucket_at_most)
{
    for (int i = 0; i < 30; ++i) {
        owe("a", 1);
    }
    far->well = true;
    all.settle();
    EXPECT_EQ(far->charged[name_of("a")], 10);
    far->answer_all();
}

TEST_F(debts, are_bounded)
{
    for (std::size_t i = 0; i < fallback_debts::max_buckets + 5; ++i) {
        owe(std::to_string(i), 1);
    }
    EXPECT_EQ(lost(), 5U);
    owe("1", 1);
    EXPECT_EQ(lost(), 5U) << "one that is known needs no room";
    all.lose_all();
    EXPECT_EQ(lost(), 5U + fallback_debts::max_buckets);
    far->well = true;
    all.settle();
    EXPECT_TRUE(far->charged.empty());
}

}  // namespace
}  // namespace gateway::server
