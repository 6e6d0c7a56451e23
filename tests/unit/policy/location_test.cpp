#include "gateway/policy/location.hpp"

#include <gtest/gtest.h>

namespace gateway::policy {
namespace location_test {

std::string target(std::string_view text, const location_subject& subject)
{
    EXPECT_EQ(location::complaint_about(text), "") << text;
    std::string out = "before";
    location{text}.append(subject, out);
    return out.substr(6);
}

TEST(location, fills_in_what_the_request_says)
{
    const location_subject asked{
        .host = "a.test", .path_start = "/v2/", .path_rest = "x%20y", .query = "?q={uri}"};
    EXPECT_EQ(target("https://{host}{uri}", asked), "https://a.test/v2/x%20y?q={uri}");
    EXPECT_EQ(target("https://b.test:8443{uri}", asked), "https://b.test:8443/v2/x%20y?q={uri}");
    EXPECT_EQ(target("/new{uri}", asked), "/new/v2/x%20y?q={uri}");
    EXPECT_EQ(target("https://www.{host}:8443/", asked), "https://www.a.test:8443/");
    EXPECT_EQ(target("https://[2001:db8::1]:443/", asked), "https://[2001:db8::1]:443/");
    EXPECT_EQ(target("{uri}", asked), "/v2/x%20y?q={uri}");
    EXPECT_EQ(target("http://b.test/?from={host}", asked), "http://b.test/?from=a.test");
    EXPECT_EQ(target("/fixed", asked), "/fixed");
}

TEST(location, knows_whether_the_host_matters)
{
    EXPECT_TRUE(location{"https://{host}/"}.names_host());
    EXPECT_FALSE(location{"https://h{uri}"}.names_host());
}

TEST(location, lets_no_client_choose_the_host)
{
    for (const char* text :
         {"/{uri}",
          "//evil.test",
          "//{host}{uri}",
          "/\\\\evil.test",
          "https://{host}\\\\@x/",
          "https://{uri}",
          "https:/{uri}",
          "http:/{uri}/x",
          "https:/{uri}?h",
          "https:/{uri}{host}",
          "https:///x",
          "https://",
          "https://user@{host}/",
          "https://h:99999/",
          "https://h:x/",
          "https://,{host}/",
          "https://h,{host}/",
          "https://a..b/",
          "https://{host}:70000{uri}",
          "ftp://h/",
          "{host}{uri}",
          "javascript:x",
          "https:{uri}",
          "",
          "https://h/a b",
          "https://h/\r\nX: y",
          "https://h/\x80",
          "https://h/{path}",
          "https://h/{",
          "https://h/}"}) {
        EXPECT_NE(location::complaint_about(text), "") << text;
    }
}

}  // namespace location_test
}  // namespace gateway::policy
