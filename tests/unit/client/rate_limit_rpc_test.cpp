// Calls of a rate-limit service, from their head and body to the answer, the counters and the log.
#include "gateway/client/requests/rate_limit_rpc.hpp"

#include "tests/unit/client/worker_parts.hpp"
#include "tests/unit/envoy/answers.hpp"
#include "tests/unit/envoy/messages.hpp"
#include "tests/unit/telemetry/pipe_pair.hpp"

#include <gmock/gmock.h>

#include <unistd.h>

namespace gateway::client {
namespace rate_limit_rpc_test {

using envoy::testing::entry;
using envoy::testing::text;
using http::grpc_status;
using ::testing::HasSubstr;

// A connection that has nothing but a peer.
class bare_host final : public request_host {
public:
    void begin_timeouts_anew() override {}

    void after_event(bool) override {}

    const std::optional<decide_options>& decide() const override { return decide_; }

    std::string_view rate_limit_service() const override { return "edge"; }

    const base::ip_address& peer() const override { return peer_; }

    bool is_secure() const override { return false; }

    const intake::client_tls* client_tls() const override { return nullptr; }

    base::connection_ends client_ends() const override { return {}; }

private:
    std::optional<decide_options> decide_;
    base::ip_address peer_ = base::ip_address::v4(0x7f000001);
};

std::string framed(std::string_view message)
{
    const auto prefix = http::grpc_prefix(static_cast<std::uint32_t>(message.size()));
    return std::string{prefix.data(), prefix.size()}.append(message);
}

const std::string question = framed(text(1, "edge") + text(2, entry("k", "v")));

class calls : public ::testing::Test, private rpc_carrier {
protected:
    telemetry::route_metrics service_metrics;
    std::vector<grpc_status> answers;
    std::string body;
    std::string detail;
    http::request_head head;
    http::field_list fields{{.name = "Content-Type", .value = "application/grpc"}};

    calls()
    {
        auto rules = std::make_shared<policy::policy>();
        rules->limits.push_back({
            .name = "per_k",
            .key =
                {{.from = policy::key_part::source::descriptor,
                  .name = "k",
                  .text = "descriptor:k"}},
            .limit = *limit::limit::make(2, std::chrono::hours{2}, 2),
        });
        rules->services.push_back(
            {.name = "edge",
             .domain = "edge",
             .descriptors = {{.match = {{.key = "k"}}, .limits = {0}}}}
        );
        rules->finish();
        auto v = std::make_shared<limits::policy_view>();
        v->policy = rules;
        v->no_route = &no_route_;
        v->services = {&service_metrics};
        v->limits = {&limit_metrics_};
        parts_.view = v;
        head.method = "POST";
        head.target = head.path = rate_limit_method;
    }

    void begin()
    {
        head.fields = fields;
        rpc.begin(head, host_, "edge");
    }

    void call(const std::string& with)
    {
        begin();
        rpc.content(with, true);
    }

    envoy::testing::read_answer answer() const
    {
        EXPECT_EQ(answers.back(), grpc_status::ok);
        EXPECT_EQ(framed(body.substr(http::grpc_prefix_size)), body);
        return envoy::testing::answer_in(std::string_view{body}.substr(http::grpc_prefix_size));
    }

    std::uint64_t counted(int status) const
    {
        std::uint64_t all = 0;
        for (const auto& of_method : service_metrics.requests) {
            const auto* const codes = of_method.load();
            const auto code =
                static_cast<std::size_t>(status - telemetry::route_metrics::first_code);
            all += codes == nullptr ? 0 : (*codes)[code].value();
        }
        return all;
    }

    // Returns the first line of the access log.
    std::string logged()
    {
        parts_.log.flush();
        std::string line;
        char c = 0;
        while (c != '\n' && ::read(log_pipe_.reader(), &c, 1) == 1) {
            line += c;
        }
        return line;
    }

