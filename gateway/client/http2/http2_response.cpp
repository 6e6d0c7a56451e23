#include "gateway/client/http2/http2_response.hpp"

#include "gateway/base/text.hpp"
#include "gateway/client/http2/http2_connection.hpp"
#include "gateway/client/own_response_to.hpp"
#include "gateway/http/output/forward_response.hpp"

#include <utility>

namespace gateway::client {

namespace {

// Content up to this size is gathered with what follows, and leaves at the end of the event.
constexpr std::size_t gathered_content_bytes = 4096;

// Length of "HTTP/1.1 ", behind which the status stands.
constexpr std::size_t version_bytes = 9;

// Returns the lines of a head, behind its first line.
std::span<char> lines_of(std::span<char> head)
{
    const std::size_t first = std::string_view(head.data(), head.size()).find('\n') + 1;
    return head.subspan(first);
}

int status_of(std::span<const char> head)
{
    const std::string_view digits(head.data() + version_bytes, 3);
    return static_cast<int>(base::parse_decimal(digits, 999).value_or(500));
}

}  // namespace

void http2_response::begin(http2_connection& on, http2::stream_id id, http2_stream& stream)
{
    connection_ = &on;
    stream_ = &stream;
    id_ = id;
    head_only_ = asks_for_websocket_ = is_granted_ = begun_ = false;
    content_.clear();
}

void http2_response::answers(const http::request_head& request)
{
    head_only_ = request.is_head();
    asks_for_websocket_ = request.websocket;
}

// ---- heads -----------------------------------------------------------------------------------

// Sends the head that `text` has the form of. Its status is the text's own.
void http2_response::send_text(int status, std::span<char> text, bool last)
{
    begun_ = true;
    if (last && !content_.is_ended()) {
        content_.end({});
    }
    const bool opens_nothing = asks_for_websocket_ && !is_granted_ && status / 100 == 2;
    connection_->engine().respond(
        id_, opens_nothing ? 502 : status, lines_of(text), last, *stream_
    );
    connection_->touch(*stream_);
}

std::uint64_t http2_response::respond(const limits::admission& a, http::added_fields added)
{
    added.date = env_.date.text();
    if (asks_for_websocket_) {  // Its client would take 200 for a tunnel (RFC 8441 §4).
        added.errors.rejects_with_200 = false;
    }
    std::string text;
    const std::uint64_t content =
        http::append_own_response(own_response_to(a, added, head_only_), text);
    const std::span<char> head = std::span(text).first(text.size() - content);
    content_.keep(std::string_view(text).substr(head.size()));
    content_.end({});
    send_text(status_of(head), head, content == 0);
    return content;
}

void http2_response::answer(const grpc_answer& a)
{
    std::string trailers = "grpc-status: " + std::to_string(static_cast<int>(a.status)) + "\r\n";
    if (!a.detail.empty()) {
        trailers.append("grpc-message: ").append(http::grpc_message(a.detail)).append("\r\n");
    }
    std::string head = "HTTP/2 200\r\ncontent-type: application/grpc\r\n";
    if (a.body.empty()) {
        head += trailers;
    } else {
        content_.keep(a.body);
    }
    content_.end(a.body.empty() ? std::string_view{} : trailers);
    send_text(200, head, a.body.empty());
}

void http2_response::send_interim(const http::response_head& head, const http::added_fields& added)
{
    std::string text;
    http::append_interim_response(head, added, text);
    connection_->engine().respond_interim(id_, head.status, lines_of(text));
    connection_->touch(*stream_);
}

void http2_response::send_head(const http::response_head& head, http::added_fields added)
{
    added.date = env_.date.text();
    std::string text;
    http::append_forwarded_response(head, {.client_accepts_trailers = true, .added = added}, text);
    const bool last = http::outbound_framing(head, false).is_empty();
    send_text(head.status, text, last);
}

void http2_response::send_grant(const http::response_head& head, const http::added_fields& added)
{
    http::response_head granted = head;
    std::erase_if(granted.fields, [](const http::field& f) {
        return base::equal_ignoring_case(f.name, "sec-websocket-accept");
    });
    is_granted_ = true;
    std::string text;
    http::append_forwarded_response(granted, {.added = added}, text);
    send_text(200, text, false);
}

// ---- content ---------------------------------------------------------------------------------

void http2_response::send(std::string_view content)
{
    connection_->touch(*stream_);
    const bool at_once = content.size() > gathered_content_bytes && pending().empty() &&
                         connection_->may_send() && !connection_->is_blocked();
    if (at_once) {
        content_.send(content, connection_->engine(), id_);
    } else {
        content_.keep(content);
    }
}

void http2_response::end(std::string_view trailers)
{
    content_.end(trailers);
    connection_->touch(*stream_);
}

void http2_response::resume()
{
    if (begun_ && (!pending().empty() || is_ended())) {
        connection_->engine().resume(id_);
    }
}

void http2_response::content_sent(std::size_t bytes)
{
    connection_->touch(*stream_);
    content_.sent(bytes);
}

}  // namespace gateway::client
