// Tokens that must be taken: those of the RFCs, and what honest issuers write.
#include "gateway/identity/web_token.hpp"

#include "gateway/base/base64.hpp"
#include "gateway/identity/token_keys.hpp"
#include "tests/unit/identity/issuer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gateway::identity {
namespace web_token_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Pair;

constexpr base::duration today = 1'800'000'000s;

token_rules rules_with(const std::string& jwks, std::vector<std::string> claims = {"sub"})
{
    token_keys read = parse_token_keys(jwks);
    EXPECT_EQ(read.complaint, "") << jwks;
    token_rules rules;
    rules.keys = std::move(read.keys);
    rules.claims = std::move(claims);
    return rules;
}

// The value of the claim `c` in a payload; "-" if it has none, "!" if the token does not verify.
std::string claim_in(const std::string& payload, const std::string& name = "c")
{
    const issuer& by = issuers()[0];
    const auto token = verify_token(rules_with(by.jwks(), {name}), by.token(payload), today).token;
    return token ? std::string{token->claim(name).value_or("-")} : "!";
}

bool is_good_at(const std::string& payload, base::duration now, token_rules rules = {})
{
    const issuer& by = issuers()[0];
    rules.keys = rules_with(by.jwks()).keys;
    return verify_token(rules, by.token(payload), now).token.has_value();
}

// RFC 7515 A.1 to A.3 have one payload, which expires at 1300819380.
constexpr const char* rfc_payload =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVl"
    "fQ";

struct vector {
    const char* name;
    std::string jwk;
    std::string header;
    std::string signature;
};

const vector vectors[] = {
    {"RFC 7515 A.1",
     R"({"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAz)"
     R"(Zr1Z9CAow"})",
     "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9",
     "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"},
    {"RFC 7515 A.2",
     R"({"kty":"RSA","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrc)"
     R"(S2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSH)"
     R"(SXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aG)"
     R"(hyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ","e":"AQAB"})",
     "eyJhbGciOiJSUzI1NiJ9",
     "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5"
     "jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb"
     "1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QO"
     "YEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"},
    {"RFC 7515 A.3",
     R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",)"
     R"("y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"})",
     "eyJhbGciOiJFUzI1NiJ9",
     "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"},
};

TEST(web_token, those_of_the_rfc_verify_until_they_expire)
{
    constexpr base::duration expires = 1'300'819'380s;
    for (const vector& v : vectors) {
        token_rules rules = rules_with(
            R"({"keys":[)" + v.jwk + "]}", {"http://example.com/is_root", "iss", "none"}
        );
        rules.issuer = "joe";
        const std::string token = v.header + '.' + rfc_payload + '.' + v.signature;
        const auto verified = verify_token(rules, token, expires).token;
        ASSERT_TRUE(verified.has_value()) << v.name;
        EXPECT_EQ(verified->expires, expires + 30s);
        EXPECT_THAT(
            verified->claims,
            ElementsAre(Pair("http://example.com/is_root", "true"), Pair("iss", "joe"))
        );
        EXPECT_EQ(verified->claim("iss"), "joe");
        EXPECT_FALSE(verified->claim("none").has_value());
        EXPECT_TRUE(verify_token(rules, token, expires + 30s - 1ms).token.has_value()) << v.name;
        EXPECT_FALSE(verify_token(rules, token, expires + 30s).token.has_value()) << v.name;
        rules.issuer = "Joe";
        EXPECT_FALSE(verify_token(rules, token, expires).token.has_value()) << v.name;
    }
}

// Whatever else is wrong is seen first, and may be right at another time.
TEST(web_token, is_forged_if_only_its_signature_is_wrong)
{
    const issuer& by = issuers()[2];
    token_rules rules = rules_with(issuer{"ES256"}.jwks());
    rules.issuer = "us";
    const auto is_forged = [&](const std::string& claims, const std::string& more = {}) {
        const std::string token = by.token(R"({"sub":"a")" + claims + "}", more);
        const token_verification said = verify_token(rules, token, today);
        EXPECT_FALSE(said.token.has_value()) << claims;
        return said.forged;
    };
    EXPECT_TRUE(is_forged(R"(,"iss":"us")"));
    EXPECT_TRUE(is_forged(R"(,"iss":"us")", R"(,"kid":"other")")) << "no key has that name";
    for (const char* const claims :
         {"",
          R"(,"iss":"them")",
          R"(,"iss":"us","exp":1799999000)",
          R"(,"iss":"us","nbf":1800001000)",
          R"(,"iss":"us","exp":"soon")"}) {
        EXPECT_FALSE(is_forged(claims)) << claims;
    }
    EXPECT_FALSE(is_forged(R"(,"iss":"us")", R"(,"crit":["exp"])"));
    rules.keys = rules_with(by.jwks()).keys;
    EXPECT_FALSE(is_forged(R"(,"iss":"us","nbf":1800001000)")) << "early, and well signed";
}

