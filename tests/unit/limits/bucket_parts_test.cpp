#include "gateway/limits/checks/bucket_parts.hpp"

#include "gateway/store/memory/memory_store.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

namespace gateway::limits {
namespace bucket_parts_test {

using limit::decision;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr base::instant start{std::chrono::hours{1}};

limit::limit in_two()
{
    return *limit::limit::make(10, seconds{1}, 20)->split(2);
}

TEST(bucket_parts, a_request_takes_from_the_part_with_more_left)
{
    bucket_parts parts{{1, 2}};
    const limit::limit whole = in_two();
    const auto first = parts.choose("b", whole, 1, start);
    parts.heard(first, {.remaining = 3, .reset_after = seconds{5}}, start);
    const auto second = parts.choose("b", whole, 1, start);
    EXPECT_NE(first.number, second.number) << "nothing is known of it: it is taken for full";
    parts.heard(second, {.remaining = 2, .reset_after = seconds{5}}, start);
    EXPECT_EQ(parts.choose("b", whole, 1, start).number, first.number);
}

TEST(bucket_parts, a_choice_counts_until_the_store_has_answered)
{
    bucket_parts parts{{1, 2}};
    const limit::limit whole = in_two();
    const auto first = parts.choose("b", whole, 1, start);
    parts.heard(first, {.remaining = 9, .reset_after = seconds{5}}, start);
    const auto second = parts.choose("b", whole, 1, start);
    parts.heard(second, {.remaining = 5, .reset_after = seconds{5}}, start);
    EXPECT_EQ(parts.choose("b", whole, 5, start).number, first.number);
    EXPECT_EQ(parts.choose("b", whole, 1, start).number, second.number);
}

TEST(bucket_parts, a_part_is_full_when_it_was_said_to_be)
{
    bucket_parts parts{{1, 2}};
    const limit::limit whole = in_two();
    const auto first = parts.choose("b", whole, 1, start);
    parts.heard(first, {.remaining = 0, .reset_after = seconds{2}}, start);
    const auto second = parts.choose("b", whole, 1, start);
    parts.heard(second, {.remaining = 5, .reset_after = seconds{9}}, start);
    EXPECT_EQ(parts.choose("b", whole, 1, start + milliseconds{1999}).number, second.number);
    EXPECT_EQ(parts.choose("b", whole, 1, start + seconds{2}).number, first.number);
}

TEST(bucket_parts, buckets_are_told_apart)
{
    bucket_parts parts{{1, 2}};
    const limit::limit whole = in_two();
    const auto one = parts.choose("a", whole, 1, start);
    const auto other = parts.choose("b", whole, 1, start);
    EXPECT_FALSE(one.id == other.id);
}

TEST(bucket_parts, all_parts_are_used)
{
    bucket_parts parts{{1, 2}};
    const auto whole = *limit::limit::make(10, seconds{1}, 64)->split(64);
    std::set<std::size_t> used;
    for (int i = 0; i < 2000; ++i) {
        used.insert(parts.choose("b", whole, 1, start).number);
    }
    EXPECT_EQ(used.size(), 64);
}

TEST(bucket_parts, a_part_speaks_for_the_whole)
{
    const limit::limit whole = *limit::limit::make(10, seconds{1}, 19)->split(8);
    const limit::limit& part = whole.parts()[0];  // of 3
    EXPECT_EQ(scaled_to_whole({.remaining = 3}, part, whole).remaining, 19);
    EXPECT_EQ(scaled_to_whole({.remaining = 1}, part, whole).remaining, 6);
    EXPECT_EQ(scaled_to_whole({.remaining = 0}, part, whole).remaining, 0);
    const decision said{.retry_after = seconds{3}, .reset_after = seconds{5}};
    EXPECT_EQ(scaled_to_whole(said, part, whole).retry_after, seconds{3});
    EXPECT_EQ(scaled_to_whole(said, part, whole).reset_after, seconds{5});
}

// Requests for one bucket, in turn through gateways that know nothing of each other.
class demand {
public:
    demand(const limit::limit& whole, std::size_t gateways) : whole_(whole)
    {
        for (std::size_t i = 0; i < gateways; ++i) {
            gateways_.emplace_back(base::hash_key{i, 7});
        }
    }

    // So many, evenly in that time: how many of them passed.
    int passed(int requests, base::duration time)
    {
        int passed = 0;
        for (int i = 0; i < requests; ++i) {
            passed += passes(now_ + time * i / requests) ? 1 : 0;
        }
        now_ += time;
        return passed;
    }

private:
    limit::limit whole_;
    store::memory_store store_{{.max_buckets = 1024}};
    std::vector<bucket_parts> gateways_;
    std::size_t next_ = 0;
    base::instant now_{seconds{10'000}};

    bool passes(base::instant now)
    {
        store::charge c{.limit_name = "l", .bucket_name = base::hashed_name{"b"}, .limit = &whole_};
        store::answer a;
        if (whole_.parts().empty()) {
            EXPECT_TRUE(store_.decide(store::intent::take, {&c, 1}, now, a));
            return a.admitted;
        }
        bucket_parts& parts = gateways_[next_++ % gateways_.size()];
        const auto part = parts.choose("b", whole_, 1, now);
        identity::bucket_name name;
        name.start("b");
        name_part(name, part.number, whole_.parts().size());
        c.bucket_name = name.hashed();
        c.limit = &whole_.parts()[part.number];
        EXPECT_TRUE(store_.decide(store::intent::take, {&c, 1}, now, a));
        parts.heard(part, a.decisions()[0], now);
        return a.admitted;
    }
};

// The share of its requests that pass in the long run, of as many as the limit of 1000 in 10 s.
double passing(const limit::limit& l, std::size_t gateways)
{
    constexpr int asked = 1000;
    constexpr int rounds = 20;
    demand d{l, gateways};
    for (int i = 0; i < rounds; ++i) {
        d.passed(asked, seconds{10});  // the bucket is not full any more
    }
    double passed = 0;
    for (int i = 0; i < rounds; ++i) {
        passed += d.passed(asked, seconds{10});
    }
    return passed / (asked * rounds);
}

struct price {
    const char* what;
    limit::limit whole;
    // Percent that pass less, at most: in 8 and in 64 shards.
    double in_8;
    double in_64;
};

std::array<price, 4> prices()
{
    constexpr base::duration time = seconds{10};
    return {
        {{"burst 1000", *limit::limit::make(1000, time, 1000), 0.01, 0.01},
         {"burst 100", *limit::limit::make(1000, time, 100), 0.4, 35},
         {"fixed_window",
          *limit::limit::in_windows(
              {.count = 1000, .length = time, .aligned = true, .capacity = 1000}
          ),
          0.6,
          5},
         {"sliding_window", *limit::limit::sliding(1000, time, 16), 4.5, 17}}};
}

// The figures of docs/configuration.md.
TEST(bucket_parts, little_is_lost_of_a_demand_that_is_just_the_limit)
{
    for (const price& p : prices()) {
        const double unsplit = passing(p.whole, 1);
        for (const auto& [shards, most] : {std::pair{8, p.in_8}, std::pair{64, p.in_64}}) {
            for (const std::size_t gateways : {1U, 8U}) {
                const double passed = passing(*p.whole.split(shards), gateways);
                const double lost = 100 * (1 - passed / unsplit);
                EXPECT_LE(lost, most) << p.what << ' ' << shards << ' ' << gateways;
                EXPECT_GE(lost, 0) << "never a token too many";
            }
        }
    }
}

}  // namespace bucket_parts_test
}  // namespace gateway::limits
