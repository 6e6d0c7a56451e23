#include "gateway/server/limit_check.hpp"

#include "gateway/server/corrections.hpp"
#include "gateway/server/leases.hpp"
#include "gateway/store/call.hpp"

#include <gmock/gmock.h>

namespace gateway::server {
namespace {

using policy::failure_policy;
using policy::limit_rule;
using telemetry::outcome;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using is = verdict::ruling;

class fake_store final : public store::shared_store {
public:
    std::optional<store::failure> refuses;
    std::vector<std::string> asked;  // names of limits, of the last question
    std::string bucket;              // of its last charge
    std::int64_t burst = 0;          // of its limit
    std::optional<store::answer> recalled;
    std::optional<store::answer> leased;
    const limit::token_lease* lease = nullptr;  // of the last charge that was to be leased
    int questions = 0;
    std::int64_t remaining = 7;

    bool recalls(std::span<const store::charge>, base::instant, store::answer& into) const override
    {
        if (recalled) {
            into = *recalled;
        }
        return recalled.has_value();
    }

    bool take_leased(std::span<const store::charge> charges, store::answer& into) override
    {
        lease = charges.back().lease;
        if (leased) {
            into = *leased;
        }
        return leased.has_value();
    }

    std::optional<store::failure> ask(std::span<const store::charge> charges, store::question& q)
        override
    {
        ++questions;
        asked.clear();
        for (const store::charge& c : charges) {
            asked.emplace_back(c.limit_name);
            bucket = c.bucket_name.bytes();
            burst = c.limit->burst();
        }
        if (!refuses) {
            place_.hold(q);
        }
        return refuses;
    }

    void answer(
        const std::vector<bool>& allowed,
        bool admitted,
        base::duration retry = std::chrono::seconds{3}
    )
    {
        store::answer a;
        for (const bool ok : allowed) {
            a.add(
                {.allowed = ok,
                 .remaining = ok ? remaining : 0,
                 .retry_after = ok ? base::duration{0} : retry}
            );
        }
        a.admitted = admitted;
        if (auto* const q = place_.release()) {
            q->answered(a);
        }
    }

    void fail(store::taken tokens = store::taken::perhaps)
    {
        if (auto* const q = place_.release()) {
            q->failed(store::failure::timeout, tokens);
        }
    }

    void close() override {}

    void retire() override {}

    bool healthy() const override { return true; }

private:
    store::pending_question place_;
};

class limits : public ::testing::Test, private verdict_listener {
protected:
    static constexpr std::size_t elsewhere = 0;

    store::memory_store local{{.max_buckets = 1024}};
    std::shared_ptr<fake_store> shared = std::make_shared<fake_store>();
    int heard = 0;

    limit_rule& add(const std::string& name, std::size_t home, std::int64_t burst)
    {
        rules_.push_back({
            .name = name,
            .key = {{}},
            .limit = *limit::limit::make(1, std::chrono::hours{1}, burst),
            .store = home,
        });
        return rules_.back();
    }

    const verdict& ask()
    {
        prepare();
        const verdict* const v = check_.start(view_, route_, subject_, *this);
        pending_ = v == nullptr;
        said_ = v;
        return v == nullptr ? nothing_yet_ : *v;
    }

    bool pending() const { return pending_; }

    const verdict& said() const { return *said_; }

    std::size_t reports() const
    {
        std::vector<http::limit_report> all;
        said().reports(all);
        return all.size();
    }

    std::string shadow_rejections() const
    {
        std::string names;
        said().append_shadow_rejections(names);
        return names;
    }

    std::string bucket_of(std::size_t entry) const
    {
        return std::string(check_.bucket_name(entry));
    }

    void abandon() { check_.abandon(); }

    // The last request's response came, and makes one correction.
    void respond(int status)
    {
        corrections_.emplace(local, loop_);
        reservation taken;
        taken.begin({std::shared_ptr<const policy_view>{}, &view_});
        check_.reserve(view_, limit_check::reserving::outcomes, taken);
        taken.responded(status, nullptr, *corrections_);
    }

