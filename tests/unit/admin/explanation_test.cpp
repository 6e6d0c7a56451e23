// Explanations of requests that are refused for one of two reasons: the one that the client gets
// counts.
#include "tests/unit/admin/explained_gate.hpp"
#include "tests/unit/identity/issuer.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

namespace gateway::admin {
namespace explanation_test {

using explained::gate;
using source = policy::key_part::source;

class explanations : public ::testing::Test {
protected:
    std::shared_ptr<policy::policy> policy = std::make_shared<policy::policy>();
    intake::hypothetical_request request{.url = "/a", .headers = {}};

    explanations()
    {
        policy->upstreams = {"app", "spare"};
        policy->token.emplace().fetch_timeout = std::chrono::seconds{1};
        policy->limits.push_back(limit_by("first", source::header, "x-key"));
    }

    static policy::limit_rule limit_by(const char* name, source from, const char* part)
    {
        return {
            .name = name,
            .key = {{.from = from, .name = part, .text = part}},
            .limit = *limit::limit::make(1, std::chrono::hours{1}, 1)};
    }

    policy::route& add_route()
    {
        policy::route& r = policy->routes.emplace_back();
        r.match.path = "/a";
        r.limits = {0};
        return r;
    }

    // Has the limit depend on the content, of which only the beginning counts.
    void read_beginning(policy::route& r)
    {
        policy->limits[0].key.push_back({.from = source::json, .name = "k", .text = "json:k"});
        r.bounds.max_inspected_body = 10;
        request.content = R"({"k":"a"     ,"k":"b"})";
    }

    // The request is explained so, and gets that.
    void expect(const std::string& text)
    {
        policy->finish();
        gate through{policy};
        EXPECT_EQ(through.explain(request).text, text);
        EXPECT_EQ(through.admit(request, 5).text, text);
    }
};

const std::string unclear =
    "400 []  the content is no JSON object that is read in one way, as its later part shows";

TEST_F(explanations, say_why_a_trace_that_ends_here_is_refused)
{
    add_route();
    request.method = "TRACE";
    request.headers = {{"Max-Forwards", "0"}};
    expect("405 []  this server does not reflect requests");
}

TEST_F(explanations, bound_the_body_before_the_content_chooses_the_route)
{
    policy::route& r = add_route();
    r.match.json = {{.path = "k", .value = "v"}};
    r.bounds.max_body_bytes = 5;
    add_route();
    request.content = R"({"k":"other"})";
    expect("413 []  the body is larger than this server accepts");
}

class explanations_without_keys : public explanations {
protected:
    explanations_without_keys()
    {
        policy->limits.push_back(limit_by("second", source::jwt, "sub"));
        add_route().limits = {0, 1};
        const std::string token = identity::issuers()[0].token(R"({"sub":"alice"})");
        request.headers = {{"Authorization", "Bearer " + token}};
    }
};

TEST_F(explanations_without_keys, name_the_limit_that_needs_them_and_when_to_come_again)
{
    request.headers.emplace_back("X-Key", "k");
    expect("503 [second] 1 the keys that verify tokens have not been fetched yet");
}

TEST_F(explanations_without_keys, have_limits_refuse_first_that_need_none)
{
    expect("400 [first]  x-key, which identifies the client, is missing");
}

TEST_F(explanations, have_limits_refuse_before_the_rest_of_the_content)
{
    read_beginning(add_route());
    expect("400 [first]  x-key, which identifies the client, is missing");
}

TEST_F(explanations, look_at_the_rest_of_the_content_of_requests_that_go_on)
{
    read_beginning(add_route());
    request.headers = {{"X-Key", "k"}};
    expect(unclear);
}

TEST_F(explanations, look_at_the_rest_of_the_content_for_another_upstream_too)
{
    policy::route& r = add_route();
    r.rejection.emplace().upstream = 1;
    read_beginning(r);
    request.headers = {{"X-Key", "k"}};
    policy->limits[0].cost.standard = 2;
    expect(unclear);
}

TEST_F(explanations, pass_over_the_rest_of_the_content_where_the_route_answers)
{
    policy::route& r = add_route();
    r.upstream = policy::no_upstream;
    r.shape.answer.emplace();
    read_beginning(r);
    request.headers = {{"X-Key", "k"}};
    expect("allowed");
}

// The first limit is in a shared store, whose answer the test gives.
class explanations_of_shared_limits : public explanations {
protected:
    const limits::looked_at full{.decision = limit::decision{.allowed = true}};
    const limits::looked_at empty{.decision = limit::decision{.allowed = false}};
    const limits::looked_at down{.failed = "down"};

    explanations_of_shared_limits()
    {
        policy->stores = {"shared"};
        policy->limits[0].store = 0;
        policy->limits[0].on_store_failure = policy::failure_policy::closed;
        request.headers = {{"X-Key", "k"}};
    }

    int status_with(const limits::looked_at& seen)
    {
        policy->finish();
        std::string complaint;
        const limits::explanation e = limits::explain(policy, {}, request, complaint);
        EXPECT_EQ(complaint, "");
        const std::vector<limits::looked_at> looks(std::min<std::size_t>(e.asked, 1), seen);
        const boost::json::value json = as_json(e, looks);
        const boost::json::value* const status =
            json.at("verdict").as_object().if_contains("status");
        return status == nullptr ? 0 : status->to_number<int>();
    }

    void limit_by_token()
    {
        policy->limits.push_back(limit_by("second", source::jwt, "sub"));
        policy->token->fetch_timeout = base::duration{0};
        add_route().limits = {0, 1};
    }
};

TEST_F(explanations_of_shared_limits, refuse_for_a_missing_token_before_the_store_answers)
{
    limit_by_token();
    EXPECT_EQ(status_with(full), 400);
    EXPECT_EQ(status_with(empty), 400);
    EXPECT_EQ(status_with(down), 400);
}

TEST_F(explanations_of_shared_limits, refuse_for_a_forged_token_after_the_store_has_answered)
{
    limit_by_token();
    const std::string token = identity::issuers()[0].token(R"({"sub":"alice"})");
    request.headers.emplace_back("Authorization", "Bearer " + token);
    EXPECT_EQ(status_with(full), 400);
    EXPECT_EQ(status_with(empty), 429);
    EXPECT_EQ(status_with(down), 503);
}

TEST_F(explanations_of_shared_limits, refuse_unclear_content_before_the_store_answers)
{
    policy::route& r = add_route();
    r.upstream = policy::no_upstream;
    r.shape.answer.emplace();
    read_beginning(r);
    EXPECT_EQ(status_with(full), 400);
    EXPECT_EQ(status_with(empty), 400);
    EXPECT_EQ(status_with(down), 400);
}

}  // namespace explanation_test
}  // namespace gateway::admin
