// `request_state` is a request as a sans-I/O machine, whatever carries it: it is admitted or
// answered, exchanged with an upstream, perhaps a tunnel from then on, and over once. It knows no
// socket, clock, limit or route. Its carrier knows how the client frames requests.
//
//   idle -> admitting -> exchanging -> idle
//    | \---------\--------------\---> idle         answered by the gateway
//    \-> reading -> as from idle                    by its content, of which it has the beginning
//                                \-> tunnelling -> idle   a WebSocket was granted
#pragma once

#include "gateway/client/timeout.hpp"
#include "gateway/http/output/added_fields.hpp"
#include "gateway/http/output/forward_request.hpp"
#include "gateway/limits/admission.hpp"
#include "gateway/limits/finished.hpp"
#include "gateway/proxy/exchange_state.hpp"
#include "gateway/proxy/tunnel_state.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gateway::client {

// `content_reading` says what becomes of a request whose content is read ahead. more: it goes on.
// enough: the request can be decided about. no_room: the worker keeps too much of such requests.
enum class content_reading : std::uint8_t { more, enough, no_room };

// `request_ahead` is a request that is read ahead, as far as it has come.
// Ownership: it keeps nothing; valid until more is read.
struct request_ahead {
    const http::request_head& head;
    std::string_view content;
    // True if the content is whole. The trailers are then known.
    bool is_whole = false;
    std::string_view trailers{};
};

// `request_port` is what a request asks of its shell. Calls never come back into the machine.
class request_port {
public:
    // Called when a request begins. Its head may turn out to be invalid. `is_grpc`: its content is
    // gRPC's.
    virtual void request_begins(bool is_grpc) = 0;
    // Decides by route, identity and limits. admitted() is called later if it returns `wait`.
    virtual limits::admission admit(const http::request_head& head) = 0;
    // Reads content of a request that admit() has returned `read` for. `last` and `trailers` are as
    // in request_state::content().
    virtual content_reading read(
        std::string_view content, bool last, std::string_view trailers
    ) = 0;
    // Decides again, by the content that was read. Returns anything but `read`.
    // Requires: read() has returned `enough`.
    virtual limits::admission admit_by_content() = 0;
    // Returns what was read.
    // Requires: admit() has returned `read`.
    virtual request_ahead ahead() const = 0;
    // Called when that was sent to a server.
    virtual void ahead_sent() = 0;
    // Reads what follows the content that was decided by. Returns false if that is not what it
    // seemed to be.
    virtual bool read_on(std::string_view content, bool last) = 0;
    // Returns how the request goes upstream.
    // Requires: the request was admitted, or waits to be.
    virtual http::forward_options forwarding(const http::request_head& head) = 0;
    // Returns how it goes to the other upstream of its route, if its limits may yet send it there.
    // Requires: the request waits to be admitted.
    virtual std::optional<http::forward_options> forwarding_over_limit(
        const http::request_head& head
    ) = 0;
    // Returns the fields to add to its responses, but for Date.
    virtual http::added_fields added_fields() const = 0;
    // True if the gateway's own responses are for a client of gRPC.
    virtual bool is_grpc() const = 0;
    // Called when a tunnel begins. Its 101 has been handed over.
    virtual void tunnel_begins() = 0;
    virtual void tunnel_carries(proxy::tunnel_side from, std::size_t bytes) = 0;
    // Called when its response has been handed over, or never will be.
    virtual void request_ends(const limits::finished& f) = 0;

protected:
    ~request_port() = default;
};

// `request_carrier` carries requests to and from a client: an HTTP/1 connection, one after
// another, or a stream of HTTP/2. Calls never come back into the machine.
class request_carrier : public proxy::reply_port {
public:
    // The way in which a request ends. done: the next one may come. cut: the response must not look
    // complete. closed: nothing more is to come, as the client is gone, its tunnel has ended or
    // the process ends.
    enum class ending { done, cut, closed };

    // Sends the gateway's own response, whole. Returns the number of bytes of its content.
    virtual std::uint64_t respond(const limits::admission& a) = 0;
    // Sends the upstream's 101. From here on there are only bytes.
    virtual void switched(const http::response_head& head) = 0;
    virtual void tunnel_bytes(std::string_view bytes) = 0;
    // Called when nothing more comes through the tunnel.
    virtual void tunnel_end() = 0;
    // True if something that was sent to the client still waits.
    virtual bool client_blocked() const = 0;
    // Returns the most bytes that should be read of a response before the client is asked again.
    virtual std::size_t response_room() const = 0;
    // Ends the request. It is the last call of every request.
    virtual void request_over(ending how) = 0;

protected:
    ~request_carrier() = default;
};

class request_state final : private proxy::exchange_owner, private proxy::tunnel_port {
public:
    enum class phase : std::uint8_t { idle, reading, admitting, exchanging, tunnelling };

    request_state(request_port& port, proxy::exchange_port& upstream, request_carrier& carrier)
        : port_(port),
          upstream_(upstream),
          carrier_(carrier),
          exchange_(upstream, carrier, *this),
          tunnel_(*this)
    {}

