#include "gateway/client/http1/http1_state.hpp"

#include "tests/unit/client/http1_fixture.hpp"
#include "tests/unit/client/plain_messages.hpp"

#include <gmock/gmock.h>

namespace gateway::client {
namespace http1_state_test {

using phase = http1_state::phase;
using request_phase = request_state::phase;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::lease_plan;
using ::testing::Not;
using testing::recording_port;
using testing::refusal;
using ::testing::StartsWith;

constexpr std::string_view get = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
constexpr std::string_view post = "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n";
constexpr std::string_view post_chunked =
    "POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr std::string_view ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

limits::admission later()
{
    limits::admission a;
    a.next = limits::admission::action::wait;
    return a;
}

auto always(const limits::admission& a)
{
    return [a](const http::request_head&) { return a; };
}

using http1 = testing::http1_fixture;

TEST_F(http1, carries_one_request_after_another_and_keeps_both_connections)
{
    for (std::size_t i = 1; i <= 3; ++i) {
        port.client(get);
        EXPECT_EQ(request_at(), request_phase::exchanging);
        EXPECT_THAT(port.upstream(), StartsWith("GET /a HTTP/1.1\r\nHost: h\r\n"));
        port.server(ok);
        EXPECT_EQ(at(), phase::idle);
        ASSERT_EQ(port.ends.size(), i);
        EXPECT_EQ(port.ends.back().status, 200);
        EXPECT_EQ(port.ends.back().response_bytes, 2U);
        EXPECT_TRUE(port.leases.back().kept);
    }
    EXPECT_THAT(port.to_client, EndsWith("\r\n\r\nok"));
    EXPECT_THAT(port.to_client, Not(HasSubstr("Connection")));
}

TEST_F(http1, answers_pipelined_requests_in_order_one_at_a_time)
{
    port.client(
        "GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\nGET /3 "
        "HTTP/1.1\r\nHost: h\r\n\r\n"
    );
    EXPECT_THAT(port.targets, ElementsAre("/1"));
    port.server("HTTP/1.1 201 A\r\nContent-Length: 0\r\n\r\n");
    EXPECT_THAT(port.targets, ElementsAre("/1", "/2"));
    port.server("HTTP/1.1 202 B\r\nContent-Length: 0\r\n\r\n");
    port.server("HTTP/1.1 203 C\r\nContent-Length: 0\r\n\r\n");
    const auto got = testing::read_responses(port.to_client, {});
    ASSERT_EQ(got.messages.size(), 3U);
    EXPECT_EQ(got.messages[0].status, 201);
    EXPECT_EQ(got.messages[1].status, 202);
    EXPECT_EQ(got.messages[2].status, 203);
}

TEST_F(http1, gathers_answers_within_bounds_and_begins_none_while_they_wait)
{
    port.decide = always(refusal(429));
    port.block_when_sent = true;
    std::string many;
    while (many.size() < 64 * 1024) {
        many.append(get);
    }
    port.client(many);
    EXPECT_LT(port.to_client.size(), 17 * 1024U);
    while (port.blocked) {
        const std::size_t before = port.to_client.size();
        port.unblock();
        EXPECT_LT(port.to_client.size() - before, 17 * 1024U);
    }
    EXPECT_EQ(port.ends.size(), many.size() / get.size());
}

TEST_F(http1, takes_no_more_bytes_than_its_inbox_is_meant_to_hold)
{
    port.client(get);
    std::string many;
    while (many.size() < 16 * 1024) {
        many.append(get);
    }
    std::size_t taken = 0;
    while (port.http1.wants_client_bytes()) {
        port.client(many);
        taken += many.size();
        ASSERT_LE(taken, port.http_limits.max_pipelined_bytes + many.size());
    }
    EXPECT_GE(taken, port.http_limits.max_pipelined_bytes);
}

TEST_F(http1, holds_to_the_bounds_it_is_told)
{
    port.http_limits.max_pipelined_bytes = 10;
    port.client(get);
    EXPECT_TRUE(port.http1.wants_client_bytes());
    port.client(get);
    EXPECT_FALSE(port.http1.wants_client_bytes());

    recording_port small;
    small.decide = always(refusal(429));
    small.http_limits.max_refused_body_bytes = 3;
    small.http_limits.max_linger_bytes = 5;
    small.client("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n");
    EXPECT_EQ(small.http1.at(), phase::lingering);
    small.client("12345");
    EXPECT_FALSE(small.closed);
    small.client("6");
    EXPECT_TRUE(small.was_reset);
}

TEST_F(http1, begins_no_request_while_the_client_does_not_take_the_last_response)
{
    port.client(std::string(get) + std::string(get));
    port.block_when_sent = true;
    port.server(ok);
    EXPECT_EQ(at(), phase::idle);
    EXPECT_FALSE(port.http1.wants_client_bytes());
    EXPECT_EQ(port.begins, 1U);
    port.block_when_sent = false;
    port.unblock();
    EXPECT_EQ(port.begins, 2U);
    EXPECT_TRUE(port.request.wants_upstream_bytes());
    port.blocked = true;
    EXPECT_FALSE(port.request.wants_upstream_bytes());
}

TEST_F(http1, reads_a_head_that_was_complete_before_the_client_took_the_last_response)
{
    port.decide = always(refusal(429));
    port.client(std::string(get) + "GET /2 HTTP/1.1\r\n");
    EXPECT_EQ(at(), phase::head);
    port.blocked = true;
    port.client("Host: h\r\n\r\n");
    EXPECT_EQ(port.begins, 1U);
    port.unblock();
    EXPECT_EQ(port.begins, 2U);
    EXPECT_EQ(at(), phase::idle);
}

struct closing {
    const char* name;
    std::string request;
    std::string response;
    bool kept;
    std::string said;  // of Connection
};

class close_rules : public http1, public ::testing::WithParamInterface<closing> {};

TEST_P(close_rules, hold)
{
    port.client(GetParam().request);
    port.server(GetParam().response);
    port.server_closes();
    EXPECT_EQ(at() == phase::idle, GetParam().kept);
    if (GetParam().said.empty()) {
        EXPECT_THAT(port.to_client, Not(HasSubstr("Connection: ")));
    } else {
        EXPECT_THAT(port.to_client, HasSubstr("Connection: " + GetParam().said + "\r\n"));
    }
    EXPECT_FALSE(port.was_reset);
    ASSERT_EQ(port.ends.size(), 1U);
    EXPECT_EQ(port.ends[0].error, "");
}

const std::string get_close = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
const std::string get_old = "GET / HTTP/1.0\r\n\r\n";
const std::string get_old_keep = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
const std::string chunked =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";

INSTANTIATE_TEST_SUITE_P(
    all,
    close_rules,
    ::testing::Values(
        closing{"client_wants_it", get_close, std::string(ok), false, "close"},
        closing{"client_wants_it_chunked", get_close, chunked, false, "close"},
        closing{"old_client", get_old, std::string(ok), false, "close"},
        closing{"old_client_that_keeps", get_old_keep, std::string(ok), true, "keep-alive"},
        closing{"old_client_and_no_length", get_old_keep, chunked, false, "close"},
        closing{
            "server_wants_it",
            std::string(get),
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
            true,
            ""},
        closing{
            "old_server",
            std::string(get),
            "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
            true,
            ""},
        closing{"until_close", std::string(get), "HTTP/1.1 200 OK\r\n\r\nok", true, ""},
        closing{"nothing_204", std::string(get), "HTTP/1.1 204 No Content\r\n\r\n", true, ""},
        closing{
            "nothing_304",
            std::string(get),
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
            true,
            ""},
        closing{
            "head",
            "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
            true,
            ""},
        closing{
            "head_chunked",
            "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            true,
            ""}
    ),
    [](const auto& param) { return std::string(param.param.name); }
);

TEST_F(http1, ends_a_body_without_length_with_a_chunk_for_a_client_that_reads_chunks)
{
    port.client(get);
    port.server("HTTP/1.1 200 OK\r\n\r\nabc");
    EXPECT_THAT(port.to_client, EndsWith("\r\n\r\n3\r\nabc\r\n"));
    port.server_closes();
    EXPECT_THAT(port.to_client, EndsWith("0\r\n\r\n"));
    EXPECT_FALSE(port.leases[0].kept);
}

TEST_F(http1, does_not_take_a_reset_for_the_end_of_a_body_without_length)
{
    port.client(get);
    port.server("HTTP/1.1 200 OK\r\n\r\nabc");
    port.server_closes(false);
    EXPECT_THAT(port.to_client, Not(EndsWith("0\r\n\r\n")));
    EXPECT_TRUE(port.was_reset);
    EXPECT_EQ(port.ends[0].error, proxy::detail_for(proxy::failure::reset));
}

TEST_F(http1, passes_interim_responses_on_but_not_to_old_clients)
{
    port.client(get);
    port.server("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
    EXPECT_EQ(port.to_client, "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
    port.server(ok);
    EXPECT_EQ(at(), phase::idle);
    port.to_client.clear();
    port.client(get_old_keep);
    port.server("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n");
    EXPECT_EQ(port.to_client, "");
    port.server(ok);
    EXPECT_THAT(port.to_client, StartsWith("HTTP/1.1 200 OK"));
}

TEST_F(http1, streams_a_body_of_known_length)
{
    port.client(post);
    const std::size_t head = port.upstream().size();
    port.client("he");
    EXPECT_EQ(port.upstream().substr(head), "he");
    EXPECT_EQ(port.http1.waits_for(), timeout::body);
    port.upstream_is_blocked = true;
    EXPECT_FALSE(port.http1.wants_client_bytes());
    port.unblock_upstream();
    port.client("llo");
    EXPECT_EQ(port.upstream().substr(head), "hello");
    EXPECT_EQ(port.http1.waits_for(), timeout::response);
    port.server(ok);
    EXPECT_EQ(port.ends[0].request_bytes, 5U);
}

TEST_F(http1, streams_a_chunked_body_and_drops_its_extensions)
{
    port.client(post_chunked);
    const std::size_t head = port.upstream().size();
    port.client("3;x=y\r\nabc\r\n");
    EXPECT_EQ(port.upstream().substr(head), "3\r\nabc\r\n");
    port.client("2\r\nde\r\n0\r\n\r\n");
    EXPECT_EQ(port.upstream().substr(head), "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    port.server(ok);
    EXPECT_EQ(at(), phase::idle);
    EXPECT_TRUE(port.leases[0].kept);
}

// An upstream that answers while it reads.
TEST_F(http1, keeps_both_connections_after_an_early_response_if_all_is_whole_in_the_end)
{
    for (const std::string_view request : {post, post_chunked}) {
        const bool in_chunks = request == post_chunked;
        port.client(request);
        port.server("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
        port.client(in_chunks ? "2\r\nhe\r\n" : "he");
        port.server("HE");
        port.client(in_chunks ? "3\r\nllo\r\n0\r\n\r\n" : "llo");
        EXPECT_EQ(request_at(), request_phase::exchanging);
        port.server("LL");
        EXPECT_EQ(at(), phase::idle);
        EXPECT_TRUE(port.leases.back().kept);
        EXPECT_EQ(port.ends.back().request_bytes, 5U);
        EXPECT_EQ(port.ends.back().error, "");
    }
    EXPECT_THAT(port.to_client, Not(HasSubstr("Connection:")));
}

TEST_F(http1, reads_away_what_is_left_of_a_body_after_an_early_response)
{
    port.client(post);
    port.client("he");
    port.server(ok);
    EXPECT_EQ(at(), phase::draining);
    EXPECT_FALSE(port.leases[0].kept);
    port.client("llo" + std::string(get));
    EXPECT_EQ(port.leases.size(), 2U);
    port.server(ok);
    EXPECT_EQ(at(), phase::idle);
    EXPECT_THAT(port.to_client, Not(HasSubstr("Connection:")));
}

TEST_F(http1, closes_after_an_early_response_whose_request_has_more_than_will_be_read_away)
{
    const std::string much = std::to_string(port.http_limits.max_refused_body_bytes + 1);
    port.client("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: " + much + "\r\n\r\n");
    port.server(ok);
    EXPECT_EQ(at(), phase::draining);
    port.client(std::string(port.http_limits.max_refused_body_bytes, 'x') + "xx");
    EXPECT_EQ(at(), phase::lingering);
    EXPECT_TRUE(port.shut);
}

// It is told so where it is known.
TEST_F(http1, announces_the_close_after_an_early_response_that_leaves_a_body_unread)
{
    const std::string much = std::to_string(port.http_limits.max_refused_body_bytes + 1);
    const std::string upload = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: ";
    const std::string no = "HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno";

    struct row {
        std::string request;
        std::string response;
        bool closes;
    };

    for (const row& r : std::vector<row>{
             {upload + "5\r\n\r\n", no, false},
             {upload + much + "\r\n\r\n", no, true},
             {upload + "5\r\n\r\n",
              "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
              true},
             {upload + "5\r\nExpect: 100-continue\r\n\r\n", std::string(ok), true},
             {upload + "5\r\nExpect: 100-continue\r\n\r\nh", std::string(ok), false}}) {
        recording_port p;
        p.client(r.request);
        p.server(r.response);
        EXPECT_EQ(p.to_client.find("Connection: close") != std::string::npos, r.closes);
        EXPECT_EQ(p.shut, r.closes);
        p.client_leaves();
        EXPECT_EQ(p.broken, "");
    }
}

TEST_F(http1, lets_the_upstream_answer_an_expectation)
{
    port.client("POST /p HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    EXPECT_THAT(port.upstream(), HasSubstr("Expect: 100-continue"));
    port.server("HTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_EQ(port.to_client, "HTTP/1.1 100 Continue\r\n\r\n");
    port.client("hello");
    port.server(ok);
    EXPECT_EQ(at(), phase::idle);
}

TEST_F(http1, closes_when_it_refuses_an_expectation_because_the_body_may_or_may_not_come)
{
    port.decide = always(refusal(429));
    port.client("POST /p HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    EXPECT_EQ(at(), phase::lingering);
    EXPECT_THAT(port.to_client, HasSubstr("Connection: close\r\n"));
}

TEST_F(http1, reads_a_refused_body_away_and_goes_on)
{
    for (const std::string_view request : {post, post_chunked}) {
        port.decide = always(refusal(429));
        port.client(request);
        EXPECT_EQ(at(), phase::draining);
        EXPECT_EQ(port.ends.back().status, 429);
        port.decide = nullptr;
        port.client(request == post ? "hello" : "5\r\nhello\r\n0\r\n\r\n");
        EXPECT_EQ(at(), phase::idle);
        port.client(get);
        port.server(ok);
    }
    EXPECT_EQ(port.leases.size(), 2U);
    EXPECT_THAT(port.to_client, Not(HasSubstr("Connection: close")));
}

TEST_F(http1, closes_on_a_refused_body_that_is_too_long_to_read_away)
{
    port.decide = always(refusal(429));
    port.client("POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 65537\r\n\r\n");
    EXPECT_EQ(at(), phase::lingering);
    EXPECT_THAT(port.to_client, HasSubstr("Connection: close\r\n"));
    const std::string much(port.http_limits.max_linger_bytes, 'x');
    port.client(much);
    EXPECT_EQ(at(), phase::lingering);
    port.client("x");
    EXPECT_TRUE(port.closed && port.was_reset);
}

TEST_F(http1, gives_up_reading_a_refused_chunked_body_at_its_bound_or_where_it_is_malformed)
{
    port.decide = always(refusal(429));
    port.client(post_chunked);
    port.client("ffffff\r\n");
    port.client(std::string(port.http_limits.max_refused_body_bytes, 'x'));
    EXPECT_EQ(at(), phase::lingering);

    recording_port other;
    other.decide = always(refusal(429));
    other.client(post_chunked);
    other.client("rubbish");
    EXPECT_EQ(other.http1.at(), phase::lingering);
    EXPECT_EQ(other.broken, "");
}

TEST_F(http1, says_413_in_the_middle_of_a_body_and_gives_the_connection_up)
{
    port.http_limits.max_body_bytes = 4;
    port.reports = {{"per_client", &port.nine, {.allowed = true}}};
    port.client(post_chunked);
    port.client("4\r\nabcd\r\n");
    EXPECT_EQ(port.to_client, "");
    port.client("1\r\ne\r\n");
    EXPECT_THAT(port.to_client, StartsWith("HTTP/1.1 413 "));
    EXPECT_THAT(port.to_client, HasSubstr("X-RateLimit-Limit: 9\r\n"));
    EXPECT_EQ(at(), phase::lingering);
    EXPECT_FALSE(port.leases[0].kept);
    EXPECT_EQ(port.ends[0].status, 413);
}

TEST_F(http1, says_400_where_a_chunk_is_malformed_and_resets_if_a_response_has_begun)
{
    port.client(post_chunked);
    port.client("3\r\nabcd");
    EXPECT_THAT(port.to_client, StartsWith("HTTP/1.1 400 "));
    EXPECT_EQ(at(), phase::lingering);

    recording_port other;
    other.client(post_chunked);
    other.server("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab");
    other.client("3\r\nabcd");
    EXPECT_TRUE(other.was_reset);
    EXPECT_EQ(other.ends[0].status, 200);
    EXPECT_EQ(other.broken, "");
}

TEST_F(http1, refuses_a_malformed_head_and_everything_behind_it)
{
    port.client("GET /a HTTP/1.1\r\n\r\n" + std::string(get));
    EXPECT_THAT(port.to_client, StartsWith("HTTP/1.1 400 "));
    EXPECT_EQ(port.begins, 1U);
    EXPECT_EQ(at(), phase::lingering);
    EXPECT_TRUE(port.targets.empty());
}

TEST_F(http1, forgives_a_few_empty_lines_before_a_request)
{
    port.client("\r\n");
    port.client("\r");
    port.client("\n\r\n");
    port.client(get);
    EXPECT_EQ(request_at(), request_phase::exchanging);
    port.server(ok);
    port.client("\r\n\r\n\r\n\r\n\r\n");
    EXPECT_THAT(port.to_client, HasSubstr("HTTP/1.1 400 "));
}

TEST_F(http1, holds_a_head_to_its_bound_however_it_comes)
{
    port.http_limits.max_header_bytes = 64;
    port.client("GET /");
    for (int i = 0; i < 100 && at() == phase::head; ++i) {
        port.client("a");
    }
    EXPECT_THAT(port.to_client, StartsWith("HTTP/1.1 414 "));
}

TEST_F(http1, waits_for_a_decision_and_keeps_what_comes_meanwhile)
{
    port.decide = always(later());
    port.client(post);
    port.client("hel");
    EXPECT_EQ(request_at(), request_phase::admitting);
    EXPECT_TRUE(port.leases.empty());
    port.expire();  // not its business
    EXPECT_EQ(request_at(), request_phase::admitting);
    port.answer_admission({});
    EXPECT_THAT(port.upstream(), EndsWith("\r\n\r\nhel"));
    port.client("lo");
    port.server(ok);
    port.client(post);
    port.client("hello" + std::string(get));
    port.answer_admission(refusal(503));
    EXPECT_THAT(port.targets, ElementsAre("/p", "/p", "/a"));
    EXPECT_EQ(port.ends.back().status, 503);
}

TEST_F(http1, names_the_violated_limits_and_adds_the_lines_to_what_it_says)
{
    port.decide = always(limits::refusal(429, "no", std::chrono::seconds{2}));
    port.reports = {{"per_client", &port.nine, {.allowed = false}}};
    port.client(get);
    EXPECT_THAT(
        port.to_client,
        HasSubstr("\r\nX-RateLimit-Limit: 9\r\nX-RateLimit-Remaining: 0\r\nX-RateLimit-Reset: 0\r\n"
                  "Retry-After: 2\r\n")
    );
    EXPECT_THAT(port.to_client, HasSubstr(R"("violated-policies":["per_client"])"));
    EXPECT_EQ(at(), phase::idle);
    port.decide = nullptr;
    port.to_client.clear();
    port.client(get);
    port.server("HTTP/1.1 200 OK\r\nX-RateLimit-Limit: 1\r\nContent-Length: 0\r\n\r\n");
    EXPECT_THAT(port.to_client, HasSubstr("X-RateLimit-Limit: 9\r\n"));
    EXPECT_THAT(port.to_client, Not(HasSubstr("X-RateLimit-Limit: 1\r\n")));
}

TEST_F(http1, dates_every_response_and_counts_the_content_of_its_own)
{
    port.client(get);
    port.server("HTTP/1.1 103 x\r\n\r\n");
    port.server(ok);
    EXPECT_EQ(
        port.to_client,
        "HTTP/1.1 103 x\r\n\r\n"
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n\r\nok"
    );
    port.to_client.clear();
    port.client("nonsense\r\n\r\n");
    EXPECT_THAT(port.to_client, HasSubstr("Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n"));
    const auto content = port.to_client.size() - port.to_client.find("\r\n\r\n") - 4;
    EXPECT_EQ(port.ends.back().response_bytes, content);
}

TEST_F(http1, answers_a_head_request_of_its_own_without_a_body)
{
    port.decide = always(refusal(404));
    port.client("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_THAT(port.to_client, EndsWith("\r\n\r\n"));
}

TEST_F(http1, passes_large_content_on_whole)
{
    port.client(get);
    const std::string large(10000, 'x');
    port.server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    port.server("2710\r\n" + large + "\r\n0\r\n\r\n");
    const auto got = testing::read_responses(port.to_client, {});
    ASSERT_EQ(got.messages.size(), 1U);
    EXPECT_EQ(got.messages[0].body, large);
    EXPECT_TRUE(got.messages[0].complete);
}

TEST_F(http1, ends_an_idle_connection_when_its_time_is_up)
{
    port.client(get);
    port.server(ok);
    port.expire();
    EXPECT_TRUE(port.closed && !port.was_reset);
}

TEST_F(http1, says_408_for_a_header_or_a_body_that_does_not_come)
{
    port.client("GET /a HT");
    port.expire();
    EXPECT_THAT(port.to_client, StartsWith("HTTP/1.1 408 "));

    recording_port body;
    body.client(post);
    body.expire();
    EXPECT_THAT(body.to_client, StartsWith("HTTP/1.1 408 "));
    EXPECT_EQ(body.leases[0].kept, false);
    EXPECT_EQ(body.broken, "");
}

TEST_F(http1, says_504_when_the_upstream_takes_too_long)
{
    port.client(get);
    port.expire();
    EXPECT_THAT(port.to_client, StartsWith("HTTP/1.1 504 "));
    EXPECT_EQ(port.ends[0].error, proxy::detail_for(proxy::failure::response_timeout));
    EXPECT_FALSE(port.leases[0].kept);
    port.client(post);
    port.upstream_is_blocked = true;  // it does not take the body
    port.expire();
    EXPECT_EQ(port.ends[1].error, proxy::detail_for(proxy::failure::body_timeout));
    EXPECT_EQ(port.ends[1].status, 504);
}

TEST_F(http1, cuts_a_response_off_that_does_not_go_on)
{
    port.client(get);
    port.server("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab");
    port.expire();
    EXPECT_TRUE(port.was_reset);
    EXPECT_EQ(port.ends[0].error, "the request's or the response's body stopped moving");
}

TEST_F(http1, ends_after_the_present_request_when_it_is_to_drain)
{
    port.client(get);
    port.drain();
    port.server(ok);
    EXPECT_THAT(port.to_client, HasSubstr("Connection: close\r\n"));
    EXPECT_TRUE(port.shut && !port.closed);  // a request that is on its way must not cause a reset
    port.client_leaves();
    EXPECT_TRUE(port.closed && !port.was_reset);
}

TEST_F(http1, serves_a_request_that_was_on_its_way_when_it_is_to_drain)
{
    port.drain();
    port.client(get);
    port.server(ok);
    EXPECT_THAT(port.to_client, HasSubstr("Connection: close\r\n"));
    EXPECT_TRUE(port.shut);
}

TEST_F(http1, says_502_and_goes_on_when_there_is_no_connection_to_be_had)
{
    port.usual_plan = lease_plan::failed;
    port.client(get);
    EXPECT_THAT(port.to_client, StartsWith("HTTP/1.1 502 "));
    EXPECT_EQ(port.ends[0].error, proxy::detail_for(proxy::failure::connect));
    port.usual_plan = lease_plan::pending;
    port.client(post);
    port.client("hel");
    port.lease_breaks(proxy::failure::connect_timeout);
    EXPECT_EQ(port.ends[1].status, 504);
    EXPECT_EQ(at(), phase::draining);
    port.client("lo");
    EXPECT_EQ(at(), phase::idle);
}

}  // namespace http1_state_test
}  // namespace gateway::client
