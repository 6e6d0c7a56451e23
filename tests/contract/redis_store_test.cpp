// What is particular to the Redis store: its keys, and every way the server can fail it.
#include "tests/contract/subjects.hpp"

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

namespace gateway::store::testing {
namespace redis_store_test {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const limit::limit five = *limit::limit::make(1, hours{1}, 5);

charge of(std::string_view name, std::int64_t cost = 1)
{
    return {
        .limit_name = "per_client",
        .bucket_name = base::hashed_name{name},
        .limit = &five,
        .cost = cost};
}

const std::string key_of_secret =
    "gw:per_client:" + std::string{"2bb80d537b1da3e38bd30361aa855686"};

// Asks one question; its failure.
std::optional<failure> why(
    redis_subject& s, std::string_view name = "someone", std::int64_t cost = 1
)
{
    const charge c = of(name, cost);
    answer a;
    return s.ask({&c, 1}, a);
}

redis_options quick(base::duration timeout = milliseconds{100})
{
    redis_options o;
    o.timeout = timeout;
    return o;
}

// Asks until the breaker has opened; the failure that came before it.
std::optional<failure> fails_until_open(redis_subject& s)
{
    std::optional<failure> last;
    const base::instant end = base::now() + seconds{10};
    while (base::now() < end) {
        const auto f = why(s, "someone");
        if (f == failure::open) {
            return last;
        }
        last = f ? f : last;
        s.io().restart();
        s.io().run_one_for(milliseconds{1});
    }
    return std::nullopt;
}

TEST(redis_store, hashes_names_and_lets_every_key_expire)
{
    redis_subject s;
    ASSERT_TRUE(s.becomes_healthy());
    EXPECT_EQ(why(s, "secret"), std::nullopt);
    EXPECT_EQ(why(s, "other", 5), std::nullopt);
    EXPECT_EQ(s.server().command({"EXISTS", key_of_secret}), "1");
    std::istringstream keys{s.server().command({"KEYS", "*"})};
    int count = 0;
    for (std::string key; keys >> key; ++count) {
        const auto left = milliseconds{std::stoll(s.server().command({"PTTL", key}))};
        EXPECT_GT(left, hours{1} - seconds{30}) << key << " is not full before that";
        EXPECT_LE(left, hours{5} + milliseconds{2}) << key;
    }
    EXPECT_EQ(count, 2);
}

TEST(redis_store, a_key_that_holds_something_else_fails_its_own_question_only)
{
    redis_subject s;
    ASSERT_TRUE(s.becomes_healthy());
    s.server().command({"RPUSH", key_of_secret, "x"});
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(why(s, "secret"), failure::corrupt);
    }
    EXPECT_EQ(why(s, "other", 5), std::nullopt) << "the breaker did not mind";
    for (const std::string value :
         {"x", "", "1 2", "1 0 5", "-1 1 1", "1e3 1 1", "1 1 9007199254740993"}) {
        s.server().command({"DEL", key_of_secret});
        s.server().command({"SET", key_of_secret, value});
        EXPECT_EQ(why(s, "secret"), failure::corrupt) << value;
        EXPECT_EQ(s.server().command({"GET", key_of_secret}), value) << "left as it was";
    }
}

TEST(redis_store, bans_that_hold_something_else_fail_their_own_question_only)
{
    redis_subject s;
    ASSERT_TRUE(s.becomes_healthy());
    const limit::penalty penalty{
        .after = 2, .within = minutes{1}, .ban = minutes{1}, .max_ban = hours{1}};
    charge banned = of("secret", 1);
    banned.penalty = &penalty;
    answer a;
    s.server().command({"RPUSH", key_of_secret + ":ban", "x"});
    EXPECT_EQ(s.ask({&banned, 1}, a), failure::corrupt);
    for (const std::string& value :
         {std::string(300, '9'),
          std::string{"99999999999999999999 1"},
          std::string{"1 31536000000001"},
          std::string{"x"},
          std::string{},
          "1 1" + std::string(1001, ' ') + "1.5"}) {
        s.server().command({"DEL", key_of_secret + ":ban"});
        s.server().command({"SET", key_of_secret + ":ban", value});
        EXPECT_EQ(s.ask({&banned, 1}, a), failure::corrupt) << value;
        EXPECT_EQ(why(s, "other", 5), std::nullopt) << "the connection is kept";
    }
    std::string many = "1 1";
    for (int i = 0; i <= limit::penalty::most_rejections; ++i) {
        many += " 1";
    }
    s.server().command({"SET", key_of_secret + ":ban", many});
    EXPECT_EQ(s.ask({&banned, 1}, a), failure::corrupt) << "too many";
    s.server().command({"SET", key_of_secret + ":ban", many.substr(0, many.size() - 2)});
    EXPECT_EQ(s.ask({&banned, 1}, a), std::nullopt);
}

TEST(redis_store, a_mark_of_grants_that_holds_something_else_is_none)
{
    redis_subject s;
    ASSERT_TRUE(s.becomes_healthy());
    s.server().command({"RPUSH", "gw:grant", "x"});
    EXPECT_EQ(why(s, "secret"), std::nullopt);
    for (const std::string value : {"x", "", "nan"}) {
        s.server().command({"DEL", "gw:grant"});
        s.server().command({"SET", "gw:grant", value});
        EXPECT_EQ(why(s, "secret"), std::nullopt) << value;
    }
}

TEST(redis_store, a_rejected_question_writes_only_what_a_changed_rate_wants)
{
    redis_subject s;
    ASSERT_TRUE(s.becomes_healthy());
    const auto writes = [&s] {
        const std::string all = s.server().command({"INFO", "commandstats"});
        const std::size_t at = all.find("cmdstat_set:calls=");
        return all.substr(at, all.find(',', at) - at);
    };
    EXPECT_EQ(why(s, "secret", 5), std::nullopt);
    const std::string value = s.server().command({"GET", key_of_secret});
    const std::string before = writes();
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(why(s, "secret"), std::nullopt);
    }
    EXPECT_EQ(s.server().command({"GET", key_of_secret}), value);
    EXPECT_EQ(writes(), before);

