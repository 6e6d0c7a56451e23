// The part of `http1_state` that reads from the client: heads, bodies, and bytes that nobody wants.
#include "gateway/client/http1/http1_state.hpp"
#include "gateway/http/input/request_parser.hpp"

#include <cstring>

namespace gateway::client {

namespace {

// The gateway's own responses to pipelined requests are gathered, and sent together once they have
// this number of bytes.
constexpr std::size_t most_gathered_bytes = 16 * 1024;

}  // namespace

void http1_state::client_bytes(std::span<char> bytes)
{
    // Bytes behind the response to a handshake set it, too, but the next request sets it anew.
    spoke_early_ = websocket_;
    if (inbox_.empty()) {
        const std::size_t used = consume(bytes);
        inbox_.append(bytes.data() + used, bytes.size() - used);
        return;
    }
    inbox_.append(bytes.data(), bytes.size());
    if (phase_ == phase::head) {
        // An incomplete head is parsed again only when a line has ended or the bound is reached.
        // The work for a head is then bounded, however small its pieces are.
        const bool line = std::memchr(bytes.data(), '\n', bytes.size()) != nullptr;
        if (!line && inbox_.size() < limits().max_header_bytes) {
            return;
        }
        head_grew_ = !can_consume();
    }
    inbox_.erase(0, consume(inbox_));
}

bool http1_state::can_consume() const
{
    switch (phase_) {
        case phase::idle:
        case phase::head:
            return !port_->client_blocked();
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
        if (memory_.out.size() >= most_gathered_bytes) {
            flush();  // A client that does not read is noticed here.
        }
    }
    return phase_ == phase::closed ? bytes.size() : used;
}

// Reads a head, or an empty line before one. Returns 0 if the head is incomplete.
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
    http::request_head& head = memory_.head;
    const http::options& bounds = limits();
    const http::parse_result parsed = http::parse_request_head(text, bounds, head);
    switch (parsed.is) {
        case http::parse_result::state::incomplete:
            return 0;
        case http::parse_result::state::rejected:
            refuse_head(parsed.why, {}, head.grpc);
            return bytes.size();
        case http::parse_result::state::complete:
            break;
    }
    const std::size_t size = head.size;
    request_body_ = http::body_reader(head.body, bounds.chunks);
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
    request_->content(piece.content, request_body_.done(), piece.trailers);
    if (request_body_.done()) {
        request_body_.release_memory();
    }
    if (piece.malformed && phase_ == phase::request) {
        request_->refuse(400, "the body's chunks are malformed");
    }
    // Nothing behind malformed chunks is looked at.
    return piece.malformed ? bytes.size() : piece.consumed;
}

std::size_t http1_state::consume_drained(std::span<char> bytes)
{
    const auto piece = request_body_.read(bytes);
    drained_ += piece.consumed;
    if (piece.malformed || drained_ > limits().max_refused_body_bytes) {
        linger();
        return bytes.size();
    }
    if (request_body_.done()) {
        request_body_.release_memory();
        phase_ = phase::idle;
    }
    return piece.consumed;
}

std::size_t http1_state::consume_lingering(std::size_t bytes)
{
    drained_ += bytes;
    if (drained_ > limits().max_linger_bytes) {
        close(true);
    }
    return bytes;
}

}  // namespace gateway::client
