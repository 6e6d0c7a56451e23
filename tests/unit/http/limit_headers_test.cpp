#include "gateway/http/output/limit_headers.hpp"

#include "gateway/http/field_parser.hpp"

#include <gmock/gmock.h>
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

const limit_fields hidden{.hidden = true};
const limit_fields of_tokens{.word = "tokens"};
const limit_fields of_requests{.word = "requests"};

limit_report with(limit_report r, const limit_fields& fields)
{
    r.fields = &fields;
    return r;
}

// Returns the headers where the route has both words and a soft threshold.
std::string headers_of_route(
    const std::vector<limit_report>& reports, const limit_header_options& options = {}
)
{
    const std::vector<std::string> words{"tokens", "requests"};
    const limit_statement said{
        .reports = reports, .options = options, .words = words, .may_warn = true};
    std::string out;
    append_limit_headers(said, out);
    return out;
}

TEST(limit_headers, a_hidden_limit_is_in_no_field)
{
    const auto quota = report("quota", twenty, 9, 2s);
    const auto flood = with(report("flood", five, 0, 5s), hidden);
    const limit_header_options all{.ratelimit = true};
    EXPECT_EQ(headers_of_route({flood, quota}, all), headers({quota}, all));
    EXPECT_EQ(headers_of_route({flood}, all), "");
}

TEST(limit_headers, a_limit_with_a_word_has_fields_of_its_own)
{
    const auto usual = report("usual", five, 5, 0s);
    const auto tokens = with(report("t", twenty, 3, 6min), of_tokens);
    const auto fewer = with(report("u", five, 2, 17ms), of_tokens);
    const auto requests = with(report("r", five, 4, 1s), of_requests);
    const std::string of_fewer =
        "x-ratelimit-limit-tokens: 5\r\nx-ratelimit-remaining-tokens: 2\r\n"
        "x-ratelimit-reset-tokens: 17ms\r\n";
    const std::string of_both =
        of_fewer +
        "x-ratelimit-limit-requests: 5\r\nx-ratelimit-remaining-requests: 4\r\n"
        "x-ratelimit-reset-requests: 1s\r\n";
    EXPECT_EQ(
        headers_of_route({tokens}),
        "x-ratelimit-limit-tokens: 20\r\nx-ratelimit-remaining-tokens: 3\r\n"
        "x-ratelimit-reset-tokens: 6m0s\r\n"
    );
    EXPECT_EQ(headers_of_route({requests, tokens, usual, fewer}), x_fields(5, 5, 0) + of_both);
    const limit_header_options epoch{.x_ratelimit = false, .reset_as_epoch = true};
    EXPECT_EQ(headers_of_route({requests, tokens, usual, fewer}, epoch), of_both);
    const limit_header_options only{.x_ratelimit = false, .ratelimit = true};
    EXPECT_EQ(headers_of_route({fewer}, only), headers({fewer}, only) + of_fewer);
}

TEST(limit_headers, a_limit_of_requests_in_flight_has_no_reset)
{
    const limit::limit places = limit::limit::in_flight(9, 10s).value();
    EXPECT_EQ(
        headers_of_route({with(report("p", places, 3, 0s), of_requests)}),
        "x-ratelimit-limit-requests: 9\r\nx-ratelimit-remaining-requests: 3\r\n"
    );
}

TEST(limit_headers, a_warning_names_the_limits_in_order)
{
    auto a = report("a", five, 1, 1s);
    auto b = with(report("b", five, 1, 1s), of_tokens);
    auto c = with(report("c", five, 0, 1s), hidden);
    auto d = report("d", five, 5, 1s);
    const limit_header_options none{.x_ratelimit = false};
    EXPECT_EQ(headers_of_route({a, d}, none), "");
    a.warns = b.warns = c.warns = true;
    EXPECT_EQ(headers_of_route({a, c, d}, none), "X-RateLimit-Warning: a\r\n");
    EXPECT_EQ(headers_of_route({c}, none), "");
    EXPECT_THAT(
        headers_of_route({d, b, a}, none), ::testing::EndsWith("X-RateLimit-Warning: b, a\r\n")
    );
}

TEST(limit_headers, replace_those_of_the_upstream)
{
    const std::vector<std::string> words{"tokens"};
    const limit_statement with_words{.words = words};
    const limit_statement with_warnings{.may_warn = true};
    for (const char* name :
         {"x-ratelimit-limit-tokens", "X-RateLimit-Remaining-Tokens", "x_ratelimit_reset-tokens"}) {
        EXPECT_TRUE(with_words.replaces(name)) << name;
        EXPECT_FALSE(with_warnings.replaces(name)) << name;
        EXPECT_FALSE(limit_statement{}.replaces(name)) << name;
    }
    for (const char* name :
         {"x-ratelimit-limit-requests",
          "x-ratelimit-limit-tokens-usage",
          "x-ratelimit-limit-",
          "x-ratelimit-",
          "x-ratelimit-used-tokens",
          "limit-tokens"}) {
        EXPECT_FALSE(with_words.replaces(name)) << name;
    }
    EXPECT_TRUE(with_warnings.replaces("X-RATELIMIT-WARNING"));
    EXPECT_FALSE(with_words.replaces("x-ratelimit-warning"));

    const std::vector<limit_report> seen{report("a", five, 1, 1s)};
    const std::vector<limit_report> unseen{with(seen[0], hidden), with(seen[0], of_tokens)};
    EXPECT_TRUE(limit_statement{.reports = seen}.replaces());
    EXPECT_FALSE(limit_statement{.reports = unseen}.replaces());
    EXPECT_TRUE((limit_statement{.reports = unseen, .due = true}.replaces()));
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
