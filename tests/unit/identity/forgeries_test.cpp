// Tokens that must not be taken: mutations of good ones, and what has deceived other libraries.
#include "gateway/identity/token_keys.hpp"
#include "gateway/identity/web_token.hpp"
#include "tests/unit/identity/issuer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gateway::identity {
namespace forgeries_test {

using namespace std::chrono_literals;
using namespace std::string_literals;

constexpr base::duration today = 1'800'000'000s;
const std::string payload = R"({"sub":"alice","iss":"us","aud":"api","exp":1800000100})";

// All four keys at once, so that a token may try each as any other.
token_rules all_keys()
{
    std::string set;
    for (const issuer& by : issuers()) {
        set += (set.empty() ? "" : ",") + by.jwk(R"(,"kid":")" + by.algorithm() + '"');
    }
    token_rules rules;
    rules.keys = parse_token_keys(R"({"keys":[)" + set + "]}").keys;
    rules.issuer = "us";
    rules.audience = "api";
    rules.claims = {"sub"};
    return rules;
}

class forgeries : public testing::Test {
protected:
    const token_rules rules = all_keys();
    int count = 0;

    bool accepts(const std::string& token)
    {
        return verify_token(rules, token, today).token.has_value();
    }

    void refuse(const std::string& token)
    {
        ++count;
        EXPECT_FALSE(accepts(token)) << token;
    }

    // Signed, with a header or payload that an issuer would not write.
    void refuse_header(const std::string& header)
    {
        for (const issuer& by : issuers()) {
            std::string named = header;
            if (const std::size_t at = named.find('@'); at != std::string::npos) {
                named.replace(at, 1, by.algorithm());
            }
            refuse(by.sign(named, payload));
        }
    }

