#include "gateway/http/output/error_body.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace gateway::http {
namespace error_body_test {

using namespace std::chrono_literals;
using boost::json::parse;

const limit::limit five = limit::limit::make(1, 1s, 5).value();
const limit_fields of_tokens{.word = "tokens"};

boost::json::value body_of(error_format format, const error_facts& facts, std::string_view id = {})
{
    return parse(error_body({.format = format, .rpc_id = id}, facts));
}

boost::json::value error_of(error_format format, int status)
{
    return body_of(format, {.status = status, .detail = "d"}).at("error");
}

// A rejection by two of three limits.
class rejections_as_bodies : public ::testing::Test {
protected:
    std::vector<limit_report> reports{
        {"many", &five, {.allowed = true}},
        {"few", &five, {.allowed = false}},
        {"all", &five, {.allowed = false}},
    };
    error_facts facts{
        .status = 429,
        .detail = "the limit is exhausted; retry later",
        .reports = reports,
        .retry_after = 359001ms,
        .request_id = "a\"\\b"};
    const std::string message =
        "Rate limit reached for few, all: the limit is exhausted; retry later. "
        "Please try again in 6m0s.";
};

TEST_F(rejections_as_bodies, of_openai)
{
    const auto expected = [&](const std::string& type) {
        return parse(
            R"({"error":{"message":")" + message + R"(","type":")" + type +
            R"(","param":null,"code":"rate_limit_exceeded"}})"
        );
    };
    EXPECT_EQ(body_of(error_format::openai, facts), expected("rate_limit_exceeded"));
    reports[0].fields = &of_tokens;
    EXPECT_EQ(body_of(error_format::openai, facts), expected("rate_limit_exceeded"));
    reports[2].fields = &of_tokens;
    EXPECT_EQ(body_of(error_format::openai, facts), expected("tokens"));
}

TEST_F(rejections_as_bodies, of_anthropic)
{
    EXPECT_EQ(
        body_of(error_format::anthropic, facts),
        parse(
            R"({"type":"error","error":{"type":"rate_limit_error","message":")" + message +
            R"("},"request_id":"a\"\\b"})"
        )
    );
    facts.request_id = {};
    EXPECT_TRUE(body_of(error_format::anthropic, facts).at("request_id").is_null());
}

TEST_F(rejections_as_bodies, of_jsonrpc)
{
    for (const std::string id : {"7", "\"a\\u0000\"", "null"}) {
        EXPECT_EQ(
            body_of(error_format::jsonrpc, facts, id),
            parse(
                R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":-32029,"message":")" +
                message +
                R"(","data":{"status":429,"retry_after":360,"violated-policies":["few","all"]}}})"
            )
        );
    }
    EXPECT_TRUE(body_of(error_format::jsonrpc, facts).at("id").is_null());
}

TEST_F(rejections_as_bodies, without_a_time_when_none_helps)
{
    facts.retry_after = 0s;
    facts.detail = "the request costs more than the limit ever holds";
    EXPECT_EQ(
        body_of(error_format::openai, facts).at("error").at("message"),
        "Rate limit reached for few, all: the request costs more than the limit ever holds."
    );
    EXPECT_FALSE(body_of(error_format::jsonrpc, facts)
                     .at("error")
                     .at("data")
                     .as_object()
                     .contains("retry_after"));
}

TEST(error_body, has_the_type_of_its_status)
{
    for (const auto& [status, openai, anthropic, jsonrpc] :
         std::vector<std::tuple<int, const char*, const char*, int>>{
             {400, "invalid_request_error", "invalid_request_error", -32600},
             {401, "invalid_request_error", "authentication_error", -32600},
             {403, "invalid_request_error", "permission_error", -32600},
             {404, "invalid_request_error", "not_found_error", -32600},
             {408, "invalid_request_error", "invalid_request_error", -32600},
             {413, "invalid_request_error", "request_too_large", -32600},
             {429, "rate_limit_exceeded", "rate_limit_error", -32029},
             {500, "server_error", "api_error", -32603},
             {502, "server_error", "api_error", -32603},
             {503, "server_error", "overloaded_error", -32603},
             {504, "server_error", "timeout_error", -32603}}) {
        const auto of_openai = error_of(error_format::openai, status);
        EXPECT_EQ(of_openai.at("type"), openai) << status;
        EXPECT_EQ(of_openai.at("message"), "d.");
        EXPECT_TRUE(of_openai.at("param").is_null());
        if (status >= 500) {
            EXPECT_EQ(of_openai.at("code"), "server_error");
        } else if (status != 429) {
            EXPECT_TRUE(of_openai.at("code").is_null()) << status;
        }
        EXPECT_EQ(error_of(error_format::anthropic, status).at("type"), anthropic) << status;
        const auto of_jsonrpc = error_of(error_format::jsonrpc, status);
        EXPECT_EQ(of_jsonrpc.at("code"), jsonrpc) << status;
        EXPECT_EQ(of_jsonrpc.at("data").at("status"), status);
    }
}

}  // namespace error_body_test
}  // namespace gateway::http
