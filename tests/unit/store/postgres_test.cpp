// What is pure of the store in PostgreSQL: its words, and what is read from a server's.
#include "gateway/store/postgres/parameters.hpp"
#include "gateway/store/postgres/statement.hpp"
#include "gateway/store/postgres/trouble.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace gateway::store::postgres {
namespace postgres_test {

const auto five = *limit::limit::make(1, std::chrono::seconds{1}, 5);

charge of(std::string_view name, std::int64_t cost = 1)
{
    return {
        .limit_name = "l", .bucket_name = base::hashed_name{name}, .limit = &five, .cost = cost};
}

TEST(numbers, come_back_as_they_went)
{
    const std::vector<std::int64_t> all{0, 1, -1, INT64_MAX, INT64_MIN, 1'234'567'890'123};
    EXPECT_EQ(decode_numbers(encode_numbers(all)), all);
    EXPECT_EQ(decode_numbers(encode_numbers({})), std::vector<std::int64_t>{});
}

TEST(numbers, that_are_none_are_refused)
{
    const std::string good = encode_numbers(std::vector<std::int64_t>{1, 2, 3});
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_EQ(decode_numbers(std::string_view{good}.substr(0, size)), std::nullopt) << size;
    }
    EXPECT_EQ(decode_numbers(good + "x"), std::nullopt);
    const std::vector<std::int64_t> many(most_numbers + 1);
    EXPECT_EQ(decode_numbers(encode_numbers(many)), std::nullopt);
    std::mt19937 random{1};
    for (int i = 0; i < 20'000; ++i) {
        std::string damaged = good;
        damaged[random() % 20] ^= static_cast<char>(1 + random() % 255);
        const auto read = decode_numbers(damaged);
        EXPECT_TRUE(!read || read->size() == 3);
    }
}

TEST(statement, tells_usual_questions_in_one_statement_and_others_in_another)
{
    const std::vector<charge> charges{of("a"), of("b"), of("a"), of("a", 2)};
    const charge nothing = of("c", 0);
    call c;
    c.number = 7;
    c.count = 3;
    for (std::size_t i = 0; i < 3; ++i) {
        c.questions[i].charges = {&charges[i], 1};
    }
    const statement_form plain{.key_prefix = "gw:", .pooled_wait = std::nullopt};
    EXPECT_STREQ(take(c, plain, {}).prepared, "take_1") << "a bucket comes twice";
    c.questions[2].charges = {&nothing, 1};
    EXPECT_STREQ(take(c, plain, {}).prepared, "take_1") << "nothing is to be taken";
    c.questions[2].charges = {&charges[2], 1};
    c.count = 2;
    const statement usual = take(c, plain, {});
    EXPECT_STREQ(usual.prepared, "take_usual_2");
    EXPECT_EQ(usual.sql, "");
    ASSERT_EQ(usual.shape.size(), 1U);
    EXPECT_EQ(usual.shape[0].keys, 2);
    EXPECT_EQ(usual.values[5].bytes, "gw:grant");
    EXPECT_EQ(usual.values[6].bytes, "7");
    c.count = 3;
    c.questions[1].charges = {&charges[0], 1};
    const statement one = take(c, plain, {});
    EXPECT_STREQ(one.prepared, "take_one_2");
    ASSERT_EQ(one.shape.size(), 1U);
    EXPECT_EQ(one.values[1].bytes, "3");
    EXPECT_EQ(one.values[5].bytes, "gw:grant");
    EXPECT_EQ(one.values[6].bytes, "7");
    const statement pooled = take(c, {.key_prefix = "gw:", .pooled_wait = 25}, {});
    EXPECT_EQ(pooled.sql, "SELECT gateway.pooled_take_one_2($1, $2, $3, $4, $5, $6, $7, $8)");
    EXPECT_EQ(pooled.values[7].bytes, "25");
}

