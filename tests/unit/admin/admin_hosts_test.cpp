#include "gateway/admin/admin_access.hpp"

#include <gtest/gtest.h>

namespace gateway::admin {
namespace admin_hosts_test {

TEST(admin_hosts, are_addresses_localhost_and_those_of_the_configuration)
{
    for (const char* host :
         {"",
          "127.0.0.1",
          "127.0.0.1:9901",
          "192.0.2.7:80",
          "[::1]:9901",
          "[2001:db8::1]",
          "localhost",
          "LocalHost.:9901",
          "gateway",
          "GATEWAY:9901",
          "gateway.:1"}) {
        EXPECT_TRUE(answers_to(host, {"other", "gateway"})) << host;
    }
}

TEST(admin_hosts, no_other_name_is_answered_to)
{
    for (const char* host :
         {"evil.example",
          "gateway.example:9901",
          "evil.gateway",
          "localhost.evil.example",
          "127.0.0.1.evil.example",
          "1.2.3",
          "gateway.."}) {
        EXPECT_FALSE(answers_to(host, {"gateway"})) << host;
    }
}

}  // namespace admin_hosts_test
}  // namespace gateway::admin
