// `http1_state` is a client's HTTP/1 connection (RFC 9112) as a sans-I/O machine: its messages, one
// after another, and its end. It reads requests strictly and frames responses. A request itself is
// request_state's part. It knows no socket and no clock; its shell (http1_connection) does what it
// asks.
//
//   idle -> head -> request -> idle ...   a request and its response, or bytes both ways (tunnel)
//               \      \-> draining -> idle      the bounded rest of a body that nobody wants
//                \------\-> lingering -> closed   bytes on the way must not destroy the response
//
// Bytes that come too early (pipelining) wait in a bounded inbox. While it holds
// max_pipelined_bytes or more, wants_client_bytes() is false and the kernel's buffers push back.
//
// A client must wait for the response to a WebSocket handshake (RFC 6455 §4.1). Bytes that it sends
// before are the tunnel's, if there will be one. If not, they are never read as requests, because a
// proxy in front of the gateway may have taken them for a tunnel's: the connection ends with the
// response.
#pragma once

#include "gateway/client/client_port.hpp"
#include "gateway/client/requests/request_state.hpp"
#include "gateway/client/timeout.hpp"
#include "gateway/http/http_date.hpp"
#include "gateway/http/input/body_reader.hpp"
#include "gateway/http/message.hpp"
#include "gateway/http/options.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gateway::client {

// `http1_port` is what the connection asks of its shell.
class http1_port : public client_port {
public:
    // Returns the options in force for requests to come.
    virtual const http::options& limits() const = 0;
    // Closes the sending side towards the client (half-close).
    virtual void end_sending() = 0;

protected:
    ~http1_port() = default;
};

// `http1_memory` is shared by all connections of a thread.
struct http1_memory {
    // Bytes to be sent, under construction; empty between events.
    std::string& out;
    // Head to read into.
    http::request_head& head;
    const http::http_date& date;
};

class http1_state final : public request_carrier {
public:
    // Most empty lines that are skipped before a request (RFC 9112 §2.2).
    static constexpr int max_leading_empty_lines = 4;

    enum class phase : std::uint8_t {
        // No request has begun.
        idle,
        // A part of a head has come.
        head,
        // A request is under way; request_state knows how far it is.
        request,

        draining,
        lingering,
        closed,
    };

    explicit http1_state(const http1_memory& memory) : memory_(memory) {}

    // Sets the machine of the requests that it reads, one after another. Called before anything
    // else.
    void carry(request_state& request) { request_ = &request; }

    // Sets the client's connection. Called before the events of each.
    void attend_to(http1_port& port) { port_ = &port; }

    // Returns the options in force, which are the request's once one has begun.
    const http::options& limits() const
    {
        return in_request() ? request_->limits() : port_->limits();
    }

    // ---- Events.
    void client_bytes(std::span<char> bytes);
    // Called when no more bytes will come from the client; `orderly` is false if it reset the
    // connection.
    void client_closed(bool orderly);

    // Called when the client is not blocked any more.
    void client_drained() { request_->drained(); }

    // Called when the timeout that waits_for() names has passed.
    void expired();
    // Finishes what runs, then closes.
    void drain();
    // Closes now.
    void abort();

    // Takes up what waited, and sends what was gathered. Called after each event, also of the
    // request.
    void settle();

    bool wants_client_bytes() const;
    timeout waits_for() const;

    phase at() const { return phase_; }

    bool in_tunnel() const { return request_->in_tunnel(); }

    // True from a request's head, valid or refused, to the end of the request or of the connection.
    bool in_request() const { return phase_ != phase::idle && phase_ != phase::head; }

    // True if the client's bytes are content: of a body that goes on, or of a tunnel.
    bool reads_content() const { return phase_ == phase::request && request_->accepts_content(); }

    // True if nothing is read from the client while its request is under way.
    bool is_paused() const
    {
        return phase_ == phase::request && !in_tunnel() && !wants_client_bytes();
    }

    // True if a part of the request's body has not been read yet.
    bool awaits_body() const { return !request_body_.done(); }

    // True if nothing is kept of this client, so that the next one may be another.
    bool at_rest() const
    {
        return phase_ == phase::idle && inbox_.empty() && empty_lines_ == 0 && !draining_all_;
    }

    bool client_blocked() const override { return port_->client_blocked(); }

    // The kernel's buffer is the bound.
    std::size_t response_room() const override { return SIZE_MAX; }

private:
    http1_memory memory_;
    http1_port* port_ = nullptr;
    request_state* request_ = nullptr;
    phase phase_ = phase::idle;

    bool is_head_ = false;
    bool http_1_0_ = false;
    // True if the client accepts trailers.
    bool accepts_trailers_ = false;
    // True if the client wishes to keep the connection.
    bool keep_alive_ = false;
    // True if the gateway closes the connection after this request.
    bool close_after_ = false;
    // True if the gateway drains, so that the connection closes after this request.
    bool draining_all_ = false;

    bool expects_continue_ = false;
    // True if the request asks for a WebSocket.
    bool websocket_ = false;
    // True if the request asks for one, and the client did not wait for the response.
    bool spoke_early_ = false;
    // True if the gateway answered the request with an error.
    bool refused_ = false;
    // True if some content of the request's body has come.
    bool body_begun_ = false;

    int empty_lines_ = 0;
    http::framing request_framing_;
    // The framing of the response towards the client.
    http::framing response_framing_;

    http::body_reader request_body_;
    std::uint64_t drained_ = 0;
    std::string inbox_;
    // True if more of a head came while the client had to read first, so that it was not looked at.
    bool head_grew_ = false;

    std::size_t consume(std::span<char> bytes);
    std::size_t consume_head(std::span<char> bytes);
    std::size_t consume_content(std::span<char> bytes);
    std::size_t consume_drained(std::span<char> bytes);
    std::size_t consume_lingering(std::size_t bytes);
    bool can_consume() const;
    bool has_inbox_room() const;
    void begin_request(const http::request_head& head, bool more_follows);
    void refuse_head(const http::rejection& why, std::string_view bound = {}, bool is_grpc = false);
    bool might_not_come() const;
    bool body_can_be_drained() const;
    bool leaves_body_unread(const http::response_head& head) const;
    void linger();
    void close(bool reset);
    void flush(std::string_view content = {});
    http::added_fields added_fields() const;

    // request_carrier
    void interim_response(const http::response_head& head) override;
    void response(const http::response_head& head) override;
    void response_content(std::string_view content) override;
    void response_end(std::string_view trailers) override;
    std::uint64_t respond(const limits::admission& a) override;
    void switched(const http::response_head& head) override;

    void tunnel_bytes(std::string_view bytes) override { port_->send_client(bytes, {}); }

    void tunnel_end() override { port_->end_sending(); }

    void request_over(ending how) override;
};

}  // namespace gateway::client