TEST(trouble, is_known_by_its_code)
{
    EXPECT_TRUE(trouble_of("40001", "x").try_again);
    EXPECT_TRUE(trouble_of("40P01", "x").try_again);
    EXPECT_EQ(trouble_of("55P03", "x").why, failure::timeout);
    EXPECT_EQ(trouble_of("57P03", "x").why, failure::loading);
    EXPECT_EQ(trouble_of("57P01", "x").why, failure::unreachable);
    EXPECT_TRUE(trouble_of("57P01", "x").reconnect);
    EXPECT_EQ(trouble_of("53100", "x").why, failure::readonly);
    EXPECT_EQ(trouble_of("25006", "x").why, failure::readonly);
    EXPECT_EQ(trouble_of("28P01", "x").why, failure::auth);
    EXPECT_EQ(trouble_of("42501", "x").why, failure::auth);
    EXPECT_TRUE(trouble_of("42P01", "x").no_schema);
    EXPECT_TRUE(trouble_of("26000", "x").is_pooled);
    EXPECT_TRUE(trouble_of("42P05", "x").is_pooled);
    EXPECT_TRUE(trouble_of("08P01", "x").is_pooled);
    EXPECT_FALSE(trouble_of("08006", "x").is_pooled);
    EXPECT_EQ(trouble_of("22003", "x").why, failure::corrupt);
    EXPECT_EQ(trouble_of("", "x").why, failure::config);
    EXPECT_EQ(trouble_of("42601", " first \nsecond").words, "first");
}

TEST(trouble, is_read_from_what_libpq_says)
{
    const auto t = trouble_in(
        "connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  28P01: password "
        "authentication failed for user \"u\"\nLOCATION:  auth_failed, auth.c:335\n"
    );
    EXPECT_EQ(t.why, failure::auth);
    EXPECT_EQ(t.words, "password authentication failed for user \"u\"");
    EXPECT_EQ(trouble_in("connection failed: session is read-only").why, failure::readonly);
    EXPECT_EQ(trouble_in("fe_sendauth: no password supplied").why, failure::auth);
    EXPECT_EQ(trouble_in("server certificate for \"h\" does not match").why, failure::config);
    EXPECT_EQ(trouble_in("connection refused").why, failure::unreachable);
    EXPECT_EQ(trouble_in("FATAL:  x").why, failure::unreachable);
    EXPECT_EQ(trouble_in("").why, failure::unreachable);
    EXPECT_EQ(trouble_in("FATAL:  28p01: x").why, failure::unreachable) << "no code";
}

TEST(trouble, is_read_whatever_the_server_s_language)
{
    const auto t = trouble_in("connection failed: SCHWERWIEGEND:  3D000: Datenbank »d« fehlt\n");
    EXPECT_EQ(t.why, failure::config);
    EXPECT_EQ(t.words, "Datenbank »d« fehlt");
    EXPECT_EQ(trouble_in("a:  28P01: one\nb:  53300: two\nc:  three\n").words, "two");
}

TEST(trouble, with_tls_is_the_settings_fault_only_where_they_do_not_fit)
{
    for (const auto* const settings :
         {"SSL error: certificate verify failed",
          "server does not support SSL, but SSL was required",
          "root certificate file \"/none\" does not exist"}) {
        EXPECT_EQ(trouble_in(settings).why, failure::config) << settings;
    }
    for (const auto* const loss :
         {"SSL SYSCALL error: EOF detected",
          "SSL SYSCALL error: Connection reset by peer",
          "SSL error: unexpected eof while reading",
          "SSL connection has been closed unexpectedly"}) {
        EXPECT_EQ(trouble_in(loss).why, failure::unreachable) << loss;
        EXPECT_TRUE(trouble_of_loss(loss).reconnect) << loss;
        EXPECT_EQ(trouble_of_loss(loss).words, loss);
    }
    EXPECT_EQ(trouble_of_loss("SSL error: bad record mac").why, failure::unreachable);
    EXPECT_EQ(trouble_of_loss("FATAL:  57P03: starting up").why, failure::loading);
}

}  // namespace postgres_test
}  // namespace gateway::store::postgres
