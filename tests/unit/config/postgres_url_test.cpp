#include "config/postgres_url.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace gateway::config {
namespace {

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

TEST(postgres_url, what_is_refused_is_refused_with_a_reason_and_without_the_secret)
{
    const std::vector<std::pair<std::string, std::string>> all{
        {"postgresql://u:hunter2@[::1/db", "expected postgresql://"},
        {"postgresql://u:hunter2@h/db?nonsense=1", "nonsense"},
        {"postgresql://u:hunter2@h/db?hostaddr=1.2.3.4", "write the address as the host"},
        {"postgresql://u:hunter2@h/db?service=nobody", "no service \"nobody\" in "},
        {"postgresql://u:hunter2@h:70000/db", "the port must be"},
        {"postgresql://u:hunter2@h:0/db", "the port must be"},
        {"postgresql://u:hunter2@a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a/db", "the maximum is 16"},
    };
    for (const auto& [url, why] : all) {
        const auto read = parse_postgres_url(url);
        EXPECT_FALSE(read.value) << url;
        EXPECT_NE(read.complaint.find(why), std::string::npos) << url << ": " << read.complaint;
        EXPECT_EQ(read.complaint.find("hunter2"), std::string::npos) << read.complaint;
    }
}

}  // namespace
}  // namespace gateway::config
