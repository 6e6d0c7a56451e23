#include "gateway/proxy/exchange_state.hpp"

#include "tests/unit/proxy/framed_text.hpp"

#include <gmock/gmock.h>

namespace gateway::proxy {
namespace exchange_state_test {

using ::testing::ElementsAre;
using disposition = exchange_port::disposition;

class recorder final : public exchange_port, public reply_port, public exchange_owner {
public:
    exchange_state exchange{*this, *this, *this};
    bool reused = false;
    lease_progress result = lease_progress::ready;
    std::vector<bool> fresh;            // of each lease asked for
    std::vector<disposition> released;  // and what became of the connection
    std::vector<std::string> sent;      // per connection
    std::string content;
    std::string trailers;
    std::vector<int> interim;
    int status = 0;
    int told_status = 0;  // to the upstream's side
    bool ended = false;
    bool done = false;
    std::optional<failure> broken;
    bool cut = false;
    http::options bounds;
    upstream_options options;
    bool websocket = false;  // what it asks for
    bool nominates_trailers = false;
    std::optional<std::string> behind_switch;

    void request(std::string_view method, http::framing body = {})
    {
        http::request_head head;
        head.method = method;
        head.body = body;
        head.websocket = websocket;
        head.nominates_trailers = nominates_trailers;
        exchange.prepare(head).append("[").append(method).append("]");
        exchange.start();
    }

    void receive(std::string bytes) { exchange.upstream_bytes(bytes); }

    void receive_next(std::string_view method, std::string bytes)
    {
        told_status = 0;
        content.clear();
        done = ended = false;
        request(method);
        receive(std::move(bytes));
    }

    lease_progress lease(bool fresh_one) override
    {
        EXPECT_EQ(fresh.size(), released.size());
        fresh.push_back(fresh_one);
        sent.emplace_back();
        reused = reused && !fresh_one;
        return result;
    }

    bool another_lease_may_help() const override { return reused; }

    failure lease_failure() const override { return failure::no_address; }

    void begin_retry(std::string& head) override { head.back() = '>'; }

    void send_head(std::string_view head, const http::framing& body) override
    {
        framed_.head(head, body, sent.back());
    }

    void send_content(std::string_view bytes, bool last, std::string_view fields) override
    {
        framed_.content(bytes, last, fields, sent.back());
    }

    void send_bytes(std::string_view bytes) override { sent.back().append(bytes); }

    void release(disposition how) override { released.push_back(how); }

    bool finishes_without_client() const override { return false; }

    // As where nothing is held; abandoned_state_test has the rest.
    void abandon(answer_state&&, abandon_until until) override
    {
        EXPECT_EQ(until, abandon_until::answered);
        released.push_back(disposition::close);
    }

    http::response_head& response_head_storage() override { return head_; }

    const http::options& limits() const override { return bounds; }

    const upstream_options& upstream() const override { return options; }

    void interim_response(const http::response_head& head) override
    {
        interim.push_back(head.status);
    }

    void response(const http::response_head& head) override
    {
        EXPECT_EQ(told_status, head.status);
        status = head.status;
    }

    void response_content(std::string_view bytes) override { content.append(bytes); }

    void response_end(std::string_view lines) override
    {
        trailers = lines;
        ended = true;
    }

    void exchange_done(std::string_view) override
    {
        EXPECT_TRUE(ended && !done && !broken);
        EXPECT_EQ(exchange.status(), status);
        EXPECT_EQ(exchange.response_bytes(), content.size());
        done = true;
    }

    bool upstream_blocked() const override { return false; }

    bool hides_from_upstream(std::string_view name) const override { return name == "X-Hidden"; }

    bool hides_from_client(std::string_view name) const override { return name == "X-Hidden"; }

    void end_sending_upstream() override { ADD_FAILURE() << "no tunnel is here"; }

    void interim_responded(http::response_head&) override {}

    void responded(http::response_head& head) override
    {
        EXPECT_EQ(told_status, 0);
        told_status = head.status;
    }

    void failed(failure, bool) override { EXPECT_EQ(fresh.size(), released.size()); }