    // ---- Events of the carrier.
    void begin(const http::request_head& head);
    // Begins an invalid request, which is counted, and answered with an error. `bound` is as in
    // admission. `is_grpc`: the head says that its content is gRPC's.
    void begin_refused(
        int status, std::string_view why, std::string_view bound = {}, bool is_grpc = false
    );
    // Takes content of the request as it arrives, or any bytes in a tunnel. `last` comes with or
    // after the last of it.
    // `trailers`: the request's trailer section with the last piece, as field lines that are
    // checked but not filtered. Requires: accepts_content().
    void content(std::string_view bytes, bool last, std::string_view trailers = {});
    // Gives up the rest of the request, which cannot be had. It is answered with an error, if it
    // still can be.
    void refuse(int status, std::string_view why, std::string_view bound = {});
    // Called when the client sends no more; `orderly` is false if its connection broke.
    void client_closed(bool orderly);
    // Called when the process ends.
    void abort();
    // Called when a side is not blocked any more.
    void drained();
    // Called when the timeout that waits_for() names has passed.
    void expired();

    // ---- Events of the shell.
    // Called when the route allows it no more time. `upstream_at_fault`: the upstream has had its
    // share of that time.
    void out_of_time(bool upstream_at_fault);
    // Called when its client allows it no more time.
    void deadline_passed();
    // Takes the decision that comes after admit() has returned `wait`.
    void admitted(const limits::admission& a);

    // Takes another result of admit() in place of the first, which was `wait`. Content that was
    // read ahead is still kept.
    void admitted_anew(const http::request_head& head, const limits::admission& a)
    {
        phase_ = keeps_ahead_ ? phase::reading : phase_;
        proceed(head, a);
    }

    void leased()
    {
        exchange_.leased();
        note_sent_ahead();
    }

    void lease_failed(proxy::failure why) { exchange_.lease_failed(why); }

    void upstream_bytes(std::span<char> bytes);
    // Called when no more bytes will come from the upstream; `orderly` is false if it reset the
    // connection.
    void upstream_closed(bool orderly);

    // Called when the server has refused the request before it began with it.
    void upstream_refused() { exchange_.upstream_refused(); }

    // Called when the server breaks the rules of its protocol.
    void upstream_malformed(bool on_connection) { exchange_.upstream_malformed(on_connection); }

    phase at() const { return phase_; }

    // Bytes of the request's content that have come.
    std::uint64_t content_bytes() const { return content_bytes_; }

    bool in_tunnel() const { return phase_ == phase::tunnelling; }

    // True if content() may be called.
    bool accepts_content() const
    {
        return in_tunnel() || phase_ == phase::reading ||
               (phase_ == phase::exchanging && exchange_.accepts_content());
    }

    // True if content should be read from the client.
    // Requires: accepts_content().
    bool wants_content() const
    {
        return !upstream_.upstream_blocked() &&
               (!in_tunnel() || tunnel_.wants_bytes(proxy::tunnel_side::client));
    }

    bool wants_upstream_bytes() const;

    std::size_t response_room() const { return carrier_.response_room(); }

    timeout waits_for() const;

    // True if it may be sent a second time.
    bool may_retry() const { return exchange_.may_retry(); }

    // True if it asks for a WebSocket.
    bool may_switch() const { return exchange_.may_switch(); }

    // Returns the options in force.
    const http::options& limits() const { return upstream_.limits(); }

    http::added_fields added_fields() const { return port_.added_fields(); }

private:
    request_port& port_;
    proxy::exchange_port& upstream_;
    request_carrier& carrier_;
    proxy::exchange_state exchange_;
    proxy::tunnel_state tunnel_;
    phase phase_ = phase::idle;
    // Key of the timeout that has passed, while exchange_ handles it; empty: the key of the
    // failure counts.
    std::string_view response_bound_;
    std::uint64_t content_bytes_ = 0;
    // True if content of the request was read ahead and is still kept, and if the rest of it is
    // read on.
    bool keeps_ahead_ = false;
    bool reads_on_ = false;
    // Outgoing head for the other upstream of the route, until the request is admitted. Empty: it
    // cannot go there.
    std::string head_over_limit_;

    void proceed(const http::request_head& head, const limits::admission& a);
    void read_ahead(std::string_view bytes, bool last, std::string_view trailers);
    void refuse_late_body();

    void note_sent_ahead()
    {
        if (keeps_ahead_ && exchange_.has_connection()) {
            keeps_ahead_ = false;
            port_.ahead_sent();
        }
    }

    void go_over(std::string_view limit);
    void respond(const limits::admission& a);
    void send(const limits::admission& a);
    void fail(const limits::admission& a);
    void abandon(std::string_view why);
    limits::finished so_far(std::string_view error, std::string_view bound = {}) const;
    void end(request_carrier::ending how, const limits::finished& f);

    // proxy::exchange_owner
    void exchange_done(std::string_view trailers) override;
    void switched(const http::response_head& head, std::string_view rest) override;
    void exchange_failed(proxy::failure why) override;
    // proxy::tunnel_port
    void tunnel_send(proxy::tunnel_side to, std::string_view bytes) override;
    void tunnel_finish(proxy::tunnel_side to) override;
    bool tunnel_blocked(proxy::tunnel_side to) const override;
    void tunnel_over(bool cut, std::string_view why) override;
};

}  // namespace gateway::client
