#include "gateway/client/http2/http2_head.hpp"

#include "gateway/http/input/request_parser.hpp"

namespace gateway::client {

std::string make_websocket_key(const base::uuid_text& id)
{
    constexpr std::size_t digits = 22;
    std::string key;
    for (const char c : id) {
        if (c != '-' && key.size() < digits) {
            key += c;
        }
    }
    key.back() = 'A';  // The last digit has no more than two bits.
    return key + "==";
}

std::optional<http::rejection> read_http2_head(
    http2::request_text& text,
    bool last,
    const http::options& bounds,
    std::string_view key,
    http::request_head& out
)
{
    switch (text.finish(last, key)) {
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