    // The last request is over: its places are given back.
    void end_request()
    {
        corrections_.emplace(local, loop_);
        leases held{loop_};
        reservation taken;
        taken.begin({std::shared_ptr<const policy_view>{}, &view_});
        check_.reserve(view_, limit_check::reserving::places, taken);
        taken.ended(*corrections_, held);
    }

    std::uint64_t count(std::size_t rule, outcome o) const
    {
        return metrics_[rule].decisions[static_cast<std::size_t>(o)].value();
    }

    std::uint64_t count(std::size_t rule) const
    {
        std::uint64_t all = 0;
        for (const auto& c : metrics_[rule].decisions) {
            all += c.value();
        }
        return all;
    }

    // How many tokens of a local limit's bucket are left, by taking them all.
    int left(std::size_t only)
    {
        only_ = only;
        int n = 0;
        while (ask().is == is::allowed) {
            ++n;
        }
        return n;
    }

    void use_table_without_room()
    {
        small_.emplace(store::memory_options{
            .max_buckets = 1, .on_full = store::memory_options::when_full::reject});
        const auto one = *limit::limit::make(1, std::chrono::hours{1}, 1);
        store::answer ignored;
        bool room = true;
        for (int i = 0; room; ++i) {
            const std::string name = std::to_string(i);
            const store::charge c{
                .limit_name = "x", .bucket_name = base::hashed_name{name}, .limit = &one};
            room = small_->take({&c, 1}, loop_.now(), ignored);
        }
        check_of_small_.emplace(*small_, loop_, top_, parts_, debts_);
    }

    const verdict& ask_without_room()
    {
        prepare();
        const verdict* const v = check_of_small_->start(view_, route_, subject_, *this);
        EXPECT_NE(v, nullptr);
        return *v;
    }

private:
    const verdict* said_ = nullptr;
    const verdict nothing_yet_{};
    net::loop loop_;
    std::vector<limit_rule> rules_;
    std::array<telemetry::limit_metrics, policy::max_limits_per_route> metrics_;
    std::shared_ptr<policy::policy> policy_;
    policy_view view_;
    policy::route route_;
    std::optional<std::size_t> only_;  // of the limits
    http::request_head head_;
    key_subject subject_;
    bool pending_ = false;
    top_buckets top_;
    bucket_parts parts_;
    std::optional<corrections> corrections_;
    corrections of_debts_{local, loop_};
    fallback_debts debts_{of_debts_, loop_};
    limit_check check_{local, loop_, top_, parts_, debts_};
    std::optional<store::memory_store> small_;
    std::optional<limit_check> check_of_small_;

    void prepare()
    {
        policy_ = std::make_shared<policy::policy>();
        policy_->limits = rules_;
        view_.policy = policy_;
        view_.stores = {shared};
        view_.limits.clear();
        route_.limits.clear();
        for (std::size_t i = 0; i < rules_.size(); ++i) {
            view_.limits.push_back(&metrics_[i]);
            if (!only_ || *only_ == i) {
                route_.limits.push_back(i);
            }
        }
        subject_ = {
            .head = &head_,
            .client = base::ip_address::v4(0x01020304),
            .host = "h",
            .path = "/",
            .route = "r"};
    }

