// A request without sockets: all that surrounds a request_state is this one object.
#pragma once

#include "gateway/client/requests/request_state.hpp"
#include "tests/unit/proxy/framed_text.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace gateway::client::testing {

using phase = request_state::phase;
using ending = request_carrier::ending;

class stream final : public request_carrier, public request_port, public proxy::exchange_port {
public:
    request_state request{*this, *this, *this};

    // What the shell is to say.
    limits::admission decision;
    std::optional<http::forward_options> over_limit;
    lease_progress lease_says = lease_progress::ready;
    http::options bounds;
    bool client_waits = false;
    bool upstream_waits = false;
    bool finishes = false;
    bool calls = false;  // by gRPC

    // Of content that is read ahead.
    content_reading reading_says = content_reading::more;
    limits::admission by_content;
    bool later_is_good = true;
    http::request_head head_ahead;
    std::string read_ahead;
    std::string ahead_trailers;
    bool ahead_is_whole = false;
    bool ahead_was_sent = false;
    std::string seen_later;

    // What came of it.
    std::string sent;
    std::string received;
    std::string trailers;
    int status = 0;
    bool complete = false;
    bool upstream_ended = false;
    bool connected = false;
    bool grpc = false;
    std::optional<http::grpc_status> answered;
    std::optional<limits::finished> counted;
    std::optional<ending> over;
    std::optional<proxy::failure> failure;
    std::optional<proxy::abandon_until> abandoned;

    void begin(std::string_view method, http::framing body = {}, bool websocket = false)
    {
        http::request_head head;
        head.method = method;
        head.path = "/";
        head.body = body;
        head.websocket = websocket;
        head.grpc = calls;
        request.begin(head);
    }

    void upstream_says(std::string bytes) { request.upstream_bytes(bytes); }

    // request_carrier
    void interim_response(const http::response_head&) override { EXPECT_FALSE(over); }

    void response(const http::response_head& head) override
    {
        EXPECT_TRUE(status == 0 && !over);
        status = head.status;
    }

    void response_content(std::string_view content) override { received.append(content); }

    void response_end(std::string_view lines) override
    {
        trailers = lines;
        complete = true;
    }

    std::uint64_t respond(const limits::admission& a) override
    {
        EXPECT_TRUE(status == 0 && !over);
        status = a.status;
        answered = a.grpc;
        complete = true;
        return a.detail.size();
    }

    void switched(const http::response_head& head) override { status = head.status; }

    void tunnel_bytes(std::string_view bytes) override { received.append(bytes); }

    void tunnel_end() override { complete = true; }

    bool client_blocked() const override { return client_waits; }

    std::size_t response_room() const override { return SIZE_MAX; }

    void request_over(ending how) override
    {
        EXPECT_TRUE(counted && !over && !connected);
        EXPECT_EQ(request.at(), phase::idle);
        over = how;
    }

    // request_port
    content_reading read(std::string_view content, bool last, std::string_view lines) override
    {
        read_ahead += content;
        ahead_is_whole = last;
        ahead_trailers = last ? lines : std::string_view{};
        return last ? content_reading::enough : reading_says;
    }

    limits::admission admit_by_content() override { return by_content; }

    request_ahead ahead() const override
    {
        return {head_ahead, read_ahead, ahead_is_whole, ahead_trailers};
    }

    void ahead_sent() override { ahead_was_sent = true; }

    bool read_on(std::string_view content, bool) override
    {
        seen_later += content;
        return later_is_good;
    }

    void request_begins(bool is_grpc) override
    {
        EXPECT_FALSE(counted);
        grpc = is_grpc;
    }

    limits::admission admit(const http::request_head&) override { return decision; }

    std::optional<http::forward_options> forwarding_over_limit(const http::request_head&) override
    {
        return over_limit;
    }

    http::forward_options forwarding(const http::request_head&) override
    {
        return {.default_host = "u"};
    }

    http::added_fields added_fields() const override { return {}; }

    bool is_grpc() const override { return grpc; }

    void tunnel_begins() override { EXPECT_EQ(status, 101); }

    void tunnel_carries(proxy::tunnel_side, std::size_t) override {}

    void request_ends(const limits::finished& f) override
    {
        EXPECT_FALSE(counted || over);
        counted = f;
    }

    // exchange_port
    lease_progress lease(bool) override
    {
        connected = lease_says == lease_progress::ready;
        return lease_says;
    }

    bool another_lease_may_help() const override { return false; }

    proxy::failure lease_failure() const override { return proxy::failure::connect; }

    void begin_retry(std::string&) override {}

    bool hides_from_upstream(std::string_view name) const override { return name == "X-Hidden"; }

    bool hides_from_client(std::string_view name) const override { return name == "X-Hidden"; }

    void send_head(std::string_view head, const http::framing& body) override
    {
        EXPECT_TRUE(connected && !upstream_ended);
        framed_.head(head, body, sent);
    }

    void send_content(std::string_view content, bool last, std::string_view fields) override
    {
        EXPECT_TRUE(connected && !upstream_ended);
        framed_.content(content, last, fields, sent);
    }

    void send_bytes(std::string_view bytes) override
    {
        EXPECT_TRUE(connected && !upstream_ended);
        sent.append(bytes);
    }

    bool upstream_blocked() const override { return upstream_waits; }

    void end_sending_upstream() override { upstream_ended = true; }

    void release(disposition) override { connected = false; }

    bool finishes_without_client() const override { return finishes; }

    void abandon(proxy::answer_state&&, proxy::abandon_until until) override
    {
        EXPECT_TRUE(connected && !abandoned);
        connected = false;
        abandoned = until;
    }

    void interim_responded(http::response_head&) override {}

    void responded(http::response_head&) override {}

    void failed(proxy::failure why, bool) override { failure = why; }

    http::response_head& response_head_storage() override { return head_; }

    const http::options& limits() const override { return bounds; }

    const proxy::upstream_options& upstream() const override { return options_; }

private:
    proxy::testing::framed_text framed_;
    http::response_head head_;
    proxy::upstream_options options_;
};

inline constexpr http::framing chunks{http::framing::kind::chunked, 0};
inline const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
inline const std::string grant =
    "HTTP/1.1 101 Yes\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nframe";

}  // namespace gateway::client::testing
