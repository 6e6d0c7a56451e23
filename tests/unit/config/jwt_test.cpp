// The section jwt, and the parts of keys that need it.
#include "tests/unit/config/sample.hpp"
#include "tests/unit/own_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace gateway::config {
namespace jwt_test {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* good_keys = SOURCE_DIR "/tests/unit/config/jwks.json";

// The file with that section in front.
sample with(const std::string& section, const std::string& key = "jwt:sub")
{
    sample s;
    s.rest = section + "\n";
    s.limits = "limits:\n  a: { key: \"" + key + "\", missing_key: reject, rate: 10/s }\n";
    return s;
}

std::string complaint(const std::string& section, const std::string& key = "jwt:sub")
{
    return problems_of(with(section, key).text());
}

std::string with_keys(const std::string& more = {})
{
    return "jwt: { keys: \"" + std::string{good_keys} + "\"" + more + " }";
}

// A file that goes with its test.
class key_file : public testing::Test {
protected:
    const unit::own_folder folder;
    const std::filesystem::path path = folder.path() / "keys.json";

    std::string complaint_about(const std::string& text)
    {
        std::ofstream{path} << text;
        return complaint("jwt: { keys: \"" + path.string() + "\" }");
    }
};

TEST(jwt, without_a_section_there_are_no_tokens)
{
    EXPECT_FALSE(sample{}.load().policy->token.has_value());
}

TEST(jwt, has_a_header_and_the_keys_of_a_file)
{
    const settings s = with(with_keys()).load();
    const policy::token_rule& token = s.policy->token.value();
    EXPECT_EQ(token.in, policy::token_rule::carrier::header);
    EXPECT_EQ(token.name, "authorization");
    EXPECT_EQ(token.keys_from, good_keys);
    ASSERT_EQ(token.good.keys.size(), 1U);
    EXPECT_EQ(token.good.keys[0].id, "RFC 7515 A.3");
    EXPECT_EQ(token.good.issuer, "");
    EXPECT_EQ(token.good.audience, "");
    EXPECT_THAT(token.good.claims, ElementsAre("sub"));
    EXPECT_TRUE(s.policy->routes.at(0).reads_token);
    EXPECT_THAT(
        s.warnings,
        ElementsAre(HasSubstr(
            "jwks.json\": keys[1]: it is for \"enc\", not for signatures; it is passed over"
        ))
    );
}

TEST(jwt, may_have_keys_that_are_fetched)
{
    const settings s =
        with(
            "jwt: { keys: \"https://id.example.com:8443/a/jwks?p=1\", timeout: 2s, refresh: 1h, "
            "on_no_keys: wait, tls: { server_name: id.test } }"
        )
            .load();
    EXPECT_EQ(s.issuer.host, "id.example.com");
    EXPECT_EQ(s.issuer.port, "8443");
    EXPECT_EQ(s.issuer.target, "/a/jwks?p=1");
    EXPECT_EQ(s.issuer.timeout, std::chrono::seconds{2});
    EXPECT_EQ(s.issuer.refresh, std::chrono::hours{1});
    EXPECT_EQ(s.issuer.on_no_keys, probes::issuer_options::no_keys::wait);
    EXPECT_EQ(s.issuer.tls.server_name, "id.test");
    EXPECT_NE(s.issuer.tls.context, nullptr);
    const policy::token_rule& token = s.policy->token.value();
    EXPECT_EQ(token.keys_from, "https://id.example.com:8443/a/jwks?p=1");
    EXPECT_EQ(token.fetch_timeout, std::chrono::seconds{2});
    EXPECT_TRUE(token.good.keys.empty());
    const settings plain = with("jwt: { keys: \"https://[::1]\" }").load();
    EXPECT_EQ(plain.issuer.host, "::1");
    EXPECT_EQ(plain.issuer.port, "443");
    EXPECT_EQ(plain.issuer.target, "/");
    EXPECT_NE(plain.issuer.tls.context, nullptr);
}

TEST(jwt, keeps_fetched_keys_of_the_same_url)
{
    settings before = with("jwt: { keys: \"https://id/jwks\" }").load();
    auto changed = std::make_shared<policy::policy>(*before.policy);
    changed->token->good.keys = with(with_keys()).load().policy->token->good.keys;
    before.policy = changed;
    const auto keys_after = [&before](const std::string& section) {
        const std::string text = with(section).text();
        return load_text(text, "gateway.yaml", &before).policy->token->good.keys.size();
    };
    EXPECT_EQ(keys_after("jwt: { keys: \"https://id/jwks\", timeout: 1s }"), 1U);
    EXPECT_EQ(keys_after("jwt: { keys: \"https://id/other\" }"), 0U);
}

TEST(jwt, fetches_keys_over_tls_only)
{
    EXPECT_THAT(
        complaint("jwt: { keys: \"http://id/jwks\" }"),
        HasSubstr("jwt.keys: keys are fetched from https:// URLs only")
    );
    for (const char* const url :
         {"https://",
          "https://user@id/",
          "https://id/#a",
          "https://id:0/",
          "https://id:99999/",
          "https://a b/"}) {
        EXPECT_THAT(
            complaint("jwt: { keys: \"" + std::string{url} + "\" }"),
            HasSubstr("jwt.keys: expected https://HOST[:PORT]/PATH")
        ) << url;
    }
    EXPECT_THAT(
        complaint(with_keys(", refresh: 5m, tls: { server_name: a }")),
        AllOf(HasSubstr("jwt.tls: is for keys that are fetched"), HasSubstr("jwt.refresh: is for"))
    );
    EXPECT_THAT(
        complaint("jwt: { keys: \"https://id/\", tls: { verify: false } }"),
        HasSubstr("jwt.tls.verify: unknown key")
    );
    EXPECT_THAT(complaint("jwt: { keys: \"https://id/\", refresh: 1s }"), HasSubstr("jwt.refresh"));
}

TEST(jwt, every_key_arrives)
{
    const settings header =
        with(with_keys(", header: X-Id-Token, issuer: \"https://id\", audience: api")).load();
    EXPECT_EQ(header.policy->token->name, "x-id-token");
    EXPECT_EQ(header.policy->token->good.issuer, "https://id");
    EXPECT_EQ(header.policy->token->good.audience, "api");
    const settings cookie = with(with_keys(", cookie: Session")).load();
    EXPECT_EQ(cookie.policy->token->in, policy::token_rule::carrier::cookie);
    EXPECT_EQ(cookie.policy->token->name, "Session");
}

TEST(jwt, claims_are_those_of_all_keys_once)
{
    sample s = with(with_keys());
    s.limits =
        "limits:\n"
        "  a: { key: [\"jwt:sub\", path], missing_key: skip, rate: 1/s }\n"
        "  b: { key: [\"jwt:realm.id\", \"jwt:sub\"], missing_key: client_ip, rate: 1/s }\n"
        "  c: { key: client_ip, rate: 1/s }\n";
    s.routes =
        "routes: [{ match: { path: /a }, limits: [a], upstream: u }, { match: { path: /c }, "
        "limits: "
        "[c], upstream: u }, { match: { path: /bc }, limits: [c, b], upstream: u }]\n";
    const settings loaded = s.load();
    EXPECT_THAT(loaded.policy->token->good.claims, ElementsAre("realm.id", "sub"));
    EXPECT_TRUE(loaded.policy->routes[0].reads_token);
    EXPECT_FALSE(loaded.policy->routes[1].reads_token);
    EXPECT_TRUE(loaded.policy->routes[2].reads_token);
}

TEST(jwt, limits_that_need_no_token_come_first)
{
    sample s = with(with_keys());
    s.limits =
        "plans: { p: { key: \"jwt:plan\", members: { gold: [x] }, default: free } }\n"
        "limits:\n"
        "  a: { key: \"jwt:sub\", missing_key: skip, rate: 1/s }\n"
        "  b: { key: client_ip, rate: 1/s, plan: p, plans: { gold: unlimited } }\n"
        "  c: { key: client_ip, rate: 1/s }\n"
        "  d: { key: path, rate: 1/s }\n";
    s.routes =
        "routes: [{ match: { path: /a }, limits: [a, c, b, d], upstream: u }, "
        "{ limits: [c, d], upstream: u }]\n";
    const settings loaded = s.load();
    const policy::route& mixed = loaded.policy->routes[0];
    EXPECT_EQ(mixed.limits_without_token, 2U);
    std::string names;
    for (const std::size_t i : mixed.limits) {
        names += loaded.policy->limits[i].name;
    }
    EXPECT_EQ(names, "cdab");
    EXPECT_EQ(loaded.policy->routes[1].limits_without_token, 2U);
}

TEST(jwt, mistakes_are_told)
{
    EXPECT_EQ(
        complaint(""),
        "f:3:13: limits.a.key: a claim of a token, and there is no \"jwt\" that says which are good"
    );
    EXPECT_THAT(complaint("jwt: {}"), StartsWith("f:1:6: jwt.keys: missing"));
    EXPECT_THAT(
        complaint("jwt: { keys: /nonexistent/jwks.json }"),
        StartsWith("f:1:14: jwt.keys: \"/nonexistent/jwks.json\" cannot be read: No such file")
    );
    EXPECT_EQ(
        complaint("jwt: { keys: /dev/zero }"),
        "f:1:14: jwt.keys: \"/dev/zero\" cannot be read: it is no regular file"
    );
    EXPECT_EQ(
        complaint("jwt: { keys: / }"),
        "f:1:14: jwt.keys: \"/\" cannot be read: it is no regular file"
    );
    EXPECT_THAT(complaint("jwt: { keys: [a] }"), StartsWith("f:1:14: jwt.keys: expected"));
    EXPECT_THAT(complaint("jwt: keys.json"), StartsWith("f:1:6: jwt: expected a mapping"));
    EXPECT_THAT(
        complaint(with_keys(", key: x")), HasSubstr("jwt.key: unknown key, did you mean \"keys\"?")
    );
    EXPECT_THAT(
        complaint(with_keys(", header: a, cookie: b")),
        HasSubstr("jwt.cookie: \"header\" says already where the token is; leave one out")
    );
    for (const char* name : {"Connection", "Host", "Cookie", "X-Real-IP", "TE"}) {
        EXPECT_THAT(
            complaint(with_keys(", header: " + std::string{name})),
            HasSubstr("jwt.header: " + std::string{name} + " never holds a token of the client")
        );
    }
    EXPECT_THAT(
        complaint(with_keys(", header: \"a b\"")),
        HasSubstr("jwt.header: expected the name of a header, got \"a b\"")
    );
    EXPECT_THAT(
        complaint(with_keys(", cookie: \"a=b\"")),
        HasSubstr("jwt.cookie: expected the name of a cookie, got \"a=b\"")
    );
    for (const char* name : {"issuer", "audience"}) {
        for (const std::string& value :
             {std::string{"a b"}, std::string{}, std::string(1025, 'a')}) {
            EXPECT_THAT(
                complaint(with_keys(", " + std::string{name} + ": \"" + value + "\"")),
                HasSubstr(std::string{name} + ": expected 1 to 1024 characters of ASCII")
            );
        }
    }
    EXPECT_THAT(complaint(with_keys(), "jwt:"), HasSubstr("not a name to follow \"jwt:\""));
    sample unchosen = with(with_keys());
    unchosen.limits = "limits: { a: { key: [\"jwt:sub\"], rate: 10/s } }\n";
    EXPECT_THAT(problems_of(unchosen.text()), HasSubstr("limits.a.missing_key: missing"));
}

TEST_F(key_file, that_is_no_key_set_is_complained_of_by_name)
{
    const std::string where = "f:1:14: jwt.keys: \"" + path.string() + "\"";
    EXPECT_EQ(
        complaint_about("-----BEGIN"), where + ": expected one JSON object, without duplicate names"
    );
    EXPECT_EQ(
        complaint_about(R"({"keys":[{"kty":"oct","k":"c2VjcmV0"}]})"),
        where + ": keys[0].k: expected a secret of 32 bytes at least"
    );
    EXPECT_EQ(
        complaint_about(std::string((1 << 20) + 1, ' ')), where + " is larger than 1048576 bytes"
    );
    EXPECT_EQ(complaint_about(contents_of(good_keys)), "");
}

}  // namespace jwt_test
}  // namespace gateway::config
