#include "config/urls/address.hpp"

#include <gtest/gtest.h>

namespace gateway::config {
namespace address_test {

TEST(address, listen_addresses_are_numeric_or_unix)
{
    struct row {
        const char* text;
        net::listen_address expected;
    };

    const row rows[] = {
        {"0.0.0.0:8080", {"0.0.0.0", 8080, ""}},
        {"127.0.0.1:0", {"127.0.0.1", 0, ""}},
        {"[::]:8080", {"::", 8080, ""}},
        {"[0:0:0:0:0:0:0:1]:65535", {"::1", 65535, ""}},
        {"unix:/run/gateway.sock", {"", 0, "/run/gateway.sock"}},
    };
    for (const row& r : rows) {
        const auto parsed = parse_listen_address(r.text);
        ASSERT_TRUE(parsed.value) << r.text << ": " << parsed.complaint;
        EXPECT_EQ(*parsed.value, r.expected) << r.text;
        EXPECT_EQ(parse_listen_address(to_text(*parsed.value)).value, r.expected) << r.text;
    }
}

TEST(address, other_listen_addresses_are_refused_with_a_reason)
{
    for (const char* text :
         {"",
          "8080",
          ":8080",
          "*:8080",
          "localhost:8080",
          "127.0.0.1",
          "127.0.0.1:",
          "127.0.0.1:65536",
          "127.0.0.1:080",
          "127.0.0.1:-1",
          "::1:8080",
          "[::1]",
          "[127.0.0.1]:80",
          "[]:80",
          "unix:",
          "unix:run/x",
          "1.2.3:80",
          "echo"}) {
        const auto parsed = parse_listen_address(text);
        EXPECT_FALSE(parsed.value) << text;
        EXPECT_FALSE(parsed.complaint.empty()) << text;
    }
    EXPECT_TRUE(parse_listen_address("unix:/" + std::string(106, 'x')).value);
    EXPECT_FALSE(parse_listen_address("unix:/" + std::string(107, 'x')).value);
}

TEST(address, a_url_is_told_what_it_is)
{
    const std::string expected = "a URL, and an address is expected: write ";
    EXPECT_EQ(
        parse_listen_address("http://127.0.0.1:8080").complaint,
        expected + "\"127.0.0.1:8080\", without the scheme"
    );
    EXPECT_EQ(
        parse_listen_address("https://[::]:8443/").complaint,
        expected + "\"[::]:8443\", without the scheme, and \"tls\" beside it"
    );
    EXPECT_EQ(
        parse_server_address("http://app:9000/v1?x#y").complaint,
        expected + "\"app:9000\", without the scheme"
    );
    for (const char* url : {"tcp://user:hunter2@app:9000", "http://", "http:///x"}) {
        EXPECT_EQ(parse_server_address(url).complaint, expected + "host:port, without the scheme");
    }
}

TEST(address, servers_may_have_names)
{
    struct row {
        const char* text;
        proxy::server_address expected;
    };

    const row rows[] = {
        {"echo", {"", "", "", true}},
        {"localhost:9000", {"localhost", "9000", "", false}},
        {"app_1.internal:80", {"app_1.internal", "80", "", false}},
        {"10.0.0.1:9000", {"10.0.0.1", "9000", "", false}},
        {"1.app1:80", {"1.app1", "80", "", false}},
        {"0xg:80", {"0xg", "80", "", false}},
        {"[2001:db8::1]:9000", {"2001:db8::1", "9000", "", false}},
        {"unix:/run/app.sock", {"", "", "/run/app.sock", false}},
    };
    for (const row& r : rows) {
        const auto parsed = parse_server_address(r.text);
        ASSERT_TRUE(parsed.value) << r.text << ": " << parsed.complaint;
        EXPECT_EQ(*parsed.value, r.expected) << r.text;
        EXPECT_EQ(to_text(*parsed.value), r.text);
    }
    for (const char* text :
         {"",
          "app",
          "app:0",
          "app:http",
          "http://app:80",
          "https://app:443",
          "a b:80",
          "a/b:80",
          ".:80",
          "a..b:80",
          "256.1.1.1:80",
          "127.1:80",
          "app.1:80",
          "app.1.:80",
          "1:80",
          "0x7f000001:80",
          "app.0x:80",
          "[app]:80",
          "2001:db8::1:80",
          "unix:app.sock"}) {
        const auto parsed = parse_server_address(text);
        EXPECT_FALSE(parsed.value) << text;
        EXPECT_FALSE(parsed.complaint.empty()) << text;
    }
}

}  // namespace address_test
}  // namespace gateway::config
