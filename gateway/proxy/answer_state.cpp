#include "gateway/proxy/answer_state.hpp"

#include "gateway/http/input/response_parser.hpp"
#include "gateway/http/input/websocket.hpp"

namespace gateway::proxy {

void answer_state::begin(const http::request_head& request)
{
    to_head_request_ = request.is_head();
    may_switch_ = request.websocket;
    begun_ = false;
    interim_count_ = 0;
    status_ = 0;
    bytes_ = 0;
    trailers_ = {};
    begin_anew();
}

void answer_state::begin_anew()
{
    any_byte_ = false;
    partial_head_.clear();
}

answer_state::progress answer_state::read(
    std::span<char>& bytes, answer_port& port, reply_port& reply
)
{
    any_byte_ = true;
    while (!begun_) {
        const progress head = read_head(bytes, port, reply);
        if (head != progress::complete) {
            return head;
        }
        if (!begun_ && bytes.empty()) {
            return progress::incomplete;
        }
    }
    return read_body(bytes, port, reply);
}

// Reads one head, interim or final.
answer_state::progress answer_state::read_head(
    std::span<char>& bytes, answer_port& port, reply_port& reply
)
{
    using state = http::parse_result::state;
    const bool continued = !partial_head_.empty();
    const std::string_view piece(bytes.data(), bytes.size());
    const upstream_options& upstream = port.upstream();
    if (continued && !partial_head_.append(piece, upstream.response)) {
        return progress::incomplete;
    }
    const std::string_view text = continued ? partial_head_.text() : piece;
    http::response_head& head = port.response_head_storage();
    const auto parsed = http::parse_response_head(text, to_head_request_, upstream.response, head);
    if (parsed.is == state::incomplete) {
        if (!continued) {
            partial_head_.append(piece, upstream.response);
        }
        return progress::incomplete;
    }
    const bool switches = head.status == 101;
    const bool interim = head.status < 200 && !switches;
    if (parsed.is == state::rejected ||
        (switches && !(may_switch_ && http::grants_websocket(head))) ||
        (interim && ++interim_count_ > upstream.max_interim_responses)) {
        return progress::malformed;
    }
    const std::size_t came_before = continued ? text.size() - bytes.size() : 0;
    bytes = bytes.subspan(head.size - came_before);  // the head ended in the last piece
    if (interim) {
        port.interim_responded(head);
        reply.interim_response(head);
    } else {
        take(head, port, reply);
    }
    if (switches) {
        return progress::switched;  // the tunnel's owner still reads the head
    }
    partial_head_.clear();
    return progress::complete;
}

void answer_state::take(http::response_head& head, answer_port& port, reply_port& reply)
{
    begun_ = true;
    status_ = head.status;
    port.responded(head);
    is_read_ = port.reads_content();
    if (head.status == 101) {
        return;
    }
    keep_alive_ = head.keep_alive;
    content_may_follow_ = head.content_may_follow;
    nominates_trailers_ = head.nominates_trailers;
    body_ = http::body_reader(head.body, port.limits().chunks);
    reply.response(head);
}

answer_state::progress answer_state::read_body(
    std::span<char>& bytes, answer_port& port, reply_port& reply
)
{
    const auto piece = body_.read(bytes);
    if (!piece.content.empty()) {
        bytes_ += piece.content.size();
        if (is_read_) {
            port.content_came(piece.content);
        }
        reply.response_content(piece.content);
    }
    if (!nominates_trailers_) {
        trailers_ = piece.trailers;
    }
    bytes = bytes.subspan(piece.consumed);
    if (piece.malformed) {
        return progress::malformed;
    }
    return body_.done() ? progress::complete : progress::incomplete;
}

bool answer_state::ends_here()
{
    keep_alive_ = false;
    return begun_ && body_.ends_at_close();
}

// Closes a connection with bytes behind the response. Nobody asked for them, so it cannot be
// trusted again. Resets a connection on which bytes may still come, however late, because its next
// user would take them for a response. A plain close would let a client that sends HEAD after HEAD
// exhaust the ports of closed connections (TIME_WAIT). docs/http.md has what the reset costs.
answer_port::disposition answer_state::disposition_after(std::size_t surplus) const
{
    using disposition = answer_port::disposition;
    if (content_may_follow_) {
        return disposition::reset;
    }
    return keep_alive_ && surplus == 0 ? disposition::keep : disposition::close;
}

}  // namespace gateway::proxy
