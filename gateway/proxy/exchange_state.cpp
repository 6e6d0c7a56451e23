#include "gateway/proxy/exchange_state.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/trailers.hpp"

#include <utility>

namespace gateway::proxy {

namespace {

// True for the methods that are idempotent by common agreement (RFC 9110 §9.2.2).
bool is_idempotent(std::string_view method)
{
    return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "PUT" ||
           method == "DELETE";
}

}  // namespace

std::string& exchange_state::prepare(const http::request_head& head)
{
    request_sent_ = head.body.is_empty();
    is_repeatable_ = true;
    kept_content_.clear();
    kept_trailers_.clear();
    may_retry_ = request_sent_ && is_idempotent(head.method);
    request_body_ = head.body;
    nominates_trailers_ = head.nominates_trailers;
    answer_.begin(head);
    request_head_.clear();
    return request_head_;
}

void exchange_state::send_first(std::string_view content, bool last, std::string_view trailers)
{
    kept_content_ = content;
    kept_trailers_ = last ? passing(trailers) : std::string{};
    request_sent_ = last;
}

void exchange_state::ask_for_connection(bool fresh)
{
    phase_ = phase::leasing;
    answer_.begin_anew();
    switch (port_.lease(fresh)) {
        case exchange_port::lease_progress::ready:
            send_request();
            break;
        case exchange_port::lease_progress::pending:
            break;
        case exchange_port::lease_progress::failed:
            fail(port_.lease_failure());
            break;
    }
}

void exchange_state::send_request()
{
    phase_ = phase::sending;
    may_retry_ = may_retry_ && port_.another_lease_may_help();
    port_.send_head(request_head_, request_body_);
    if (!request_body_.is_empty() && (request_sent_ || !kept_content_.empty())) {
        port_.send_content(kept_content_, request_sent_, kept_trailers_);
        keep({});
    }
}

void exchange_state::request_content(std::string_view content, bool last, std::string_view trailers)
{
    if (!content.empty() || last) {  // a piece may hold nothing but a chunk's size
        const std::string passed = last ? passing(trailers) : std::string{};
        keep(content);
        if (is_repeatable_) {
            kept_trailers_ = passed;
        }
        port_.send_content(content, last, passed);
    }
    request_sent_ = request_sent_ || last;
}

// Keeps what is sent if the server may refuse the request. Only one of HTTP/2 can.
void exchange_state::keep(std::string_view content)
{
    if (!is_repeatable_) {
        base::clear_keeping_little(kept_content_);
        return;
    }
    is_repeatable_ = port_.upstream().protocol == upstream_protocol::http2 &&
                     kept_content_.size() + content.size() <= most_kept_content;
    if (is_repeatable_) {
        kept_content_.append(content);
    } else {
        base::clear_keeping_little(kept_content_);
    }
}

// Returns those trailers that may pass.
std::string exchange_state::passing(std::string_view trailers) const
{
    std::string text;
    const bool has_room = request_body_.how == http::framing::kind::chunked;
    if (has_room && !nominates_trailers_ && !trailers.empty()) {
        const auto hidden = [this](std::string_view name) {
            return port_.hides_from_upstream(name);
        };
        http::append_forwardable_trailers(trailers, hidden, text);
    }
    return text;
}

void exchange_state::upstream_bytes(std::span<char> bytes)
{
    if (phase_ != phase::sending) {
        return;
    }
    switch (answer_.read(bytes, port_, reply_)) {
        case answer_state::progress::incomplete:
            break;
        case answer_state::progress::complete:
            finish(bytes.size());
            break;
        case answer_state::progress::switched:
            phase_ = phase::idle;
            owner_.switched(port_.response_head_storage(), {bytes.data(), bytes.size()});
            break;
        case answer_state::progress::malformed:
            fail(failure::bad_response);
            break;
    }
}

void exchange_state::finish(std::size_t surplus)
{
    using disposition = exchange_port::disposition;
    const disposition how = answer_.disposition_after(surplus);
    phase_ = phase::idle;
    std::string trailers;
    if (!answer_.trailers().empty()) {
        const auto hidden = [this](std::string_view name) { return port_.hides_from_client(name); };
        http::append_forwardable_trailers(answer_.trailers(), hidden, trailers);
    }
    port_.release(how == disposition::keep && !request_sent_ ? disposition::close : how);
    reply_.response_end(trailers);
    owner_.exchange_done(trailers);
}

void exchange_state::upstream_closed(bool orderly)
{
    if (phase_ != phase::sending) {
        return;
    }
    if (orderly && answer_.ends_here()) {
        finish(0);
        return;
    }
    if (may_retry_ && !answer_.any_byte()) {
        ask_again();
    } else {
        fail(failure::reset);
    }
}

// The request may be sent again whatever its method, as no server has seen it.
void exchange_state::upstream_refused()
{
    if (phase_ != phase::sending) {
        return;
    }
    if (is_repeatable_ && !answer_.any_byte()) {
        ask_again();
    } else {
        fail(failure::reset);
    }
}

void exchange_state::upstream_malformed(bool on_connection)
{
    if (phase_ != phase::sending) {
        return;
    }
    if (on_connection && may_retry_ && !answer_.any_byte()) {
        ask_again();
    } else {
        fail(failure::bad_response);
    }
}

void exchange_state::ask_again()
{
    may_retry_ = is_repeatable_ = false;
    port_.release(exchange_port::disposition::close);
    port_.begin_retry(request_head_);
    ask_for_connection(true);
}

void exchange_state::expired()
{
    if (phase_ == phase::idle) {
        return;
    }
    if (request_sent_ && !answer_.begun()) {
        fail(failure::response_timeout);
    } else {
        abandon(abandon_until::answered);
        report(failure::body_timeout);
    }
}

// Reports a time-out. The server has failed the request, but may be at work on it.
void exchange_state::out_of_time()
{
    abandon(abandon_until::answered);
    report(failure::response_timeout);
}

void exchange_state::release_memory()
{
    base::clear_keeping_little(request_head_);
    base::clear_keeping_little(kept_content_);
    base::clear_keeping_little(kept_trailers_);
    answer_.release_memory();
}

// Finishes a whole request if the port wants that. A request that is not whole cannot be finished.
void exchange_state::client_left()
{
    const bool finishes = request_sent_ && port_.finishes_without_client();
    abandon(finishes ? abandon_until::finished : abandon_until::answered);
}

void exchange_state::abandon(abandon_until until)
{
    if (phase_ == phase::sending && (until == abandon_until::finished || !answer_.begun())) {
        phase_ = phase::idle;
        port_.abandon(std::move(answer_), until);
    } else {
        close_now();
    }
}

void exchange_state::close_now()
{
    if (phase_ != phase::idle) {
        phase_ = phase::idle;
        port_.release(exchange_port::disposition::close);
    }
}

void exchange_state::fail(failure why)
{
    close_now();
    report(why);
}

void exchange_state::report(failure why)
{
    port_.failed(why, answer_.begun());
    owner_.exchange_failed(why);
}

}  // namespace gateway::proxy
