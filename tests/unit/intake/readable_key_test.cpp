#include "gateway/intake/readable_key.hpp"

#include "gateway/base/hash.hpp"
#include "gateway/http/input/request_parser.hpp"
#include "gateway/intake/request_key.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>

namespace gateway::intake {
namespace readable_key_test {

using ::testing::HasSubstr;
using source = policy::key_part::source;

policy::key_part part(source from, std::string text, std::string name = {}, int prefix = 0)
{
    return {.from = from, .name = std::move(name), .prefix = prefix, .text = std::move(text)};
}

policy::limit_rule rule_of(std::vector<policy::key_part> key)
{
    return {
        .name = "l",
        .key = std::move(key),
        .limit = *limit::limit::make(1, std::chrono::seconds{1}, 1)};
}

const policy::policy defaults;

std::string named(const policy::limit_rule& rule, std::vector<std::string> values)
{
    identity::bucket_name name;
    EXPECT_EQ(name_bucket(defaults, rule, values, name), "");
    return std::string{name.bytes()};
}

std::string complaint(const policy::limit_rule& rule, std::vector<std::string> values)
{
    identity::bucket_name name;
    return name_bucket(defaults, rule, values, name);
}

TEST(readable_key, names_the_bucket_of_a_request)
{
    const auto rule = rule_of(
        {part(source::client_ip, "client_ip"),
         part(source::client_ip, "client_ip/16", {}, 16),
         part(source::header, "header:x-key", "x-key"),
         part(source::host, "host"),
         part(source::path, "path"),
         part(source::method, "method"),
         part(source::route, "route")}
    );
    const std::string bytes = "GET / HTTP/1.1\r\nHost: h\r\nX-Key: k\r\n\r\n";
    http::request_head head;
    ASSERT_EQ(http::parse_request_head(bytes, {}, head).is, http::parse_result::state::complete);
    const auto address = *base::ip_address::parse("2001:db8:1:2::3");
    const key_subject subject{
        .head = &head,
        .address = address,
        .client = address.masked(32, 64),
        .host = "example.com",
        .path = "/a/b",
        .route = "r"};
    identity::bucket_name asked;
    ASSERT_EQ(make_bucket_name(rule, subject, asked).is, key_result::made);
    const auto told = named(
        rule, {"2001:db8:1:2::ffff", "2001::1", "k", "Example.com:80", "/a//b/;x=1", "GET", "r"}
    );
    EXPECT_EQ(told, asked.bytes());
}

TEST(readable_key, complains_of_what_names_no_bucket)
{
    const auto two =
        rule_of({part(source::client_ip, "client_ip"), part(source::cookie, "cookie:sid", "sid")});
    EXPECT_EQ(complaint(two, {}), "key: expected a list of 2 texts: client_ip, cookie:sid");
    EXPECT_THAT(complaint(two, {"::1", "a", "b"}), HasSubstr("a list of 2 texts"));
    EXPECT_EQ(complaint(two, {"x", "a"}), "key: expected an IP address for client_ip");
    EXPECT_EQ(complaint(two, {"::1", ""}), "key: an empty cookie:sid is as good as none");
    const auto path = rule_of({part(source::path, "path")});
    EXPECT_THAT(complaint(path, {"a"}), HasSubstr("begins with a slash"));
    EXPECT_THAT(complaint(path, {""}), HasSubstr("begins with a slash"));
    EXPECT_THAT(complaint(path, {"/a/../b"}), HasSubstr("key: "));
    EXPECT_EQ(complaint(path, {"*"}), "");
    EXPECT_EQ(complaint(rule_of({}), {}), "");
}

TEST(readable_key, is_readable_without_secrets)
{
    const auto rule = rule_of(
        {part(source::client_ip, "client_ip"),
         part(source::header, "header:x-key", "x-key"),
         part(source::path, "path")}
    );
    const auto said = readable_key(defaults, rule, named(rule, {"192.0.2.1", "hunter2", "/a"}));
    EXPECT_EQ(
        boost::json::serialize(said),
        R"([{"part":"client_ip","value":"192.0.2.1"},{"part":"header:x-key","sha256":")" +
            base::sha256_hex128("hunter2") + R"("},{"part":"path","value":"/a"}])"
    );
}

TEST(readable_key, keeps_what_an_earlier_policy_held_secret)
{
    policy::policy first;
    first.limits = {rule_of({part(source::header, "header:x-key", "x-key")})};
    const std::string name = named(first.limits[0], {"hunter2"});
    // The limit is gone in between.
    policy::policy second;
    second.note_former_secrets(first);
    policy::policy third;
    third.note_former_secrets(second);
    third.limits = {rule_of({part(source::path, "path"), part(source::host, "host")})};
    const policy::limit_rule& rule = third.limits[0];
    EXPECT_EQ(
        boost::json::serialize(readable_key(third, rule, name)),
        R"([{"part":"path","sha256":")" + base::sha256_hex128("hunter2") + R"("}])"
    );
    const std::string fresh = named(rule, {"/a", "h"});
    EXPECT_EQ(readable_key(third, rule, fresh).at(1).at("value"), "h");
}

TEST(readable_key, an_address_instead_of_a_missing_part_is_an_address)
{
    const auto rule = rule_of({part(source::header, "header:x-key", "x-key")});
    identity::bucket_name name;
    name.start("l");
    name.add(*base::ip_address::parse("192.0.2.1"));
    EXPECT_EQ(
        boost::json::serialize(readable_key(defaults, rule, name.bytes())),
        R"([{"part":"header:x-key","value":"192.0.2.1"}])"
    );
}

}  // namespace readable_key_test
}  // namespace gateway::intake
