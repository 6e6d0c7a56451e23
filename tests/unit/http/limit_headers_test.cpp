#include "gateway/http/output/limit_headers.hpp"

#include "gateway/http/field_parser.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <regex>
#include <vector>

namespace gateway::http {
namespace limit_headers_test {

using namespace std::chrono_literals;

const limit::limit twenty = limit::limit::make(100, 1min, 20).value();  // 600 ms a token
const limit::limit five = limit::limit::make(1, 1s, 5).value();

limit_report report(
    std::string_view name, const limit::limit& limit, std::int64_t remaining, base::duration reset
)
{
    return {
        name,
        &limit,
        {.allowed = true, .remaining = remaining, .retry_after = {}, .reset_after = reset}};
}

std::string headers(
    const std::vector<limit_report>& reports,
    const limit_header_options& options,
    base::duration now = 0s
)
{
    const limit_statement said{reports, options, now};
    std::string out;
    append_limit_headers(said, out);
    EXPECT_EQ(said.empty(), out.empty());
    return out;
}

std::string x_fields(int limit, int remaining, std::int64_t reset)
{
    return "X-RateLimit-Limit: " + std::to_string(limit) +
           "\r\nX-RateLimit-Remaining: " + std::to_string(remaining) +
           "\r\nX-RateLimit-Reset: " + std::to_string(reset) + "\r\n";
}

TEST(limit_headers, no_limit_says_nothing)
{
    EXPECT_EQ(headers({}, {.x_ratelimit = true, .ratelimit = true}), "");
    EXPECT_EQ(headers({report("a", five, 1, 1s)}, {.x_ratelimit = false}), "");
}

TEST(limit_headers, reset_is_the_next_whole_second_at_which_the_bucket_is_full)
{
    struct row {
        base::duration until;
        std::int64_t seconds;
    };

    for (const row& r : std::vector<row>{
             {0ns, 0},
             {1ns, 1},
             {600ms, 1},
             {999999999ns, 1},
             {1s, 1},
             {1s + 1ns, 2},
             {12s, 12},
             {86400s, 86400}}) {
        EXPECT_EQ(headers({report("a", twenty, 7, r.until)}, {}), x_fields(20, 7, r.seconds));
    }
    const base::duration century = limit::limit::max_refill;
    EXPECT_EQ(
        headers({report("a", twenty, 0, century)}, {}), x_fields(20, 0, 24LL * 365 * 100 * 3600)
    );
}

TEST(limit_headers, an_epoch_reset_is_rounded_once_and_up)
{
    const limit_header_options epoch{.reset_as_epoch = true};
    const auto reset = [&](base::duration now, base::duration until) {
        return headers({report("a", five, 1, until)}, epoch, now);
    };
    EXPECT_EQ(reset(1700000000s, 0s), x_fields(5, 1, 1700000000));
    EXPECT_EQ(reset(1700000000s, 1ns), x_fields(5, 1, 1700000001));
    EXPECT_EQ(reset(1700000000s + 600ms, 400ms), x_fields(5, 1, 1700000001));
    EXPECT_EQ(reset(1700000000s + 600ms, 401ms), x_fields(5, 1, 1700000002));
}

TEST(limit_headers, of_several_limits_the_one_with_the_fewest_tokens_left_speaks)
{
    const auto a = report("a", twenty, 3, 2s);
    const auto b = report("b", five, 2, 9s);
    const auto c = report("c", twenty, 2, 10s);
    EXPECT_EQ(headers({a, b}, {}), x_fields(5, 2, 9));
    EXPECT_EQ(headers({b, a}, {}), x_fields(5, 2, 9));
    EXPECT_EQ(headers({a, b, c}, {}), x_fields(20, 2, 10));
    EXPECT_EQ(headers({c, b, a}, {}), x_fields(20, 2, 10));
}

TEST(limit_headers, of_limits_with_different_costs_the_one_with_the_fewest_requests_left_speaks)
{
    auto many = report("many", twenty, 3, 2s);
    auto one = report("one", twenty, 15, 9s);
    one.cost = 10;
    auto free = report("free", five, 0, 1s);
    free.cost = 0;
    EXPECT_EQ(headers({many, one, free}, {}), x_fields(20, 15, 9));
    EXPECT_EQ(headers({free, one, many}, {}), x_fields(20, 15, 9));
    one.decision.remaining = 30;  // as many requests as the other: that has fewer tokens
    EXPECT_EQ(headers({one, many}, {}), x_fields(20, 3, 2));
}

TEST(limit_headers, of_several_limits_one_that_rejects_speaks)
{
    const auto spent = report("spent", five, 0, 5s);
    auto rejecting = report("rejecting", twenty, 15, 9s);
    rejecting.cost = 16;
    rejecting.decision.allowed = false;
    EXPECT_EQ(headers({spent, rejecting}, {}), x_fields(20, 15, 9));
    EXPECT_EQ(headers({rejecting, spent}, {}), x_fields(20, 15, 9));
}

TEST(limit_headers, the_structured_fields_have_one_item_per_limit)
{
    const limit_header_options only{.x_ratelimit = false, .ratelimit = true};
    EXPECT_EQ(
        headers({report("per_client", twenty, 19, 600ms)}, only),
        "RateLimit-Policy: \"per_client\";q=20;w=12\r\nRateLimit: \"per_client\";r=19;t=1\r\n"
    );
    EXPECT_EQ(
        headers({report("a", twenty, 0, 12s), report("b-2", five, 5, 0s)}, only),
        "RateLimit-Policy: \"a\";q=20;w=12, \"b-2\";q=5;w=5\r\nRateLimit: \"a\";r=0;t=12, "
        "\"b-2\";r=5;t=0\r\n"
    );
    const limit::limit fast = limit::limit::make(1000, 1s, 1).value();
    EXPECT_EQ(
        headers({report("f", fast, 0, 1ms)}, only),
        "RateLimit-Policy: \"f\";q=1;w=1\r\nRateLimit: \"f\";r=0;t=1\r\n"
    );
}

// sf-list of sf-strings with integer parameters (RFC 8941 §3), at most 15 digits each.
TEST(limit_headers, the_structured_fields_obey_their_grammar_and_all_lines_are_fields)
{
    const std::regex policy(
        R"re("[ -~]*";q=[0-9]{1,15};w=[0-9]{1,15}(, "[ -~]*";q=[0-9]{1,15};w=[0-9]{1,15})*)re"
    );
    const std::regex state(
        R"re("[ -~]*";r=[0-9]{1,15};t=[0-9]{1,15}(, "[ -~]*";r=[0-9]{1,15};t=[0-9]{1,15})*)re"
    );
    const limit::limit slow = limit::limit::make(1, 24h * 365, 100).value();
    for (const base::duration until :
         {base::duration{0}, base::duration{1}, base::duration{limit::limit::max_refill}}) {
        const std::vector<limit_report> all = {
            report("a", twenty, 20, until),
            report("b", slow, 0, until),
            report("c", five, 1, until)};
        for (std::size_t n = 1; n <= all.size(); ++n) {
            std::string out = headers(
                {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n)}, {.ratelimit = true}
            );
            out += "\r\n";
            field_list fields;
            std::size_t position = 0;
            ASSERT_EQ(read_fields(out, position, 100, fields), progress::complete) << out;
            ASSERT_EQ(fields.size(), 5u);
            EXPECT_EQ(fields[3].name, "RateLimit-Policy");
            EXPECT_EQ(fields[4].name, "RateLimit");
            EXPECT_TRUE(std::regex_match(std::string(fields[3].value), policy)) << out;
            EXPECT_TRUE(std::regex_match(std::string(fields[4].value), state)) << out;
        }
    }
}

TEST(limit_headers, retry_after_is_at_least_a_second_and_never_early)
{
    const auto seconds = [](base::duration wait) {
        std::string out;
        {
            text_writer to(out, retry_after_size);
            add_retry_after(wait, to);
        }
        EXPECT_TRUE(out.starts_with("Retry-After: ") && out.ends_with("\r\n")) << out;
        return std::stoll(out.substr(13));
    };
    EXPECT_EQ(seconds(0ns), 1);
    EXPECT_EQ(seconds(-5s), 1);
    EXPECT_EQ(seconds(1ns), 1);
    EXPECT_EQ(seconds(1s), 1);
    EXPECT_EQ(seconds(1s + 1ns), 2);
    for (std::int64_t wait = 1; wait > 0 && wait < std::numeric_limits<std::int64_t>::max() / 3;
         wait = wait * 3 + 1) {
        const std::int64_t said = seconds(base::duration{wait});
        EXPECT_GE(std::chrono::seconds{said}, base::duration{wait});
        EXPECT_LT(std::chrono::seconds{said} - 1s, base::duration{wait});
    }
}

}  // namespace limit_headers_test
}  // namespace gateway::http
