// `http2_stream` carries one request over HTTP/2: a stream of a client's connection. It reads the
// head by the same rules as HTTP/1, and keeps the deadlines of what the stream waits for.
//
//   head -> request -> finishing -> over     the response is sent as the client's window allows
//                \-> draining -> finishing   the bounded rest of a body that nobody wants
//
// It is lent to a connection, and serves one stream after another.
// Thread: one thread only.
#pragma once

#include "gateway/base/timer_wheel.hpp"
#include "gateway/client/http2/http2_response.hpp"
#include "gateway/client/requests/rate_limit_rpc.hpp"
#include "gateway/client/requests/request.hpp"
#include "gateway/client/requests/request_host.hpp"
#include "gateway/client/timeout.hpp"
#include "gateway/http2/engine.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace gateway::client {

class http2_connection;

class http2_stream final : public http2::stream_events,
                           private request_carrier,
                           private rpc_carrier,
                           private request_host,
                           private base::timer_entry {
public:
    // Ownership: `env` outlives this object.
    explicit http2_stream(session_environment& env)
        : env_(env), request_(env, *this), response_(env)
    {
        request_.attend_to(*this);
    }

    ~http2_stream() override = default;

    // Begins a stream of this connection.
    void begin(http2_connection& of, http2::stream_id id);

    // ---- Events of the connection.
    // Called when the client is gone. Nothing is under way after this.
    void client_left();
    // Called when the process ends.
    void abort();
    // Called when the connection is not blocked any more.
    void drained();
    // Takes up what waited. Called after each event, before frames are sent.
    void take_up();
    // Sets what the stream waits for. Called after each event, when frames have been sent.
    void arrange();

    bool is_over() const { return phase_ == phase::over; }

    // Bytes that are kept of its head.
    std::size_t held_bytes() const { return held_bytes_; }

    // True if it keeps another view alive.
    bool holds_other_than(const limits::policy_view& present) const
    {
        return request_.holds_other_than(present);
    }

    // Its position among the streams of the connection.
    std::size_t index = 0;
    // True if the connection has to look after it at the end of this event.
    bool is_touched = false;

private:
    enum class phase : std::uint8_t { head, request, draining, finishing, over };

    session_environment& env_;
    http2_connection* connection_ = nullptr;
    // The client's connection, as requests see it.
    request_host* host_ = nullptr;
    request request_;
    // Serves a call of a rate-limit service, in place of the request; null before the first one.
    std::unique_ptr<rate_limit_rpc> rpc_;
    http2::stream_id id_ = 0;
    phase phase_ = phase::over;
    timeout armed_ = timeout::none;

    // True if the client has ended its side.
    bool request_ended_ = false;
    // True if the end of the request's body has been passed on.
    bool end_passed_ = false;
    // True if the gateway resets the stream through no fault of the client.
    bool resets_ = false;
    // True if the client has reset the stream.
    bool was_reset_ = false;
    // True if a part of a body has moved since the deadline was set.
    bool moved_ = false;

    std::size_t held_bytes_ = 0;
    // Content that came before anybody wanted it. The stream's window bounds it.
    std::string inbox_;
    // Bytes that somebody took, and for which the window is still shut.
    std::size_t unconsumed_ = 0;
    // Bytes of a refused request's body that were dropped.
    std::size_t dropped_ = 0;

    // The request's trailers, and the bytes of all that came.
    std::string trailers_;
    std::size_t trailer_bytes_ = 0;
    http2_response response_;

    request_state& state() { return request_.state(); }

    const request_state& state() const { return request_.state(); }

    // True if the listener has a rate-limit service, whose calls the streams carry.
    bool is_rpc() const { return !host_->rate_limit_service().empty(); }

    bool accepts_content() const
    {
        return is_rpc() ? rpc_ != nullptr && rpc_->is_open() : state().accepts_content();
    }

    // True if a stream that is closed for this had malformed content or trailers. Its request is
    // counted and logged as one that was refused, as is one with a malformed head.
    bool has_bad_rest(http2::error_code why) const
    {
        return why == http2::error_code::protocol_error && !was_reset_ &&
               phase_ == phase::request && !is_rpc() && !state().in_tunnel();
    }

    void read_head(bool last);
    void begin_request(const http::request_head& head);
    void leave();
    bool close();
    void pass_inbox();
    void pass(std::string_view bytes);
    void pass_end();
    void drop(std::size_t bytes);
    void open_window();
    void reset(http2::error_code why);
    bool has_dropped_enough() const;
    timeout waits_for() const;
    base::duration length_of(timeout t) const;

    // http2::stream_events
    void field(std::string_view name, std::string_view value) override;
    void fields_ended(bool last) override;
    void content(std::string_view bytes) override;
    void content_ended() override;

    void reset_came() override { was_reset_ = true; }

    void stream_closed(http2::error_code why) override;

    std::string_view pending() const override { return response_.pending(); }

    bool is_last_pending() const override { return response_.is_ended(); }

    std::string_view trailers() const override { return response_.trailers(); }

    void content_sent(std::size_t bytes) override;

    // request_carrier
    void interim_response(const http::response_head& head) override
    {
        response_.send_interim(head, state().added_fields());
    }

    void response(const http::response_head& head) override;

    void response_content(std::string_view content) override
    {
        moved_ = true;
        response_.send(content);
    }

    void response_end(std::string_view trailers) override { response_.end(trailers); }

    std::uint64_t respond(const limits::admission& a) override;
    void switched(const http::response_head& head) override;

    void tunnel_bytes(std::string_view bytes) override { response_content(bytes); }

    void tunnel_end() override { response_end({}); }

    bool client_blocked() const override;
    std::size_t response_room() const override;
    void request_over(ending how) override;

    // rpc_carrier
    void rpc_answered(const grpc_answer& a) override;

    // request_host
    const base::ip_address& peer() const override { return host_->peer(); }

    bool is_secure() const override { return host_->is_secure(); }

    base::connection_ends client_ends() const override { return host_->client_ends(); }

    const intake::client_tls* client_tls() const override { return host_->client_tls(); }

    const std::optional<decide_options>& decide() const override { return host_->decide(); }

    std::string_view rate_limit_service() const override { return host_->rate_limit_service(); }

    void after_event(bool moved) override;

    void begin_timeouts_anew() override { armed_ = timeout::none; }

    // timer_entry
    void expired(base::instant now) override;
};

}  // namespace gateway::client