    const auto daily = *limit::limit::make(1, hours{24}, 2);
    const charge c{
        .limit_name = "per_client", .bucket_name = base::hashed_name{"secret"}, .limit = &daily};
    answer a;
    ASSERT_EQ(s.ask({&c, 1}, a), std::nullopt);
    EXPECT_FALSE(a.admitted);
    const std::string after = writes();
    EXPECT_NE(after, before);
    const auto left = milliseconds{std::stoll(s.server().command({"PTTL", key_of_secret}))};
    EXPECT_GT(left, 5 * hours{24} - seconds{600});
    EXPECT_LE(left, 5 * hours{24} + milliseconds{2});
    ASSERT_EQ(s.ask({&c, 1}, a), std::nullopt);
    EXPECT_EQ(writes(), after) << "once for each change";
}

TEST(redis_store, a_value_from_a_clock_that_stepped_back_costs_one_refill_at_most)
{
    redis_subject s;
    ASSERT_TRUE(s.becomes_healthy());
    s.server().command({"SET", key_of_secret, "9000000000000000 3600000000 18000000000"});
    const charge c = of("secret");
    answer a;
    ASSERT_EQ(s.ask({&c, 1}, a), std::nullopt);
    EXPECT_FALSE(a.admitted);
    EXPECT_EQ(a.decisions()[0].reset_after, hours{5});
    EXPECT_EQ(a.decisions()[0].retry_after, hours{1});

    const auto log = *limit::limit::sliding(2, hours{1}, 0);
    s.server().command({"DEL", key_of_secret});
    s.server().command({"RPUSH", key_of_secret, "h 2", "8000000000000000 1", "9000000000000000 1"});
    const charge slides{
        .limit_name = "per_client", .bucket_name = base::hashed_name{"secret"}, .limit = &log};
    ASSERT_EQ(s.ask({&slides, 1}, a), std::nullopt);
    EXPECT_FALSE(a.admitted);
    EXPECT_EQ(a.decisions()[0].retry_after, hours{1});
}

