#include "gateway/server/session_state.hpp"

#include "gateway/base/text.hpp"
#include "gateway/http/request_parser.hpp"

#include <cstring>

namespace gateway::server {

namespace {

// Answers to pipelined requests leave together, but no more of them than this at once.
constexpr std::size_t most_gathered_bytes = 16 * 1024;

}  // namespace

session_state::session_state(session_port& port) : port_(port), exchange_(port), tunnel_(*this) {}

// ---- bytes from the client -------------------------------------------------------------------

void session_state::client_bytes(std::span<char> bytes)
{
    spoke_early_ = websocket_;  // before the answer to it, or else the next request says anew
    if (!inbox_.empty() && phase_ == phase::head) {
        // An incomplete head is looked at again only when a line or the bound is complete: the
        // work for a head is bounded however small the pieces it comes in.
        const bool line = std::memchr(bytes.data(), '\n', bytes.size()) != nullptr;
        inbox_.append(bytes.data(), bytes.size());
        if (!line && inbox_.size() < port_.limits().max_header_bytes) {
            return;
        }
    } else if (!inbox_.empty()) {
        inbox_.append(bytes.data(), bytes.size());
    } else {
        const std::size_t used = consume(bytes);
        inbox_.append(bytes.data() + used, bytes.size() - used);
        settle();
        return;
    }
    inbox_.erase(0, consume(inbox_));
    settle();
}

bool session_state::can_consume() const
{
    switch (phase_) {
        case phase::idle:
        case phase::head:
            return !port_.client_blocked();
        case phase::tunnelling:
        case phase::draining:
        case phase::lingering:
            return true;
        case phase::exchanging:
            return exchange_.accepts_content();
        case phase::admitting:
        case phase::closed:
            return false;
    }
    return false;
}

std::size_t session_state::consume(std::span<char> bytes)
{
    std::size_t used = 0;
    while (used < bytes.size() && can_consume()) {
        const std::span<char> rest = bytes.subspan(used);
        std::size_t n = rest.size();
        if (phase_ == phase::idle || phase_ == phase::head) {
            n = consume_head(rest);
        } else if (phase_ == phase::exchanging) {
            n = consume_body(rest);
        } else if (phase_ == phase::tunnelling) {
            tunnel_.bytes(proxy::tunnel_side::client, {rest.data(), n});
        } else {
            n = consume_drained(rest);
        }
        if (n == 0) {
            break;
        }
        used += n;
        if (port_.scratch().size() >= most_gathered_bytes) {
            flush();  // so that a client which does not read is noticed
        }
    }
    return phase_ == phase::closed ? bytes.size() : used;
}

// Nothing consumed: the head is incomplete.
std::size_t session_state::consume_head(std::span<char> bytes)
{
    const std::string_view text(bytes.data(), bytes.size());
    if (text.starts_with("\r\n")) {
        if (++empty_lines_ > max_leading_empty_lines) {
            refuse({400, "empty lines instead of a request"});
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
            refuse(parsed.why);
            return bytes.size();
        case http::parse_result::state::complete:
            break;
    }
    const std::size_t size = head.size;
    request_body_ = http::body_reader(head.body, limits.chunks);
    begin_request(head, bytes.size() > size);
    return size;
}

std::size_t session_state::consume_body(std::span<char> bytes)
{
    const auto piece = request_body_.read(bytes);
    request_bytes_ += piece.content.size();
    const std::uint64_t most = port_.limits().max_body_bytes;
    const bool too_large = most != 0 && request_bytes_ > most;
    if (piece.malformed || too_large) {
        exchange_.cancel();
        if (response_head_sent_) {
            error_ = "bad request body";
            close_after_ = true;
            port_.request_ends({status_, request_bytes_, response_bytes_, error_});
            close(true);
        } else {
            close_after_ = true;
            answer(
                too_large ? refusal(413, "the body is larger than this server accepts")
                          : refusal(400, "the body's chunks are malformed")
            );
        }
        return bytes.size();
    }
    exchange_.request_content(piece.content, request_body_.done());
    return piece.consumed;
}

std::size_t session_state::consume_drained(std::span<char> bytes)
{
    if (phase_ == phase::lingering) {
        drained_ += bytes.size();
        if (drained_ > port_.limits().max_linger_bytes) {
            close(true);
        }
        return bytes.size();
    }
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

// ---- one request -----------------------------------------------------------------------------

void session_state::begin_request(const http::request_head& head, bool more_follows)
{
    is_head_ = head.is_head();
    http_1_0_ = head.http_1_0;
    keep_alive_ = head.keep_alive();
    expects_continue_ = head.expects_continue;
    websocket_ = head.websocket;
    spoke_early_ = websocket_ && more_follows;
    close_after_ = draining_all_;
    response_head_sent_ = false;
    empty_lines_ = 0;
    request_framing_ = head.body;
    request_bytes_ = response_bytes_ = 0;
    status_ = 0;
    error_ = {};
    port_.request_begins();
    const admission a = port_.admit(head);
    if (a.is == admission::outcome::answer) {
        answer(a);
        return;
    }
    http::append_forwarded_request(head, port_.forwarding(), exchange_.prepare(head));
    phase_ = phase::admitting;
    if (a.is == admission::outcome::forward) {
        begin_exchange();
    }
}

void session_state::admitted(const admission& a)
{
    if (a.is == admission::outcome::answer) {
        answer(a);
    } else {
        begin_exchange();
    }
    settle();
}

void session_state::begin_exchange()
{
    phase_ = phase::exchanging;
    exchange_.start();
}

void session_state::leased()
{
    exchange_.leased();
    settle();
}

void session_state::lease_failed(proxy::failure why)
{
    exchange_.lease_failed(why);
    settle();
}

void session_state::request_done()
{
    port_.request_ends({status_, request_bytes_, response_bytes_, error_});
    exchange_.forget();
    if (!close_after_ && keep_alive_) {
        drained_ = 0;
        phase_ = request_body_.done() ? phase::idle : phase::draining;
    } else if (!keep_alive_ && request_body_.done() && inbox_.empty() && error_.empty()) {
        close(false);  // the client said that nothing follows
    } else {
        linger();  // what may be on its way must not destroy the response
    }
}

// ---- ends ------------------------------------------------------------------------------------

void session_state::client_closed(bool orderly)
{
    if (phase_ == phase::tunnelling) {
        tunnel_.ended(proxy::tunnel_side::client, orderly);
    } else {
        leave("the client closed the connection");
    }
}

void session_state::abort()
{
    if (phase_ == phase::tunnelling) {
        tunnel_.abort();
    } else {
        leave("the gateway ended before the request did");
    }
}

void session_state::leave(std::string_view why)
{
    if (phase_ == phase::admitting || phase_ == phase::exchanging) {
        exchange_.cancel();
        port_.request_ends({status_, request_bytes_, response_bytes_, why});
    }
    close(false);
}

void session_state::client_drained()
{
    if (phase_ == phase::tunnelling) {
        tunnel_.drained();
    }
    settle();
}

void session_state::expired(bool upstream_blocked)
{
    switch (phase_) {
        case phase::head:
            refuse({408, "the request's header did not arrive in time"});
            break;
        case phase::exchanging:
            if (!request_body_.done() && !upstream_blocked && !response_head_sent_) {
                exchange_.cancel();
                close_after_ = true;
                answer(refusal(408, "the request's body did not arrive in time"));
            } else {
                exchange_.expired();
            }
            break;
        case phase::tunnelling:
            tunnel_.expired();
            break;
        case phase::admitting:
            break;  // the decision has a deadline of its own
        default:
            close(false);
            break;
    }
    settle();
}

void session_state::drain()
{
    draining_all_ = true;
    close_after_ = true;
}

void session_state::linger()
{
    flush();
    drained_ = 0;
    inbox_.clear();
    phase_ = phase::lingering;
    port_.end_sending();
}

void session_state::close(bool reset)
{
    if (phase_ == phase::closed) {
        return;
    }
    flush();
    exchange_.cancel();
    phase_ = phase::closed;
    inbox_.clear();
    port_.close_client(reset);
}

// ---- the shell's questions -------------------------------------------------------------------

bool session_state::wants_client_bytes(bool upstream_blocked) const
{
    switch (phase_) {
        case phase::closed:
            return false;
        case phase::idle:
        case phase::head:
            return !port_.client_blocked();
        case phase::exchanging:
            if (exchange_.accepts_content()) {
                return !upstream_blocked;
            }
            return has_inbox_room();
        case phase::admitting:
            return has_inbox_room();
        case phase::tunnelling:
            return tunnel_.wants_bytes(proxy::tunnel_side::client) && !upstream_blocked;
        default:
            return true;
    }
}

bool session_state::has_inbox_room() const
{
    return inbox_.empty() || inbox_.size() < port_.limits().max_pipelined_bytes;
}

bool session_state::wants_upstream_bytes(bool client_blocked) const
{
    if (phase_ == phase::exchanging) {
        return exchange_.has_connection() && !client_blocked;
    }
    return phase_ == phase::tunnelling && tunnel_.wants_bytes(proxy::tunnel_side::upstream) &&
           !client_blocked;
}

void session_state::settle()
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

}  // namespace gateway::server
