#include "gateway/client/http2_head.hpp"

#include "gateway/http/request_parser.hpp"

namespace gateway::client {

namespace {

// Returns the key of a handshake for a WebSocket (RFC 6455 §4.1): 16 bytes in base64. Nobody but
// the server looks at them, so that any will do.
std::string make_key(id_source& ids, base::instant now)
{
    constexpr std::size_t digits = 22;
    std::string key;
    for (const char c : ids.request_id(now)) {
        if (c != '-' && key.size() < digits) {
            key += c;
        }
    }
    key.back() = 'A';  // The last digit has no more than two bits.
    return key + "==";
}

}  // namespace

std::optional<http::rejection> read_http2_head(
    http2::request_text& text,
    bool last,
    const http::options& bounds,
    id_source& ids,
    base::instant now,
    http::request_head& out
)
{
    switch (text.finish(last, text.is_connect() ? make_key(ids, now) : std::string{})) {
        case http2::request_text::verdict::malformed:
            return http::rejection{0};
        case http2::request_text::verdict::refused:
            return text.refusal();
        case http2::request_text::verdict::readable:
            break;
    }
    const http::parse_result result = http::parse_request_head(text.text(), bounds, out);
    if (result.is != http::parse_result::state::complete) {
        return result.why;
    }
    if (text.is_websocket() && !out.websocket) {
        return http::rejection{400, "the request for a WebSocket is no valid handshake"};
    }
    out.version = http::http_version::http_2;
    return std::nullopt;
}

}  // namespace gateway::client
