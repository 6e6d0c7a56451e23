#include "gateway/client/http2/http2_stream.hpp"

#include "gateway/base/text.hpp"
#include "gateway/client/deadline.hpp"
#include "gateway/client/http2/http2_connection.hpp"
#include "gateway/client/http2/http2_head.hpp"
#include "gateway/client/requests/id_source.hpp"

#include <algorithm>
#include <utility>

namespace gateway::client {

namespace {

// Bytes of a response that are read although the client's window is shut: most heads have fewer.
constexpr std::size_t least_read_bytes = 2048;

// Bytes of a trailer's line besides its name and value. They count as over HTTP/1.1, over which it
// may go on.
constexpr std::size_t bytes_around_trailer = 4;

}  // namespace

void http2_stream::begin(http2_connection& of, http2::stream_id id)
{
    connection_ = &of;
    host_ = &of.host();
    id_ = id;
    phase_ = phase::head;
    armed_ = timeout::none;
    is_touched = false;
    request_ended_ = end_passed_ = false;
    resets_ = was_reset_ = moved_ = false;
    held_bytes_ = unconsumed_ = dropped_ = trailer_bytes_ = 0;
    inbox_.clear();
    trailers_.clear();
    response_.begin(of, id, *this);
}

// ---- the head --------------------------------------------------------------------------------

void http2_stream::field(std::string_view name, std::string_view value)
{
    if (phase_ == phase::head) {
        connection_->head().add(name, value, env_.view->http);
    } else if (phase_ == phase::request) {
        trailer_bytes_ += name.size() + value.size() + bytes_around_trailer;
        if (trailer_bytes_ <= env_.view->http.chunks.max_trailer_bytes) {
            trailers_.append(name).append(": ").append(value).append("\r\n");
        }
    }
}

void http2_stream::fields_ended(bool last)
{
    if (phase_ == phase::head) {
        request_ended_ = last;
        // The end of a handshake is that of its tunnel (RFC 8441 §5), and is passed when that
        // opens.
        end_passed_ = last && !connection_->head().is_connect();
        read_head(last);
    } else if (last) {
        content_ended();
    }
    connection_->touch(*this);
}

void http2_stream::read_head(bool last)
{
    http2::request_text& text = connection_->head();
    http::request_head& head = env_.scratch.request;
    const std::string key = text.is_connect()
                                ? make_websocket_key(env_.ids.request_id(env_.loop.now()))
                                : std::string{};
    const auto wrong = read_http2_head(text, last, env_.view->http, key, head);
    if (wrong && wrong->status == 0) {
        connection_->engine().reset(id_, http2::error_code::protocol_error);
        return;
    }
    connection_->request_came();
    phase_ = phase::request;
    if (wrong) {
        state().begin_refused(wrong->status, wrong->detail, {}, text.is_grpc());
    } else {
        held_bytes_ = text.held_bytes();
        response_.answers(head);
        begin_request(head);
    }
}

void http2_stream::begin_request(const http::request_head& head)
{
    const std::string_view service = host_->rate_limit_service();
    if (service.empty()) {
        state().begin(head);
        return;
    }
    if (rpc_ == nullptr) {
        rpc_carrier& self = *this;
        rpc_ = std::make_unique<rate_limit_rpc>(env_, self);
    }
    rpc_->begin(head, *this, service);
    if (request_ended_ && rpc_->is_open()) {
        rpc_->content({}, true);
    }
}

void http2_stream::rpc_answered(const grpc_answer& a)
{
    held_bytes_ = 0;
    response_.answer(a);
    request_over(ending::done);
}

// ---- the request's content -------------------------------------------------------------------

void http2_stream::content(std::string_view bytes)
{
    moved_ = true;
    connection_->touch(*this);
    if (phase_ != phase::request) {
        drop(bytes.size());
    } else if (inbox_.empty() && accepts_content()) {
        pass(bytes);
    } else {
        inbox_.append(bytes);
    }
}

void http2_stream::content_ended()
{
    request_ended_ = true;
    connection_->touch(*this);
    if (phase_ == phase::draining) {
        phase_ = phase::finishing;
    } else if (phase_ == phase::request && inbox_.empty() && accepts_content()) {
        pass_end();
    }
}

void http2_stream::pass(std::string_view bytes)
{
    is_rpc() ? rpc_->content(bytes, false) : state().content(bytes, false);
    unconsumed_ += bytes.size();
    open_window();
}

void http2_stream::pass_end()
{
    if (!std::exchange(end_passed_, true)) {
        if (is_rpc()) {
            rpc_->content({}, true);
        } else if (state().in_tunnel()) {
            state().client_closed(true);
        } else if (trailer_bytes_ > env_.view->http.chunks.max_trailer_bytes) {
            state().refuse(400, "the trailers are longer than this server accepts");
        } else {
            state().content({}, true, trailers_);
        }
    }
}

void http2_stream::pass_inbox()
{
    if (phase_ != phase::request || !accepts_content()) {
        return;
    }
    if (!inbox_.empty()) {
        const std::string waited = std::exchange(inbox_, {});
        pass(waited);
    }
    if (request_ended_ && phase_ == phase::request && accepts_content()) {
        pass_end();
    }
}

// Lets the client send on, if those before it have been taken.
void http2_stream::open_window()
{
    const bool taken =
        phase_ != phase::request || !state().accepts_content() || state().wants_content();
    if (unconsumed_ > 0 && taken) {
        connection_->engine().consume(id_, std::exchange(unconsumed_, 0));
    }
}

// Reads away what nobody wants. Past the bound, the client may send no more of it.
void http2_stream::drop(std::size_t bytes)
{
    dropped_ += bytes;
    if (has_dropped_enough()) {
        connection_->engine().consume_connection(bytes);
    } else {
        connection_->engine().consume(id_, bytes);
    }
}

bool http2_stream::has_dropped_enough() const
{
    return dropped_ > env_.view->http.max_refused_body_bytes;
}

// ---- the response ----------------------------------------------------------------------------

std::uint64_t http2_stream::respond(const limits::admission& a)
{
    held_bytes_ = 0;
    return phase_ == phase::over ? 0 : response_.respond(a, state().added_fields());
}

void http2_stream::response(const http::response_head& head)
{
    held_bytes_ = 0;
    response_.send_head(head, state().added_fields());
}

void http2_stream::switched(const http::response_head& head)
{
    held_bytes_ = 0;
    response_.send_grant(head, state().added_fields());
}

void http2_stream::content_sent(std::size_t bytes)
{
    moved_ = true;
    connection_->content_sent();
    response_.content_sent(bytes);
}

std::size_t http2_stream::response_room() const
{
    return std::max(least_read_bytes, connection_->engine().window(id_));
}

bool http2_stream::client_blocked() const
{
    return !response_.pending().empty() || connection_->is_blocked();
}

// ---- the end ---------------------------------------------------------------------------------

void http2_stream::request_over(ending how)
{
    held_bytes_ = 0;
    unconsumed_ += inbox_.size();
    base::clear_keeping_little(inbox_);
    open_window();
    if (phase_ == phase::over) {
        return;
    }
    if (how == ending::done || (how == ending::closed && response_.is_ended())) {
        phase_ = request_ended_ ? phase::finishing : phase::draining;
    } else {
        resets_ = true;
        reset(how == ending::cut ? http2::error_code::internal_error : http2::error_code::cancel);
    }
}

void http2_stream::reset(http2::error_code why)
{
    phase_ = phase::finishing;
    response_.give_up();
    connection_->engine().reset(id_, why);
    connection_->touch(*this);
}

void http2_stream::stream_closed(http2::error_code why)
{
    if (why != http2::error_code::no_error && !resets_ && !response_.is_ended()) {
        connection_->stream_reset();
    }
    const bool has_bad_head = phase_ == phase::head;
    if (has_bad_rest(why)) {
        close();
        state().refuse(400, "content that contradicts Content-Length, or malformed trailers");
    } else {
        client_left();
    }
    if (has_bad_head) {
        state().begin_refused(400, "the request is malformed");
    }
    connection_->touch(*this);
}

// Gives up what the client no longer waits for.
void http2_stream::leave()
{
    if (is_rpc()) {
        rpc_->abandon();
        request_over(ending::closed);
    } else {
        state().client_closed(false);
    }
}

void http2_stream::client_left()
{
    if (close()) {
        leave();
    }
}

void http2_stream::abort()
{
    if (close()) {
        is_rpc() ? rpc_->abandon() : state().abort();
    }
}

// Returns true if its request was under way, which is the caller's to end.
bool http2_stream::close()
{
    env_.loop.wheel().disarm(*this);
    base::clear_keeping_little(trailers_);
    return std::exchange(phase_, phase::over) == phase::request;
}

void http2_stream::drained()
{
    if (phase_ == phase::request && !is_rpc() && response_.pending().empty()) {
        state().drained();
    }
}

// ---- after each event ------------------------------------------------------------------------

void http2_stream::take_up()
{
    if (phase_ == phase::over) {
        return;
    }
    pass_inbox();
    open_window();
    response_.resume();
}

void http2_stream::arrange()
{
    if (phase_ == phase::request && !is_rpc()) {
        if (state().in_tunnel() && response_.pending().empty()) {
            state().drained();
        }
        request_.want_upstream_bytes();
    } else if (phase_ == phase::draining && has_dropped_enough() && !client_blocked()) {
        reset(http2::error_code::no_error);
    }
    const bool moved = std::exchange(moved_, false);
    put_deadline({env_.loop, *this, armed_}, waits_for(), moved, [this](timeout t) {
        return length_of(t);
    });
}

timeout http2_stream::waits_for() const
{
    if (phase_ == phase::head) {
        return timeout::none;  // The connection has a deadline for it.
    }
    if (!response_.pending().empty()) {
        return timeout::body;
    }
    switch (phase_) {
        case phase::request:
            return is_rpc() ? timeout::body : state().waits_for();
        case phase::draining:
            return timeout::linger;
        default:
            return timeout::body;
    }
}

base::duration http2_stream::length_of(timeout t) const
{
    return t == timeout::response ? request_.response_timeout()
                                  : configured_time(t, state().limits());
}

void http2_stream::expired(base::instant)
{
    armed_ = timeout::none;
    if (phase_ == phase::draining && response_.pending().empty()) {
        reset(http2::error_code::no_error);
    } else if (phase_ == phase::request && !is_rpc() && response_.pending().empty()) {
        state().expired();
    } else if (phase_ == phase::request) {  // The client has not taken what was sent.
        leave();
    } else {
        reset(http2::error_code::cancel);
    }
    after_event(false);
}

void http2_stream::after_event(bool moved)
{
    moved_ = moved_ || moved;
    connection_->touch(*this);
    host_->after_event(moved);
}

}  // namespace gateway::client
