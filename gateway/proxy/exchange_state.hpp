// One request with an upstream, as a sans-I/O machine: leasing a connection, sending the request,
// one safe retry, and its response, which answer_state reads. It knows no socket, no clock and no
// client: an exchange_port carries bytes to the upstream, a reply_port carries the response to the
// client, and its owner is told how it ended.
//
//   idle -> leasing -> sending (both directions stream) -> idle
//                              \-> idle, and the connection is a tunnel's: tunnel_state
//                               \-> idle, and the rest is an abandoned_state's
//
// Retry (RFC 9110 §9.2.2): once, on a fresh connection, to another server wherever there is one,
// when a connection ended before any byte of a response, the request is idempotent and without a
// body, and the connection had been used before or there are other servers. A POST is never sent
// twice.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/proxy/answer_state.hpp"
#include "gateway/proxy/failure.hpp"
#include "gateway/proxy/reply_port.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gateway::proxy {

// The upstream's side of an exchange. Calls never come back into the machine.
class exchange_port : public answer_port {
public:
    enum class lease_progress { ready, pending, failed };

    // A connection for this exchange. ready: use it now; pending: leased() or lease_failed() later.
    virtual lease_progress lease(bool fresh) = 0;
    // Whether the server may well answer, or another one, where the leased connection brought none.
    virtual bool another_lease_may_help() const = 0;
    // Why there is no lease; to be asked after `failed`.
    virtual failure lease_failure() const = 0;

    virtual void send_upstream(std::string_view a, std::string_view b) = 0;
    // Whether what was sent upstream is still waiting.
    virtual bool upstream_blocked() const = 0;

    // True if the exchange runs to its end although its client has left.
    virtual bool finishes_without_client() const = 0;
    // Gives the connection to an abandoned_state, with what has come of `answer`; or closes it at
    // once, where that is as good.
    virtual void abandon(answer_state&& answer, abandon_until until) = 0;

protected:
    ~exchange_port() = default;
};

// Who has an exchange. Told last of everything, once; only release_memory() may come back from
// inside.
class exchange_owner {
public:
    // The response has been passed on, up to its end.
    virtual void exchange_done() = 0;
    // The upstream has granted the WebSocket that was asked for: what it said behind its head is
    // `rest`. The connection is the owner's now, to release when the tunnel is over.
    virtual void switched(const http::response_head& head, std::string_view rest) = 0;
    // No (further) response.
    virtual void exchange_failed(failure why) = 0;

protected:
    ~exchange_owner() = default;
};

class exchange_state {
public:
    exchange_state(exchange_port& port, reply_port& reply, exchange_owner& owner)
        : port_(port), reply_(reply), owner_(owner)
    {}

    // Before start(): the outgoing head is to be written into what this returns.
    std::string& prepare(const http::request_head& head);

    void start() { ask_for_connection(false); }

    void leased() { send_request(); }

    void lease_failed(failure why) { fail(why); }

    // Content of the request's body, as it arrives; `last` with or after the last of it. Only while
    // accepts_content().
    void request_content(std::string_view content, bool last);

    void upstream_bytes(std::span<char> bytes);
    // The upstream's connection has ended; not orderly: it was reset.
    void upstream_closed(bool orderly);
    // A deadline of ours has passed: response_timeout or body_timeout.
    void expired();
    // The route's time is up, and the server has had its share of it. Requires: it has the whole
    // request, and has not answered.
    void out_of_time();
    // The exchange is over: an idle connection keeps no memory for it.
    void release_memory();
    // The client is gone.
    void client_left();

    // The gateway answers instead of the upstream.
    void cancel() { abandon(abandon_until::answered); }

    // Ends it whatever the server still does with it.
    void close_now();

    bool active() const { return phase_ != phase::idle; }

    // If not, a lease had better not be of a connection that has died meanwhile.
    bool may_retry() const { return may_retry_; }

    bool accepts_content() const { return phase_ == phase::sending && !request_sent_; }

    bool has_connection() const { return phase_ == phase::sending; }

    bool request_sent() const { return request_sent_; }

    bool response_begun() const { return answer_.begun(); }

    // Of the response; 0: there is none yet.
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
    bool request_sent_ = false;
    http::framing request_body_;
    std::string request_head_;
    answer_state answer_;

    void ask_for_connection(bool fresh);
    void send_request();
    void finish(std::size_t surplus);
    void abandon(abandon_until until);
    void fail(failure why);
    void report(failure why);
};

}  // namespace gateway::proxy