    void refuse_payload(const std::string& text)
    {
        refuse(issuers()[0].token(text));
        refuse(issuers()[3].token(text));
    }
};

std::string part(const std::string& token, int index)
{
    std::size_t begin = 0;
    while (index-- > 0) {
        begin = token.find('.', begin) + 1;
    }
    return token.substr(begin, token.find('.', begin) - begin);
}

std::string with_signature(const std::string& token, const std::string& encoded)
{
    return token.substr(0, token.rfind('.') + 1) + encoded;
}

TEST_F(forgeries, good_tokens_are_good)
{
    for (const issuer& by : issuers()) {
        EXPECT_TRUE(accepts(by.token(payload))) << by.algorithm();
        EXPECT_TRUE(accepts(by.token(payload, R"(,"typ":"at+jwt","x5t":"a")")));
    }
}

TEST_F(forgeries, algorithms_that_are_none_or_another_keys)
{
    for (const issuer& by : issuers()) {
        const std::string good = by.token(payload);
        for (const char* name :
             {"none",  "None",         "NONE",  "nOnE",  "",      "hs256",  "HS256 ",
              "HS384", "HS512",        "RS384", "PS256", "ES384", "ES256K", "Ed25519",
              "RS1",   "HS256\\u0000", "HS256", "RS256", "ES256", "EdDSA"}) {
            if (name == by.algorithm()) {
                continue;
            }
            const std::string header = base64url(R"({"alg":")" + std::string{name} + R"("})");
            const std::string text = header + '.' + part(good, 1);
            refuse(text + '.');
            refuse(text + '.' + part(good, 2));
            refuse(text + '.' + base64url(by.signature(text)));
        }
    }
    EXPECT_GE(count, 200);
}

TEST_F(forgeries, a_public_key_as_a_secret)
{
    const std::string header = base64url(R"({"alg":"HS256"})");
    const std::string text = header + '.' + base64url(payload);
    for (const issuer& by : issuers()) {
        if (by.algorithm() == "HS256") {
            continue;
        }
        for (const std::string& secret :
             {by.pem(), by.pem().substr(0, by.pem().size() - 1), by.jwk(), std::string{}}) {
            refuse(text + '.' + base64url(issuer::hmac(secret, text)));
        }
    }
    refuse(text + '.' + base64url(issuer::hmac("", text)));
    refuse(text + '.' + base64url(issuer::hmac(std::string(32, '\0'), text)));
}

TEST_F(forgeries, every_letter_changed_dropped_or_doubled)
{
    std::mt19937 random{7};
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (const issuer& by : issuers()) {
        const std::string good = by.token(payload);
        for (std::size_t i = 0; i < good.size(); ++i) {
            std::string changed = good;
            do {
                changed[i] = letters[random() % letters.size()];
            } while (changed[i] == good[i]);
            refuse(changed);
            changed = good;
            refuse(changed.erase(i, 1));
            changed = good;
            refuse(changed.insert(i, 1, letters[random() % letters.size()]));
            refuse(good.substr(0, i));
        }
    }
}

TEST_F(forgeries, signatures_of_another_length_or_form)
{
    for (const issuer& by : issuers()) {
        const std::string good = by.token(payload);
        const std::string text = good.substr(0, good.rfind('.'));
        const std::string signature = by.signature(text);
        for (const std::string& other :
             {std::string{},
              signature.substr(1),
              signature.substr(0, signature.size() - 1),
              signature.substr(0, signature.size() / 2),
              signature + '\0',
              '\0' + signature,
              signature + signature,
              std::string(signature.size(), '\0'),
              std::string(signature.size(), '\xff'),
              std::string(8000, 'a')}) {
            refuse(with_signature(good, base64url(other)));
        }
        refuse(with_signature(by.token("{}"), base64url(signature)));
    }
}

// CVE-2022-21449 was the first of these.
TEST_F(forgeries, ecdsa_with_numbers_out_of_range_or_in_der)
{
    const issuer& by = issuers()[2];
    const std::string good = by.token(payload);
    const std::string text = good.substr(0, good.rfind('.'));
    const std::string signature = by.signature(text);
    const std::string r = signature.substr(0, 32);
    const std::string s = signature.substr(32);
    const std::string zero(32, '\0');
    const std::string order =
        "\xff\xff\xff\xff\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"
        "\xbc\xe6\xfa\xad\xa7\x17\x9e\x84\xf3\xb9\xca\xc2\xfc\x63\x25\x51"s;
    ASSERT_EQ(order.size(), 32U);
    for (const std::string& forged :
         {zero + zero,
          '\0' + r + '\0' + s,
          zero + s,
          r + zero,
          s + r,
          order + order,
          r + order,
          order + s,
          by.signature(text, true)}) {
        refuse(with_signature(good, base64url(forged)));
    }
}

TEST_F(forgeries, spellings_that_lenient_decoders_take)
{
    for (const issuer& by : issuers()) {
        const std::string good = by.token(payload);
        const std::string sealed = part(good, 2);
        for (const std::string& spelled :
             {good + "=",
              good + "==",
              good + ".",
              "." + good,
              good + " ",
              " " + good,
              good + "\n",
              good + std::string(1, '\0'),
              good + "." + sealed,
              part(good, 0) + "=." + part(good, 1) + "." + sealed,
              part(good, 0) + "." + part(good, 1) + "=." + sealed,
              part(good, 0) + ".." + part(good, 1) + "." + sealed,
              "\"" + good + "\"",
              "Bearer " + good,
              good.substr(0, 10) + "\r\n" + good.substr(10),
              good.substr(0, 10) + "%" + good.substr(10)}) {
            refuse(spelled);
        }
        if (const std::size_t rest = sealed.size() % 4; rest != 0) {  // bits that are left over
            std::string stray = good;
            const std::string digits =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
            stray.back() = digits[digits.find(stray.back()) + 1];
            refuse(stray);
        }
        std::string standard = good;
        std::replace(standard.begin(), standard.end(), '-', '+');
        std::replace(standard.begin(), standard.end(), '_', '/');
        if (standard != good) {
            refuse(standard);
        }
    }
    for (const char* text :
         {"", ".", "..", "...", "a.b.c", "e30.e30.", "e30.e30", "eyJhbGciOiJIUzI1NiJ9"}) {
        refuse(text);
    }
    refuse(std::string(1 << 20, '.'));
    refuse(std::string(8000, 'A') + ".e30.e30");
}

TEST_F(forgeries, headers_that_say_how_to_verify)
{
    for (const char* member :
         {R"("crit":["b64"],"b64":false)",
          R"("crit":["exp"])",
          R"("crit":[])",
          R"("crit":null)",
          R"("b64":false)",
          R"("b64":true)",
          R"("jku":"https://evil.example/jwks.json")",
          R"("x5u":"https://evil.example/cert.pem")",
          R"("x5c":["MIIB"])",
          R"("jwk":{"kty":"oct"})",
          R"("kid":"../../dev/null")",
          R"("kid":"' or 1=1")",
          R"("kid":7)",
          R"("kid":null)",
          R"("kid":["HS256"])",
          R"("kid":"")",
          R"("alg":"none")",
          R"("alg":"HS256")",
          R"("\u0061lg":"RS256")",
          R"("typ":"JWT","typ":"JWT")"}) {
        refuse_header(R"({"alg":"@",)" + std::string{member} + "}");
        refuse_header("{" + std::string{member} + R"(,"alg":"@"})");
    }
    for (const issuer& by : issuers()) {  // its own key in it
        const issuer evil{by.algorithm() == "HS256" ? "EdDSA" : by.algorithm()};
        refuse(evil.token(payload, R"(,"jwk":)" + evil.jwk()));
        refuse(evil.token(payload));
        for (const issuer& of : issuers()) {  // the name of another key
            if (of.algorithm() != by.algorithm()) {
                refuse(by.token(payload, R"(,"kid":")" + of.algorithm() + '"'));
            }
        }
    }
}

TEST_F(forgeries, headers_that_are_no_json_object)
{
    for (const char* header :
         {"",
          "{",
          "{}",
          "[]",
          "null",
          "\"HS256\"",
          R"({"alg":"@"}x)",
          R"({"alg":"@"}{})",
          R"({"alg":"@",})",
          R"({'alg':'@'})",
          R"({alg:"@"})",
          R"({"alg":["@"]})",
          R"({"alg":null})",
          R"({"alg":256})",
          R"({"ALG":"@"})",
          R"({"alg":"@"/**/})",
          "\xef\xbb\xbf{\"alg\":\"@\"}",
          "{\"alg\":\"@\",\"x\":\"\xff\"}",
          R"({"alg":"@","x":"\ud800"})",
          R"({"alg":"@","x":NaN})",
          R"({"alg":"@","x":1e999})",
          R"({"alg":"@","x":01})",
          R"({"alg":"@","x":{"y":1,"y":1}})"}) {
        refuse_header(header);
    }
    refuse_header(R"({"alg":"@","x":)" + std::string(3000, '[') + std::string(3000, ']') + "}");
    refuse_header(R"({"alg":"@","x":)" + std::string(16, '[') + std::string(16, ']') + "}");
}

TEST_F(forgeries, payloads_that_are_not_claims_of_ours_for_us_now)
{
    const std::string more = R"("iss":"us","aud":"api",)";
    for (const char* date :
         {R"("exp":1799999970)",
          R"("exp":0)",
          R"("exp":-1)",
          R"("exp":-1e300)",
          R"("exp":"1800000100")",
          R"("exp":null)",
          R"("exp":true)",
          R"("exp":[1800000100])",
          R"("exp":{})",
          R"("exp":NaN)",
          R"("exp":Infinity)",
          R"("exp":1e999)",
          R"("exp":-Infinity)",
          R"("exp":0x7fffffff)",
          R"("exp":1800000100,"exp":1800000100)",
          R"("exp":1,"exp":1800000100)",
          R"("exp":1800000100,"\u0065xp":1)",
          R"("nbf":1800000031)",
          R"("nbf":"0")",
          R"("nbf":null)",
          R"("nbf":1e300)",
          R"("nbf":18446744073709551616)",
          R"("nbf":false)"}) {
        refuse_payload("{" + more + date + "}");
    }
    for (const char* text :
         {"",
          "{}",
          "null",
          "[]",
          "1",
          R"("x")",
          R"({"iss":"us"})",
          R"({"aud":"api"})",
          R"({"iss":"them","aud":"api"})",
          R"({"iss":"us","aud":"web"})",
          R"({"iss":"US","aud":"api"})",
          R"({"iss":["us"],"aud":"api"})",
          R"({"iss":"us","aud":["web"]})",
          R"({"iss":"us","aud":{}})",
          R"({"iss":"us ","aud":"api"})",
          R"({"iss":"us\u0000","aud":"api"})",
          R"({"iss":"them","iss":"us","aud":"api"})",
          R"({"iss":"us","aud":"api"}})",
          R"({"iss":"us","aud":"api","sub":"a","sub":"b"})",
          R"({"iss":"us","aud":"api","x":{"a":1,"a":2}})",
          R"({"iss":"us","aud":"api","x":[{"a":1,"a":2}]})",
          R"([{"iss":"us","aud":"api"}])"}) {
        refuse_payload(text);
    }
    EXPECT_GE(count, 80);
}

}  // namespace forgeries_test
}  // namespace gateway::identity
