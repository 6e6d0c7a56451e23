// A request whose carrier is no HTTP/1 connection: it hands over content without any framing, as a
// stream of HTTP/2 would. Whatever happens after whatever step, the request ends once.
#include "gateway/client/requests/request_state.hpp"

#include "tests/unit/client/request_stream.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <vector>

namespace gateway::client {
namespace request_state_test {

using namespace testing;

TEST(request_state, carries_content_both_ways_and_counts_it)
{
    stream s;
    s.begin("POST", chunks);
    ASSERT_TRUE(s.request.accepts_content());
    s.request.content("hello", false);
    EXPECT_EQ(s.request.waits_for(), timeout::body);
    s.request.content(" world", true);
    EXPECT_EQ(s.request.waits_for(), timeout::response);
    EXPECT_TRUE(s.sent.ends_with("\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"));
    s.upstream_says(ok);
    EXPECT_EQ(s.received, "ok");
    EXPECT_EQ(s.over, ending::done);
    EXPECT_EQ(s.counted->status, 200);
    EXPECT_EQ(s.counted->request_bytes, 11U);
    EXPECT_EQ(s.counted->response_bytes, 2U);
    EXPECT_EQ(s.counted->error, "");
}

TEST(request_state, goes_to_the_other_upstream_with_the_limit_that_it_is_over)
{
    stream at_once;
    at_once.decision.over_limit = "few";
    at_once.begin("GET");
    EXPECT_TRUE(at_once.sent.ends_with("\r\nX-Over-Limit: few\r\n\r\n")) << at_once.sent;
    EXPECT_NE(at_once.sent.find("\r\nHost: u\r\n"), std::string::npos) << at_once.sent;

    stream late;
    late.decision.next = limits::admission::action::wait;
    late.over_limit = http::forward_options{.default_host = "other"};
    late.begin("GET");
    EXPECT_EQ(late.sent, "");
    late.request.admitted(at_once.decision);
    EXPECT_TRUE(late.sent.ends_with("\r\nX-Over-Limit: few\r\n\r\n")) << late.sent;
    EXPECT_NE(late.sent.find("\r\nHost: other\r\n"), std::string::npos) << late.sent;
    late.upstream_says(ok);
    EXPECT_EQ(late.over, ending::done);

    stream allowed;
    allowed.decision = late.decision;
    allowed.over_limit = late.over_limit;
    allowed.begin("GET");
    allowed.request.admitted({});
    EXPECT_NE(allowed.sent.find("\r\nHost: u\r\n"), std::string::npos) << allowed.sent;
    EXPECT_EQ(allowed.sent.find("X-Over-Limit"), std::string::npos) << allowed.sent;
}

TEST(request_state, carries_trailers_both_ways)
{
    stream s;
    s.begin("POST", chunks);
    s.request.content("hello", true, "X-A: 1\r\nX-Hidden: 2\r\nHost: h\r\n");
    EXPECT_TRUE(s.sent.ends_with("\r\n\r\n5\r\nhello\r\n0\r\nX-A: 1\r\n\r\n")) << s.sent;
    s.upstream_says(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
        "X-A:1\r\nX-Hidden: 2\r\nAge: 3\r\ngrpc-status: 0\r\n\r\n"
    );
    EXPECT_EQ(s.trailers, "X-A: 1\r\ngrpc-status: 0\r\n");
    EXPECT_EQ(s.over, ending::done);
}

TEST(request_state, has_timeouts_of_its_own)
{
    stream s;
    s.decision.next = limits::admission::action::wait;
    s.lease_says = proxy::exchange_port::lease_progress::pending;
    s.begin("POST", chunks);
    EXPECT_EQ(s.request.waits_for(), timeout::none);  // the decision has its own
    s.request.expired();
    s.request.admitted({});
    EXPECT_EQ(s.request.waits_for(), timeout::none);  // the pool has its own
    s.connected = true;
    s.request.leased();
    EXPECT_EQ(s.request.waits_for(), timeout::body);
    s.request.expired();
    EXPECT_EQ(s.status, 408);
    EXPECT_EQ(s.over, ending::done);
}

TEST(request_state, blames_the_upstream_when_that_does_not_take_the_content)
{
    stream s;
    s.begin("POST", chunks);
    s.upstream_waits = true;
    EXPECT_FALSE(s.request.wants_content());
    s.request.expired();
    EXPECT_EQ(s.status, 504);
    EXPECT_EQ(s.counted->bound, "http.body_timeout");
}

TEST(request_state, out_of_time_is_504_unless_a_response_has_begun)
{
    stream waits;
    waits.decision.next = limits::admission::action::wait;
    waits.begin("GET");
    waits.request.out_of_time(false);
    EXPECT_EQ(waits.status, 504);
    EXPECT_EQ(waits.over, ending::done);

    stream sends;
    sends.begin("POST", chunks);
    sends.request.content("half", false);
    sends.request.out_of_time(true);  // it has not been sent whole, so nobody has failed
    EXPECT_EQ(sends.status, 504);
    EXPECT_FALSE(sends.failure);

    stream reads;
    reads.begin("GET");
    reads.upstream_says(ok.substr(0, ok.size() - 1));
    reads.request.out_of_time(true);
    EXPECT_EQ(reads.status, 200);
    EXPECT_EQ(reads.over, ending::cut);
    EXPECT_FALSE(reads.failure);
}

TEST(request_state, out_of_time_fails_the_upstream_if_it_was_silent_for_long)
{
    for (const bool at_fault : {false, true}) {
        stream s;
        s.begin("GET");
        s.request.out_of_time(at_fault);
        EXPECT_EQ(s.status, 504);
        EXPECT_EQ(s.over, ending::done);
        EXPECT_EQ(s.failure == proxy::failure::response_timeout, at_fault);
        EXPECT_EQ(s.counted->bound, "routes.timeout") << "not the upstream's own";
    }
}

TEST(request_state, passing_its_clients_deadline_is_nobodys_failure)
{
    for (const bool begun : {false, true}) {
        stream s;
        s.calls = true;
        s.begin("POST", chunks);
        s.request.content({}, true);
        s.upstream_says(begun ? ok.substr(0, ok.size() - 1) : "");
        s.request.deadline_passed();
        EXPECT_EQ(s.status, begun ? 200 : 504);
        EXPECT_EQ(s.over, begun ? ending::cut : ending::done);
        EXPECT_EQ(s.counted->grpc, http::grpc_status::deadline_exceeded);
        EXPECT_TRUE(s.counted->given_up);
        EXPECT_TRUE(begun || s.counted->intended);
        EXPECT_FALSE(s.failure);
    }
    stream waits;
    waits.decision.next = limits::admission::action::wait;
    waits.begin("POST");
    waits.request.deadline_passed();
    EXPECT_EQ(waits.over, ending::done);
    stream none;
    none.request.deadline_passed();
    EXPECT_EQ(none.status, 0);
}

TEST(request_state, answers_a_call_of_grpc_with_a_code)
{
    const auto answered = [](const limits::admission& a) {
        stream s;
        s.calls = true;
        s.decision = a;
        s.begin("POST", chunks);
        EXPECT_EQ(s.status, a.status) << "as it is counted";
        EXPECT_EQ(s.counted->status, a.status);
        EXPECT_EQ(s.counted->grpc, s.answered);
        return s.answered;
    };
    EXPECT_EQ(answered(limits::refusal(429, "d")), http::grpc_status::resource_exhausted);
    EXPECT_EQ(answered(limits::refusal(404, "d")), http::grpc_status::unimplemented);
    EXPECT_FALSE(answered(limits::refusal(200, "d")));
    limits::admission of_route = limits::refusal(503, "d");
    of_route.stays_http = true;
    EXPECT_FALSE(answered(of_route));

    stream refused;
    refused.request.begin_refused(431, "d", {}, true);
    EXPECT_EQ(refused.answered, http::grpc_status::resource_exhausted);
    stream other;
    other.decision = limits::refusal(429, "d");
    other.begin("POST", chunks);
    EXPECT_FALSE(other.answered);
    EXPECT_FALSE(other.counted->grpc);
}

TEST(request_state, answers_a_call_of_grpc_for_its_upstream)
{
    const auto answered = [](const std::function<void(stream&)>& fails) {
        stream s;
        s.calls = true;
        s.begin("POST", chunks);
        fails(s);
        EXPECT_EQ(s.over, ending::done);
        return s.answered;
    };
    using http::grpc_status;
    EXPECT_EQ(
        answered([](stream& s) { s.request.upstream_closed(true); }), grpc_status::unavailable
    );
    EXPECT_EQ(answered([](stream& s) { s.upstream_says("?"); }), grpc_status::unavailable);
    EXPECT_EQ(answered([](stream& s) { s.request.expired(); }), grpc_status::deadline_exceeded);
    EXPECT_EQ(
        answered([](stream& s) {
            s.request.content({}, true);
            s.request.expired();
        }),
        grpc_status::deadline_exceeded
    );
    for (const bool at_fault : {false, true}) {
        EXPECT_EQ(
            answered([at_fault](stream& s) {
                s.request.content({}, true);
                s.request.out_of_time(at_fault);
            }),
            grpc_status::deadline_exceeded
        );
    }
    stream unreachable;
    unreachable.calls = true;
    unreachable.lease_says = proxy::exchange_port::lease_progress::pending;
    unreachable.begin("POST", chunks);
    unreachable.request.lease_failed(proxy::failure::connect_timeout);
    EXPECT_EQ(unreachable.status, 504);
    EXPECT_EQ(unreachable.answered, grpc_status::unavailable) << "it may be repeated";
}

TEST(request_state, reports_the_trailers_and_how_a_response_broke_off)
{
    const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream whole;
    whole.begin("POST", chunks);
    whole.request.content({}, true);
    whole.upstream_says(head + "0\r\ngrpc-status: 7\r\n\r\n");
    EXPECT_EQ(whole.trailers, "grpc-status: 7\r\n");
    EXPECT_FALSE(whole.counted->grpc || whole.counted->given_up);

    stream cut;
    cut.begin("POST", chunks);
    cut.upstream_says(head);
    cut.request.upstream_closed(false);
    EXPECT_EQ(cut.over, ending::cut);
    EXPECT_EQ(cut.counted->grpc, http::grpc_status::unknown);
    EXPECT_FALSE(cut.counted->given_up);

    stream left;
    left.begin("POST", chunks);
    left.upstream_says(head);
    left.request.client_closed(false);
    EXPECT_EQ(left.counted->grpc, http::grpc_status::cancelled);
    EXPECT_TRUE(left.counted->given_up);
}

TEST(request_state, refuses_content_that_is_too_large)
{
    stream s;
    s.bounds.max_body_bytes = 4;
    s.begin("POST", chunks);
    s.request.content("four", false);
    s.request.content("!", true);
    EXPECT_EQ(s.status, 413);
    EXPECT_FALSE(s.sent.ends_with("!"));

    stream late;
    late.bounds.max_body_bytes = 4;
    late.begin("POST", chunks);
    late.upstream_says(ok.substr(0, ok.size() - 1));
    late.request.content("fives", true);
    EXPECT_EQ(late.status, 200);
    EXPECT_EQ(late.over, ending::cut);
}

TEST(request_state, is_a_tunnel_once_a_websocket_is_granted)
{
    stream s;
    s.begin("GET", {}, true);
    s.upstream_says(grant);
    ASSERT_TRUE(s.request.in_tunnel());
    EXPECT_EQ(s.received, "frame");
    EXPECT_EQ(s.request.waits_for(), timeout::tunnel);
    s.request.content("to the upstream", false);
    EXPECT_TRUE(s.sent.ends_with("to the upstream"));
    s.request.client_closed(true);
    EXPECT_TRUE(s.upstream_ended && !s.over);
    s.request.upstream_closed(true);
    EXPECT_EQ(s.over, ending::closed);
    EXPECT_TRUE(s.counted->tunnelled);
}

// The server's place stays taken while it may be at work on the request.
TEST(request_state, abandons_an_exchange_whose_response_has_not_begun)
{
    using proxy::abandon_until;
    const auto left = [](stream& s) { s.request.client_closed(false); };
    const auto half_sent = [](stream& s) {
        s.begin("POST", chunks);
        s.request.content("half", false);
    };
    const auto sent = [](stream& s) { s.begin("GET"); };
    const auto answered = [](stream& s) {
        s.begin("GET");
        s.upstream_says(ok.substr(0, ok.size() - 1));
    };

    struct end {
        std::function<void(stream&)> before;
        std::function<void(stream&)> happens;
        std::optional<abandon_until> closes;
        std::optional<abandon_until> finishes;
    };

    const std::vector<end> all{
        {half_sent, left, abandon_until::answered, abandon_until::answered},
        {sent, left, abandon_until::answered, abandon_until::finished},
        {answered, left, {}, abandon_until::finished},
        // The gateway has answered in the upstream's stead.
        {half_sent,
         [](stream& s) { s.request.refuse(400, "malformed"); },
         abandon_until::answered,
         abandon_until::answered},
        {half_sent,
         [](stream& s) { s.request.expired(); },  // 408
         abandon_until::answered,
         abandon_until::answered},
        {sent,
         [](stream& s) { s.request.out_of_time(false); },
         abandon_until::answered,
         abandon_until::answered},
        {sent,
         [](stream& s) { s.request.out_of_time(true); },
         abandon_until::answered,
         abandon_until::answered},
        {sent,
         [](stream& s) { s.request.deadline_passed(); },
         abandon_until::answered,
         abandon_until::finished},
        {half_sent,
         [](stream& s) {
             s.upstream_waits = true;  // 504: it does not take the content
             s.request.expired();
         },
         abandon_until::answered,
         abandon_until::answered},
        {answered, [](stream& s) { s.request.out_of_time(true); }, {}, {}},
        {answered, [](stream& s) { s.request.expired(); }, {}, {}},
        // It has had response_timeout.
        {sent, [](stream& s) { s.request.expired(); }, {}, {}},
        {sent, [](stream& s) { s.request.upstream_closed(false); }, {}, {}},
        {sent, [](stream& s) { s.request.abort(); }, {}, {}},
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (const bool finishes : {false, true}) {
            SCOPED_TRACE(std::to_string(i) + (finishes ? " finish" : " close"));
            stream s;
            s.finishes = finishes;
            all[i].before(s);
            all[i].happens(s);
            EXPECT_TRUE(s.over && s.counted && !s.connected);
            EXPECT_EQ(s.abandoned, finishes ? all[i].finishes : all[i].closes);
        }
    }
}

TEST(request_state, has_nothing_to_abandon_before_a_connection_nor_in_a_tunnel)
{
    for (const bool finishes : {false, true}) {
        stream waits;
        waits.finishes = finishes;
        waits.lease_says = proxy::exchange_port::lease_progress::pending;
        waits.begin("GET");
        waits.request.client_closed(true);
        EXPECT_TRUE(waits.over && !waits.abandoned);

        stream undecided;
        undecided.decision.next = limits::admission::action::wait;
        undecided.begin("GET");
        undecided.request.client_closed(true);
        EXPECT_TRUE(undecided.over && !undecided.abandoned);

        stream tunnel;
        tunnel.begin("GET", {}, true);
        tunnel.upstream_says(grant);
        tunnel.request.client_closed(false);
        EXPECT_TRUE(tunnel.over && !tunnel.abandoned && !tunnel.connected);
    }
}

struct script {
    const char* name;
    std::vector<std::function<void(stream&)>> steps;
};

const std::vector<script> scripts{
    {"admitted later",
     {[](stream& s) {
          s.decision.next = limits::admission::action::wait;
          s.lease_says = proxy::exchange_port::lease_progress::pending;
          s.begin("PUT", chunks);
      },
      [](stream& s) { s.request.admitted({}); },
      [](stream& s) {
          s.connected = true;
          s.request.leased();
      },
      [](stream& s) { s.request.content("abc", false); },
      [](stream& s) { s.upstream_says("HTTP/1.1 200 OK\r\nContent-"); },
      [](stream& s) { s.upstream_says("Length: 2\r\n\r\no"); }}},
    {"tunnel",
     {[](stream& s) { s.begin("GET", {}, true); },
      [](stream& s) { s.upstream_says(grant); },
      [](stream& s) { s.request.content("x", false); }}},
};

const std::array<std::function<void(stream&)>, 8> ends{
    [](stream& s) {
        s.request.out_of_time(true);
        if (s.request.in_tunnel()) {
            s.request.abort();
        }
    },
    [](stream& s) { s.request.client_closed(false); },
    [](stream& s) { s.request.abort(); },
    [](stream& s) { s.connected ? s.request.upstream_closed(false) : s.request.abort(); },
    [](stream& s) {
        s.request.expired();
        if (!s.over) {
            s.request.abort();
        }
    },
    [](stream& s) { s.connected ? s.upstream_says(std::string(1, '\0')) : s.request.abort(); },
    [](stream& s) {
        s.request.client_closed(true);
        if (!s.over) {
            s.request.upstream_closed(true);
        }
    },
    [](stream& s) {
        s.request.deadline_passed();  // which a tunnel has not
        if (!s.over) {
            s.request.abort();
        }
    },
};

TEST(request_state, ends_once_whatever_happens_after_whatever_step)
{
    for (const script& played : scripts) {
        for (std::size_t steps = 1; steps <= played.steps.size(); ++steps) {
            for (std::size_t e = 0; e < ends.size(); ++e) {
                SCOPED_TRACE(
                    std::string(played.name) + ", " + std::to_string(steps) + " steps, then end " +
                    std::to_string(e)
                );
                stream s;
                for (std::size_t i = 0; i < steps; ++i) {
                    played.steps[i](s);
                }
                ASSERT_FALSE(s.over);
                ends[e](s);
                if (!s.over && s.request.in_tunnel()) {  // bytes are no end of a tunnel
                    s.request.abort();
                }
                EXPECT_TRUE(s.over && s.counted && !s.connected);
            }
        }
    }
}

}  // namespace request_state_test
}  // namespace gateway::client
