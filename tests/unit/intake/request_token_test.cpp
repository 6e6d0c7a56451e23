// Where the token of a request is, and which of its spellings are one.
#include "gateway/intake/request_token.hpp"

#include "gateway/http/input/request_parser.hpp"
#include "gateway/identity/token_keys.hpp"
#include "gateway/intake/request_key.hpp"
#include "tests/unit/identity/issuer.hpp"

#include <gtest/gtest.h>

namespace gateway::intake {
namespace request_token_test {

using namespace std::chrono_literals;
using carrier = policy::token_rule::carrier;

constexpr base::duration today = 1'800'000'000s;

class tokens : public ::testing::Test {
protected:
    const identity::issuer& by = identity::issuers()[2];
    const std::string alice = by.token(R"({"sub":"alice","plan":"gold","n":7})");
    const std::string bob = by.token(R"({"sub":"bob"})");
    policy::token_rule rule;

    tokens()
    {
        rule.good.keys = identity::parse_token_keys(by.jwks()).keys;
        rule.good.claims = {"n", "plan", "sub"};
    }

    // The claim `sub` of a request with these lines; "-": no good token, "!": ambiguous.
    std::string sub(const std::string& lines)
    {
        const request_token found = token_of(lines);
        if (found.ambiguous) {
            return "!";
        }
        return found.verified != nullptr ? std::string{found.verified->claim("sub").value()} : "-";
    }

    std::string authorization(const std::string& value)
    {
        return sub("Authorization: " + value + "\r\n");
    }

    request_token token_of(const std::string& lines)
    {
        bytes_ = "GET / HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n";
        EXPECT_EQ(
            http::parse_request_head(bytes_, {}, head).is, http::parse_result::state::complete
        );
        return find_token(head, rule, known_, today);
    }