    std::uint64_t rejections() const { return parts_.rejections.count(); }

private:
    telemetry::pipe_pair log_pipe_;
    bare_host host_;
    telemetry::route_metrics no_route_;
    telemetry::limit_metrics limit_metrics_;
    testing::worker_parts parts_{log_pipe_.writer(), [](session&) {}};

protected:
    rate_limit_rpc rpc{parts_.environment, *this};

private:
    void rpc_answered(const grpc_answer& a) override
    {
        EXPECT_FALSE(rpc.is_open());
        answers.push_back(a.status);
        body = a.body;
        detail = a.detail;
    }
};

TEST_F(calls, are_answered_when_their_body_has_ended)
{
    begin();
    for (const char c : question) {
        rpc.content({&c, 1}, false);
    }
    EXPECT_TRUE(answers.empty());
    EXPECT_TRUE(rpc.is_open());
    rpc.content({}, true);
    EXPECT_EQ(answer().overall, envoy::code::ok);
    EXPECT_EQ(answer().statuses.at(0).remaining, 1U);
    call(question);
    call(question);
    EXPECT_EQ(answer().overall, envoy::code::over_limit);
    EXPECT_EQ(answers.size(), 3U);
    EXPECT_EQ(counted(200), 3U);
    EXPECT_EQ(rejections(), 1U);
}

TEST_F(calls, of_another_method_or_type_are_unimplemented)
{
    const auto refused = [this] {
        const std::size_t before = answers.size();
        begin();
        EXPECT_EQ(answers.size(), before + 1) << "before the body";
        rpc.content(question, true);
        EXPECT_EQ(answers.size(), before + 1);
        EXPECT_EQ(body, "");
        return answers.back() == grpc_status::unimplemented;
    };
    for (const char* const target :
         {"/",
          "/envoy.service.ratelimit.v2.RateLimitService/ShouldRateLimit",
          "/envoy.service.ratelimit.v3.RateLimitService/Other",
          "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit?x=1"}) {
        head.target = target;
        EXPECT_TRUE(refused()) << target;
    }
    head.target = rate_limit_method;
    head.method = "GET";
    EXPECT_TRUE(refused());
    head.method = "POST";
    fields[0].value = "application/json";
    EXPECT_TRUE(refused());
    fields.clear();
    EXPECT_TRUE(refused());
    fields.push_back({.name = "content-type", .value = "application/grpc+proto"});
    call(question);
    EXPECT_EQ(answer().overall, envoy::code::ok);
}

TEST_F(calls, with_bad_bodies_are_errors)
{
    call(std::string("\1\0\0\0\0", 5));
    EXPECT_EQ(answers.back(), grpc_status::unimplemented);
    call(question + question);
    EXPECT_EQ(answers.back(), grpc_status::internal);
    call(question.substr(0, question.size() - 1));
    EXPECT_EQ(answers.back(), grpc_status::internal);
    call("");
    EXPECT_EQ(answers.back(), grpc_status::internal);
    call(framed("no message"));
    EXPECT_EQ(answers.back(), grpc_status::invalid_argument);
    EXPECT_THAT(detail, HasSubstr("protobuf"));
    call(framed(""));
    EXPECT_EQ(answers.back(), grpc_status::invalid_argument);
    begin();
    rpc.content(std::string("\0\x7f\0\0\0", 5), false);
    EXPECT_EQ(answers.back(), grpc_status::resource_exhausted);
    call(question);
    EXPECT_EQ(answer().statuses.at(0).remaining, 1U) << "nothing was taken";
    EXPECT_EQ(counted(200), 8U);
}

TEST_F(calls, that_are_abandoned_are_counted_as_such)
{
    begin();
    rpc.abandon();
    rpc.abandon();
    EXPECT_TRUE(answers.empty());
    EXPECT_EQ(counted(499), 1U);
    call(question);
    EXPECT_EQ(answer().overall, envoy::code::ok);
}

TEST_F(calls, are_logged_by_the_name_of_their_service)
{
    call(question);
    const std::string line = logged();
    EXPECT_THAT(line, HasSubstr(R"("method":"POST")"));
    EXPECT_THAT(line, HasSubstr(R"("route":"rate_limit_service:edge")"));
    EXPECT_THAT(line, HasSubstr(R"("limit":"per_k")"));
    EXPECT_THAT(line, HasSubstr(R"("outcome":"allowed")"));
    EXPECT_THAT(line, HasSubstr(R"("status":200)"));
}

}  // namespace rate_limit_rpc_test
}  // namespace gateway::client