    void decided(const verdict& v) override
    {
        said_ = &v;
        ++heard;
    }
};

TEST_F(limits, of_the_local_store_decide_at_once)
{
    add("a", policy::local_store, 2);
    add("b", policy::local_store, 5);
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(ask().is, is::allowed);
    const verdict& v = ask();
    EXPECT_EQ(v.is, is::rejected);
    EXPECT_EQ(v.deciding()->rule->name, "a");
    EXPECT_GT(v.retry_after(), std::chrono::minutes{59});
    EXPECT_EQ(count(0, outcome::allowed), 2U);
    EXPECT_EQ(count(0, outcome::rejected), 1U);
    EXPECT_EQ(count(1, outcome::allowed), 2U);
    EXPECT_EQ(count(1), 2U);  // it was not charged by the request that was rejected
    EXPECT_EQ(left(1), 3);
    EXPECT_EQ(heard, 0);
}

TEST_F(limits, of_the_shared_store_are_asked_in_one_question_and_decide_later)
{
    add("a", elsewhere, 2);
    add("b", elsewhere, 2);
    add("c", policy::local_store, 2);
    ask();
    ASSERT_TRUE(pending());
    EXPECT_EQ(shared->questions, 1);
    EXPECT_THAT(shared->asked, ElementsAre("a", "b"));
    EXPECT_EQ(count(2), 0U);
    shared->answer({true, true}, true);
    EXPECT_EQ(heard, 1);
    EXPECT_EQ(said().is, is::allowed);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(count(i, outcome::allowed), 1U);
        EXPECT_EQ(count(i), 1U);
    }
    EXPECT_EQ(said().deciding()->rule->name, "c");
}

TEST_F(limits, give_local_tokens_back_when_the_shared_store_rejects)
{
    add("a", elsewhere, 2);
    add("c", policy::local_store, 3);
    ask();
    shared->answer({false}, false);
    EXPECT_EQ(said().is, is::rejected);
    EXPECT_EQ(said().retry_after(), std::chrono::seconds{3});
    EXPECT_EQ(count(0, outcome::rejected), 1U);
    EXPECT_EQ(count(1), 0U);
    EXPECT_EQ(left(1), 3);
}

TEST_F(limits, of_the_shared_store_are_not_asked_when_the_local_one_rejects)
{
    add("a", elsewhere, 2);
    add("c", policy::local_store, 1);
    ask();
    shared->answer({true}, true);
    EXPECT_EQ(ask().is, is::rejected);
    EXPECT_FALSE(pending());
    EXPECT_EQ(shared->questions, 1);
    EXPECT_EQ(said().deciding()->rule->name, "c");
    EXPECT_EQ(reports(), 1U) << "of what was not asked nothing is said";
    EXPECT_EQ(count(0), 1U);
    EXPECT_EQ(count(1, outcome::rejected), 1U);
}

TEST_F(limits, that_are_remembered_as_empty_reject_without_asking_and_take_nothing)
{
    add("a", elsewhere, 2);
    add("b", elsewhere, 2);
    add("c", policy::local_store, 3);
    shared->recalled.emplace();
    shared->recalled->add({.allowed = false, .retry_after = std::chrono::hours{2}});
    shared->recalled->add_unknown();
    shared->recalled->admitted = false;
    EXPECT_EQ(ask().is, is::rejected);
    EXPECT_FALSE(pending());
    EXPECT_EQ(shared->questions, 0);
    EXPECT_EQ(said().retry_after(), std::chrono::hours{2});
    EXPECT_EQ(said().limits()[2].decision.remaining, 3);
    EXPECT_EQ(reports(), 2U);
    EXPECT_EQ(count(0, outcome::rejected), 1U);
    EXPECT_EQ(count(1), 0U);
    EXPECT_EQ(count(2), 0U);
    EXPECT_EQ(left(2), 3);
}

TEST_F(limits, of_which_tokens_are_leased_decide_at_once)
{
    add("a", elsewhere, 2).lease = {.percent = 10};
    add("c", policy::local_store, 2);
    shared->leased.emplace();
    shared->leased->add({.allowed = true, .remaining = 6});
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_FALSE(pending());
    EXPECT_EQ(shared->questions, 0);
    ASSERT_NE(shared->lease, nullptr);
    EXPECT_EQ(shared->lease->percent, 10);
    EXPECT_EQ(said().limits()[0].decision.remaining, 6);
    EXPECT_EQ(count(0, outcome::allowed), 1U);
    EXPECT_EQ(count(1, outcome::allowed), 1U);
    EXPECT_EQ(ask().is, is::allowed);
    shared->lease = nullptr;
    EXPECT_EQ(ask().is, is::rejected) << "by the local one";
    EXPECT_EQ(shared->lease, nullptr) << "nothing is taken that would have to be given back";
}

TEST_F(limits, of_which_tokens_are_leased_are_corrected_in_the_store)
{
    limit_rule& rule = add("a", elsewhere, 2);
    rule.lease = {.percent = 10};
    rule.outcome.charge_on.ranges = {{500, 599}};
    shared->leased.emplace();
    shared->leased->add({.allowed = true, .remaining = 6, .reset_after = std::chrono::hours{2}});
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(shared->questions, 0);
    respond(200);
    EXPECT_EQ(shared->questions, 1) << "the correction";
}

TEST_F(limits, without_leases_take_none)
{
    add("a", elsewhere, 2);
    ask();
    EXPECT_EQ(shared->lease, nullptr);
}

TEST_F(limits, that_are_remembered_as_empty_are_named_with_the_local_ones_in_the_way)
{
    add("a", elsewhere, 2);
    add("c", policy::local_store, 1);
    ask();
    shared->answer({true}, true);
    shared->recalled.emplace();
    shared->recalled->add({.allowed = false, .retry_after = std::chrono::seconds{2}});
    shared->recalled->admitted = false;
    EXPECT_EQ(ask().is, is::rejected);
    EXPECT_GT(said().retry_after(), std::chrono::minutes{59});
    EXPECT_FALSE(said().limits()[0].decision.allowed);
    EXPECT_FALSE(said().limits()[1].decision.allowed);
    EXPECT_EQ(count(0, outcome::rejected), 1U);
    EXPECT_EQ(count(1, outcome::rejected), 1U);
}

TEST_F(limits, in_shadow_mode_that_are_remembered_as_empty_are_not_asked_and_let_pass)
{
    add("a", elsewhere, 2).mode = policy::mode::shadow;
    add("c", policy::local_store, 3);
    shared->recalled.emplace();
    shared->recalled->add({.allowed = false, .retry_after = std::chrono::seconds{2}});
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(shared->questions, 0);
    EXPECT_EQ(count(0, outcome::shadow_rejected), 1U);
    EXPECT_EQ(count(1, outcome::allowed), 1U);
    shared->recalled.reset();
    EXPECT_EQ(left(1), 2);
}

struct failing {
    std::vector<failure_policy> policies;
    std::vector<bool> shadow;
    is result;
    std::vector<outcome> outcomes;
    std::vector<std::uint64_t> counts;
};

class store_failures : public limits, public ::testing::WithParamInterface<failing> {};

TEST_P(store_failures, mean_what_each_limit_says)
{
    for (std::size_t i = 0; i < GetParam().policies.size(); ++i) {
        limit_rule& r = add(std::to_string(i), elsewhere, 2);
        r.on_store_failure = GetParam().policies[i];
        r.mode = GetParam().shadow[i] ? policy::mode::shadow : policy::mode::enforce;
    }
    const std::size_t home = GetParam().policies.size();
    add("home", policy::local_store, 9);
    for (const bool at_once : {false, true}) {
        shared->refuses = at_once ? std::optional(store::failure::open) : std::nullopt;
        ask();
        EXPECT_EQ(pending(), !at_once);
        shared->fail();
        EXPECT_EQ(said().is, GetParam().result);
        for (std::size_t i = 0; i < home; ++i) {
            EXPECT_EQ(said().limits()[i].what, GetParam().outcomes[i]) << i;
            EXPECT_EQ(count(i), (at_once ? 2U : 1U) * GetParam().counts[i]) << i;
        }
    }
    EXPECT_EQ(heard, 1);
    EXPECT_EQ(left(home), GetParam().result == is::allowed ? 7 : 9);
}

using enum failure_policy;

INSTANTIATE_TEST_SUITE_P(
    all,
    store_failures,
    ::testing::Values(
        failing{{open}, {false}, is::allowed, {outcome::failed_open}, {1}},
        failing{{closed}, {false}, is::unavailable, {outcome::failed_closed}, {1}},
        failing{
            {policy::failure_policy::local}, {false}, is::allowed, {outcome::failed_local}, {1}},
        failing{
            {open, closed},
            {false, false},
            is::unavailable,
            {outcome::failed_open, outcome::failed_closed},
            {0, 1}},
        failing{{closed}, {true}, is::allowed, {outcome::failed_open}, {1}},
        failing{
            {open, policy::failure_policy::local, closed},
            {false, false, true},
            is::allowed,
            {outcome::failed_open, outcome::failed_local, outcome::failed_open},
            {1, 1, 1}}
    )
);

TEST_F(limits, decide_locally_from_buckets_of_their_own_while_their_store_fails)
{
    add("a", elsewhere, 2).on_store_failure = policy::failure_policy::local;
    add("c", policy::local_store, 9);
    shared->refuses = store::failure::open;
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(ask().is, is::rejected);
    EXPECT_EQ(count(0, outcome::failed_local), 2U);
    EXPECT_EQ(count(0, outcome::rejected), 1U);
    EXPECT_EQ(left(1), 7);
}

// The store may have given the place all the same.
TEST_F(limits, give_back_a_place_of_a_store_that_failed_under_its_own_name)
{
    limit_rule& a = add("a_long_name_of_a_limit", elsewhere, 2);
    a.limit = *limit::limit::in_flight(2, std::chrono::seconds{10});
    a.on_store_failure = policy::failure_policy::local;
    ask();
    const std::string asked = shared->bucket;
    shared->fail();
    EXPECT_EQ(said().is, is::allowed);
    EXPECT_EQ(count(0, outcome::failed_local), 1U);
    end_request();
    EXPECT_EQ(shared->questions, 2);
    EXPECT_EQ(shared->bucket, asked);
    EXPECT_EQ(bucket_of(0), asked);
}

TEST_F(limits, in_shadow_mode_never_reject)
{
    add("a", policy::local_store, 1).mode = policy::mode::shadow;
    add("b", policy::local_store, 9);
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(count(0, outcome::allowed), 1U);
    EXPECT_EQ(count(0, outcome::shadow_rejected), 1U);
    EXPECT_EQ(count(1, outcome::allowed), 2U);
    EXPECT_EQ(reports(), 1U);  // and the client is not told
}

TEST_F(limits, with_a_missing_key_do_as_they_say)
{
    const policy::key_part header{policy::key_part::source::header, "x-key"};
    limit_rule& a = add("a", policy::local_store, 9);
    a.key = {header};
    a.when_missing = policy::missing_key::skip;
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(said().count, 0U);
    EXPECT_EQ(said().deciding(), nullptr);
    a.when_missing = policy::missing_key::client_ip;
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(count(0), 1U);
    a.when_missing = policy::missing_key::reject;
    EXPECT_EQ(ask().is, is::unidentified);
    EXPECT_EQ(said().deciding()->rule->name, "a");
    EXPECT_EQ(count(0), 1U);
    a.mode = policy::mode::shadow;
    EXPECT_EQ(ask().is, is::allowed);
}

TEST_F(limits, are_unavailable_when_the_table_has_no_room_but_not_for_one_in_shadow_mode)
{
    use_table_without_room();
    limit_rule& a = add("a", policy::local_store, 9);
    EXPECT_EQ(ask_without_room().is, is::unavailable);
    EXPECT_EQ(count(0, outcome::failed_closed), 1U);
    a.mode = policy::mode::shadow;
    EXPECT_EQ(ask_without_room().is, is::allowed);
    EXPECT_EQ(count(0, outcome::failed_open), 1U);
    add("b", policy::local_store, 9);
    EXPECT_EQ(ask_without_room().is, is::unavailable);
    EXPECT_EQ(count(1, outcome::failed_closed), 1U);
    EXPECT_EQ(count(0), 2U);
    add("far", elsewhere, 9);
    EXPECT_EQ(ask_without_room().is, is::unavailable);
    EXPECT_EQ(shared->questions, 0) << "a 503 says nothing of other limits";
}

TEST_F(limits, that_were_abandoned_tell_nobody)
{
    add("a", elsewhere, 2);
    ask();
    abandon();
    shared->answer({true}, true);
    shared->fail();
    EXPECT_EQ(heard, 0);
    EXPECT_EQ(count(0), 0U);
    ask();  // and may be used again
    shared->answer({true}, true);
    EXPECT_EQ(heard, 1);
}

TEST_F(limits, that_could_not_be_decided_are_named_before_those_that_allowed)
{
    add("b", policy::local_store, 5);
    add("a", elsewhere, 2);
    shared->refuses = store::failure::open;
    ask();
    EXPECT_EQ(said().deciding()->rule->name, "a");
}

TEST_F(limits, in_shadow_mode_that_reject_are_named_whatever_the_others_have_left)
{
    add("a", policy::local_store, 2);
    add("b", policy::local_store, 1).mode = policy::mode::shadow;
    add("c", policy::local_store, 1).mode = policy::mode::shadow;
    add("d", policy::local_store, 1).mode = policy::mode::shadow;
    EXPECT_EQ(ask().is, is::allowed);
    EXPECT_EQ(shadow_rejections(), "");
    EXPECT_EQ(ask().is, is::allowed);  // nobody has anything left now
    EXPECT_EQ(said().deciding()->rule->name, "b");
    EXPECT_EQ(shadow_rejections(), "b,c,d");
    EXPECT_EQ(ask().is, is::rejected);
    EXPECT_EQ(said().deciding()->rule->name, "a");
    EXPECT_EQ(shadow_rejections(), "") << "they are not counted, either";
    EXPECT_EQ(count(1, outcome::shadow_rejected), 1U);
}

TEST_F(limits, name_the_bucket_in_their_own_store_whoever_decides)
{
    add("a", elsewhere, 2).on_store_failure = failure_policy::local;
    ask();
    const std::string asked = shared->bucket;
    EXPECT_EQ(bucket_of(0), asked);
    shared->fail();
    EXPECT_EQ(said().deciding()->what, outcome::failed_local);
    EXPECT_EQ(bucket_of(0), asked);
}

TEST_F(limits, that_are_split_charge_one_part_and_tell_of_the_whole)
{
    limit_rule& rule = add("a", elsewhere, 20);
    rule.limit = *rule.limit.split(2);
    ask();
    EXPECT_THAT(shared->bucket, AnyOf(EndsWith("0/2"), EndsWith("1/2")));
    const std::string charged = shared->bucket;
    shared->answer({true}, true);  // 7 of 10
    EXPECT_EQ(said().limits()[0].decision.remaining, 14);
    EXPECT_EQ(said().limits()[0].limit->burst(), 20);
    EXPECT_EQ(bucket_of(0), charged.substr(0, bucket_of(0).size()));
    EXPECT_EQ(bucket_of(0).size() + 4 + 3, charged.size()) << "people hear of the whole bucket";
}

TEST_F(limits, that_are_split_give_out_no_more_than_the_whole)
{
    limit_rule& rule = add("a", policy::local_store, 19);
    rule.limit = *rule.limit.split(8);
    int passed = 0;
    for (int i = 0; i < 500; ++i) {
        passed += ask().is == is::allowed ? 1 : 0;
    }
    EXPECT_EQ(passed, 19);
}

TEST_F(limits, that_are_split_are_corrected_in_the_part_that_was_charged)
{
    limit_rule& rule = add("a", elsewhere, 20);
    rule.limit = *rule.limit.split(2);
    rule.outcome.reset_on.ranges.emplace_back(200, 299);
    ask();
    const std::string charged = shared->bucket;
    const std::int64_t burst = shared->burst;
    shared->answer({true}, true);
    shared->bucket.clear();
    respond(200);
    EXPECT_EQ(shared->questions, 2);
    EXPECT_EQ(shared->bucket, charged);
    EXPECT_EQ(shared->burst, burst);
    EXPECT_EQ(burst, 10);
}

TEST_F(limits, that_are_split_fall_back_to_a_part_of_their_own)
{
    limit_rule& rule = add("a", elsewhere, 20);
    rule.limit = *rule.limit.split(2);
    rule.on_store_failure = failure_policy::local;
    ask();
    shared->fail();
    EXPECT_EQ(said().is, is::allowed);
    EXPECT_EQ(said().limits()[0].decision.remaining, 18) << "9 of 10 in one of two parts";
}

}  // namespace
}  // namespace gateway::server