    http::request_head head;

private:
    std::string bytes_;
    token_cache known_{rule.good};
};

TEST_F(tokens, are_in_authorization)
{
    EXPECT_EQ(sub(""), "-");
    EXPECT_EQ(authorization("Bearer " + alice), "alice");
    EXPECT_EQ(authorization("bearer \t" + alice), "alice");
    EXPECT_EQ(authorization("Token " + alice), "alice") << "some servers take it for the same";
    EXPECT_EQ(
        sub("Authorization: Bearer " + bob + "\r\nauthorization: Bearer " + bob + "\r\n"), "bob"
    );
    EXPECT_EQ(authorization("Bearer opaque=="), "-");
    EXPECT_EQ(authorization("Bearer v4.public.dTpw"), "-");
    EXPECT_EQ(authorization(alice), "-");
    EXPECT_EQ(authorization("Bearer"), "-");
    EXPECT_EQ(authorization("Basic dTpw"), "-");
    EXPECT_EQ(authorization("DPoP " + alice), "-");
    EXPECT_EQ(authorization("Bearer " + by.token("{").substr(0, 40)), "-");
    EXPECT_EQ(authorization("Bearer " + identity::issuers()[3].token(R"({"sub":"alice"})")), "-")
        << "another issuer's";
}

TEST_F(tokens, that_servers_read_differently_are_ambiguous)
{
    EXPECT_EQ(
        sub("Authorization: Bearer " + alice + "\r\nAuthorization: Bearer " + bob + "\r\n"), "!"
    );
    EXPECT_EQ(sub("Authorization: Bearer " + alice + "\r\nAuthorization: Basic dTpw\r\n"), "!");
    EXPECT_EQ(sub("Connection: authorization\r\nAuthorization: Bearer " + alice + "\r\n"), "!");
    for (const std::string& around :
         {alice + "=",
          alice + "==",
          '"' + alice + '"',
          "token=" + alice,
          "token=\"" + alice + '"',
          alice + " x",
          alice + "," + bob,
          alice + ", Bearer " + bob,
          bob + "; x=" + alice,
          '!' + alice,
          alice.substr(0, 9) + '%' + alice.substr(9)}) {
        EXPECT_EQ(authorization("Bearer " + around), "!") << around;
    }
    std::string stray = alice;  // 64 bytes leave four bits over
    stray.back() = stray.back() == 'A' ? 'B' : static_cast<char>(stray.back() + 1);
    EXPECT_EQ(authorization("Bearer " + stray), "!");
}

TEST_F(tokens, that_nobody_takes_are_none_however_they_are_spelled)
{
    const std::string cut = alice.substr(0, alice.size() - 5);
    for (const std::string& bad :
         {cut,
          cut + '=',
          cut + '"',
          cut.substr(1),
          alice + 'x',
          alice + alice,
          alice + '.' + alice,
          '"' + alice + 'x' + '"',
          std::string{"a.b.c"},
          std::string{".."},
          std::string{"==.==.=="},
          std::string(9000, '.'),
          identity::issuers()[3].token(R"({"sub":"alice"})") + '='}) {
        EXPECT_EQ(authorization("Bearer " + bad), "-") << bad;
    }
    EXPECT_EQ(authorization("Bearer " + alice + "\xa0"), "alice") << "a blank to some";
}

TEST_F(tokens, may_be_in_another_header)
{
    rule.name = "x-id-token";
    EXPECT_EQ(sub("X-Id-Token: " + alice + "\r\n"), "alice");
    EXPECT_EQ(sub("X-Id-Token: Bearer " + alice + "\r\n"), "alice");
    EXPECT_EQ(sub("Authorization: Bearer " + alice + "\r\n"), "-");
    EXPECT_EQ(sub("X-Id-Token: " + alice + "\r\nX-Id-Token: " + bob + "\r\n"), "!");
    EXPECT_EQ(sub("X-Id-Token: " + alice + "=\r\n"), "!");
    EXPECT_EQ(sub("X-Id-Token: " + alice + "," + bob + "\r\n"), "!");
    EXPECT_EQ(sub("X-Id-Token: " + alice + ", x\r\n"), "!");
    EXPECT_EQ(sub("X-Id-Token: Basic dTpw\r\n"), "-");
    EXPECT_EQ(sub("X_Id_Token: " + alice + "\r\n"), "!");
    EXPECT_EQ(sub("X-Id-Token:\r\n"), "-");
}

TEST_F(tokens, may_be_in_a_cookie)
{
    rule.in = carrier::cookie;
    rule.name = "id";
    EXPECT_EQ(sub("Cookie: a=b; id=" + alice + "\r\n"), "alice");
    EXPECT_EQ(sub("Cookie: id=\"" + alice + "\"\r\n"), "alice");
    EXPECT_EQ(sub("Cookie: a=" + alice + "\r\n"), "-");
    EXPECT_EQ(sub("Cookie: id=" + alice + "; id=" + bob + "\r\n"), "!");
    EXPECT_EQ(sub("Cookie: id=" + alice + "=\r\n"), "!");
    EXPECT_EQ(sub("Authorization: Bearer " + alice + "\r\n"), "-");
}

TEST_F(tokens, name_buckets_by_their_claims)
{
    policy::limit_rule limit{
        .name = "l", .key = {}, .limit = *limit::limit::make(1, std::chrono::seconds{1}, 1)};
    key_result result = key_result::made;
    const auto name = [&](const std::string& lines, const std::string& claim) {
        limit.key = {{.from = policy::key_part::source::jwt, .name = claim}};
        const request_token token = token_of(lines);
        identity::bucket_name made;
        key_subject subject;
        subject.head = &head;
        subject.token = token;
        result = make_bucket_name(limit, subject, made).is;
        return std::string{made.bytes()};
    };
    const std::string of_alice = "Authorization: Bearer " + alice + "\r\n";
    identity::bucket_name expected;
    expected.start("l");
    expected.add("alice");
    EXPECT_EQ(name(of_alice, "sub"), expected.bytes());
    EXPECT_NE(name(of_alice, "plan"), expected.bytes());
    EXPECT_EQ(result, key_result::made);
    expected.start("l");
    expected.add("7");
    EXPECT_EQ(name(of_alice, "n"), expected.bytes());

    const std::string of_bob = "Authorization: Bearer " + bob + "\r\n";
    const std::string of_nobody = "Authorization: Bearer " + bob.substr(0, bob.size() - 8) + "\r\n";
    for (const auto& [lines, claim] :
         {std::pair{of_bob, "plan"}, {of_nobody, "sub"}, {"", "sub"}}) {
        limit.when_missing = policy::missing_key::skip;
        name(lines, claim);
        EXPECT_EQ(result, key_result::skip) << lines;
        limit.when_missing = policy::missing_key::reject;
        name(lines, claim);
        EXPECT_EQ(result, key_result::reject) << lines;
        limit.when_missing = policy::missing_key::client_ip;
        name(lines, claim);
        EXPECT_EQ(result, key_result::made) << lines;
    }
    limit.when_missing = policy::missing_key::skip;
    name("Authorization: Bearer " + alice + "=\r\n", "sub");
    EXPECT_EQ(result, key_result::reject) << "ambiguous";
}

}  // namespace request_token_test
}  // namespace gateway::intake
