// `exchange_state` carries one request to an upstream, as a sans-I/O machine: it leases a
// connection, sends the request, retries it once if that is safe, and passes on the response, which
// answer_state reads. It knows no socket, no clock and no client. An exchange_port carries bytes to
// the upstream, a reply_port the response to the client, and an exchange_owner learns the end.
//
//   idle -> leasing -> sending (both directions stream) -> idle
//                              \-> idle, and the connection is a tunnel's: tunnel_state
//                               \-> idle, and the rest is an abandoned_state's
//
// A request is retried (RFC 9110 §9.2.2) once, on a fresh connection, to another server
// wherever there is one. The connection must have ended before any byte of a response, the
// request must be idempotent and without a body, and the connection must have been used before or
// other servers must exist. A request that a server has refused before it began with it is sent
// again once, whatever its method, with the content kept of it.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/proxy/answer_state.hpp"
#include "gateway/proxy/failure.hpp"
#include "gateway/proxy/reply_port.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gateway::proxy {

// `exchange_port` is the upstream's side of an exchange. Calls never come back into the machine.
class exchange_port : public answer_port {
public:
    enum class lease_progress { ready, pending, failed };

    // Leases a connection. ready: use it now. pending: leased() or lease_failed() follows later.
    virtual lease_progress lease(bool fresh) = 0;
    // True if another lease, of this server or another, may bring the response that this did not.
    virtual bool another_lease_may_help() const = 0;
    // Returns why there is no lease.
    // Requires: lease() has returned `failed`.
    virtual failure lease_failure() const = 0;

    // Called before a request is sent a second time: `head` may change in places.
    virtual void begin_retry(std::string& head) = 0;

    // Sends the head of a request, whose body has this framing.
    virtual void send_head(std::string_view head, const http::framing& body) = 0;
    // Sends content, without framing. `last`: nothing follows but the trailers.
    virtual void send_content(std::string_view content, bool last, std::string_view trailers) = 0;
    // Sends bytes through a tunnel.
    virtual void send_bytes(std::string_view bytes) = 0;
    // True if a field with this name, which may pass in general, is not for the upstream, or not
    // for the client. Asked of trailers only.
    virtual bool hides_from_upstream(std::string_view name) const = 0;
    virtual bool hides_from_client(std::string_view name) const = 0;
    // True if something that was sent upstream is still waiting.
    virtual bool upstream_blocked() const = 0;

    // True if the exchange runs to its end although its client has left.
    virtual bool finishes_without_client() const = 0;
    // Gives the connection to an abandoned_state, with the response so far. Closes it at once where
    // that is as good.
    virtual void abandon(answer_state&& answer, abandon_until until) = 0;

protected:
    ~exchange_port() = default;
};

// `exchange_owner` has an exchange, and is notified of its end: once, after everything else. Only
// release_memory() may be called back from inside.
class exchange_owner {
public:
    // Called when the response has been passed on to its end, with these trailers.
    virtual void exchange_done(std::string_view trailers) = 0;
    // Called when the upstream has granted the requested WebSocket. `rest`: the bytes behind its
    // head. The connection is now the owner's, to release when the tunnel is over.
    virtual void switched(const http::response_head& head, std::string_view rest) = 0;
    // Called when there will be no (further) response.
    virtual void exchange_failed(failure why) = 0;

protected:
    ~exchange_owner() = default;
};

class exchange_state {
public:
    // Most bytes of content that are kept of a request to an upstream that may refuse it.
    static constexpr std::size_t most_kept_content = 16 * 1024;

    exchange_state(exchange_port& port, reply_port& reply, exchange_owner& owner)
        : port_(port), reply_(reply), owner_(owner)
    {}

    // Prepares for a request. The caller writes the outgoing head into the result before start().
    std::string& prepare(const http::request_head& head);

    // Has content that came before the exchange sent first. `last` and `trailers` are as in
    // request_content(). Called between prepare() and start().
    void send_first(std::string_view content, bool last, std::string_view trailers);

    // Returns the outgoing head, which may change until start().
    std::string& prepared_head() { return request_head_; }

    void start() { ask_for_connection(false); }

    void leased() { send_request(); }

    void lease_failed(failure why) { fail(why); }

    // Takes content of the request's body as it arrives. `last` comes with or after its last piece.
    // `trailers`: the request's trailer section with the last piece, checked but not filtered.
    // Those that may pass are sent if the body is chunked. Requires: accepts_content().
    void request_content(std::string_view content, bool last, std::string_view trailers = {});

    void upstream_bytes(std::span<char> bytes);
    // Called when the upstream's connection has ended; `orderly` is false if it was reset.
    void upstream_closed(bool orderly);
    // Called when the server has refused the request before it began with it.
    void upstream_refused();
    // Called when the server breaks the rules of its protocol: in its response, or on a connection
    // that others share, so that this request may be sent again as if the connection had ended.
    void upstream_malformed(bool on_connection);
    // Called when response_timeout or body_timeout has passed.
    void expired();
    // Called when the route's time is up and the server has had its share of it.
    // Requires: the server has the whole request, and has not answered.
    void out_of_time();
    // Releases the memory of a finished exchange, as an idle connection keeps none for it.
    void release_memory();
    // Called when the client is gone.
    void client_left();

    // Abandons the exchange, because the gateway answers instead of the upstream.
    void cancel() { abandon(abandon_until::answered); }

    // Ends the exchange, whatever the server still does with it.
    void close_now();

    bool active() const { return phase_ != phase::idle; }

    // True if the request may be sent again. If not, its connection should be known to be open.
    bool may_retry() const { return may_retry_; }

    // True if the request asks for a WebSocket.
    bool may_switch() const { return answer_.may_switch(); }

    bool accepts_content() const { return phase_ == phase::sending && !request_sent_; }

    bool has_connection() const { return phase_ == phase::sending; }

    bool request_sent() const { return request_sent_; }

    bool response_begun() const { return answer_.begun(); }

    // Status of the response, or 0 while there is none.
    int status() const { return answer_.status(); }

    // Bytes of the response's content that were passed on.
    std::uint64_t response_bytes() const { return answer_.bytes(); }

private:
    enum class phase : std::uint8_t { idle, leasing, sending };

    exchange_port& port_;
    reply_port& reply_;
    exchange_owner& owner_;
    phase phase_ = phase::idle;
    bool may_retry_ = false;
    // True while a refused request can be sent again: it was sent once at most, and all of its
    // content is kept.
    bool is_repeatable_ = false;
    // The content that was sent, and its trailers, while the request is repeatable, or that is to
    // be sent first.
    std::string kept_content_;
    std::string kept_trailers_;
    bool request_sent_ = false;
    // True if Connection nominates what a trailer could be, so that the request's do not pass.
    bool nominates_trailers_ = false;
    http::framing request_body_;
    std::string request_head_;
    answer_state answer_;

    void ask_for_connection(bool fresh);
    void ask_again();
    void keep(std::string_view content);
    void send_request();
    std::string passing(std::string_view trailers) const;
    void finish(std::size_t surplus);
    void abandon(abandon_until until);
    void fail(failure why);
    void report(failure why);
};

}  // namespace gateway::proxy
