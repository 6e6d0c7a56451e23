#include "gateway/identity/token_keys.hpp"

#include "tests/unit/identity/issuer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gateway::identity {
namespace token_keys_test {

using testing::ElementsAre;
using testing::SizeIs;
using testing::StartsWith;

std::string set_of(const std::string& keys)
{
    return R"({"keys":[)" + keys + "]}";
}

std::string complaint_about(const std::string& keys)
{
    const token_keys read = parse_token_keys(set_of(keys));
    EXPECT_EQ(read.complaint.empty(), !read.keys.empty());
    return read.complaint;
}

TEST(token_keys, are_for_the_algorithm_of_their_type)
{
    std::string keys;
    for (const issuer& by : issuers()) {
        keys += (keys.empty() ? "" : ",") +
                by.jwk(R"(,"kid":"k)" + by.algorithm() + R"(","use":"sig")");
        const token_keys named = parse_token_keys(by.jwks(R"(,"alg":")" + by.algorithm() + '"'));
        EXPECT_EQ(named.complaint, "");
        EXPECT_THAT(named.keys, SizeIs(1));
        EXPECT_FALSE(named.keys.at(0).id.has_value());
    }
    const token_keys all = parse_token_keys(set_of(keys));
    EXPECT_EQ(all.complaint, "");
    ASSERT_THAT(all.keys, SizeIs(4));
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(all.keys[i].algorithm(), token_algorithm_of(issuer::algorithms[i]));
        EXPECT_EQ(all.keys[i].id, "k" + std::string{issuer::algorithms[i]});
    }
}

TEST(token_keys, for_something_else_are_passed_over)
{
    const std::string good = issuers()[3].jwk();
    const token_keys read = parse_token_keys(set_of(
        good + "," + issuers()[1].jwk(R"(,"use":"enc")") + "," +
        issuers()[1].jwk(R"(,"alg":"RSA-OAEP")") + "," +
        issuers()[2].jwk(R"(,"key_ops":["sign"])") +
        R"(,{"kty":"AKP"},{"kty":"EC","crv":"P-384"},{"kty":"OKP","crv":"Ed448"},)" +
        issuers()[0].jwk(R"(,"alg":"HS512")") + "," + issuers()[2].jwk(R"(,"key_ops":["verify"])")
    ));
    EXPECT_EQ(read.complaint, "");
    EXPECT_THAT(read.keys, SizeIs(2));
    EXPECT_THAT(
        read.passed_over,
        ElementsAre(
            "keys[1]: it is for \"enc\", not for signatures",
            "keys[2]: algorithm \"RSA-OAEP\" is not supported",
            "keys[3]: its key_ops do not include \"verify\"",
            "keys[4]: type \"AKP\" is not supported",
            "keys[5]: curve \"P-384\" is not supported",
            "keys[6]: curve \"Ed448\" is not supported",
            "keys[7]: algorithm \"HS512\" is not supported"
        )
    );
    EXPECT_EQ(
        complaint_about(R"({"kty":"AKP"})"),
        "keys: none for HS256, RS256, ES256 or EdDSA signatures"
    );
    EXPECT_EQ(complaint_about(""), "keys: none for HS256, RS256, ES256 or EdDSA signatures");
}

TEST(token_keys, what_is_no_set_is_complained_of)
{
    for (const char* text :
         {"",
          "[]",
          "{",
          "null",
          R"({"keys":[]}x)",
          R"({"keys":[],"keys":[]})",
          "-----BEGIN PUBLIC KEY-----"}) {
        EXPECT_EQ(
            parse_token_keys(text).complaint, "expected one JSON object, without duplicate names"
        );
    }
    for (const char* text : {"{}", R"({"keys":{}})", R"({"kty":"oct","k":"a"})"}) {
        EXPECT_THAT(parse_token_keys(text).complaint, StartsWith("expected a JSON Web Key Set"));
    }
    EXPECT_EQ(complaint_about("7"), "keys[0]: expected an object");
    std::string many = issuers()[3].jwk();
    for (std::size_t i = 1; i < max_token_keys; ++i) {
        many += "," + issuers()[3].jwk();
    }
    EXPECT_EQ(complaint_about(many), "");
    EXPECT_EQ(complaint_about(many + "," + issuers()[3].jwk()), "keys: more than 100");
    const std::string most = set_of(issuers()[3].jwk());
    EXPECT_EQ(
        parse_token_keys(most + std::string(max_key_set_bytes - most.size(), ' ')).complaint, ""
    );
    EXPECT_EQ(
        parse_token_keys(most + std::string(max_key_set_bytes - most.size() + 1, ' ')).complaint,
        "larger than 1MiB"
    );
}

TEST(token_keys, that_are_weak_or_malformed_are_complained_of)
{
    const std::string coordinate(43, 'A');
    const std::string good_x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU";
    const std::string good_y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0";
    // A modulus must have no small factor, which hangs on its last byte.
    const auto rsa = [](std::size_t bytes, const std::string& e, char last = '\x01') {
        std::string modulus(bytes, '\xff');
        modulus.back() = last;
        return R"({"kty":"RSA","n":")" + base64url(modulus) + R"(","e":")" + e + R"("})";
    };
    const auto p256 = [](const std::string& x, const std::string& y) {
        return R"({"kty":"EC","crv":"P-256","x":")" + x + R"(","y":")" + y + R"("})";
    };
    const std::string no_rsa =
        "keys[0].n: expected an RSA key of 2048 to 8192 bits, with an odd exponent from 3";
    const std::string no_point = "keys[0].x: with y, expected a point of P-256, 32 bytes each";
    const std::pair<std::string, std::string> bad[] = {
        {"{}", "keys[0].kty: missing"},
        {R"({"kty":7})", "keys[0].kty: expected a string"},
        {rsa(255, "AQAB"), no_rsa},
        {rsa(128, "AQAB"), no_rsa},
        {rsa(1025, "AQAB"), no_rsa},
        {rsa(256, "AQ"), no_rsa},
        {rsa(256, "AA"), no_rsa},
        {rsa(256, "AQAC"), no_rsa},
        {rsa(256, "AQAAAAAAAAAB"), no_rsa},
        {rsa(256, "AQAB", '\x02'), no_rsa},
        {rsa(256, "AQA="), "keys[0].e: expected base64url without padding"},
        {R"({"kty":"RSA","e":"AQAB"})", "keys[0].n: missing"},
        {p256(good_x, coordinate), no_point},
        {p256(coordinate, coordinate), no_point},
        {p256(good_x, good_y.substr(1)), "keys[0].y: expected base64url without padding"},
        {p256(good_x, ""), no_point},
        {p256("A" + good_x, good_y), no_point},
        {R"({"kty":"EC","x":"a","y":"b"})", "keys[0].crv: missing"},
        {R"({"kty":"OKP","crv":"Ed25519","x":"AAAA"})",
         "keys[0].x: expected the 32 bytes of a public key"},
        {R"({"kty":"OKP","crv":"Ed25519"})", "keys[0].x: missing"},
        {R"({"kty":"oct","k":"c2VjcmV0"})", "keys[0].k: expected a secret of 32 bytes at least"},
        {R"({"kty":"oct"})", "keys[0].k: missing"},
        {issuers()[3].jwk(R"(,"kid":1)"), "keys[0].kid: expected a string"},
        {issuers()[3].jwk(R"(,"alg":"HS256")"),
         "keys[0].alg: is not what a key of this type is for"},
        {issuers()[0].jwk(R"(,"alg":"RS256")"),
         "keys[0].alg: is not what a key of this type is for"},
        {issuers()[0].jwk(R"(,"use":1)"), "keys[0].use: expected a string"},
    };
    for (const auto& [key, complaint] : bad) {
        EXPECT_EQ(complaint_about(key), complaint) << key;
        EXPECT_THAT(complaint_about(issuers()[3].jwk() + "," + key), StartsWith("keys[1]")) << key;
    }
    EXPECT_EQ(complaint_about(rsa(256, "Aw")), "");
    EXPECT_EQ(complaint_about(rsa(1024, "AQAB", '\x0b')), "");
}

TEST(token_keys, of_a_url_are_passed_over_if_they_are_bad_or_secret)
{
    const token_keys read = parse_token_keys(
        set_of(
            R"({"kty":"RSA","n":"AQAB","e":"AQAB"},)" + issuers()[0].jwk() + "," +
            issuers()[2].jwk() + R"(,{"kid":"x"})"
        ),
        keys_from::url
    );
    EXPECT_EQ(read.complaint, "");
    EXPECT_THAT(read.keys, SizeIs(1));
    EXPECT_THAT(
        read.passed_over,
        ElementsAre(
            StartsWith("keys[0].n: expected an RSA key"),
            "keys[1]: a secret that can be fetched is none",
            "keys[3].kty: missing"
        )
    );
    EXPECT_NE(parse_token_keys(issuers()[0].jwks(), keys_from::url).complaint, "");
}

}  // namespace token_keys_test
}  // namespace gateway::identity
