#include "gateway/intake/token_cache.hpp"

#include "gateway/identity/token_keys.hpp"
#include "tests/unit/identity/issuer.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace gateway::intake {
namespace token_cache_test {

using namespace std::chrono_literals;

constexpr base::duration today = 1'800'000'000s;

class token_caches : public ::testing::Test {
protected:
    const identity::issuer& by = identity::issuers()[0];
    identity::token_rules rules;
    token_cache cache{rules};

    token_caches()
    {
        accept();
        rules.claims = {"sub"};
    }

    void accept() { rules.keys = identity::parse_token_keys(by.jwks()).keys; }

    // Only what is remembered is good from now on.
    void accept_nothing_new()
    {
        rules.keys = identity::parse_token_keys(identity::issuers()[1].jwks()).keys;
    }

    std::string token(int sub, const std::string& more = {}) const
    {
        return by.token(R"({"sub":)" + std::to_string(sub) + more + "}");
    }

    // "-" if it is not good.
    std::string sub(const std::string& token, base::duration now = today)
    {
        const identity::verified_token* const found = cache.find(token, now).verified;
        return found != nullptr ? std::string{found->claim("sub").value()} : "-";
    }
};

TEST_F(token_caches, verify_a_token_once)
{
    EXPECT_EQ(sub(token(1)), "1");
    EXPECT_EQ(sub(token(2)), "2");
    accept_nothing_new();
    EXPECT_EQ(sub(token(1)), "1");
    EXPECT_EQ(sub(token(2)), "2");
    EXPECT_EQ(sub(token(3)), "-");
    EXPECT_EQ(cache.size(), 2U);
}

TEST_F(token_caches, forget_it_when_it_expires)
{
    const std::string short_lived = token(1, R"(,"exp":1800000010)");
    EXPECT_EQ(sub(short_lived), "1");
    EXPECT_EQ(sub(short_lived, today + 39s), "1");
    EXPECT_EQ(sub(short_lived, today + 40s), "-");
    EXPECT_EQ(cache.size(), 0U);
    EXPECT_EQ(sub(short_lived, today + 40s), "-");
}

TEST_F(token_caches, keep_good_ones_from_bad_ones)
{
    EXPECT_EQ(sub(token(1)), "1");
    for (std::size_t i = 0; i < 4 * token_cache::max_forged; ++i) {
        EXPECT_EQ(sub(token(1) + std::to_string(i)), "-");
    }
    EXPECT_EQ(sub(std::string(identity::max_token_bytes + 1, 'a')), "-");
    EXPECT_EQ(sub(""), "-");
    EXPECT_EQ(cache.size(), 1U);
    const std::string early = token(2, R"(,"nbf":1800000100)");
    EXPECT_EQ(sub(early), "-");
    EXPECT_EQ(sub(early, today + 70s), "2") << "a token may become good";
}

TEST_F(token_caches, look_at_the_signature_of_a_forged_token_once)
{
    const auto good = rules.keys;
    accept_nothing_new();
    const std::string forged = token(1);
    EXPECT_EQ(sub(forged), "-");
    rules.keys = good;
    EXPECT_EQ(sub(forged), "-") << "it was not looked at again";
    EXPECT_EQ(sub(token(2)), "2");
    token_cache after_a_reload{rules};
    EXPECT_NE(after_a_reload.find(forged, today).verified, nullptr);
}

TEST_F(token_caches, look_again_at_a_token_whose_key_was_not_known)
{
    const auto good = std::exchange(rules.keys, {});
    for (int seen = 0; seen < 2; ++seen) {
        const known_token found = cache.find(token(1), today);
        EXPECT_TRUE(found.forged);
        EXPECT_TRUE(found.unknown_key);
    }
    rules.keys = good;
    EXPECT_EQ(sub(token(1)), "1");
}

TEST_F(token_caches, call_only_tokens_forged_that_no_key_signed)
{
    const std::string late = token(1, R"(,"exp":1)");
    for (int seen = 0; seen < 2; ++seen) {
        EXPECT_TRUE(cache.find(token(1) + "AAAA", today).forged);
        EXPECT_FALSE(cache.find(token(1), today).forged);
        EXPECT_FALSE(cache.find(late, today).forged);
        EXPECT_FALSE(cache.find(late + "AAAA", today).forged);
        EXPECT_FALSE(cache.find("no.token.", today).forged);
        EXPECT_FALSE(cache.find("", today).forged);
    }
}

TEST_F(token_caches, forget_forged_tokens_for_others)
{
    const auto good = rules.keys;
    accept_nothing_new();
    constexpr int most = static_cast<int>(token_cache::max_forged);
    constexpr int all = 8 * most;
    for (int i = 0; i < all; ++i) {
        sub(token(i));
    }
    rules.keys = good;
    int remembered = 0;
    for (int i = 0; i < all; ++i) {
        remembered += sub(token(i)) == "-" ? 1 : 0;
    }
    EXPECT_LE(remembered, most);
    EXPECT_GT(remembered, most / 2);
    EXPECT_EQ(sub(token(all - 1)), "-") << "the last one took its place";
}

TEST_F(token_caches, forget_the_one_not_seen_for_longest)
{
    constexpr int most = static_cast<int>(token_cache::max_tokens);
    for (int i = 0; i < most; ++i) {
        sub(token(i));
    }
    EXPECT_EQ(cache.size(), token_cache::max_tokens);
    EXPECT_EQ(sub(token(0)), "0");
    EXPECT_EQ(sub(token(most)), std::to_string(most));
    EXPECT_EQ(cache.size(), token_cache::max_tokens);
    accept_nothing_new();
    EXPECT_EQ(sub(token(0)), "0");
    EXPECT_EQ(sub(token(1)), "-");
    EXPECT_EQ(sub(token(2)), "2");
}

}  // namespace token_cache_test
}  // namespace gateway::intake