TEST(web_token, may_be_signed_by_a_key_that_is_not_known)
{
    const issuer& by = issuers()[2];
    const issuer other{"ES256"};
    const auto verified = [&by](const std::string& keys, const std::string& header) {
        const std::string set = R"({"keys":[)" + keys + "]}";
        return verify_token(
            keys.empty() ? token_rules{} : rules_with(set), by.token("{}", header), today
        );
    };
    const std::string a = R"(,"kid":"a")";
    EXPECT_TRUE(verified(other.jwk(R"(,"kid":"b")"), a).unknown_key);
    EXPECT_TRUE(verified(by.jwk(), a).unknown_key) << "a key without a name is not that one";
    EXPECT_TRUE(verified("", a).unknown_key);
    EXPECT_TRUE(verified("", "").unknown_key) << "there are no keys at all";
    EXPECT_TRUE(verified("", "").forged);
    EXPECT_FALSE(verified(other.jwk(a), a).unknown_key) << "known, and not the one that signed it";
    EXPECT_FALSE(verified(issuers()[1].jwk(a), a).unknown_key) << "known, of another algorithm";
    EXPECT_FALSE(verified(other.jwk(), "").unknown_key);
    EXPECT_FALSE(verified(by.jwk(a), a).unknown_key);
}

// RFC 8037 A.2 and A.4. What it signs is no set of claims.
TEST(web_token, the_ed25519_key_of_the_rfc_signed_its_text)
{
    const token_keys read = parse_token_keys(
        R"({"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]})"
    );
    ASSERT_EQ(read.complaint, "");
    const std::string text = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
    const std::string encoded =
        "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
    const auto signature = base::decode_base64url(encoded);
    ASSERT_TRUE(signature.has_value());
    EXPECT_TRUE(read.keys.at(0).verifies(text, *signature));
    EXPECT_FALSE(read.keys.at(0).verifies(text + ".", *signature));
    token_rules rules;
    rules.keys = read.keys;
    EXPECT_FALSE(verify_token(rules, text + "." + encoded, today).token.has_value());
}

TEST(web_token, of_each_algorithm_verifies_with_its_own_key_only)
{
    for (const issuer& by : issuers()) {
        const std::string token = by.token(R"({"sub":"alice","exp":1800000000})");
        for (const issuer& of : issuers()) {
            const auto said = verify_token(rules_with(of.jwks()), token, today);
            EXPECT_EQ(said.token.has_value(), &by == &of) << by.algorithm() << of.algorithm();
            EXPECT_EQ(said.forged, &by != &of) << by.algorithm() << of.algorithm();
        }
        const issuer another{by.algorithm() == "HS256" ? "RS256" : by.algorithm()};
        EXPECT_FALSE(verify_token(rules_with(another.jwks()), token, today).token.has_value());
    }
}

TEST(web_token, a_kid_chooses_the_key_and_without_one_four_are_tried)
{
    const issuer by{"EdDSA"};
    const issuer other{"EdDSA"};
    const std::string a = R"(,"kid":"a")";
    const std::string b = R"(,"kid":"b")";
    const auto good = [](const std::string& keys, const std::string& token) {
        return verify_token(rules_with(R"({"keys":[)" + keys + "]}"), token, today)
            .token.has_value();
    };
    EXPECT_TRUE(good(other.jwk(b) + "," + by.jwk(a), by.token("{}", a)));
    EXPECT_TRUE(good(other.jwk(a) + "," + by.jwk(a), by.token("{}", a))) << "both have that name";
    EXPECT_TRUE(good(other.jwk(b) + "," + by.jwk(a), by.token("{}")));
    EXPECT_FALSE(good(other.jwk(b) + "," + by.jwk(a), by.token("{}", b)));
    EXPECT_FALSE(good(by.jwk(a), by.token("{}", R"(,"kid":"A")")));
    EXPECT_FALSE(good(by.jwk(), by.token("{}", a))) << "the key has no name";
    EXPECT_FALSE(good(by.jwk(a), by.token("{}", R"(,"kid":1)")));

    std::string others = issuers()[0].jwk() + ",";
    for (int i = 0; i < 3; ++i) {
        others += other.jwk() + ",";
    }
    EXPECT_TRUE(good(others + by.jwk(), by.token("{}")));
    EXPECT_FALSE(good(others + other.jwk() + "," + by.jwk(), by.token("{}")));
    EXPECT_TRUE(good(others + other.jwk() + "," + by.jwk(a), by.token("{}", a)));
}

