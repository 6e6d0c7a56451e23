// An exchange whose client leaves at each moment: what becomes of its connection, and when.
#include "gateway/proxy/abandoned_state.hpp"

#include "gateway/proxy/exchange_state.hpp"

#include <gmock/gmock.h>

namespace gateway::proxy {
namespace abandoned_state_test {

using ::testing::ElementsAre;
using disposition = exchange_port::disposition;

class left_upstream final : public exchange_port, public reply_port, public exchange_owner {
public:
    exchange_state exchange{*this, *this, *this};
    std::optional<abandoned_state> rest;
    bool finishes = false;
    bool shut = false;
    std::vector<disposition> released;
    std::vector<int> told;  // statuses
    std::optional<failure> broken;
    std::size_t content = 0;  // that the client got

    explicit left_upstream(bool finishes_without_client) : finishes(finishes_without_client) {}

    void request(std::string_view method, http::framing body = {}, bool websocket = false)
    {
        http::request_head head;
        head.method = method;
        head.body = body;
        head.websocket = websocket;
        exchange.prepare(head) = "head";
        exchange.start();
    }

    void receive(std::string bytes)
    {
        rest ? rest->upstream_bytes(bytes) : exchange.upstream_bytes(bytes);
    }

    void closed(bool orderly)
    {
        rest ? rest->upstream_closed(orderly) : exchange.upstream_closed(orderly);
    }

    // The connection was given back, once.
    bool over() const { return !released.empty(); }

    lease_progress lease(bool fresh) override
    {
        EXPECT_FALSE(fresh) << "an abandoned exchange is not tried again";
        return lease_progress::ready;
    }

    bool another_lease_may_help() const override { return true; }

    failure lease_failure() const override { return failure::connect; }

    void begin_retry(std::string&) override { FAIL() << "it is not tried again"; }

    void send_head(std::string_view, const http::framing&) override { EXPECT_FALSE(shut || rest); }

    void send_content(std::string_view, bool, std::string_view) override
    {
        EXPECT_FALSE(shut || rest);
    }

    void send_bytes(std::string_view) override { EXPECT_FALSE(shut || rest); }

    bool upstream_blocked() const override { return false; }

    bool hides_from_upstream(std::string_view) const override { return false; }

    bool hides_from_client(std::string_view) const override { return false; }

    bool finishes_without_client() const override { return finishes; }

    void abandon(answer_state&& answer, abandon_until until) override
    {
        rest.emplace(*this, std::move(answer), until);
        rest->start();
    }

    void end_sending_upstream() override { shut = true; }

    void release(disposition how) override
    {
        EXPECT_TRUE(released.empty());
        released.push_back(how);
        EXPECT_TRUE(!rest || rest->over());
    }

    void responded(http::response_head& head) override { told.push_back(head.status); }

    void interim_responded(http::response_head&) override {}

    void failed(failure why, bool) override
    {
        EXPECT_TRUE(over() || rest);
        broken = why;
    }

    http::response_head& response_head_storage() override { return head_; }

    const http::options& limits() const override { return bounds_; }

    const upstream_options& upstream() const override { return options_; }

    void interim_response(const http::response_head&) override { EXPECT_FALSE(rest); }

    void response(const http::response_head&) override { EXPECT_FALSE(rest); }

    void response_content(std::string_view bytes) override
    {
        EXPECT_FALSE(rest);
        content += bytes.size();
    }

    void response_end(std::string_view) override { EXPECT_FALSE(rest); }

    void exchange_done(std::string_view) override { EXPECT_FALSE(rest); }

    void switched(const http::response_head&, std::string_view) override { EXPECT_FALSE(rest); }

