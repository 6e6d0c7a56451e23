#include "config/urls/postgres_url.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace gateway::config {
namespace postgres_url_test {

TEST(postgres_url, every_part_is_read)
{
    const auto read = parse_postgres_url("postgresql://u:p%40ss@a,[::1]:5433/db?sslmode=require");
    ASSERT_TRUE(read.value) << read.complaint;
    ASSERT_EQ(read.value->servers.size(), 2U);
    EXPECT_EQ(read.value->servers[0], (net::server_address{"a", "5432", {}}));
    EXPECT_EQ(read.value->servers[1], (net::server_address{"::1", "5433", {}}));
    EXPECT_EQ(read.value->password, "p@ss");
    const std::string url = url_without_secret(*read.value);
    EXPECT_EQ(url, "postgresql://u:***@a:5432,[::1]:5433/db?sslmode=require");
    EXPECT_TRUE(parse_postgres_url(url).value);
    const auto socket = parse_postgres_url("postgresql:///db?host=/run/pg");
    ASSERT_TRUE(socket.value) << socket.complaint;
    EXPECT_EQ(socket.value->servers[0].socket_path, "/run/pg");
    EXPECT_TRUE(parse_postgres_url(url_without_secret(*socket.value)).value);
}

TEST(postgres_url, no_secret_is_shown)
{
    const auto read = parse_postgres_url("postgresql://u:hunter2@h/db?sslpassword=hunter3");
    ASSERT_TRUE(read.value) << read.complaint;
    EXPECT_EQ(url_without_secret(*read.value), "postgresql://u:***@h:5432/db?sslpassword=***");
    const auto options =
        parse_postgres_url("postgresql://u@h/db?options=-c%20app.key%3Dhunter2&sslmode=disable");
    ASSERT_TRUE(options.value) << options.complaint;
    EXPECT_EQ(
        url_without_secret(*options.value), "postgresql://u@h:5432/db?options=***&sslmode=disable"
    );
}

TEST(postgres_url, one_port_is_that_of_all_hosts)
{
    const auto read = parse_postgres_url("postgresql:///db?host=a,b&port=7");
    ASSERT_TRUE(read.value) << read.complaint;
    EXPECT_EQ(read.value->servers[0].port, "7");
    EXPECT_EQ(read.value->servers[1].port, "7");
    EXPECT_TRUE(parse_postgres_url("postgresql://a,b,c/db").value);
    EXPECT_TRUE(parse_postgres_url("postgresql://a:1,b/db").value);
}

TEST(postgres_url, what_is_refused_is_refused_with_a_reason_and_without_the_secret)
{
    const std::vector<std::pair<std::string, std::string>> all{
        {"postgresql://u:hunter2@[::1/db", "expected postgresql://"},
        {"postgresql://u:hunter2@h/db?nonsense=1", "nonsense"},
        {"postgresql://u:hunter2@h/db?hostaddr=1.2.3.4", "write the address as the host"},
        {"postgresql://u:hunter2@h/db?target_session_attrs=standby",
         "target_session_attrs is \"standby\", expected one of any, read-write, primary: buckets "
         "are "
         "written"},
        {"postgresql://u:hunter2@h/db?target_session_attrs=read-only",
         "is \"read-only\", expected"},
        {"postgresql://u:hunter2@h/db?target_session_attrs=prefer-standby",
         "is \"prefer-standby\", expected"},
        {"postgresql://u:hunter2@h/db?service=nobody", "no service \"nobody\" in "},
        {"postgresql://u:hunter2@h:70000/db", "the port must be"},
        {"postgresql://u:hunter2@h:0/db", "the port must be"},
        {"postgresql://u:hunter2@a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a/db", "the maximum is 16"},
        {"postgresql://u:hunter2@h,/db", "a host is missing"},
        {"postgresql://u:p@hunter2@h/db", "the host must be a name or an IP address"},
        {"postgresql://u:hunter2@a%20b/db", "the host must be a name or an IP address"},
        {"postgresql://u:hunter2@/db?host=a,1.2.3.4.5", "the host must be a name or an IP address"},
        {"postgresql://u:hunter2@/db?host=a,b&port=1,2,3", "3 ports for 2 hosts"},
        {"postgresql://u:hunter2@h/db?sslmode=requir",
         "sslmode is \"requir\", expected one of disable, allow, prefer, require, verify-ca, "
         "verify-full"},
        {"postgresql://u:hunter2@h/db?channel_binding=yes", "channel_binding is \"yes\""},
        {"postgresql://u:hunter2@h/db?sslrootcert=/none/a", "sslrootcert: /none/a cannot be read"},
        {"postgresql://u:hunter2@h/db?sslcert=/none/a", "sslcert: /none/a cannot be read"},
        {"postgresql://u:hunter2@h/db?sslkey=/none/a", "sslkey: /none/a cannot be read"},
    };
    for (const auto& [url, why] : all) {
        const auto read = parse_postgres_url(url);
        EXPECT_FALSE(read.value) << url;
        EXPECT_NE(read.complaint.find(why), std::string::npos) << url << ": " << read.complaint;
        EXPECT_EQ(read.complaint.find("hunter2"), std::string::npos) << read.complaint;
    }
}

}  // namespace postgres_url_test
}  // namespace gateway::config
