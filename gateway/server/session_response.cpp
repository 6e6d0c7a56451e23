// What a session_state sends to its client: answers of our own, and the upstream's response.
#include "gateway/http/own_answer.hpp"
#include "gateway/server/session_state.hpp"

#include <charconv>

namespace gateway::server {

namespace {

// Up to here a copy into one buffer is cheaper than a second element of a gathering write.
constexpr std::size_t copied_content_bytes = 4096;

}  // namespace

// ---- answers of our own ----------------------------------------------------------------------

// A head that is no valid request: nothing after it can be understood.
void session_state::refuse(const http::rejection& why)
{
    is_head_ = false;
    http_1_0_ = false;
    keep_alive_ = false;
    close_after_ = true;
    request_body_ = http::body_reader();
    request_bytes_ = response_bytes_ = 0;
    port_.request_begins();
    answer(refusal(why.status, why.detail));
}

// Whether the client may have been waiting for leave to send the body, and now send none.
bool session_state::might_not_come() const
{
    return expects_continue_ && request_bytes_ == 0;
}

// Whether what is left of the body may be read away, rather than the connection be closed.
bool session_state::body_can_be_drained() const
{
    const bool fits = request_framing_.how == http::framing::kind::chunked ||
                      request_framing_.length <= port_.limits().max_refused_body_bytes;
    return fits && !might_not_come();
}

void session_state::answer(const admission& a)
{
    const bool unread = !request_body_.done();
    close_after_ = close_after_ || spoke_early_ || (unread && !body_can_be_drained());
    const http::own_answer own{
        .status = a.status,
        .detail = a.detail,
        .limits = port_.limits_said(),
        .retry_after = a.retry_after,
        .date = port_.date_line(),
        .extra = a.extra,
        .close = close_after_ || !keep_alive_,
        .keep_alive_1_0 = http_1_0_,
        .head_only = is_head_,
    };
    response_bytes_ = http::append_own_answer(own, port_.scratch());
    status_ = a.status;
    error_ = a.detail;
    request_done();
}

// ---- the response ----------------------------------------------------------------------------

void session_state::upstream_bytes(std::span<char> bytes)
{
    if (phase_ == phase::tunnelling) {
        tunnel_.bytes(proxy::tunnel_side::upstream, {bytes.data(), bytes.size()});
    } else {
        exchange_.upstream_bytes(bytes);
    }
    settle();
}

void session_state::upstream_closed(bool orderly)
{
    if (phase_ == phase::tunnelling) {
        tunnel_.ended(proxy::tunnel_side::upstream, orderly);
    } else {
        exchange_.upstream_closed(orderly);
    }
    settle();
}

void session_state::interim_response(const http::response_head& head)
{
    if (!http_1_0_) {
        http::append_interim_response(head, !port_.limits_said().empty(), port_.scratch());
    }
}

// Whether more of the request's body is to come than anybody will read. After an early 1xx or 2xx
// it is not: the upstream may go on reading while it answers.
bool session_state::leaves_body_unread(const http::response_head& head) const
{
    if (request_body_.done()) {
        return false;
    }
    const bool refuses = head.status >= 300;
    return !head.keep_alive() || might_not_come() || (refuses && !body_can_be_drained());
}

void session_state::response(const http::response_head& head)
{
    response_framing_ = http::outbound_framing(head, http_1_0_);
    close_after_ = close_after_ || spoke_early_ || leaves_body_unread(head) ||
                   response_framing_.how == http::framing::kind::until_close;
    const http::response_options options{
        .client_http_1_0 = http_1_0_,
        .client_keep_alive = keep_alive_,
        .close = close_after_ || !keep_alive_,
        .limits = port_.limits_said(),
        .date = port_.date_line(),
    };
    http::append_forwarded_response(head, options, port_.scratch());
    status_ = head.status;
    response_head_sent_ = true;
}

void session_state::response_content(std::string_view content)
{
    response_bytes_ += content.size();
    std::string& out = port_.scratch();
    const bool chunked = response_framing_.how == http::framing::kind::chunked;
    if (chunked) {
        char size[16];
        out.append(size, std::to_chars(size, size + sizeof size, content.size(), 16).ptr)
            .append("\r\n");
    }
    if (content.size() <= copied_content_bytes) {
        out.append(content);
    } else {
        flush(content);
    }
    if (chunked) {
        out.append("\r\n");
    }
}

void session_state::response_end()
{
    if (response_framing_.how == http::framing::kind::chunked) {
        port_.scratch().append("0\r\n\r\n");
    }
    flush();
    request_done();
}

void session_state::exchange_failed(proxy::failure why, bool begun)
{
    if (!begun) {
        const int status = proxy::status_for(why);
        const base::duration wait = std::chrono::seconds{status == 503 ? 1 : 0};
        answer(refusal(status, proxy::detail_for(why), wait));
        return;
    }
    error_ = proxy::detail_for(why);
    flush();
    port_.request_ends({status_, request_bytes_, response_bytes_, error_});
    close(true);  // a truncated response must not look like a complete one
}

void session_state::flush(std::string_view content)
{
    std::string& out = port_.scratch();
    if (!out.empty() || !content.empty()) {
        port_.send_client(out, content);
        out.clear();
    }
}

}  // namespace gateway::server
