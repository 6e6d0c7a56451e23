#include "gateway/client/http2_stream.hpp"

#include "gateway/base/text.hpp"
#include "gateway/client/http2_connection.hpp"
#include "gateway/client/id_source.hpp"
#include "gateway/http/output/forward_response.hpp"
#include "gateway/http/output/own_response.hpp"
#include "gateway/http/request_parser.hpp"

#include <utility>

namespace gateway::client {

namespace {

// Content up to this size is gathered with what follows, and leaves at the end of the event.
constexpr std::size_t gathered_content_bytes = 4096;

// Returns the lines of a head, behind its first line.
std::span<char> lines_of(std::span<char> head)
{
    const std::size_t first = std::string_view(head.data(), head.size()).find('\n') + 1;
    return head.subspan(first);
}

}  // namespace

void http2_stream::begin(http2_connection& of, http2::stream_id id)
{
    connection_ = &of;
    id_ = id;
    phase_ = phase::head;
    armed_ = timeout::none;
    is_head_ = request_ended_ = end_passed_ = false;
    response_ended_ = response_begun_ = resets_ = moved_ = false;
    held_bytes_ = unconsumed_ = dropped_ = 0;
    inbox_.clear();
    direct_ = {};
    kept_.clear();
    kept_at_ = 0;
    trailers_.clear();
}

bool http2_stream::holds_other_than(const limits::policy_view& present) const
{
    const limits::policy_view* const held = request_.record().view.get();
    return held != nullptr && held != &present;
}

// ---- the head --------------------------------------------------------------------------------

void http2_stream::field(std::string_view name, std::string_view value)
{
    if (phase_ == phase::head) {
        connection_->head().add(name, value, env_.view->http);
    }
}

void http2_stream::fields_ended(bool last)
{
    if (phase_ == phase::head) {
        request_ended_ = end_passed_ = last;
        read_head(last);
    } else if (last) {
        content_ended();
    }
    connection_->touch(*this);
}

void http2_stream::read_head(bool last)
{
    http2::request_text& head = connection_->head();
    const base::uuid_text random = env_.ids.request_id(env_.loop.now());
    // Any sixteen bytes will do (RFC 6455 §4.1): nobody but the server looks at them.
    const std::string key = std::string(random.data() + random.size() - 22, 22) + "==";
    const auto verdict = head.finish(last, key);
    if (verdict == http2::request_text::verdict::malformed) {
        reset(http2::error_code::protocol_error);
        return;
    }
    connection_->request_came();
    phase_ = phase::request;
    http::request_head& parsed = env_.scratch.request;
    http::rejection why = head.refusal();
    if (verdict == http2::request_text::verdict::readable) {
        const http::parse_result result =
            http::parse_request_head(head.text(), env_.view->http, parsed);
        if (result.is == http::parse_result::state::complete) {
            is_head_ = parsed.is_head();
            held_bytes_ = head.text().size();
            state().begin(parsed);
            return;
        }
        why = result.why;
    }
    state().begin_refused(why.status, why.detail);
}

// ---- the request's content -------------------------------------------------------------------

void http2_stream::content(std::string_view bytes)
{
    moved_ = true;
    connection_->touch(*this);
    if (phase_ != phase::request) {
        drop(bytes.size());
    } else if (inbox_.empty() && state().accepts_content()) {
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
    } else if (phase_ == phase::request && inbox_.empty() && state().accepts_content()) {
        pass_end();
    }
}

void http2_stream::pass(std::string_view bytes)
{
    state().content(bytes, false);
    unconsumed_ += bytes.size();
    open_window();
}

void http2_stream::pass_end()
{
    if (!std::exchange(end_passed_, true)) {
        if (state().in_tunnel()) {
            state().client_closed(true);
        } else {
            state().content({}, true);
        }
    }
}

void http2_stream::pass_inbox()
{
    if (phase_ != phase::request || !state().accepts_content()) {
        return;
    }
    if (!inbox_.empty()) {
        const std::string waited = std::exchange(inbox_, {});
        pass(waited);
    }
    if (request_ended_ && phase_ == phase::request && state().accepts_content()) {
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

// Sends the head in `text`, whose first line and last, empty line are left out.
void http2_stream::send_head(int status, std::span<char> text, bool last)
{
    response_begun_ = true;
    response_ended_ = response_ended_ || last;
    held_bytes_ = 0;
    connection_->engine().respond(id_, status, lines_of(text), last, *this);
    connection_->touch(*this);
}

std::uint64_t http2_stream::respond(const limits::admission& a)
{
    http::added_fields added = state().added_fields();
    added.date = env_.date.text();
    const http::own_response own{
        .status = a.status,
        .detail = a.detail,
        .added = added,
        .retry_after = a.retry_after,
        .extra = a.extra,
        .fixed = a.fixed,
        .head_only = is_head_,
    };
    std::string& out = env_.scratch.out;
    const std::size_t before = out.size();
    const std::uint64_t content = http::append_own_response(own, out);
    const std::size_t head = out.size() - before - content;
    kept_.assign(out, before + head);
    response_ended_ = true;
    // The status is the text's, as one that the gateway never gives becomes another.
    const int status = std::stoi(out.substr(before + 9, 3));
    send_head(status, std::span<char>(out).subspan(before, head), content == 0);
    out.resize(before);
    return content;
}

void http2_stream::interim_response(const http::response_head& head)
{
    std::string& out = env_.scratch.out;
    const std::size_t before = out.size();
    const http::added_fields added = state().added_fields();
    http::append_interim_response(head, added.limits.replaces(), added.edits, out);
    connection_->engine().respond_interim(
        id_, head.status, lines_of(std::span<char>(out).subspan(before))
    );
    out.resize(before);
    connection_->touch(*this);
}

void http2_stream::response(const http::response_head& head)
{
    http::added_fields added = state().added_fields();
    added.date = env_.date.text();
    std::string& out = env_.scratch.out;
    const std::size_t before = out.size();
    http::append_forwarded_response(head, {.added = added}, out);
    const bool last = http::outbound_framing(head, false).is_empty();
    send_head(head.status, std::span<char>(out).subspan(before), last);
    out.resize(before);
}

// Sends the head that begins a tunnel: 200 over HTTP/2 (RFC 8441 §5).
void http2_stream::switched(const http::response_head& head)
{
    std::string& out = env_.scratch.out;
    const std::size_t before = out.size();
    http::append_forwarded_response(head, {.added = state().added_fields()}, out);
    send_head(200, std::span<char>(out).subspan(before), false);
    out.resize(before);
}

void http2_stream::response_content(std::string_view content)
{
    moved_ = true;
    connection_->touch(*this);
    const bool at_once = content.size() > gathered_content_bytes && pending().empty() &&
                         connection_->may_send() && !connection_->is_blocked();
    if (at_once) {
        direct_ = content;
        connection_->engine().resume(id_);
        connection_->engine().send_frames();
        content = std::exchange(direct_, {});
    }
    kept_.append(content);
}

void http2_stream::response_end()
{
    response_ended_ = true;
    connection_->touch(*this);
}

std::string_view http2_stream::pending() const
{
    return direct_.empty() ? std::string_view(kept_).substr(kept_at_) : direct_;
}

void http2_stream::content_sent(std::size_t bytes)
{
    moved_ = true;
    connection_->content_sent();
    connection_->touch(*this);
    if (!direct_.empty()) {
        direct_.remove_prefix(bytes);
        return;
    }
    kept_at_ += bytes;
    if (kept_at_ == kept_.size()) {
        base::clear_keeping_little(kept_);
        kept_at_ = 0;
    }
}

bool http2_stream::client_blocked() const
{
    return !pending().empty() || connection_->is_blocked();
}

// ---- the end ---------------------------------------------------------------------------------

void http2_stream::request_over(ending how)
{
    held_bytes_ = 0;
    base::clear_keeping_little(inbox_);
    open_window();
    if (phase_ == phase::over) {
        return;
    }
    if (how == ending::done || (how == ending::closed && response_ended_)) {
        phase_ = request_ended_ ? phase::finishing : phase::draining;
    } else {
        resets_ = true;
        reset(how == ending::cut ? http2::error_code::internal_error : http2::error_code::cancel);
    }
}

void http2_stream::reset(http2::error_code why)
{
    phase_ = phase::finishing;
    kept_.clear();
    kept_at_ = 0;
    connection_->engine().reset(id_, why);
    connection_->touch(*this);
}

void http2_stream::stream_closed(bool in_order)
{
    const bool under_way = phase_ == phase::request;
    if (!in_order && !resets_ && !response_ended_) {
        connection_->stream_reset();
    }
    phase_ = phase::over;
    if (under_way) {
        state().client_closed(false);
    }
    env_.loop.wheel().disarm(*this);
    connection_->touch(*this);
}

void http2_stream::client_left(bool orderly)
{
    const bool under_way = phase_ == phase::request;
    phase_ = phase::over;
    if (under_way) {
        state().client_closed(orderly);
    }
    env_.loop.wheel().disarm(*this);
}

void http2_stream::abort()
{
    const bool under_way = phase_ == phase::request;
    phase_ = phase::over;
    if (under_way) {
        state().abort();
    }
    env_.loop.wheel().disarm(*this);
}

void http2_stream::drained()
{
    if (phase_ == phase::request && pending().empty()) {
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
    if (response_begun_ && (!pending().empty() || response_ended_)) {
        connection_->engine().resume(id_);
    }
}

void http2_stream::arrange()
{
    if (phase_ == phase::request) {
        if (state().in_tunnel() && pending().empty()) {
            state().drained();
        }
        request_.want_upstream_bytes();
    } else if (phase_ == phase::draining && has_dropped_enough() && !client_blocked()) {
        reset(http2::error_code::no_error);
    }
    const timeout wanted = waits_for();
    const bool moved = std::exchange(moved_, false);
    const bool put_off = moved && (wanted == timeout::body || wanted == timeout::tunnel);
    if (wanted == timeout::none) {
        env_.loop.wheel().disarm(*this);
    } else if (wanted != armed_ || put_off) {
        env_.loop.wheel().arm(*this, env_.loop.now() + length_of(wanted));
    }
    armed_ = wanted;
}

timeout http2_stream::waits_for() const
{
    if (phase_ == phase::head) {
        return timeout::none;  // The connection has a deadline for it.
    }
    if (!pending().empty()) {
        return timeout::body;
    }
    switch (phase_) {
        case phase::request:
            return state().waits_for();
        case phase::draining:
            return timeout::linger;
        default:
            return timeout::body;
    }
}

base::duration http2_stream::length_of(timeout t) const
{
    const http::options& bounds = state().limits();
    switch (t) {
        case timeout::response:
            return request_.response_timeout();
        case timeout::tunnel:
            return bounds.tunnel_idle_timeout;
        case timeout::linger:
            return bounds.linger_timeout;
        default:
            return bounds.body_timeout;
    }
}

void http2_stream::expired(base::instant)
{
    armed_ = timeout::none;
    if (phase_ == phase::draining && pending().empty()) {
        reset(http2::error_code::no_error);
    } else if (phase_ == phase::request && pending().empty()) {
        state().expired();
    } else if (phase_ == phase::request) {  // The client has not taken what was sent.
        state().client_closed(false);
    } else {
        reset(http2::error_code::cancel);
    }
    after_event(false);
}

// ---- the connection, as its request sees it --------------------------------------------------

const base::ip_address& http2_stream::peer() const
{
    return connection_->port().peer();
}

bool http2_stream::is_secure() const
{
    return connection_->port().is_secure();
}

base::connection_ends http2_stream::client_ends() const
{
    return connection_->port().client_ends();
}

const intake::client_tls* http2_stream::client_tls() const
{
    return connection_->port().client_tls();
}

const std::optional<decide_options>& http2_stream::decide() const
{
    return connection_->port().decide();
}

void http2_stream::after_event(bool moved)
{
    moved_ = moved_ || moved;
    connection_->touch(*this);
    connection_->port().after_event(moved);
}

}  // namespace gateway::client
