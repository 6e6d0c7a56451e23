#include "gateway/server/http1_state.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/request_parser.hpp"

#include <cstring>

namespace gateway::server {

namespace {

// Answers to pipelined requests leave together, but no more of them than this at once.
constexpr std::size_t most_gathered_bytes = 16 * 1024;

}  // namespace

// ---- bytes from the client -------------------------------------------------------------------

void http1_state::client_bytes(std::span<char> bytes)
{
    spoke_early_ = websocket_;  // before the answer to it, or else the next request says anew
    if (inbox_.empty()) {
        const std::size_t used = consume(bytes);
        inbox_.append(bytes.data() + used, bytes.size() - used);
        return;
    }
    inbox_.append(bytes.data(), bytes.size());
    if (phase_ == phase::head) {
        // An incomplete head is looked at again only when a line or the bound is complete: the
        // work for a head is bounded however small the pieces it comes in.
        const bool line = std::memchr(bytes.data(), '\n', bytes.size()) != nullptr;
        if (!line && inbox_.size() < port_.limits().max_header_bytes) {
            return;
        }
    }
    inbox_.erase(0, consume(inbox_));
}

bool http1_state::can_consume() const
{
    switch (phase_) {
        case phase::idle:
        case phase::head:
            return !port_.client_blocked();
        case phase::request:
            return request_->accepts_content();
        case phase::draining:
        case phase::lingering:
            return true;
        case phase::closed:
            return false;
    }
    return false;
}

std::size_t http1_state::consume(std::span<char> bytes)
{
    std::size_t used = 0;
    while (used < bytes.size() && can_consume()) {
        const std::span<char> rest = bytes.subspan(used);
        std::size_t n = 0;
        switch (phase_) {
            case phase::request:
                n = consume_content(rest);
                break;
            case phase::draining:
                n = consume_drained(rest);
                break;
            case phase::lingering:
                n = consume_lingering(rest.size());
                break;
            default:
                n = consume_head(rest);
                break;
        }
        if (n == 0) {
            break;
        }
        used += n;
        if (port_.out().size() >= most_gathered_bytes) {
            flush();  // so that a client which does not read is noticed
        }
    }
    return phase_ == phase::closed ? bytes.size() : used;
}

// Nothing consumed: the head is incomplete.
std::size_t http1_state::consume_head(std::span<char> bytes)
{
    const std::string_view text(bytes.data(), bytes.size());
    if (text.starts_with("\r\n")) {
        if (++empty_lines_ > max_leading_empty_lines) {
            refuse_head({400, "empty lines instead of a request"});
        }
        return 2;
    }
    if (text == "\r") {
        return 0;
    }
    phase_ = phase::head;
    http::request_head& head = port_.request_head_storage();
    const http::options& limits = port_.limits();
    const http::parse_result parsed = http::parse_request_head(text, limits, head);
    switch (parsed.is) {
        case http::parse_result::state::incomplete:
            return 0;
        case http::parse_result::state::rejected:
            refuse_head(parsed.why);
            return bytes.size();
        case http::parse_result::state::complete:
            break;
    }
    const std::size_t size = head.size;
    request_body_ = http::body_reader(head.body, limits.chunks);
    begin_request(head, bytes.size() > size);
    return size;
}

std::size_t http1_state::consume_content(std::span<char> bytes)
{
    if (in_tunnel()) {
        request_->content({bytes.data(), bytes.size()}, false);
        return bytes.size();
    }
    const auto piece = request_body_.read(bytes);
    body_begun_ = body_begun_ || !piece.content.empty();
    if (piece.malformed) {
        request_->refuse(400, "the body's chunks are malformed");
        return bytes.size();
    }
    request_->content(piece.content, request_body_.done());
    return piece.consumed;
}

std::size_t http1_state::consume_drained(std::span<char> bytes)
{
    const auto piece = request_body_.read(bytes);
    drained_ += piece.consumed;
    if (piece.malformed || drained_ > port_.limits().max_refused_body_bytes) {
        linger();
        return bytes.size();
    }
    if (request_body_.done()) {
        phase_ = phase::idle;
    }
    return piece.consumed;
}

std::size_t http1_state::consume_lingering(std::size_t bytes)
{
    drained_ += bytes;
    if (drained_ > port_.limits().max_linger_bytes) {
        close(true);
    }
    return bytes;
}

// ---- from one request to the next ------------------------------------------------------------

void http1_state::begin_request(const http::request_head& head, bool more_follows)
{
    is_head_ = head.is_head();
    http_1_0_ = head.http_1_0;
    keep_alive_ = head.keep_alive();
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

// A head that is no valid request: nothing after it can be understood.
void http1_state::refuse_head(const http::rejection& why)
{
    is_head_ = false;
    http_1_0_ = false;
    keep_alive_ = false;
    close_after_ = true;
    request_body_ = http::body_reader();
    phase_ = phase::request;
    request_->begin_refused(why.status, why.detail);
}

void http1_state::request_over(ending how)
{
    if (how != ending::done) {
        close(how == ending::cut);
    } else if (!close_after_ && keep_alive_) {
        drained_ = 0;
        phase_ = request_body_.done() ? phase::idle : phase::draining;
    } else if (!keep_alive_ && request_body_.done() && inbox_.empty() && !refused_) {
        close(false);  // the client said that nothing follows
    } else {
        linger();  // what may be on its way must not destroy the response
    }
}

void http1_state::settle()
{
    while (!inbox_.empty() && can_consume() && phase_ != phase::head) {
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
            refuse_head({408, "the request's header did not arrive in time"});
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
    port_.end_sending();
}

void http1_state::close(bool reset)
{
    if (phase_ == phase::closed) {
        return;
    }
    flush();
    phase_ = phase::closed;
    inbox_.clear();
    port_.close_client(reset);
}

// ---- the shell's questions -------------------------------------------------------------------

bool http1_state::wants_client_bytes() const
{
    switch (phase_) {
        case phase::closed:
            return false;
        case phase::idle:
        case phase::head:
            return !port_.client_blocked();
        case phase::request:
            return request_->accepts_content() ? request_->wants_content() : has_inbox_room();
        default:
            return true;
    }
}

bool http1_state::has_inbox_room() const
{
    return inbox_.empty() || inbox_.size() < port_.limits().max_pipelined_bytes;
}

// While something waits that was sent to the client, it is the client that must move; but a tunnel
// knows by itself what waits.
timeout http1_state::waits_for() const
{
    if (port_.client_blocked() && phase_ != phase::head && phase_ != phase::closed &&
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

}  // namespace gateway::server
