#include "gateway/http/credentials.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gateway::http {
namespace credentials_test {

// "?" if servers could read it in more than one way.
std::string credentials(std::string_view value)
{
    std::string out = "left over";
    return read_credentials(value, out) ? out : "?";
}

TEST(credentials, have_one_spelling_of_scheme_and_blanks)
{
    for (const char* value :
         {"Negotiate YII=", "negotiate YII=", "NEGOTIATE\tYII=", "nEGOTIATE \t  YII="}) {
        EXPECT_EQ(credentials(value), "negotiate YII=") << value;
    }
    for (const char* value : {"Digest a=\"b\", c=d", "digest\ta=\"b\",\t  c=d"}) {
        EXPECT_EQ(credentials(value), "digest a=\"b\", c=d") << value;
    }
    EXPECT_EQ(credentials("NEGOTIATE"), "negotiate");
    EXPECT_EQ(credentials("a-Raw:Key"), "a-raw:key") << "it might be a scheme";
    EXPECT_EQ(credentials(""), "");
}

TEST(credentials, are_one_word_or_parameters)
{
    for (const char* value : {"ApiKey a b", "ApiKey a\tb=c", "ApiKey a== b", "JWT a , b=c"}) {
        EXPECT_EQ(credentials(value), "?") << value;
    }
    EXPECT_EQ(credentials("Hawk id=\"a b\", ts=1"), "hawk id=\"a b\", ts=1");
}

TEST(credentials, of_basic_are_strict_base64)
{
    for (const char* value : {"Basic dTpw", "BASIC\tdTpw"}) {
        EXPECT_EQ(credentials(value), "basic dTpw") << value;
    }
    EXPECT_EQ(credentials("Basic"), "basic");
    for (const char* value :
         {"Basic dT!pw",
          "Basic dT pw",
          "Basic dTpw=",
          "Basic dTpw, Basic dTpw",
          "Basic dTo",
          "Basic dTp=",
          "Basic dTpw;",
          "Basic \"dTpw\"",
          "Basic d-_w"}) {
        EXPECT_EQ(credentials(value), "?") << value;
    }
}

TEST(credentials, of_bearer_are_one_token)
{
    for (const char* value :
         {"Bearer t0K",
          "bearer\tt0K",
          "Token t0K",
          "token token=t0K",
          "Bearer token=\"t0K\"",
          "Bearer \"t0K\"",
          "Bearer t0K="}) {
        EXPECT_EQ(credentials(value), "bearer t0K") << value;
    }
    EXPECT_EQ(credentials("Bearer 7|a-Z.~+/_:"), "bearer 7|a-Z.~+/_:");
    for (const char* value :
         {"Bearer t0K x",
          "Bearer t0K,x",
          "Bearer t0K;x=1",
          "Bearer t0K, Bearer x",
          "Bearer t=K",
          "Bearer t\\0K",
          "Bearer \"t0K",
          "Bearer =",
          "Token token=\"t0K\", nonce=\"1\"",
          "Bearer token=token=t0K"}) {
        EXPECT_EQ(credentials(value), "?") << value;
    }
}

TEST(credentials, that_are_a_web_token_are_spelled_canonically)
{
    EXPECT_EQ(credentials("Bearer eyJh.e30.c2ln"), "bearer eyJh.e30.c2ln");
    EXPECT_EQ(credentials("Bearer eyJh..c2ln.e30.c2ln"), "bearer eyJh..c2ln.e30.c2ln");
    for (const char* value :
         {"Bearer eyJh.e30.c2lnc",
          "Bearer eyJh.e30.c2lnc2k!",
          "Bearer eyJh.e30.c2lnc2l",
          "Bearer eyJh.e31.c2ln",
          "Bearer eyJh.e30.c2l|"}) {
        EXPECT_EQ(credentials(value), "?") << value;
    }
    EXPECT_EQ(credentials("Bearer eyJh!.opaque"), "bearer eyJh!.opaque") << "no web token";
}

TEST(credentials, are_ascii)
{
    for (const char* value : {"Bearer\xa0t", "Bearer t\xc2\xa0", "Basic dTpw\x85", "ApiKey \xff"}) {
        EXPECT_EQ(credentials(value), "?") << value;
    }
}

}  // namespace credentials_test
}  // namespace gateway::http