    void exchange_failed(failure) override {}

private:
    http::response_head head_;
    http::options bounds_;
    upstream_options options_;
};

constexpr http::framing unsent_chunks{http::framing::kind::chunked, 0};
const std::string answer_head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
const std::string early_hints = "HTTP/1.1 103 Early Hints\r\n\r\n";
const std::string hinted_answer = early_hints + answer_head + "hello";
const std::size_t headed = early_hints.size() + answer_head.size();

TEST(abandoned_state, awaits_the_head_of_the_response_if_it_had_not_come)
{
    for (std::size_t at = 0; at < hinted_answer.size(); ++at) {
        SCOPED_TRACE(at);
        left_upstream u(false);
        u.request("GET");
        u.receive(hinted_answer.substr(0, at));
        u.exchange.client_left();
        EXPECT_FALSE(u.exchange.active());
        EXPECT_EQ(u.over(), at >= headed);
        EXPECT_EQ(u.shut, at < headed) << "the server is told that nobody waits";
        for (std::size_t next = at; next < hinted_answer.size() && !u.over(); ++next) {
            EXPECT_LT(next, headed);
            u.receive(hinted_answer.substr(next, 1));
        }
        EXPECT_THAT(u.released, ElementsAre(disposition::close));
        EXPECT_FALSE(u.broken);
    }
}

TEST(abandoned_state, reads_the_whole_response_if_it_is_to_finish)
{
    for (std::size_t at = 0; at < hinted_answer.size(); ++at) {
        SCOPED_TRACE(at);
        left_upstream u(true);
        u.request("GET");
        u.receive(hinted_answer.substr(0, at));
        u.exchange.client_left();
        EXPECT_FALSE(u.exchange.active() || u.over() || u.shut);
        for (std::size_t next = at; next < hinted_answer.size(); ++next) {
            EXPECT_FALSE(u.over());
            u.receive(hinted_answer.substr(next, 1));
        }
        EXPECT_THAT(u.released, ElementsAre(disposition::keep));
        EXPECT_THAT(u.told, ElementsAre(200));
        EXPECT_EQ(u.content, at > headed ? at - headed : 0);
        EXPECT_FALSE(u.broken);
    }
}

TEST(abandoned_state, cannot_finish_a_request_that_is_not_whole)
{
    left_upstream u(true);
    u.request("POST", unsent_chunks);
    u.exchange.request_content("half", false);
    u.exchange.client_left();
    EXPECT_TRUE(u.shut && !u.over());
    u.receive(hinted_answer);
    EXPECT_THAT(u.released, ElementsAre(disposition::close));

    left_upstream answered(true);  // early
    answered.request("POST", unsent_chunks);
    answered.receive(answer_head);
    answered.exchange.client_left();
    EXPECT_FALSE(answered.rest);
    EXPECT_THAT(answered.released, ElementsAre(disposition::close));
}

TEST(abandoned_state, is_over_when_the_server_ends_its_side)
{
    for (const bool orderly : {true, false}) {
        left_upstream told(false);
        told.request("GET");
        told.exchange.client_left();
        told.closed(orderly);
        EXPECT_THAT(told.released, ElementsAre(disposition::close));
        EXPECT_FALSE(told.broken) << "it was told that nobody waits";

        left_upstream untold(true);
        untold.request("GET");
        untold.exchange.client_left();
        untold.closed(orderly);
        EXPECT_THAT(untold.released, ElementsAre(disposition::close));
        EXPECT_EQ(untold.broken, failure::reset);

        left_upstream endless(true);
        endless.request("GET");
        endless.receive("HTTP/1.1 200 OK\r\n\r\nuntil the end");
        endless.exchange.client_left();
        endless.closed(orderly);
        EXPECT_THAT(endless.released, ElementsAre(disposition::close));
        EXPECT_EQ(endless.broken.has_value(), !orderly);
    }
}

TEST(abandoned_state, ends_when_its_time_is_up)
{
    for (const bool finishes : {false, true}) {
        for (const bool begun : {false, true}) {
            left_upstream u(finishes);
            u.request("GET");
            u.exchange.client_left();
            ASSERT_TRUE(u.rest);
            if (begun && finishes) {
                u.receive(answer_head);
            }
            u.rest->expired();
            EXPECT_THAT(u.released, ElementsAre(disposition::close));
            EXPECT_EQ(u.broken == failure::response_timeout, finishes && !begun);
        }
        left_upstream u(finishes);
        u.request("GET");
        u.exchange.client_left();
        u.rest->abort();
        EXPECT_THAT(u.released, ElementsAre(disposition::close));
        EXPECT_FALSE(u.broken);
    }
}

TEST(abandoned_state, never_becomes_a_tunnel)
{
    for (const bool finishes : {false, true}) {
        left_upstream u(finishes);
        u.request("GET", {}, true);
        u.exchange.client_left();
        u.receive("HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nframe");
        EXPECT_THAT(u.released, ElementsAre(disposition::close));
        EXPECT_FALSE(u.broken);
    }
}

TEST(abandoned_state, fails_by_what_is_no_response)
{
    for (const bool finishes : {false, true}) {
        left_upstream u(finishes);
        u.request("GET");
        u.exchange.client_left();
        u.receive("nonsense\r\n\r\n");
        EXPECT_THAT(u.released, ElementsAre(disposition::close));
        EXPECT_EQ(u.broken == failure::bad_response, finishes);
    }
}

TEST(abandoned_state, does_not_keep_a_connection_that_cannot_be_trusted)
{
    left_upstream surplus(true);
    surplus.request("GET");
    surplus.exchange.client_left();
    surplus.receive(hinted_answer + "!");
    EXPECT_THAT(surplus.released, ElementsAre(disposition::close));

    left_upstream to_head(true);
    to_head.request("HEAD");
    to_head.exchange.client_left();
    to_head.receive(answer_head);
    EXPECT_THAT(to_head.released, ElementsAre(disposition::reset));
}

// What the gateway answers itself leaves the server at work as well, whatever the route says.
TEST(abandoned_state, follows_an_answer_of_the_gateway)
{
    for (const bool late : {false, true}) {
        left_upstream u(true);
        u.request("GET");
        if (late) {
            u.exchange.out_of_time();
            u.broken.reset();
        } else {
            u.exchange.cancel();
        }
        EXPECT_TRUE(u.rest && u.shut && !u.over());
        u.receive(hinted_answer);
        EXPECT_TRUE(u.over() && !u.broken);
    }
}

TEST(abandoned_state, has_the_trailers_of_a_response_that_has_ended)
{
    left_upstream u(true);
    u.request("GET");
    u.exchange.client_left();
    u.receive("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-A: 1\r\n");
    EXPECT_FALSE(u.rest->trailers());
    u.receive("grpc-status: 0\r\n\r\n");
    EXPECT_EQ(u.rest->trailers(), "X-A: 1\r\ngrpc-status: 0\r\n");

    left_upstream until_close(true);
    until_close.request("GET");
    until_close.exchange.client_left();
    until_close.receive("HTTP/1.1 200 OK\r\n\r\nok");
    until_close.closed(true);
    EXPECT_EQ(until_close.rest->trailers(), "");

    left_upstream cut(true);
    cut.request("GET");
    cut.exchange.client_left();
    cut.receive(answer_head);
    cut.closed(true);
    EXPECT_TRUE(cut.over());
    EXPECT_FALSE(cut.rest->trailers());
}

}  // namespace abandoned_state_test
}  // namespace gateway::proxy
