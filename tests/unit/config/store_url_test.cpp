#include "config/urls/store_url.hpp"

#include <gtest/gtest.h>

namespace gateway::config {
namespace store_url_test {

const store::redis_options& redis(const parsed<store::shared_options>& p)
{
    return std::get<store::redis_options>(*p.value);
}

TEST(store_url, every_part_is_read)
{
    const auto parsed = parse_store_url("redis://us%65r:p%40ss%3A%2f@redis.internal:6380/7");
    ASSERT_TRUE(parsed.value) << parsed.complaint;
    EXPECT_EQ(redis(parsed).user, "user");
    EXPECT_EQ(redis(parsed).password, "p@ss:/");
    EXPECT_EQ(redis(parsed).host, "redis.internal");
    EXPECT_EQ(redis(parsed).port, "6380");
    EXPECT_EQ(redis(parsed).database, 7);
}

TEST(store_url, parts_left_out_have_defaults)
{
    for (const char* text : {"redis://h", "redis://h/", "REDIS://h"}) {
        const auto parsed = parse_store_url(text);
        ASSERT_TRUE(parsed.value) << text << ": " << parsed.complaint;
        EXPECT_EQ(redis(parsed).host, "h");
        EXPECT_EQ(redis(parsed).port, "6379");
        EXPECT_EQ(redis(parsed).database, 0);
        EXPECT_EQ(redis(parsed).user + redis(parsed).password, "");
    }
}

TEST(store_url, a_password_needs_no_user_and_ipv6_loses_its_brackets)
{
    const auto parsed = parse_store_url("redis://:secret@[::1]:7000/0");
    ASSERT_TRUE(parsed.value) << parsed.complaint;
    EXPECT_EQ(redis(parsed).user, "");
    EXPECT_EQ(redis(parsed).password, "secret");
    EXPECT_EQ(redis(parsed).host, "::1");
    EXPECT_EQ(url_without_secret(*parsed.value), "redis://:***@[::1]:7000/0");
}

TEST(store_url, a_unix_socket_has_a_path_and_perhaps_a_database)
{
    const auto plain = parse_store_url("unix:///run/redis.sock");
    ASSERT_TRUE(plain.value) << plain.complaint;
    EXPECT_EQ(redis(plain).socket_path, "/run/redis.sock");
    EXPECT_EQ(redis(plain).database, 0);
    const auto full = parse_store_url("unix://u:p@/run/my%20redis.sock?db=3");
    ASSERT_TRUE(full.value) << full.complaint;
    EXPECT_EQ(redis(full).socket_path, "/run/my redis.sock");
    EXPECT_EQ(redis(full).database, 3);
    EXPECT_EQ(url_without_secret(*full.value), "unix://u:***@/run/my%20redis.sock?db=3");
}

TEST(store_url, a_second_s_is_for_tls)
{
    const auto parsed = parse_store_url("REDISS://u:p@h/1");
    ASSERT_TRUE(parsed.value) << parsed.complaint;
    EXPECT_EQ(redis(parsed).tls, net::tls_client_options{});
    EXPECT_EQ(redis(parsed).database, 1);
    EXPECT_EQ(url_without_secret(*parsed.value), "rediss://u:***@h:6379/1");
    EXPECT_FALSE(redis(parse_store_url("redis://h")).tls);
}

TEST(store_url, sentinels_come_with_the_name_of_their_master)
{
    const auto parsed =
        parse_store_url("Redis-Sentinel://u:p%40@s1,[::1]:7000,10.0.0.3:26380/buckets.eu-1/2");
    ASSERT_TRUE(parsed.value) << parsed.complaint;
    const std::vector<net::server_address> sentinels{
        {"s1", "26379", {}}, {"::1", "7000", {}}, {"10.0.0.3", "26380", {}}};
    ASSERT_TRUE(redis(parsed).sentinel);
    EXPECT_EQ(redis(parsed).sentinel->sentinels, sentinels);
    EXPECT_EQ(redis(parsed).sentinel->master, "buckets.eu-1");
    EXPECT_EQ(redis(parsed).user, "u");
    EXPECT_EQ(redis(parsed).password, "p@");
    EXPECT_EQ(redis(parsed).database, 2);
    EXPECT_EQ(
        url_without_secret(*parsed.value),
        "redis-sentinel://u:***@s1:26379,[::1]:7000,10.0.0.3:26380/buckets.eu-1/2"
    );
    for (const char* text : {"redis-sentinel://s1/m", "redis-sentinel://s1/m/"}) {
        const auto one = parse_store_url(text);
        ASSERT_TRUE(one.value) << one.complaint;
        EXPECT_EQ(url_without_secret(*one.value), "redis-sentinel://s1:26379/m/0");
    }
    EXPECT_FALSE(redis(parse_store_url("redis://h")).sentinel);
}

TEST(store_url, a_cluster_is_some_of_its_nodes)
{
    const auto parsed = parse_store_url("redis-cluster://u:p@n1,[::1]:7000/");
    ASSERT_TRUE(parsed.value) << parsed.complaint;
    const std::vector<net::server_address> nodes{{"n1", "6379", {}}, {"::1", "7000", {}}};
    EXPECT_EQ(redis(parsed).cluster, nodes);
    EXPECT_EQ(redis(parsed).password, "p");
    EXPECT_EQ(url_without_secret(*parsed.value), "redis-cluster://u:***@n1:6379,[::1]:7000");
}

TEST(store_url, sentinels_and_clusters_may_speak_tls)
{
    for (const char* text :
         {"rediss-cluster://u:***@n1:6379,[::1]:7000", "rediss-sentinel://u:***@s1:26379/m/0"}) {
        const auto parsed = parse_store_url(text);
        ASSERT_TRUE(parsed.value) << parsed.complaint;
        EXPECT_TRUE(redis(parsed).tls);
        EXPECT_EQ(url_without_secret(*parsed.value), text);
    }
    EXPECT_TRUE(redis(parse_store_url("REDISS-Cluster://h")).tls);
    EXPECT_FALSE(redis(parse_store_url("redis-cluster://h")).tls);
    EXPECT_FALSE(redis(parse_store_url("redis-sentinel://h/m")).tls);
}

TEST(store_url, a_user_may_have_the_password_elsewhere)
{
    auto parsed = parse_store_url("redis://user@h");
    ASSERT_TRUE(parsed.value) << parsed.complaint;
    EXPECT_EQ(redis(parsed).user, "user");
    auto& options = std::get<store::redis_options>(*parsed.value);
    options.password_file = "/etc/secret";
    options.password = "from the file";
    EXPECT_EQ(url_without_secret(*parsed.value), "redis://user@h:6379/0");
    options.user.clear();
    EXPECT_EQ(url_without_secret(*parsed.value), "redis://h:6379/0");
}

TEST(store_url, what_is_refused_is_refused_without_the_password)
{
    struct row {
        const char* url;
        const char* says;
    };

    const row rows[] = {
        {"", "not a URL"},
        {"hunter2", "not a URL"},
        {"redis:hunter2", "expected redis://"},
        {"redis://:hunter2@", "the host must be"},
        {"redis://:hunter2@ho st", "not a URL"},
        {"redis://:hunter2@h:0", "port"},
        {"redis://:hunter2@h:65536", "port"},
        {"redis://:hunter2@h:port", "port must be a number"},
        {"redis://:hunter2@h:1:1", "port must be a number"},
        {"redis://:hunter2@[::1]:1:1", "port must be a number"},
        {"rediss://:hunter2@h:1:1/0", "port must be a number"},
        {"redis-cluster://:hunter2@h:1:1,g", "port must be a number"},
        {"redis-sentinel://:hunter2@h:1:1/m", "port must be a number"},
        {"redis://:hunter2@h/x", "database"},
        {"redis://:hunter2@h/1/2", "database"},
        {"redis://:hunter2@h/65536", "up to 65535"},
        {"redis://:hunter2@h/01", "database"},
        {"redis://:hunter2@h?db=1", "parameters"},
        {"redis://:hunter2@h#x", "expected redis://"},
        {"rediss:///hunter2", "the host must be"},
        {"redis-sentinel://:hunter2@s1", "the name of the sentinels' master"},
        {"redis-sentinel://:hunter2@s1/", "the name of the sentinels' master"},
        {"redis-sentinel://:hunter2@s1/a%20b", "the name of the sentinels' master"},
        {"redis-sentinel://:hunter2@s1//0", "the name of the sentinels' master"},
        {"redis-sentinel://:hunter2@s1/m/x", "database"},
        {"redis-sentinel://:hunter2@s1/m/1/2", "database"},
        {"redis-sentinel://:hunter2@s1,/m", "the host must be"},
        {"redis-sentinel://:hunter2@s1,s2:0/m", "port"},
        {"redis-sentinel://:hunter2@s1,s 2/m", "not a URL"},
        {"redis-sentinel://:hunter2@s1/m?db=1", "parameters"},
        {"redis-sentinel://:hunter2@s1/m#x", "expected redis://"},
        {"redis-sentinel://", "the host must be"},
        {"redis-sentinel://s,s,s,s,s,s,s,s,s,s,s,s,s,s,s,s,s/m", "the maximum is 16"},
        {"redis-cluster://:hunter2@h/0", "no databases"},
        {"rediss-cluster://:hunter2@h/0", "no databases"},
        {"rediss-sentinel://:hunter2@s1", "the name of the sentinels' master"},
        {"redisss-cluster://:hunter2@h", "expected redis://"},
        {"redis-://:hunter2@h", "expected redis://"},
        {"redis-cluster://:hunter2@h?x=1", "parameters"},
        {"redis-cluster://:hunter2@h,", "the host must be"},
        {"redis-cluster://:hunter2@", "the host must be"},
        {"http://u:hunter2@h", "expected redis://"},
        {"unix://host/run/x", "three slashes"},
        {"unix://", "must be absolute"},
        {"unix:///run/x?database=1", "the only parameter"},
        {"unix:///run/x?db=-1", "database"},
        {"unix:///run/%00x", "control character"},
    };
    for (const row& r : rows) {
        const auto parsed = parse_store_url(r.url);
        EXPECT_FALSE(parsed.value) << r.url;
        EXPECT_NE(parsed.complaint.find(r.says), std::string::npos)
            << r.url << ": " << parsed.complaint;
        EXPECT_EQ(parsed.complaint.find("hunter2"), std::string::npos) << r.url;
    }
    const auto long_path = parse_store_url("unix:///" + std::string(107, 'x'));
    EXPECT_NE(long_path.complaint.find("the maximum is 107"), std::string::npos);
}

TEST(store_url, raw_characters_in_a_password_are_answered_with_their_encoding)
{
    for (const char* url :
         {"redis://:p@zq@h",
          "redis://:p/zq@h/0",
          "redis://:p?zq@h",
          "redis://:p#zq@h",
          "redis://:p%zq@h",
          "redis://:p zq@h",
          "redis://:p[zq@h",
          "redis://:6379@zq@h",
          "redis://u@x:pazq@h",
          "redis-sentinel://:p/zq@h/m",
          "redis-sentinel://:p@zq@h/m",
          "postgresql://u:p@zq@h/db",
          "postgresql://u:p/zq@h/db",
          "postgres://u:p@zq@h,g:1/db",
          "unix://:p@zq@/run/x"}) {
        const auto parsed = parse_store_url(url);
        EXPECT_FALSE(parsed.value) << url;
        EXPECT_NE(parsed.complaint.find("write @ as %40"), std::string::npos)
            << url << ": " << parsed.complaint;
        EXPECT_EQ(parsed.complaint.find("zq"), std::string::npos) << parsed.complaint;
    }
    for (const char* url : {"redis://:p%40zq@h:x", "redis://h/x", "redis://:p@h?db=1", "h@x"}) {
        const auto parsed = parse_store_url(url);
        EXPECT_FALSE(parsed.value) << url;
        EXPECT_EQ(parsed.complaint.find("%40"), std::string::npos)
            << url << ": " << parsed.complaint;
    }
}

}  // namespace store_url_test
}  // namespace gateway::config
