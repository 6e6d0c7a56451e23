// The part of `http1_state` that writes to the client: the gateway's own responses, and the
// upstream's.
#include "gateway/client/http1/http1_state.hpp"
#include "gateway/client/own_response_to.hpp"
#include "gateway/http/chunk.hpp"
#include "gateway/http/output/forward_response.hpp"

namespace gateway::client {

namespace {

// Most bytes of content that are copied behind other text. Up to this size, a copy is cheaper than
// a second element of a gathering write.
constexpr std::size_t copied_content_bytes = 4096;

}  // namespace

// True if the client may have been waiting for leave to send the body, and may now send none.
bool http1_state::might_not_come() const
{
    return expects_continue_ && !body_begun_;
}

// True if the rest of the body may be read and dropped, so that the connection need not close.
bool http1_state::body_can_be_drained() const
{
    const bool fits = request_framing_.how == http::framing::kind::chunked ||
                      request_framing_.length <= limits().max_refused_body_bytes;
    return fits && !might_not_come();
}

http::added_fields http1_state::added_fields() const
{
    http::added_fields added = request_->added_fields();
    added.date = memory_.date.text();
    return added;
}

std::uint64_t http1_state::respond(const limits::admission& a)
{
    const bool unread = !request_body_.done();
    refused_ = a.status >= 400;
    close_after_ =
        close_after_ || spoke_early_ || a.leaves_rest_unread || (unread && !body_can_be_drained());
    http::own_response own = own_response_to(a, added_fields(), is_head_);
    own.close = close_after_ || !keep_alive_;
    own.keep_alive_1_0 = http_1_0_;
    return http::append_own_response(own, memory_.out);
}

void http1_state::interim_response(const http::response_head& head)
{
    if (!http_1_0_) {
        http::append_interim_response(head, request_->added_fields(), memory_.out);
    }
}

// True if more of the request's body is to come than anybody will read. An early 1xx or 2xx is no
// reason: the upstream may go on reading while it answers.
bool http1_state::leaves_body_unread(const http::response_head& head) const
{
    if (request_body_.done()) {
        return false;
    }
    const bool refuses = head.status >= 300;
    return !head.keep_alive || might_not_come() || (refuses && !body_can_be_drained());
}

void http1_state::response(const http::response_head& head)
{
    response_framing_ = http::outbound_framing(head, http_1_0_);
    close_after_ = close_after_ || spoke_early_ || leaves_body_unread(head) ||
                   response_framing_.how == http::framing::kind::until_close;
    const http::response_options options{
        .client_http_1_0 = http_1_0_,
        .client_keep_alive = keep_alive_,
        .client_accepts_trailers =
            accepts_trailers_ && response_framing_.how == http::framing::kind::chunked,
        .close = close_after_ || !keep_alive_,
        .added = added_fields(),
    };
    http::append_forwarded_response(head, options, memory_.out);
}

void http1_state::response_content(std::string_view content)
{
    std::string& out = memory_.out;
    const bool chunked = response_framing_.how == http::framing::kind::chunked;
    const http::chunk framed(chunked ? content : std::string_view{}, false);
    out.append(framed.before());
    if (content.size() <= copied_content_bytes) {
        out.append(content);
    } else {
        flush(content);
    }
    out.append(framed.after());
}

void http1_state::response_end(std::string_view trailers)
{
    if (response_framing_.how == http::framing::kind::chunked) {
        const std::string_view accepted = accepts_trailers_ ? trailers : std::string_view{};
        memory_.out.append(http::chunk({}, true, accepted).after());
    }
    flush();
}

// Sends the head that begins a tunnel, which ends only with the connection.
void http1_state::switched(const http::response_head& head)
{
    const http::response_options options{
        .added = request_->added_fields(),
    };
    http::append_forwarded_response(head, options, memory_.out);
    flush();
}

void http1_state::flush(std::string_view content)
{
    std::string& out = memory_.out;
    if (!out.empty() || !content.empty()) {
        port_->send_client(out, content);
        out.clear();
    }
}

}  // namespace gateway::client
