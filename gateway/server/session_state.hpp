// A client connection as a sans-I/O machine: request after request, strictly parsed, admitted or
// answered, carried by an exchange, and the connection's end. It knows no socket, clock, limit or
// route; its shell (conversation) does what it asks.
//
//   idle -> head -> admitting -> exchanging -> idle ...   a request and its response
//                \-> draining -> idle       the bounded rest of a body that nobody wants: refused,
//                                           or answered by the upstream before its end
//                \-> tunnelling -> closed   a WebSocket was granted: proxy/tunnel_state
//                \-> lingering -> closed    bytes on the way must not destroy the answer
//
// Bytes that come too early (pipelining) wait in a bounded inbox; while it holds more than
// max_pipelined_bytes, wants_client_bytes() is false and the kernel's buffers push back.
//
// A client must wait for the answer to a WebSocket handshake (RFC 6455 §4.1). What it sends before
// is the tunnel's if there will be one. If not, it is never read as requests, because somebody in
// front of us may have taken it for a tunnel's: the connection ends with the answer.
#pragma once

#include "gateway/http/body_reader.hpp"
#include "gateway/http/forward_request.hpp"
#include "gateway/http/forward_response.hpp"
#include "gateway/http/message.hpp"
#include "gateway/http/options.hpp"
#include "gateway/proxy/exchange_state.hpp"
#include "gateway/proxy/tunnel_state.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gateway::server {

// Whether a request may go on.
struct admission {
    enum class outcome { forward, answer, pending };
    outcome is = outcome::forward;
    // The status to answer with, if `is` is `answer`.
    int status = 0;

    std::string_view detail;
    // How long the client is told to wait; 0: nothing is said of it.
    base::duration retry_after{0};
    // Header lines to add to the answer.
    std::string_view extra;
};

inline admission refusal(
    int status, std::string_view detail, base::duration retry_after = base::duration{0}
)
{
    return {admission::outcome::answer, status, detail, retry_after, {}};
}

// One request that has ended, for counters and the log.
struct finished {
    // The response's status; 0: the client went away before there was one.
    int status = 0;

    std::uint64_t request_bytes = 0;
    std::uint64_t response_bytes = 0;
    // Why the gateway answered itself or broke off.
    std::string_view error;
};

class session_port : public proxy::exchange_port {
public:
    // Route, identity, limits. `pending`: admitted() is called later.
    virtual admission admit(const http::request_head& head) = 0;

    // How the request that was admitted, or is pending, goes upstream.
    virtual http::forward_options forwarding() const = 0;

    // What the limits said, for the response.
    virtual http::limit_statement limits_said() const = 0;

    // The `Date` line of now.
    virtual std::string_view date_line() const = 0;

    virtual void send_client(std::string_view a, std::string_view b) = 0;

    // Whether what was sent to the client is still waiting: then no further request is begun.
    virtual bool client_blocked() const = 0;

    // A string to build text in: empty, and to be left empty.
    virtual std::string& scratch() = 0;

    // A head to read into, shared by all sessions of a thread.
    virtual http::request_head& request_head_storage() = 0;

    virtual bool upstream_blocked() const = 0;

    // Closes the sending side towards the upstream (half-close).
    virtual void end_sending_upstream() = 0;

    // A tunnel begins: its 101 has been handed over.
    virtual void tunnel_begins() = 0;

    virtual void tunnel_carries(proxy::tunnel_side from, std::size_t bytes) = 0;

    // A request begins: its head is complete and valid.
    virtual void request_begins() = 0;

    // A request is over: its response has been handed over, or never will be.
    virtual void request_ends(const finished& f) = 0;

    // Closes the sending side towards the client (half-close).
    virtual void end_sending() = 0;

    virtual void close_client(bool reset) = 0;

protected:
    ~session_port() = default;
};

class session_state final : private proxy::tunnel_port {
public:
    // Most empty lines skipped before a request (RFC 9112 §2.2).
    static constexpr int max_leading_empty_lines = 4;

    enum class phase : std::uint8_t {
        // Between requests.
        idle,
        // Part of a head is here.
        head,

        admitting,
        exchanging,
        tunnelling,
        draining,
        lingering,
        closed,
    };

    explicit session_state(session_port& port);

    // Events.
    void client_bytes(std::span<char> bytes);

