#include "gateway/client/requests/request_state.hpp"

#include "gateway/base/text.hpp"
#include "gateway/client/requests/exchange_refusals.hpp"
#include "gateway/client/requests/kept_request.hpp"

namespace gateway::client {

namespace {

limits::admission bounded(limits::admission a, std::string_view by)
{
    a.bound = by;
    return a;
}

}  // namespace

using proxy::tunnel_side;
using ending = request_carrier::ending;

// ---- from its head to its end ----------------------------------------------------------------

void request_state::begin(const http::request_head& head)
{
    content_bytes_ = 0;
    keeps_ahead_ = reads_on_ = false;
    port_.request_begins(head.grpc);
    proceed(head, port_.admit(head));
}

// Does what the admission says. The client may be waiting for leave to send the content.
void request_state::proceed(const http::request_head& head, const limits::admission& a)
{
    using action = limits::admission::action;
    head_over_limit_.clear();  // A decision that is replaced by this one may have written it.
    if (a.next == action::read) {
        phase_ = phase::reading;
        exchange_.prepare(head);  // No response of an earlier one counts.
        if (head.expects_continue) {
            carrier_.interim_response(leave_to_continue());
        }
        return;
    }
    if (a.next != action::respond) {
        http::append_forwarded_request(head, port_.forwarding(head), exchange_.prepare(head));
        if (phase_ == phase::reading) {
            const request_ahead ahead = port_.ahead();
            exchange_.send_first(ahead.content, ahead.is_whole, ahead.trailers);
            keeps_ahead_ = true;
            reads_on_ = !ahead.is_whole;
        }
        phase_ = phase::admitting;
    }
    if (a.next != action::wait) {
        admitted(a);
    } else if (const auto other = port_.forwarding_over_limit(head)) {
        http::append_forwarded_request(head, *other, head_over_limit_);
    }
}

void request_state::begin_refused(
    int status, std::string_view why, std::string_view bound, bool is_grpc
)
{
    content_bytes_ = 0;
    port_.request_begins(is_grpc);
    respond(bounded(limits::refusal(status, why), bound));
}

void request_state::admitted(const limits::admission& a)
{
    if (a.next == limits::admission::action::respond) {
        respond(a);
    } else {
        if (!a.over_limit.empty()) {
            go_over(a.over_limit);
        }
        phase_ = phase::exchanging;
        exchange_.start();
        note_sent_ahead();
    }
}

// Has the request go to the other upstream of its route, which learns the limit that it is over.
void request_state::go_over(std::string_view limit)
{
    std::string& head = exchange_.prepared_head();
    if (!head_over_limit_.empty()) {
        head.swap(head_over_limit_);
    }
    std::string line{http::over_limit_field};
    line.append(": ").append(limit).append("\r\n");
    head.insert(head.size() - 2, line);  // before the empty line
}

// Sends the gateway's own response. That to a call of gRPC has a code in place of the status.
void request_state::respond(const limits::admission& a)
{
    if (a.status < 400 || a.stays_http || !port_.is_grpc()) {
        send(a);
        return;
    }
    limits::admission of_grpc = a;
    of_grpc.grpc = http::own_grpc_status(a.status, a.timed_out);
    send(of_grpc);
}

void request_state::send(const limits::admission& a)
{
    const std::uint64_t bytes = carrier_.respond(a);
    end(ending::done,
        {.status = a.status,
         .request_bytes = content_bytes_,
         .response_bytes = bytes,
         .error = a.detail,
         .bound = a.bound,
         .intended = a.intended,
         .given_up = a.given_up,
         .grpc = a.grpc});
}

// Returns the outcome of the exchange so far.
limits::finished request_state::so_far(std::string_view error, std::string_view bound) const
{
    return {
        .status = exchange_.status(),
        .request_bytes = content_bytes_,
        .response_bytes = exchange_.response_bytes(),
        .error = error,
        .bound = bound,
    };
}

void request_state::end(ending how, const limits::finished& f)
{
    phase_ = phase::idle;
    port_.request_ends(f);
    base::clear_keeping_little(head_over_limit_);
    exchange_.release_memory();
    carrier_.request_over(how);
}

// ---- the client ------------------------------------------------------------------------------

void request_state::content(std::string_view bytes, bool last, std::string_view trailers)
{
    if (in_tunnel()) {
        tunnel_.bytes(tunnel_side::client, bytes);
        return;
    }
    content_bytes_ += bytes.size();
    if (!upstream_.limits().allows_body(content_bytes_)) {
        fail(limits::body_too_large());
    } else if (phase_ == phase::reading) {
        read_ahead(bytes, last, trailers);
    } else if (reads_on_ && !port_.read_on(bytes, last)) {
        fail(limits::content_unclear_later());
    } else {
        exchange_.request_content(bytes, last, trailers);
    }
}

void request_state::read_ahead(std::string_view bytes, bool last, std::string_view trailers)
{
    switch (port_.read(bytes, last, trailers)) {
        case content_reading::more:
            break;
        case content_reading::enough: {
            const limits::admission a = port_.admit_by_content();
            proceed(port_.ahead().head, a);
            break;
        }
        case content_reading::no_room:
            fail(limits::no_room_for_content());
            break;
    }
}

void request_state::refuse(int status, std::string_view why, std::string_view bound)
{
    limits::admission a = bounded(limits::refusal(status, why), bound);
    a.leaves_rest_unread = true;
    fail(a);
}

// Answers with this error, or cuts the response if that has begun.
void request_state::fail(const limits::admission& a)
{
    exchange_.cancel();
    if (exchange_.response_begun()) {
        limits::finished f = so_far(a.detail, a.bound);
        f.given_up = a.given_up;
        f.grpc = a.timed_out ? http::grpc_status::deadline_exceeded : http::grpc_status::unknown;
        end(ending::cut, f);
    } else {
        respond(a);
    }
}

void request_state::client_closed(bool orderly)
{
    if (in_tunnel()) {
        tunnel_.ended(tunnel_side::client, orderly);
    } else {
        exchange_.client_left();
        abandon("the client closed the connection");
    }
}

void request_state::abort()
{
    if (in_tunnel()) {
        tunnel_.abort();
    } else {
        exchange_.close_now();
        abandon("the gateway ended before the request did");
    }
}

void request_state::abandon(std::string_view why)
{
    limits::finished f = so_far(why);
    f.given_up = true;
    f.grpc = http::grpc_status::cancelled;
    end(ending::closed, f);
}

void request_state::drained()
{
    if (in_tunnel()) {
        tunnel_.drained();
    }
}

// ---- the upstream ----------------------------------------------------------------------------

void request_state::upstream_bytes(std::span<char> bytes)
{
    if (in_tunnel()) {
        tunnel_.bytes(tunnel_side::upstream, {bytes.data(), bytes.size()});
    } else {
        exchange_.upstream_bytes(bytes);
    }
}

void request_state::upstream_closed(bool orderly)
{
    if (in_tunnel()) {
        tunnel_.ended(tunnel_side::upstream, orderly);
    } else {
        exchange_.upstream_closed(orderly);
    }
}

void request_state::exchange_done(std::string_view trailers)
{
    limits::finished f = so_far({});
    f.trailers = trailers;
    end(ending::done, f);
}

void request_state::exchange_failed(proxy::failure why)
{
    fail(exchange_refusal(why, response_bound_));
}

bool request_state::wants_upstream_bytes() const
{
    const bool open = phase_ == phase::exchanging
                          ? exchange_.has_connection()
                          : in_tunnel() && tunnel_.wants_bytes(tunnel_side::upstream);
    return open && !carrier_.client_blocked();
}

// ---- deadlines -------------------------------------------------------------------------------

timeout request_state::waits_for() const
{
    switch (phase_) {
        case phase::exchanging:
            if (!exchange_.has_connection()) {
                return timeout::none;  // The pool has its own.
            }
            return exchange_.request_sent() && !exchange_.response_begun() ? timeout::response
                                                                           : timeout::body;
        case phase::tunnelling:
            return tunnel_.is_idle() ? timeout::tunnel : timeout::body;
        case phase::reading:
            return timeout::content;
        case phase::idle:
        case phase::admitting:
            return timeout::none;  // The decision has its own.
    }
    return timeout::none;
}

void request_state::expired()
{
    if (in_tunnel()) {
        tunnel_.expired();
    } else if (phase_ == phase::exchanging) {
        const bool waits_for_client = !exchange_.request_sent() && !exchange_.response_begun() &&
                                      !upstream_.upstream_blocked();
        if (waits_for_client) {
            refuse_late_body();
        } else {
            exchange_.expired();
        }
    } else if (phase_ == phase::reading) {
        refuse_late_body();
    }
}

void request_state::refuse_late_body()
{
    refuse(408, "the request's body did not arrive in time", "http.body_timeout");
}

// Blames the upstream only if that has the whole request, as slow clients are not its fault.
void request_state::out_of_time(bool upstream_at_fault)
{
    if (phase_ == phase::idle || in_tunnel()) {
        return;
    }
    const bool awaited = phase_ == phase::exchanging && exchange_.has_connection() &&
                         exchange_.request_sent() && !exchange_.response_begun();
    if (awaited && upstream_at_fault) {
        response_bound_ = route_bound;
        exchange_.out_of_time();
        response_bound_ = {};
        return;
    }
    fail(refusal_by_route_time());
}

// Does what the client's leaving would do. It blames nobody, as any client can set a deadline that
// no server could meet.
void request_state::deadline_passed()
{
    if (phase_ == phase::idle || in_tunnel()) {
        return;
    }
    exchange_.client_left();
    fail(refusal_by_client_time());
}

// ---- a tunnel --------------------------------------------------------------------------------

// Begins the tunnel. It is counted and logged as the request that it began with, whose bodies are
// the bytes that it carries.
void request_state::switched(const http::response_head& head, std::string_view rest)
{
    carrier_.switched(head);
    exchange_.release_memory();
    phase_ = phase::tunnelling;
    tunnel_.start();
    port_.tunnel_begins();
    tunnel_.bytes(tunnel_side::upstream, rest);
}

void request_state::tunnel_send(tunnel_side to, std::string_view bytes)
{
    port_.tunnel_carries(proxy::other(to), bytes.size());
    if (to == tunnel_side::client) {
        carrier_.tunnel_bytes(bytes);
    } else {
        upstream_.send_bytes(bytes);
    }
}

void request_state::tunnel_finish(tunnel_side to)
{
    if (to == tunnel_side::client) {
        carrier_.tunnel_end();
    } else {
        upstream_.end_sending_upstream();
    }
}

bool request_state::tunnel_blocked(tunnel_side to) const
{
    return to == tunnel_side::client ? carrier_.client_blocked() : upstream_.upstream_blocked();
}

void request_state::tunnel_over(bool cut, std::string_view why)
{
    upstream_.release(proxy::exchange_port::disposition::close);
    end(cut ? ending::cut : ending::closed,
        {.status = exchange_.status(),
         .request_bytes = tunnel_.bytes_from(tunnel_side::client),
         .response_bytes = tunnel_.bytes_from(tunnel_side::upstream),
         .error = why,
         .tunnelled = true});
}

}  // namespace gateway::client