TEST(redis_store, a_flushed_script_is_loaded_again_without_a_failure)
{
    redis_subject s;
    ASSERT_TRUE(s.becomes_healthy());
    for (int round = 0; round < 3; ++round) {
        s.server().command({"SCRIPT", "FLUSH"});
        std::vector<std::unique_ptr<asker>> askers;
        const std::string name = "client " + std::to_string(round);
        const charge c = of(name);
        for (int i = 0; i < 7; ++i) {  // all of them find it gone
            askers.push_back(std::make_unique<asker>());
            ASSERT_EQ(s.store().ask({&c, 1}, *askers.back()), std::nullopt);
        }
        ASSERT_TRUE(run_until(s.io(), [&] { return askers.back()->settled(); }));
        int admitted = 0;
        for (const auto& a : askers) {
            ASSERT_TRUE(a->got.has_value());
            admitted += a->got->admitted ? 1 : 0;
        }
        EXPECT_EQ(admitted, 5) << "none was executed twice";
    }
    EXPECT_EQ(s.metrics().failures[static_cast<std::size_t>(failure::config)].value(), 0U);
}

TEST(redis_store, speaks_over_a_unix_socket_with_password_and_database)
{
    const auto server =
        std::make_shared<redis_server>(std::vector<std::string>{"--requirepass", "secret"});
    redis_options o;
    o.socket_path = server->socket_path();
    o.password = "secret";
    o.database = 3;
    o.timeout = seconds{1};
    redis_subject s{server, o};
    ASSERT_TRUE(s.becomes_healthy());
    EXPECT_EQ(why(s), std::nullopt);
}

TEST(redis_store, a_wrong_password_is_a_failure_of_its_own_and_mends_within_a_second)
{
    const auto server = std::make_shared<redis_server>(std::vector<std::string>{
        "--user", "gate", "on", ">right", "~*", "+@all"});
    redis_options o = quick();
    o.host = "localhost";  // looked up
    o.user = "gate";
    o.password = "wrong";
    redis_subject s{server, o};
    run_until(
        s.io(), [] { return false; }, milliseconds{300}
    );
    EXPECT_EQ(why(s), failure::auth);
    server->command({"ACL", "SETUSER", "gate", ">wrong"});
    EXPECT_TRUE(s.becomes_healthy(seconds{1}));
    EXPECT_EQ(why(s), std::nullopt);
}

TEST(redis_store, a_server_that_dies_fails_fast_and_is_found_again_within_a_second)
{
    const auto server = std::make_shared<redis_server>();
    redis_subject s{server, quick()};
    ASSERT_TRUE(s.becomes_healthy());
    server->stop();
    EXPECT_EQ(fails_until_open(s), failure::unreachable);
    EXPECT_FALSE(s.store().healthy());
    EXPECT_EQ(s.metrics().up.value(), 0);
    asker nobody;
    const charge c = of("someone");
    EXPECT_EQ(s.store().ask({&c, 1}, nobody), failure::open) << "without waiting";
    server->start();
    EXPECT_TRUE(s.becomes_healthy(seconds{1}));
    EXPECT_EQ(why(s), std::nullopt);
    EXPECT_EQ(s.metrics().up.value(), 1);
}

TEST(redis_store, a_frozen_server_costs_no_question_more_than_the_timeout)
{
    const auto server = std::make_shared<redis_server>();
    redis_subject s{server, quick(milliseconds{25})};
    ASSERT_TRUE(s.becomes_healthy());
    for (int round = 0; round < 3; ++round) {
        server->freeze();
        const charge c = of("someone");
        asker a;
        const base::instant before = base::now();
        ASSERT_EQ(s.store().ask({&c, 1}, a), std::nullopt);
        EXPECT_TRUE(run_until(
            s.io(), [&a] { return a.settled(); }, milliseconds{30}
        ));
        EXPECT_EQ(a.why, failure::timeout);
        EXPECT_GE(base::now() - before, milliseconds{25});
        EXPECT_EQ(fails_until_open(s), failure::timeout);
        run_until(
            s.io(), [] { return false; }, milliseconds{400 + 170 * round}
        );  // other stages
        server->thaw();
        EXPECT_TRUE(s.becomes_healthy(seconds{1})) << round;
        EXPECT_EQ(why(s, "round " + std::to_string(round)), std::nullopt);
    }
}

