#include "gateway/client/http1/http1_state.hpp"

#include "gateway/base/text.hpp"

#include <utility>

namespace gateway::client {

// ---- from one request to the next ------------------------------------------------------------

void http1_state::begin_request(const http::request_head& head, bool more_follows)
{
    is_head_ = head.is_head();
    http_1_0_ = head.is_1_0();
    accepts_trailers_ = head.accepts_trailers;
    keep_alive_ = head.keep_alive;
    expects_continue_ = head.expects_continue;
    websocket_ = head.websocket;
    spoke_early_ = websocket_ && more_follows;
    close_after_ = draining_all_;
    refused_ = false;
    body_begun_ = false;
    empty_lines_ = 0;
    request_framing_ = head.body;
    phase_ = phase::request;
    request_->begin(head);
}

// Answers a head that is no valid request. Nothing after it can be understood.
void http1_state::refuse_head(const http::rejection& why, std::string_view bound, bool is_grpc)
{
    is_head_ = false;
    http_1_0_ = false;
    keep_alive_ = false;
    close_after_ = true;
    request_body_ = http::body_reader();
    phase_ = phase::request;
    request_->begin_refused(why.status, why.detail, bound, is_grpc);
}

void http1_state::request_over(ending how)
{
    if (how != ending::done) {
        close(how == ending::cut);
    } else if (!close_after_ && keep_alive_) {
        drained_ = 0;
        phase_ = request_body_.done() ? phase::idle : phase::draining;
    } else if (!keep_alive_ && request_body_.done() && inbox_.empty() && !refused_) {
        close(false);  // The client has announced that nothing follows.
    } else {
        linger();  // Bytes on their way must not destroy the response.
    }
}

void http1_state::settle()
{
    while (!inbox_.empty() && can_consume() &&
           (phase_ != phase::head || std::exchange(head_grew_, false))) {
        const std::size_t used = consume(inbox_);
        inbox_.erase(0, used);
        if (used == 0) {
            break;
        }
    }
    if (inbox_.empty()) {
        base::clear_keeping_little(inbox_);
    }
    flush();
}

// ---- ends ------------------------------------------------------------------------------------

void http1_state::client_closed(bool orderly)
{
    if (phase_ == phase::request) {
        request_->client_closed(orderly);
    } else {
        close(false);
    }
}

void http1_state::abort()
{
    if (phase_ == phase::request) {
        request_->abort();
    } else {
        close(false);
    }
}

void http1_state::expired()
{
    switch (phase_) {
        case phase::head:
            refuse_head(
                {408, "the request's header did not arrive in time"}, "http.header_timeout"
            );
            break;
        case phase::request:
            request_->expired();
            break;
        default:
            close(false);
            break;
    }
}

void http1_state::drain()
{
    draining_all_ = true;
    close_after_ = true;
}

void http1_state::linger()
{
    flush();
    drained_ = 0;
    inbox_.clear();
    phase_ = phase::lingering;
    port_->end_sending();
}

void http1_state::close(bool reset)
{
    if (phase_ == phase::closed) {
        return;
    }
    flush();
    phase_ = phase::closed;
    inbox_.clear();
    port_->close_client(reset);
}

// ---- queries by the shell --------------------------------------------------------------------

bool http1_state::wants_client_bytes() const
{
    switch (phase_) {
        case phase::closed:
            return false;
        case phase::idle:
        case phase::head:
            return !port_->client_blocked();
        case phase::request:
            return request_->accepts_content() ? request_->wants_content() : has_inbox_room();
        default:
            return true;
    }
}

bool http1_state::has_inbox_room() const
{
    return inbox_.empty() || inbox_.size() < limits().max_pipelined_bytes;
}

// Returns the timeout of what is awaited. While the client does not take what was sent, it is the
// client that must move. A tunnel knows by itself what it waits for.
timeout http1_state::waits_for() const
{
    if (port_->client_blocked() && phase_ != phase::head && phase_ != phase::closed &&
        !in_tunnel()) {
        return timeout::body;
    }
    switch (phase_) {
        case phase::idle:
            return timeout::idle;
        case phase::head:
            return timeout::head;
        case phase::request:
            return request_->waits_for();
        case phase::draining:
        case phase::lingering:
            return timeout::linger;
        case phase::closed:
            return timeout::none;
    }
    return timeout::none;
}

}  // namespace gateway::client
