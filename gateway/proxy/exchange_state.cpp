#include "gateway/proxy/exchange_state.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/response_parser.hpp"
#include "gateway/http/websocket.hpp"

#include <charconv>

namespace gateway::proxy {

namespace {

// RFC 9110 §9.2.2, of the methods everybody agrees on.
bool is_idempotent(std::string_view method)
{
    return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "PUT" ||
           method == "DELETE";
}

}  // namespace

std::string& exchange_state::prepare(const http::request_head& head)
{
    answers_head_ = head.is_head();
    may_switch_ = head.websocket;
    request_sent_ = head.body.is_empty();
    may_retry_ = request_sent_ && is_idempotent(head.method);
    request_body_ = head.body;
    response_begun_ = false;
    status_ = 0;
    response_bytes_ = 0;
    interim_count_ = 0;
    request_head_.clear();
    return request_head_;
}

void exchange_state::ask_for_connection(bool fresh)
{
    phase_ = phase::leasing;
    any_byte_ = false;
    partial_head_.clear();
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
    port_.send_upstream(request_head_, {});
}

void exchange_state::request_content(std::string_view content, bool last)
{
    if (request_body_.how != http::framing::kind::chunked) {
        if (!content.empty()) {
            port_.send_upstream(content, {});
        }
    } else if (!content.empty() || last) {  // a piece may hold nothing but a chunk's size
        char size[18];
        if (!content.empty()) {
            char* const end = std::to_chars(size, size + 16, content.size(), 16).ptr;
            end[0] = '\r';
            end[1] = '\n';
            port_.send_upstream({size, end + 2}, content);
        }
        const std::string_view after = content.empty() ? "" : "\r\n";
        port_.send_upstream(after, last ? "0\r\n\r\n" : "");
    }
    request_sent_ = request_sent_ || last;
}

void exchange_state::upstream_bytes(std::span<char> bytes)
{
    any_byte_ = true;
    while (phase_ == phase::sending && !response_begun_) {
        if (!read_head(bytes)) {
            return;
        }
    }
    if (phase_ == phase::sending) {
        read_body(bytes);
    }
}

// One head, interim or final. `bytes` then begins behind it. False: incomplete, or it failed.
bool exchange_state::read_head(std::span<char>& bytes)
{
    using state = http::parse_result::state;
    const bool continued = !partial_head_.empty();
    const std::string_view piece(bytes.data(), bytes.size());
    const upstream_options& upstream = port_.upstream();
    if (continued && !partial_head_.append(piece, upstream.response)) {
        return false;
    }
    const std::string_view text = continued ? partial_head_.text() : piece;
    http::response_head& head = port_.response_head_storage();
    const auto parsed = http::parse_response_head(text, answers_head_, upstream.response, head);
    if (parsed.is == state::incomplete) {
        if (!continued) {
            partial_head_.append(piece, upstream.response);
        }
        return false;
    }
    const bool switches = head.status == 101;
    const bool interim = head.status < 200 && !switches;
    if (parsed.is == state::rejected ||
        (switches && !(may_switch_ && http::grants_websocket(head))) ||
        (interim && ++interim_count_ > upstream.max_interim_responses)) {
        fail(failure::bad_response);
        return false;
    }
    const std::size_t came_before = continued ? text.size() - bytes.size() : 0;
    bytes = bytes.subspan(head.size - came_before);  // the head ended in what came last
    if (interim) {
        port_.interim_responded(head);
        reply_.interim_response(head);
    } else if (switches) {
        take_switch(head, bytes);
    } else {
        take_head(head);
    }
    partial_head_.clear();
    return phase_ == phase::sending && (response_begun_ || !bytes.empty());
}

void exchange_state::take_head(http::response_head& head)
{
    response_begun_ = true;
    upstream_keep_alive_ = head.keep_alive();
    content_may_follow_ = head.content_may_follow;
    response_body_ = http::body_reader(head.body, port_.limits().chunks);
    status_ = head.status;
    port_.responded(head);
    reply_.response(head);
}

void exchange_state::take_switch(http::response_head& head, std::span<char> rest)
{
    phase_ = phase::idle;
    response_begun_ = true;
    status_ = head.status;
    port_.responded(head);
    owner_.switched(head, {rest.data(), rest.size()});
}

void exchange_state::read_body(std::span<char> bytes)
{
    const auto piece = response_body_.read(bytes);
    if (!piece.content.empty()) {
        response_bytes_ += piece.content.size();
        reply_.response_content(piece.content);
    }
    if (phase_ != phase::sending) {
        return;  // the client went away meanwhile
    }
    if (piece.malformed) {
        fail(failure::bad_response);
    } else if (response_body_.done()) {
        finish(bytes.size() - piece.consumed);
    }
}

// Bytes after a response were never asked for: that connection cannot be trusted again. Nor can one
// on which they may yet come, however late: who had it next would take them for a response. It is
// reset, because a client that sends HEAD after HEAD would have the ports of closed connections
// (TIME_WAIT) run out. docs/http.md has what that costs.
exchange_port::parting exchange_state::parting_after(std::size_t surplus) const
{
    using parting = exchange_port::parting;
    if (content_may_follow_) {
        return parting::reset;
    }
    return upstream_keep_alive_ && request_sent_ && surplus == 0 ? parting::keep : parting::close;
}

void exchange_state::finish(std::size_t surplus)
{
    phase_ = phase::idle;
    port_.release(parting_after(surplus));
    reply_.response_end();
    owner_.exchange_done();
}

void exchange_state::upstream_closed(bool orderly)
{
    if (phase_ != phase::sending) {
        return;
    }
    if (orderly && response_begun_ && response_body_.ends_at_close()) {
        upstream_keep_alive_ = false;
        finish(0);
        return;
    }
    if (may_retry_ && !any_byte_) {
        may_retry_ = false;
        port_.release(exchange_port::parting::close);
        ask_for_connection(true);
        return;
    }
    fail(failure::reset);
}

void exchange_state::expired()
{
    if (phase_ != phase::idle) {
        fail(request_sent_ && !response_begun_ ? failure::response_timeout : failure::body_timeout);
    }
}

void exchange_state::release_memory()
{
    base::clear_keeping_little(request_head_);
    partial_head_.release_memory();
}

void exchange_state::cancel()
{
    if (phase_ != phase::idle) {
        phase_ = phase::idle;
        port_.release(exchange_port::parting::close);
    }
}

void exchange_state::fail(failure why)
{
    phase_ = phase::idle;
    port_.release(exchange_port::parting::close);
    port_.failed(why, response_begun_);
    owner_.exchange_failed(why);
}

}  // namespace gateway::proxy