struct trouble {
    const char* name;
    std::vector<std::vector<std::string>> begin;
    std::vector<std::vector<std::string>> end;
    failure expected;
};

class redis_trouble : public ::testing::TestWithParam<trouble> {};

TEST_P(redis_trouble, opens_the_breaker_and_passes_within_a_second)
{
    const auto server = std::make_shared<redis_server>();
    // A server that answers has the time to.
    redis_subject s{
        server, quick(GetParam().expected == failure::timeout ? milliseconds{100} : seconds{10})};
    ASSERT_TRUE(s.becomes_healthy());
    for (const auto& command : GetParam().begin) {
        server->command(command);
    }
    EXPECT_EQ(fails_until_open(s), GetParam().expected);
    for (const auto& command : GetParam().end) {
        server->command(command);
    }
    EXPECT_TRUE(s.becomes_healthy(seconds{1}));
    EXPECT_EQ(why(s), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(
    all,
    redis_trouble,
    ::testing::Values(
        trouble{
            "oom",
            {{"CONFIG", "SET", "maxmemory", "1"}},
            {{"CONFIG", "SET", "maxmemory", "0"}},
            failure::readonly},
        trouble{
            "readonly",
            {{"CONFIG", "SET", "replica-serve-stale-data", "yes"}, {"REPLICAOF", "127.0.0.1", "1"}},
            {{"REPLICAOF", "NO", "ONE"}},
            failure::readonly},
        trouble{
            "master_down",
            {{"CONFIG", "SET", "replica-serve-stale-data", "no"}, {"REPLICAOF", "127.0.0.1", "1"}},
            {{"REPLICAOF", "NO", "ONE"}},
            failure::loading},
        trouble{
            "too_few_replicas",
            {{"CONFIG", "SET", "min-replicas-to-write", "1"}},
            {{"CONFIG", "SET", "min-replicas-to-write", "0"}},
            failure::readonly},
        trouble{"paused", {{"CLIENT", "PAUSE", "800"}}, {{"PING"}}, failure::timeout}
        // the PING waits, too
    ),
    [](const auto& instance) { return instance.param.name; }
);

TEST(redis_store, a_server_busy_with_a_script_is_asked_again_when_it_is_done)
{
    const auto server =
        std::make_shared<redis_server>(std::vector<std::string>{"--busy-reply-threshold", "10"});
    redis_subject s{server, quick()};
    ASSERT_TRUE(s.becomes_healthy());
    const auto busy = server->begin({"EVAL", "while true do end", "0"});
    const auto last = fails_until_open(s);
    EXPECT_TRUE(last == failure::loading || last == failure::timeout);
    EXPECT_EQ(server->command({"SCRIPT", "KILL"}), "OK");
    EXPECT_TRUE(s.becomes_healthy(seconds{1}));
}

TEST(redis_store, keeps_answers_apart_however_many_are_on_their_way)
{
    redis_subject s{std::make_shared<redis_server>(), quick(seconds{20})};
    ASSERT_TRUE(s.becomes_healthy());
    const auto wide = *limit::limit::make(1, hours{1}, 20'000);
    std::vector<std::unique_ptr<asker>> askers;
    std::vector<std::string> names;
    std::vector<charge> charges;
    names.reserve(16'384);
    charges.reserve(16'384);
    for (std::int64_t i = 0; i < 16'384; ++i) {
        names.push_back("client " + std::to_string(i));
        charges.push_back({"wide", base::hashed_name{names.back()}, &wide, i + 1});
        askers.push_back(std::make_unique<asker>());
        ASSERT_EQ(s.store().ask({&charges.back(), 1}, *askers.back()), std::nullopt);
    }
    asker one_more;
    const charge c = of("x");
    EXPECT_EQ(s.store().ask({&c, 1}, one_more), failure::overload);
    for (std::size_t i = 0; i < askers.size(); i += 3) {
        askers[i].reset();  // gone before their answer comes
    }
    ASSERT_TRUE(run_until(s.io(), [&] { return askers[16'381]->settled(); }));
    for (std::int64_t i = 0; i < 16'384; ++i) {
        if (const auto& a = askers[static_cast<std::size_t>(i)]) {
            ASSERT_TRUE(a->got.has_value());
            ASSERT_EQ(a->calls, 1);
            ASSERT_EQ(a->got->decisions()[0].remaining, 20'000 - (i + 1));
        }
    }
}

TEST(redis_store, costs_few_calls_for_one_client_far_over_its_limit)
{
    redis_subject s;
    ASSERT_TRUE(s.becomes_healthy());
    const auto ten = *limit::limit::make(1, hours{1}, 10);
    const charge flood{
        .limit_name = "ten", .bucket_name = base::hashed_name{"flood"}, .limit = &ten};
    const charge quiet{
        .limit_name = "ten", .bucket_name = base::hashed_name{"quiet"}, .limit = &ten};
    std::vector<asker> askers(4000);
    for (asker& a : askers) {
        ASSERT_EQ(s.store().ask({&flood, 1}, a), std::nullopt);
    }
    asker other;
    ASSERT_EQ(s.store().ask({&quiet, 1}, other), std::nullopt);
    ASSERT_TRUE(run_until(s.io(), [&] { return other.settled(); }));
    EXPECT_TRUE(other.got && other.got->admitted);
    std::size_t admitted = 0;
    for (const asker& a : askers) {
        ASSERT_EQ(a.calls, 1) << "all of them before the one that came last";
        ASSERT_TRUE(a.got.has_value());
        admitted += a.got->admitted ? 1 : 0;
    }
    EXPECT_EQ(admitted, 10U);
    EXPECT_LE(s.metrics().requests.value(), 6U) << "the first ones, and the other client's";

    answer known;
    ASSERT_TRUE(s.store().recalls({&flood, 1}, base::now(), known));
    EXPECT_FALSE(known.admitted);
    EXPECT_GT(known.decisions()[0].retry_after, std::chrono::minutes{59});
    EXPECT_FALSE(s.store().recalls({&quiet, 1}, base::now(), known));
}

// Whoever asked, and whatever about: the next answer tells that tokens were given.
TEST(redis_store, forgets_rejections_when_another_gateway_gives_tokens)
{
    const auto server = std::make_shared<redis_server>();
    redis_subject here{server, quick()};
    redis_subject elsewhere{server, quick()};
    ASSERT_TRUE(here.becomes_healthy() && elsewhere.becomes_healthy());
    const auto one = *limit::limit::make(1, hours{1}, 1);
    const charge c{.limit_name = "one", .bucket_name = base::hashed_name{"x"}, .limit = &one};
    const charge other{.limit_name = "one", .bucket_name = base::hashed_name{"y"}, .limit = &one};
    const limit::correction reset{.what = limit::correction::kind::reset};
    answer a;
    for (const bool is_grant : {false, true}) {
        ASSERT_EQ(here.ask({&c, 1}, a), std::nullopt);
        ASSERT_EQ(here.ask({&c, 1}, a), std::nullopt);
        EXPECT_FALSE(a.admitted);
        charge made = c;
        made.correction = &reset;
        made.receipt =
            is_grant ? "00000000000000000000000000000002" : "00000000000000000000000000000001";
        made.is_grant = is_grant;
        ASSERT_EQ(elsewhere.ask({&made, 1}, a), std::nullopt);
        ASSERT_EQ(here.ask({&other, 1}, a), std::nullopt);
        EXPECT_EQ(here.store().recalls({&c, 1}, base::now(), a), !is_grant);
    }
    ASSERT_EQ(here.ask({&c, 1}, a), std::nullopt);
    EXPECT_TRUE(a.admitted);
}

TEST(redis_store, forgets_rejections_if_it_is_told_to)
{
    const auto server = std::make_shared<redis_server>();
    redis_options o = quick();
    o.remember_rejections = false;
    redis_subject s{server, o};
    ASSERT_TRUE(s.becomes_healthy());
    const auto one = *limit::limit::make(1, hours{1}, 1);
    const charge c{.limit_name = "one", .bucket_name = base::hashed_name{"x"}, .limit = &one};
    answer a;
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(s.ask({&c, 1}, a), std::nullopt);
        EXPECT_EQ(a.admitted, i == 0);
    }
    EXPECT_FALSE(s.store().recalls({&c, 1}, base::now(), a));
}

TEST(redis_store, rejects_who_is_known_to_be_limited_when_the_link_is_lost)
{
    redis_subject s;
    ASSERT_TRUE(s.becomes_healthy());
    const auto one = *limit::limit::make(1, hours{1}, 1);
    const charge known{
        .limit_name = "one", .bucket_name = base::hashed_name{"known"}, .limit = &one};
    const charge unknown{
        .limit_name = "one", .bucket_name = base::hashed_name{"unknown"}, .limit = &one};
    answer a;
    ASSERT_EQ(s.ask({&known, 1}, a), std::nullopt);
    s.server().freeze();
    asker limited;
    asker other;
    ASSERT_EQ(s.store().ask({&known, 1}, limited), std::nullopt);
    ASSERT_EQ(s.store().ask({&unknown, 1}, other), std::nullopt);
    s.server().stop();
    ASSERT_TRUE(run_until(s.io(), [&] { return limited.settled() && other.settled(); }));
    ASSERT_TRUE(limited.got.has_value());
    EXPECT_FALSE(limited.got->admitted);
    EXPECT_EQ(other.why, failure::unreachable);
}

TEST(redis_store, does_not_blame_the_server_for_what_was_never_sent)
{
    redis_subject s{std::make_shared<redis_server>(), quick()};
    ASSERT_TRUE(s.becomes_healthy());
    const auto wide = *limit::limit::make(1, hours{1}, 10'000);
    const charge c{.limit_name = "wide", .bucket_name = base::hashed_name{"x"}, .limit = &wide};
    std::vector<asker> askers(1000);
    s.server().freeze();
    for (asker& a : askers) {
        ASSERT_EQ(s.store().ask({&c, 1}, a), std::nullopt);
    }
    ASSERT_TRUE(run_until(s.io(), [&] { return askers.back().settled(); }));
    s.server().thaw();
    std::map<failure, int> whys;
    int perhaps = 0;
    for (const asker& a : askers) {
        ASSERT_TRUE(a.why.has_value());
        ++whys[*a.why];
        perhaps += a.tokens == taken::perhaps ? 1 : 0;
    }
    // Of what was sent, too, some had waited for its turn.
    const int most_sent = 1 + 3 * 64;
    EXPECT_GE(whys[failure::timeout], 1);
    EXPECT_LE(whys[failure::timeout], most_sent);
    EXPECT_GE(perhaps, whys[failure::timeout]);
    EXPECT_LE(perhaps, most_sent);
    EXPECT_EQ(whys[failure::overload], 1000 - whys[failure::timeout]);
}

TEST(redis_store, closing_fails_what_is_pending_and_destroying_abandons_it)
{
    const auto server = std::make_shared<redis_server>();
    telemetry::store_metrics metrics;
    redis_options o = quick();
    o.port = std::to_string(server->port());
    const charge c = of("x");
    asker abandoned;
    net::loop loop;
    auto& io = loop.context();
    {
        const auto store = open_store(loop, "shared", o, metrics);
        ASSERT_TRUE(run_until(io, [&] { return store->healthy(); }));
        ASSERT_EQ(store->ask({&c, 1}, abandoned), std::nullopt);
        ASSERT_TRUE(abandoned.asked());
    }
    EXPECT_FALSE(abandoned.asked());
    const auto store = open_store(loop, "shared", o, metrics);
    ASSERT_TRUE(run_until(io, [&] { return store->healthy(); }));
    asker failed;
    ASSERT_EQ(store->ask({&c, 1}, failed), std::nullopt);
    store->close();
    EXPECT_EQ(failed.why, failure::unreachable);
    EXPECT_EQ(store->ask({&c, 1}, failed), failure::unreachable);
    net::testing::end(loop);
    EXPECT_EQ(abandoned.calls, 0);
}

}  // namespace redis_store_test
}  // namespace gateway::store::testing
