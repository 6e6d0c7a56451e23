// Which requests are recorded, and where their spans go.
#include "config/print.hpp"
#include "tests/unit/config/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gateway::config {
namespace tracing_test {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

sample with(const std::string& tracing)
{
    sample s;
    s.rest = "tracing: { " + tracing + " }\n";
    return s;
}

std::string complaint(const std::string& tracing)
{
    return problems_of(with(tracing).text());
}

TEST(tracing, is_off_without_an_endpoint)
{
    EXPECT_FALSE(sample{}.load().sampling.on);
    EXPECT_FALSE(with("sample: 5%").load().sampling.on);
    EXPECT_TRUE(with("endpoint: \"http://127.0.0.1:4318\"").load().sampling.on);
}

TEST(tracing, sends_to_the_path_of_otlp)
{
    const auto plain = with("endpoint: \"http://otel.example\"").load().exporting;
    EXPECT_EQ(plain.host, "otel.example");
    EXPECT_EQ(plain.port, "4318");
    EXPECT_EQ(plain.path, "/v1/traces");
    const auto deep = with("endpoint: \"http://[::1]:80/otlp/\"").load().exporting;
    EXPECT_EQ(deep.host, "::1");
    EXPECT_EQ(deep.port, "80");
    EXPECT_EQ(deep.path, "/otlp/v1/traces");
    EXPECT_EQ(with("endpoint: \"http://h/v1/traces\"").load().exporting.path, "/v1/traces");
    EXPECT_EQ(plain.service_name, "gateway");
}

TEST(tracing, refuses_an_endpoint_that_is_none)
{
    for (const auto* bad : {"127.0.0.1:4318", "ftp://h", "http://", "http://u:p@h", "http://h?q"}) {
        EXPECT_THAT(
            complaint("endpoint: \"" + std::string{bad} + "\""),
            HasSubstr("tracing.endpoint: expected http://HOST[:PORT][/PATH]")
        ) << bad;
    }
}

TEST(tracing, speaks_tls_to_https)
{
    const auto bare = with("endpoint: \"https://otel.example\"").load().exporting;
    ASSERT_TRUE(bare.tls);
    EXPECT_EQ(bare.port, "443");
    EXPECT_TRUE(bare.tls->verify);
    EXPECT_NE(bare.tls->context, nullptr) << "prepared";
    EXPECT_EQ(with("endpoint: \"https://h:4318\"").load().exporting.port, "4318");
    const auto named = with("endpoint: \"https://h\", tls: { server_name: otel.test }").load();
    EXPECT_EQ(named.exporting.tls->server_name, "otel.test");
    EXPECT_NE(named.exporting.tls->context, nullptr);
    EXPECT_THAT(print(named), HasSubstr("server_name: otel.test"));
    EXPECT_FALSE(with("endpoint: \"http://h\"").load().exporting.tls);
    EXPECT_THAT(
        complaint("endpoint: \"http://h\", tls: {}"),
        HasSubstr("tracing.tls: is for an \"endpoint\" that begins with https://")
    );
    EXPECT_THAT(
        complaint("endpoint: \"https://h\", tls: { ca: /nowhere.pem }"),
        HasSubstr("tracing.tls.ca:")
    );
}

TEST(tracing, has_a_share_of_all_traces)
{
    EXPECT_EQ(sample{}.load().sampling.share, 10'000U);
    EXPECT_EQ(with("sample: 0.05%").load().sampling.share, 500U);
    EXPECT_EQ(with("sample: 100%").load().sampling.share, tracing::sampling::all);
    EXPECT_EQ(with("sample: 0%").load().sampling.share, 0U);
    for (const auto* bad : {"1", "101%", "-1%", "x%", "1 %", "\"%\"", "nan%", "1e1%"}) {
        EXPECT_THAT(complaint("sample: " + std::string{bad}), HasSubstr("tracing.sample: expected"))
            << bad;
    }
}

TEST(tracing, keeps_what_it_is_told)
{
    const auto rules = with("keep: [rejected, errors]").load().sampling;
    EXPECT_TRUE(rules.keep_rejected && rules.keep_errors);
    EXPECT_THAT(complaint("keep: [slow]"), HasSubstr("expected rejected or errors"));
}

TEST(tracing, prints_no_credential)
{
    const settings s =
        with("endpoint: \"http://h\", sample: 0.05%, headers: { authorization: 5ecret }").load();
    EXPECT_EQ(s.exporting.headers[0].second, "5ecret");
    EXPECT_THAT(
        print(s),
        AllOf(
            HasSubstr("sample: \"0.05%\""),
            HasSubstr("authorization: \"***\""),
            Not(HasSubstr("5ecret"))
        )
    );
    EXPECT_THAT(complaint("headers: { host: x }"), HasSubstr("for the gateway to say"));
}

}  // namespace tracing_test
}  // namespace gateway::config