    void switched(const http::response_head& head, std::string_view rest) override
    {
        EXPECT_EQ(told_status, head.status);
        status = head.status;
        behind_switch = rest;
    }

    void exchange_failed(failure why) override
    {
        EXPECT_FALSE(broken || ended);
        broken = why;
        cut = exchange.response_begun();
    }

private:
    testing::framed_text framed_;
    http::response_head head_;
};

constexpr http::framing no_body{};
constexpr http::framing of_length{http::framing::kind::length, 5};
constexpr http::framing empty_length{http::framing::kind::length, 0};
constexpr http::framing in_chunks{http::framing::kind::chunked, 0};

const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

TEST(exchange_state, hands_the_connection_over_when_the_websocket_it_asked_for_is_granted)
{
    const std::string grant = "HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
    for (std::size_t at = 1; at <= grant.size(); ++at) {
        recorder r;
        r.websocket = true;
        r.request("GET");
        r.receive(grant.substr(0, at));
        r.receive(grant.substr(at) + "frame");
        EXPECT_EQ(r.status, 101);
        EXPECT_EQ(r.behind_switch, at < grant.size() ? "frame" : "");
        EXPECT_FALSE(r.exchange.active());
        r.exchange.cancel();
        r.exchange.upstream_closed(false);
        EXPECT_TRUE(r.released.empty() && !r.ended && !r.broken);
    }
    recorder unasked;
    unasked.request("GET");
    unasked.receive(grant);
    EXPECT_EQ(unasked.broken, failure::bad_response);
    EXPECT_THAT(unasked.released, ElementsAre(disposition::close));
}

TEST(exchange_state, sends_the_head_and_gives_the_connection_back_after_the_response)
{
    recorder r;
    r.request("GET");
    r.receive(ok);
    EXPECT_TRUE(r.ended);
    EXPECT_EQ(r.content, "hello");
    EXPECT_THAT(r.sent, ElementsAre("[GET]"));
    EXPECT_THAT(r.released, ElementsAre(disposition::keep));
    EXPECT_FALSE(r.exchange.active());
}

struct use {
    const char* name;
    std::string method;
    http::framing body;
    std::string response;
    disposition after;
};

class uses : public ::testing::TestWithParam<use> {};

TEST_P(uses, decide_whether_a_connection_may_serve_again)
{
    recorder r;
    r.request(GetParam().method, GetParam().body);
    r.receive(GetParam().response);
    EXPECT_TRUE(r.ended);
    EXPECT_THAT(r.released, ElementsAre(GetParam().after));
}

INSTANTIATE_TEST_SUITE_P(
    all,
    uses,
    ::testing::Values(
        use{"whole", "GET", no_body, ok, disposition::keep},
        use{"surplus", "GET", no_body, ok + "x", disposition::close},
        use{"close",
            "GET",
            no_body,
            "HTTP/1.1 204 x\r\nConnection: close\r\n\r\n",
            disposition::close},
        use{"content_of_204",
            "GET",
            no_body,
            "HTTP/1.1 204 x\r\nContent-Length: 5\r\n\r\n",
            disposition::reset},
        use{"old",
            "GET",
            no_body,
            "HTTP/1.0 200 x\r\nContent-Length: 0\r\n\r\n",
            disposition::close},
        use{"old_kept",
            "GET",
            no_body,
            "HTTP/1.0 200 x\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
            disposition::keep},
        use{"early", "POST", of_length, ok, disposition::close},
        use{"head",
            "HEAD",
            no_body,
            "HTTP/1.1 200 x\r\nContent-Length: 0\r\n\r\n",
            disposition::keep},
        use{"head_without_length", "HEAD", no_body, "HTTP/1.1 200 x\r\n\r\n", disposition::reset},
        use{"head_of_nothing",
            "HEAD",
            no_body,
            "HTTP/1.1 200 x\r\nContent-Length: 0\r\n\r\n",
            disposition::keep},
        use{"head_of_content",
            "HEAD",
            no_body,
            "HTTP/1.1 200 x\r\nContent-Length: 5\r\n\r\n",
            disposition::reset},
        use{"head_of_chunks",
            "HEAD",
            no_body,
            "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n",
            disposition::reset},
        use{"body_after_head", "HEAD", no_body, ok, disposition::reset},
        use{"chunked",
            "GET",
            no_body,
            "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            disposition::keep},
        use{"not_modified", "GET", no_body, "HTTP/1.1 304 x\r\n\r\n", disposition::keep},
        use{"content_of_304",
            "GET",
            no_body,
            "HTTP/1.1 304 x\r\nContent-Length: 5\r\n\r\n",
            disposition::reset}
    ),
    [](const auto& param) { return std::string(param.param.name); }
);

// A head that came early does not matter, if in the end all was sent and all has come.
TEST(exchange_state, keeps_a_connection_on_which_both_sides_ended_whole)
{
    const std::size_t head = ok.find("hello");
    for (std::size_t early = 1; early < ok.size(); ++early) {
        recorder r;
        r.request("POST", of_length);
        r.receive(ok.substr(0, early));
        r.exchange.request_content("abcde", true);
        r.receive(ok.substr(early));
        EXPECT_TRUE(r.ended);
        EXPECT_THAT(r.released, ElementsAre(disposition::keep)) << early;
    }
    recorder unsent;
    unsent.request("POST", of_length);
    unsent.receive(ok.substr(0, head));
    unsent.exchange.request_content("abcd", false);
    unsent.receive(ok.substr(head));
    EXPECT_THAT(unsent.released, ElementsAre(disposition::close));
}

// The upstream dies after each number of bytes of its response.
void die_everywhere(const std::string& method, http::framing body, bool reused, bool retries)
{
    const std::size_t complete = method == "HEAD" ? ok.find("hello") : ok.size();
    for (std::size_t bytes = 0; bytes < complete; ++bytes) {
        for (const bool orderly : {true, false}) {
            recorder r;
            r.reused = reused;
            r.request(method, body);
            if (bytes > 0) {
                r.receive(ok.substr(0, bytes));
            }
            r.exchange.upstream_closed(orderly);
            if (retries && bytes == 0) {
                EXPECT_THAT(r.fresh, ElementsAre(false, true));
                EXPECT_EQ(r.sent[0], "[" + method + "]");
                EXPECT_EQ(r.sent[1], "[" + method + ">") << "the port changes it";
                r.exchange.upstream_closed(orderly);  // and never a second time
            }
            EXPECT_EQ(r.fresh.size(), retries && bytes == 0 ? 2U : 1U) << method << " " << bytes;
            EXPECT_EQ(r.broken, failure::reset);
            EXPECT_EQ(r.cut, bytes >= ok.find("hello"));
            EXPECT_EQ(r.released, std::vector<disposition>(r.fresh.size(), disposition::close));
        }
    }
}

TEST(exchange_state, tries_again_only_what_is_harmless_only_after_reuse_and_only_before_any_byte)
{
    for (const char* const method : {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"}) {
        die_everywhere(method, no_body, true, true);
        die_everywhere(method, empty_length, true, true);
        die_everywhere(method, no_body, false, false);
        die_everywhere(method, of_length, true, false);
        die_everywhere(method, in_chunks, true, false);
    }
    for (const char* const method : {"POST", "PATCH", "get", "ANY"}) {
        die_everywhere(method, no_body, true, false);
        die_everywhere(method, empty_length, true, false);
    }
}

TEST(exchange_state, does_not_try_again_after_an_interim_response)
{
    recorder r;
    r.reused = true;
    r.request("GET");
    r.receive("HTTP/1.1 100 Continue\r\n\r\n");
    r.exchange.upstream_closed(true);
    EXPECT_EQ(r.broken, failure::reset);
    EXPECT_EQ(r.fresh.size(), 1U);
}

TEST(exchange_state, a_retry_brings_the_response)
{
    recorder r;
    r.reused = true;
    r.request("GET");
    r.exchange.upstream_closed(false);
    r.receive(ok);
    EXPECT_TRUE(r.ended);
    EXPECT_THAT(r.released, ElementsAre(disposition::close, disposition::keep));
}

TEST(exchange_state, only_an_orderly_end_completes_a_body_without_length)
{
    for (const bool orderly : {true, false}) {
        recorder r;
        r.request("GET");
        r.receive("HTTP/1.1 200 OK\r\n\r\nabc");
        r.exchange.upstream_closed(orderly);
        EXPECT_EQ(r.ended, orderly);
        EXPECT_EQ(r.cut, !orderly);
        EXPECT_THAT(r.released, ElementsAre(disposition::close));
    }
}

TEST(exchange_state, frames_the_request_s_content_anew)
{
    recorder r;
    r.request("POST", in_chunks);
    EXPECT_TRUE(r.exchange.accepts_content());
    r.exchange.request_content("", false);
    r.exchange.request_content("0123456789abcdef0", false);
    EXPECT_FALSE(r.exchange.request_sent());
    r.exchange.request_content("x", true);
    EXPECT_EQ(r.sent[0], "[POST]11\r\n0123456789abcdef0\r\n1\r\nx\r\n0\r\n\r\n");
    EXPECT_TRUE(r.exchange.request_sent());
    EXPECT_FALSE(r.exchange.accepts_content());

    recorder plain;
    plain.request("POST", of_length);
    plain.exchange.request_content("he", false);
    plain.exchange.request_content("llo", true);
    EXPECT_EQ(plain.sent[0], "[POST]hello");
}

TEST(exchange_state, sends_the_request_s_trailers_behind_a_chunked_body)
{
    const std::string trailers = "X-A: 1\r\nHost: h\r\nX-Hidden: 2\r\nX-B:3\r\n";
    const auto sent = [&](http::framing body, std::string_view content, bool nominates) {
        recorder r;
        r.nominates_trailers = nominates;
        r.request("POST", body);
        r.exchange.request_content(content, true, trailers);
        return r.sent[0];
    };
    EXPECT_EQ(sent(in_chunks, "x", false), "[POST]1\r\nx\r\n0\r\nX-A: 1\r\nX-B: 3\r\n\r\n");
    EXPECT_EQ(sent(in_chunks, "", false), "[POST]0\r\nX-A: 1\r\nX-B: 3\r\n\r\n");
    EXPECT_EQ(sent(in_chunks, "x", true), "[POST]1\r\nx\r\n0\r\n\r\n");
    EXPECT_EQ(sent(of_length, "hello", false), "[POST]hello");
}

TEST(exchange_state, passes_on_the_response_s_trailers_however_they_come)
{
    const std::string bytes =
        "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"
        "0\r\nX-A: 1\r\nSet-Cookie: s\r\nX-Hidden: 2\r\nX-B:3\r\n\r\n";
    for (std::size_t at = 1; at <= bytes.size(); ++at) {
        recorder r;
        r.request("GET");
        r.receive(bytes.substr(0, at));
        if (at < bytes.size()) {
            EXPECT_FALSE(r.ended);
            r.receive(bytes.substr(at));
        }
        EXPECT_TRUE(r.ended);
        EXPECT_EQ(r.content, "a");
        EXPECT_EQ(r.trailers, "X-A: 1\r\nX-B: 3\r\n") << at;
        EXPECT_THAT(r.released, ElementsAre(disposition::keep));
        r.receive_next("GET", ok);
        EXPECT_EQ(r.trailers, "") << "those of the response before";
    }
}

TEST(exchange_state, passes_on_no_trailers_that_are_malformed_or_may_be_nominated)
{
    const std::string start = "HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n";
    recorder nominated;
    nominated.request("GET");
    nominated.receive(start + "Connection: X-A\r\n\r\n0\r\nX-A: 1\r\nX-B: 2\r\n\r\n");
    EXPECT_TRUE(nominated.ended);
    EXPECT_EQ(nominated.trailers, "");

    recorder malformed;
    malformed.request("GET");
    malformed.receive(start + "\r\n0\r\nX-A: 1\r\n folded\r\n\r\n");
    EXPECT_EQ(malformed.broken, failure::bad_response);
    EXPECT_TRUE(malformed.cut);
    EXPECT_EQ(malformed.trailers, "");
}

TEST(exchange_state, refuses_what_is_no_response)
{
    for (const char* const bytes :
         {"SMTP ready\r\n",
          "HTTP/1.1 101 x\r\n\r\n",
          "HTTP/2 200\r\n\r\n",
          "HTTP/1.1 200 x\r\nContent-Length: a\r\n\r\n"}) {
        recorder r;
        r.request("GET");
        r.receive(bytes);
        EXPECT_EQ(r.broken, failure::bad_response) << bytes;
        EXPECT_FALSE(r.cut);
    }
    recorder r;
    r.request("GET");
    r.receive("HTTP/1.1 200 x\r\nTransfer-Encoding: chunked\r\n\r\nx");
    EXPECT_EQ(r.broken, failure::bad_response);
    EXPECT_TRUE(r.cut);
}

TEST(exchange_state, takes_a_bounded_number_of_interim_responses)
{
    for (const std::uint32_t most : {100U, 1U, 0U}) {
        recorder r;
        r.options.max_interim_responses = most;
        r.request("GET");
        for (std::uint32_t i = 0; i < most; ++i) {
            r.receive("HTTP/1.1 102 x\r\n\r\n");
        }
        EXPECT_FALSE(r.broken);
        EXPECT_EQ(r.interim.size(), most);
        r.receive("HTTP/1.1 102 x\r\n\r\n");
        EXPECT_EQ(r.broken, failure::bad_response);
    }
}

TEST(exchange_state, bounds_heads_and_chunks_as_it_is_told)
{
    const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n";
    recorder long_head;
    long_head.options.response.max_header_bytes = head.size() + 1;
    long_head.request("GET");
    long_head.receive(head + "\r\n");
    EXPECT_EQ(long_head.broken, failure::bad_response);

    recorder many_fields;
    many_fields.options.response.max_headers = 1;
    many_fields.request("GET");
    many_fields.receive(head + "A: b\r\n\r\n");
    EXPECT_EQ(many_fields.broken, failure::bad_response);

    recorder long_line;
    long_line.bounds.chunks.max_line_bytes = 16;
    long_line.request("GET");
    long_line.receive(head + "\r\n1;" + std::string(15, 'x') + "\r\n");
    EXPECT_EQ(long_line.broken, failure::bad_response);
}

TEST(exchange_state, reads_heads_that_come_byte_by_byte)
{
    recorder r;
    r.request("GET");
    for (const char c : "HTTP/1.1 103 x\r\nLink: y\r\n\r\n" + ok) {
        r.receive(std::string(1, c));
    }
    EXPECT_TRUE(r.ended);
    EXPECT_THAT(r.interim, ElementsAre(103));
    EXPECT_EQ(r.content, "hello");
    EXPECT_THAT(r.released, ElementsAre(disposition::keep));

    recorder bad;
    bad.request("GET");
    const std::string malformed = "HTTP/1.1 200 OK\r\nA :";
    for (std::size_t i = 0; i + 2 < malformed.size(); ++i) {
        bad.receive(malformed.substr(i, 1));
    }
    EXPECT_FALSE(bad.broken);
    bad.receive(" ");
    EXPECT_EQ(bad.broken, failure::bad_response);
}

TEST(exchange_state, tells_which_time_was_up)
{
    recorder waiting;
    waiting.request("GET");
    waiting.exchange.expired();
    EXPECT_EQ(waiting.broken, failure::response_timeout);
    recorder sending;
    sending.request("POST", of_length);
    sending.exchange.expired();
    EXPECT_EQ(sending.broken, failure::body_timeout);
    recorder reading;
    reading.request("GET");
    reading.receive(ok.substr(0, ok.size() - 1));
    reading.exchange.expired();
    EXPECT_EQ(reading.broken, failure::body_timeout);
    EXPECT_TRUE(reading.cut);
    reading.exchange.expired();  // it is over
    EXPECT_EQ(reading.released.size(), 1U);
}

TEST(exchange_state, waits_for_a_connection_and_says_why_there_is_none)
{
    recorder r;
    r.result = exchange_port::lease_progress::pending;
    r.request("GET");
    EXPECT_TRUE(r.exchange.active() && !r.exchange.has_connection());
    EXPECT_EQ(r.sent[0], "");
    r.exchange.leased();
    EXPECT_EQ(r.sent[0], "[GET]");
    r.receive(ok);
    EXPECT_TRUE(r.ended);

    recorder late;
    late.result = exchange_port::lease_progress::pending;
    late.request("GET");
    late.exchange.lease_failed(failure::connect_timeout);
    EXPECT_EQ(late.broken, failure::connect_timeout);

    recorder none;
    none.result = exchange_port::lease_progress::failed;
    none.request("GET");
    EXPECT_EQ(none.broken, failure::no_address);
}

TEST(exchange_state, is_given_up_when_the_client_is_gone)
{
    recorder r;
    r.exchange.cancel();
    EXPECT_TRUE(r.released.empty());
    r.request("GET");
    r.receive(ok.substr(0, 20));
    r.exchange.cancel();
    EXPECT_THAT(r.released, ElementsAre(disposition::close));
    r.receive(ok.substr(20));
    r.exchange.upstream_closed(true);
    EXPECT_FALSE(r.ended || r.broken);
    r.request("GET");  // and nothing of the last one is left
    r.receive(ok);
    EXPECT_TRUE(r.ended);
}

TEST(exchange_state, repeats_a_refused_request_once_with_all_that_was_sent)
{
    for (const bool whole : {true, false}) {
        recorder r;
        r.options.protocol = upstream_protocol::http2;
        r.request("POST", in_chunks);
        r.exchange.request_content("one", false);
        r.exchange.request_content("two", whole, whole ? "X-A: 1\r\n" : "");
        r.exchange.upstream_refused();
        ASSERT_EQ(r.sent.size(), 2U);
        const std::string rest = whole ? "6\r\nonetwo\r\n0\r\nX-A: 1\r\n\r\n" : "6\r\nonetwo\r\n";
        EXPECT_EQ(r.sent[1], "[POST>" + rest);
        EXPECT_EQ(r.exchange.accepts_content(), !whole);
        r.exchange.upstream_refused();
        EXPECT_EQ(r.broken, failure::reset) << "it is not repeated for ever";
        EXPECT_EQ(r.sent.size(), 2U);
    }
}

TEST(exchange_state, repeats_no_refused_request_of_which_something_is_lost)
{
    const std::string much(exchange_state::most_kept_content + 1, 'x');
    for (const auto& [protocol, content] :
         {std::pair{upstream_protocol::http1, std::string("x")},
          std::pair{upstream_protocol::http2, much}}) {
        recorder r;
        r.options.protocol = protocol;
        r.request("POST", in_chunks);
        r.exchange.request_content(content, true);
        r.exchange.upstream_refused();
        EXPECT_EQ(r.broken, failure::reset);
        EXPECT_EQ(r.sent.size(), 1U);
    }
    recorder answered;
    answered.options.protocol = upstream_protocol::http2;
    answered.request("GET");
    answered.receive(ok.substr(0, 10));
    answered.exchange.upstream_refused();
    EXPECT_EQ(answered.broken, failure::reset);
}

TEST(exchange_state, blames_a_server_that_breaks_its_protocol)
{
    recorder r;
    r.request("GET");
    r.exchange.upstream_malformed(false);
    EXPECT_EQ(r.broken, failure::bad_response);
    EXPECT_THAT(r.released, ElementsAre(disposition::close));
    recorder shares;
    shares.reused = true;
    shares.request("GET");
    shares.exchange.upstream_malformed(true);
    EXPECT_EQ(shares.sent.size(), 2U) << "another request may be the cause";
    shares.exchange.upstream_malformed(true);
    EXPECT_EQ(shares.broken, failure::bad_response);
}

}  // namespace exchange_state_test
}  // namespace gateway::proxy
