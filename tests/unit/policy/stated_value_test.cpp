#include "gateway/policy/stated_value.hpp"

#include <gmock/gmock.h>

namespace gateway::policy {
namespace stated_value_test {

using ::testing::StartsWith;
using source = key_part::source;

// The form of a value, or "! " and why it is refused.
std::string form(source from, std::string_view name, std::string_view text)
{
    http::part_value value;
    const std::string complaint =
        read_stated_value({.from = from, .name = std::string{name}, .text = "PART"}, text, value);
    return complaint.empty() ? std::string{value.text()} : "! " + complaint;
}

TEST(stated_value, credentials_have_one_form)
{
    EXPECT_EQ(form(source::header, "authorization", "Bearer tok"), "bearer tok");
    EXPECT_EQ(form(source::header, "authorization", "BEARER  tok"), "bearer tok");
    EXPECT_THAT(form(source::header, "authorization", "Bearer a b"), StartsWith("! "));
    EXPECT_EQ(form(source::header, "x-api-key", " Bearer tok "), "Bearer tok");
    EXPECT_THAT(form(source::header, "x-api-key", "a\x01"), StartsWith("! a header has no"));
}

TEST(stated_value, cookies_and_parameters_are_decoded)
{
    for (const source from : {source::cookie, source::query}) {
        EXPECT_EQ(form(from, "k", "a+b"), "a b");
        EXPECT_EQ(form(from, "k", "a%20b"), "a b");
        EXPECT_EQ(form(from, "k", "a%2Bb"), "a b");
        EXPECT_EQ(form(from, "k", "100%25"), "100%");
        EXPECT_THAT(form(from, "k", "100%"), StartsWith("! no request has this PART"));
        EXPECT_THAT(form(from, "k", "%20"), StartsWith("! an empty PART is as good as none"));
    }
    EXPECT_EQ(form(source::query, "k", "a b"), "a b");
    EXPECT_EQ(form(source::cookie, "k", "\"a\""), "a");
}

TEST(stated_value, hosts_and_paths_have_one_form)
{
    EXPECT_EQ(form(source::host, "", "Example.COM.:80"), "example.com");
    EXPECT_EQ(form(source::host, "", "[0:0::1]"), "[::1]");
    for (const char* bad : {"", "a,b", "http://a", "a/", "a b", "*.a.test"}) {
        EXPECT_THAT(form(source::host, "", bad), StartsWith("! expected a host")) << bad;
    }
    EXPECT_EQ(form(source::path, "", "//a;x=1/%62"), "/a/b");
    EXPECT_EQ(form(source::path, "", "/a%20b"), "/a b");
    EXPECT_EQ(form(source::path, "", "/a/"), "/a");
    EXPECT_EQ(form(source::path, "", "*"), "*");
    for (const char* bad : {"", "a", "/a?b", "/a#b", "/a/../b", "/%zz"}) {
        EXPECT_THAT(form(source::path, "", bad), StartsWith("! ")) << bad;
    }
}

TEST(stated_value, a_method_is_one_that_requests_have)
{
    EXPECT_EQ(form(source::method, "", "GET"), "GET");
    EXPECT_EQ(form(source::method, "", "purge"), "purge");
    for (const char* bad : {"", "get", "G T", "Post", "CONNECT"}) {
        EXPECT_THAT(form(source::method, "", bad), StartsWith("! ")) << bad;
    }
}

TEST(stated_value, a_fingerprint_is_written_with_colons_or_without)
{
    const std::string plain(64, 'a');
    std::string colons = "AA";
    for (int i = 1; i < 32; ++i) {
        colons += ":AA";
    }
    EXPECT_EQ(form(source::cert, "fingerprint", plain), plain);
    EXPECT_EQ(form(source::cert, "fingerprint", colons), plain);
    EXPECT_THAT(form(source::cert, "fingerprint", "aa:bb"), StartsWith("! expected the 64"));
    EXPECT_EQ(form(source::cert, "subject", "CN=a:b"), "CN=a:b");
}

TEST(stated_value, claims_and_routes_are_as_they_are)
{
    EXPECT_EQ(form(source::jwt, "sub", "a+b%20"), "a+b%20");
    EXPECT_EQ(form(source::route, "", "login"), "login");
    EXPECT_THAT(form(source::jwt, "sub", ""), StartsWith("! an empty PART"));
}

}  // namespace stated_value_test
}  // namespace gateway::policy