TEST(web_token, dates_are_numbers_with_half_a_minute_of_leeway)
{
    EXPECT_TRUE(is_good_at("{}", today)) << "both are optional";
    EXPECT_TRUE(is_good_at(R"({"exp":1800000000})", today + 29s));
    EXPECT_FALSE(is_good_at(R"({"exp":1800000000})", today + 30s));
    EXPECT_TRUE(is_good_at(R"({"nbf":1800000000})", today - 30s));
    EXPECT_FALSE(is_good_at(R"({"nbf":1800000000})", today - 31s));
    EXPECT_TRUE(is_good_at(R"({"exp":1800000000.5})", today + 30s));
    EXPECT_FALSE(is_good_at(R"({"exp":1800000000.5})", today + 31s));
    EXPECT_TRUE(is_good_at(R"({"exp":1.8e9})", today));
    EXPECT_TRUE(is_good_at(R"({"exp":1e300})", today));
    EXPECT_TRUE(is_good_at(R"({"exp":18446744073709551615})", today));
    EXPECT_TRUE(is_good_at(R"({"nbf":-1e300,"iat":"now"})", today));
}

TEST(web_token, issuer_and_audience_are_those_of_the_rules)
{
    token_rules from;
    from.issuer = "https://id.example.com";
    EXPECT_TRUE(is_good_at(R"({"iss":"https://id.example.com"})", today, from));
    for (const char* iss :
         {"{}",
          R"({"iss":"https://id.example.com/"})",
          R"({"iss":1})",
          R"({"iss":["https://id.example.com"]})",
          R"({"iss":""})"}) {
        EXPECT_FALSE(is_good_at(iss, today, from)) << iss;
    }
    token_rules meant;
    meant.audience = "api";
    EXPECT_TRUE(is_good_at(R"({"aud":"api"})", today, meant));
    EXPECT_TRUE(is_good_at(R"({"aud":["web","api"]})", today, meant));
    for (const char* aud :
         {"{}",
          R"({"aud":"apis"})",
          R"({"aud":[]})",
          R"({"aud":["ap","i"]})",
          R"({"aud":[["api"]]})",
          R"({"aud":{"api":1}})",
          R"({"aud":null})"}) {
        EXPECT_FALSE(is_good_at(aud, today, meant)) << aud;
    }
    EXPECT_TRUE(is_good_at(R"({"iss":1,"aud":"any"})", today));
}

TEST(web_token, claims_are_texts_whole_numbers_and_truths)
{
    EXPECT_EQ(claim_in(R"({"c":"a b"})"), "a b");
    EXPECT_EQ(claim_in(R"({"c":"\u00e4"})"), "\xc3\xa4");
    EXPECT_EQ(claim_in(R"({"c":7})"), "7");
    EXPECT_EQ(claim_in(R"({"c":-7})"), "-7");
    EXPECT_EQ(claim_in(R"({"c":18446744073709551615})"), "18446744073709551615");
    EXPECT_EQ(claim_in(R"({"c":true})"), "true");
    EXPECT_EQ(claim_in(R"({"c":false})"), "false");
    for (const char* none :
         {"{}",
          R"({"c":""})",
          R"({"c":null})",
          R"({"c":[1]})",
          R"({"c":{"c":1}})",
          R"({"c":1.5})",
          R"({"c":18446744073709551616})",
          R"({"C":"a"})"}) {
        EXPECT_EQ(claim_in(none), "-") << none;
    }
    EXPECT_EQ(claim_in(R"({"c":")" + std::string(256, 'a') + R"("})"), std::string(256, 'a'));
    EXPECT_EQ(claim_in(R"({"c":")" + std::string(257, 'a') + R"("})"), "-");
}

TEST(web_token, dots_lead_into_objects_unless_a_claim_has_that_very_name)
{
    EXPECT_EQ(claim_in(R"({"a":{"b":{"c":1}}})", "a.b.c"), "1");
    EXPECT_EQ(claim_in(R"({"a.b":{"c":1}})", "a.b.c"), "1");
    EXPECT_EQ(claim_in(R"({"a":{"b.c":1}})", "a.b.c"), "1");
    EXPECT_EQ(claim_in(R"({"a.b":1,"a":{"b":2}})", "a.b"), "1");
    EXPECT_EQ(claim_in(R"({"a":1,"a.b":{"x":1}})", "a.b.c"), "-");
    EXPECT_EQ(claim_in(R"({"a":["b"]})", "a.b"), "-");
    EXPECT_EQ(claim_in(R"({"":{"":1}})", "."), "1");
    EXPECT_EQ(
        claim_in(R"({"https://example.com/plan":"gold"})", "https://example.com/plan"), "gold"
    );
}

TEST(web_token, is_at_most_8_kib)
{
    const issuer& by = issuers()[0];
    const token_rules rules = rules_with(by.jwks());
    const auto size_and_result = [&](std::size_t filling) {
        const std::string token = by.token(R"({"x":")" + std::string(filling, 'x') + R"("})");
        return std::pair{token.size(), verify_token(rules, token, today).token.has_value()};
    };
    std::size_t filling = 6000;
    while (size_and_result(filling + 1).first <= max_token_bytes) {
        ++filling;
    }
    EXPECT_TRUE(size_and_result(filling).second);
    EXPECT_FALSE(size_and_result(filling + 1).second);
}

}  // namespace web_token_test
}  // namespace gateway::identity
