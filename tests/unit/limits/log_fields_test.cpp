#include "gateway/limits/log_fields.hpp"

#include "gateway/http/input/request_parser.hpp"
#include "gateway/limits/reservations/request_costs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gateway::limits {
namespace log_fields_test {

using source = policy::key_part::source;
using ::testing::ElementsAre;

policy::log_field field(source from, const std::string& name = {}, int prefix = 0)
{
    return {.name = "f", .part = {.from = from, .name = name, .prefix = prefix}};
}

// The value of the field, or "absent".
std::string value(
    const policy::log_field& f, const std::string& lines, const intake::request_token& token = {}
)
{
    const std::string bytes = "GET /a?q=1&q=2&n=%41 HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n";
    http::request_head head;
    EXPECT_EQ(http::parse_request_head(bytes, {}, head).is, http::parse_result::state::complete);
    const intake::key_subject subject{
        .head = &head,
        .address = base::ip_address::v4(0xc0000207),
        .client = base::ip_address::v4(0xc0000207),
        .host = "h",
        .path = "/a",
        .route = "r",
        .token = token};
    std::vector<telemetry::field_value> out;
    read_log_fields({&f, 1}, subject, out);
    return out.empty() ? "absent" : out[0].value;
}

TEST(log_fields, are_what_a_request_has)
{
    EXPECT_EQ(value(field(source::header, "user-agent"), "User-Agent: curl\r\n"), "curl");
    EXPECT_EQ(value(field(source::cookie, "lang"), "Cookie: lang=de; x=y\r\n"), "de");
    EXPECT_EQ(value(field(source::query, "n"), ""), "A");
    EXPECT_EQ(value(field(source::method), ""), "GET");
    EXPECT_EQ(value(field(source::path), ""), "/a");
    EXPECT_EQ(value(field(source::client_ip), ""), "192.0.2.7");
    EXPECT_EQ(value(field(source::client_ip, {}, 24), ""), "192.0.2.0");
}

TEST(log_fields, are_left_out_if_missing_ambiguous_or_not_verified)
{
    EXPECT_EQ(value(field(source::header, "user-agent"), ""), "absent");
    EXPECT_EQ(value(field(source::header, "a"), "A: 1\r\nA: 2\r\n"), "absent");
    EXPECT_EQ(value(field(source::query, "q"), ""), "absent");
    EXPECT_EQ(value(field(source::jwt, "sub"), ""), "absent");
    EXPECT_EQ(value(field(source::jwt, "sub"), "", {{.forged = true}}), "absent");
    EXPECT_EQ(value(field(source::jwt, "sub"), "", {{}, true}), "absent");
}

TEST(log_fields, are_cut_at_the_end_of_a_character)
{
    const std::string long_one(300, 'x');
    EXPECT_EQ(
        value(field(source::header, "a"), "A: " + long_one + "\r\n"), long_one.substr(0, 256)
    );
    const std::string umlauts = std::string(255, 'x') + "\xc3\xa4";
    EXPECT_EQ(value(field(source::header, "a"), "A: " + umlauts + "\r\n"), std::string(255, 'x'));
}

class costs : public ::testing::Test {
protected:
    const limit::limit any = *limit::limit::make(10, std::chrono::hours{1}, 10);
    const policy::limit_rule first{.name = "first", .key = {}, .limit = any};
    const policy::limit_rule second{.name = "second", .key = {}, .limit = any};
    verdict v;
    request_costs noted;

    costs()
    {
        v.entries[0] = {.rule = &first, .limit = &any, .cost = 5};
        v.entries[1] = {.rule = &second, .limit = &any, .cost = 2};
        v.count = 2;
    }

    std::vector<std::string> all()
    {
        std::vector<std::string> texts;
        for (const telemetry::limit_cost& c : noted.all()) {
            texts.push_back(std::string{c.limit} + ' ' + std::to_string(c.tokens));
        }
        return texts;
    }
};

TEST_F(costs, begin_with_the_limit_that_refused)
{
    noted.note(v);
    EXPECT_THAT(all(), ElementsAre("first 5", "second 2"));
    noted.clear();
    v.is = verdict::ruling::rejected;
    v.entries[1].what = telemetry::outcome::rejected;
    noted.note(v);
    EXPECT_THAT(all(), ElementsAre("second 2", "first 5"));
}

TEST_F(costs, are_none_where_no_store_decides)
{
    v.entries[0] = {.rule = &first, .what = telemetry::outcome::blocked};
    v.count = 1;
    v.is = verdict::ruling::blocked;
    noted.note(v);
    EXPECT_TRUE(noted.all().empty());
}

TEST_F(costs, change_when_a_response_says_so)
{
    noted.note(v);
    noted.settle("second", 7);
    noted.settle("of another route", 9);
    EXPECT_THAT(all(), ElementsAre("first 5", "second 7"));
}

}  // namespace log_fields_test
}  // namespace gateway::limits