    // No more bytes will come from the client; `orderly` false: it reset the connection.
    void client_closed(bool orderly);
    // The client is not blocked any more.
    void client_drained();
    // The upstream is not blocked any more.
    void upstream_drained();
    // The decision has come, after admit() returned `pending`.
    void admitted(const admission& a);

    void upstream_bytes(std::span<char> bytes);

    // No more bytes will come from the upstream; `orderly` false: it reset the connection.
    void upstream_closed(bool orderly);

    void leased();
    void lease_failed(proxy::failure why);

    // The deadline of the present phase has passed.
    void expired(bool upstream_blocked);
    // Finishes what runs, then closes.
    void drain();
    // Closes now.
    void abort();

    // What the shell may do for it. `blocked`: what was sent that way is still waiting.
    bool wants_client_bytes(bool upstream_blocked) const;
    bool wants_upstream_bytes(bool client_blocked) const;

    phase at() const { return phase_; }

    // Whether what the client says is content: of a body that goes on, or of a tunnel.
    bool reads_content() const
    {
        return phase_ == phase::tunnelling ||
               (phase_ == phase::exchanging && exchange_.accepts_content());
    }

    // From its head, valid or refused, to the end of the connection or of the request.
    bool in_request() const { return phase_ != phase::idle && phase_ != phase::head; }

    // Whether nothing is kept of this client: the next one may be another.
    bool at_rest() const
    {
        return phase_ == phase::idle && inbox_.empty() && empty_lines_ == 0 && !draining_all_;
    }

    bool awaits_response() const
    {
        return phase_ == phase::exchanging && exchange_.has_connection() &&
               exchange_.request_sent() && !exchange_.response_begun();
    }

    bool may_retry() const { return exchange_.may_retry(); }

    bool tunnel_is_idle() const { return tunnel_.is_idle(); }

    bool awaits_connection() const
    {
        return phase_ == phase::exchanging && !exchange_.has_connection();
    }

    // From the shell's exchange_port, which passes them on.
    void interim_response(const http::response_head& head);
    void response(const http::response_head& head);
    void response_content(std::string_view content);
    void response_end();
    void switched(const http::response_head& head, std::string_view rest);
    void exchange_failed(proxy::failure why, bool begun);

private:
    session_port& port_;
    proxy::exchange_state exchange_;
    proxy::tunnel_state tunnel_;
    phase phase_ = phase::idle;

    bool is_head_ = false;
    bool http_1_0_ = false;
    // Whether the client wishes to keep the connection.
    bool keep_alive_ = false;
    // Whether we close the connection after this request.
    bool close_after_ = false;
    // Whether the server ends: then the connection closes after this request.
    bool draining_all_ = false;

    bool expects_continue_ = false;
    // Whether the request asks for a WebSocket.
    bool websocket_ = false;
    // Whether the request asks for one, and the client did not wait for the answer.
    bool spoke_early_ = false;

    bool response_head_sent_ = false;
    int empty_lines_ = 0;
    http::framing request_framing_;
    // The framing of the response towards the client.
    http::framing response_framing_;

    http::body_reader request_body_;
    std::uint64_t request_bytes_ = 0;
    std::uint64_t response_bytes_ = 0;
    std::uint64_t drained_ = 0;
    int status_ = 0;
    std::string_view error_;
    std::string inbox_;

    std::size_t consume(std::span<char> bytes);
    std::size_t consume_head(std::span<char> bytes);
    std::size_t consume_body(std::span<char> bytes);
    std::size_t consume_drained(std::span<char> bytes);
    bool can_consume() const;
    bool has_inbox_room() const;
    void begin_request(const http::request_head& head, bool more_follows);
    void begin_exchange();
    void refuse(const http::rejection& why);
    void answer(const admission& a);
    bool might_not_come() const;
    bool body_can_be_drained() const;
    bool leaves_body_unread(const http::response_head& head) const;
    void request_done();
    void leave(std::string_view why);
    void linger();
    void close(bool reset);

    // Called at the end of every event: sends what was gathered, takes up what waited.
    void settle();

    void flush(std::string_view content = {});

    // proxy::tunnel_port
    void tunnel_send(proxy::tunnel_side to, std::string_view bytes) override;
    void tunnel_finish(proxy::tunnel_side to) override;
    bool tunnel_blocked(proxy::tunnel_side to) const override;
    void tunnel_over(bool cut, std::string_view why) override;
};

}  // namespace gateway::server
