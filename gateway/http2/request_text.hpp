// `request_text` turns the fields of an HTTP/2 request (RFC 9113 §8.3.1) into the head that
// HTTP/1.1 would carry. http::parse_request_head() then reads it, so that both protocols have one
// reader, and one verdict on every spelling. It is pure, and checks only what the parser cannot see
// in the text.
#pragma once

#include "gateway/http/message.hpp"
#include "gateway/http/options.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::http2 {

class request_text {
public:
    enum class verdict {
        // text() is to be parsed.
        readable,
        // The request is malformed (RFC 9113 §8.1.1), and its stream is to be reset.
        malformed,
        // The request is refused for refusal().
        refused,
    };

    // Prepares for the next request.
    void clear();

    // Adds a field in the order in which it came. Fields past the bounds are not kept, so that
    // nothing grows with what a peer refers to instead of sending it.
    // Requires: nghttp2 has checked the field by itself.
    void add(std::string_view name, std::string_view value, const http::options& bounds);

    // Ends the head. `last`: no content follows. `key` is what a WebSocket's handshake has as its
    // key, if this is one.
    verdict finish(bool last, std::string_view key);

    std::string_view text() const { return text_; }

    // Bytes of fields that are kept.
    std::size_t held_bytes() const { return bytes_; }

    const http::rejection& refusal() const { return refusal_; }

    // True if it asks for a WebSocket (RFC 8441).
    // Requires: finish() has been called.
    bool is_websocket() const { return is_websocket_; }

    // True if the method is CONNECT, so that it may ask for a WebSocket (RFC 8441).
    bool is_connect() const { return method_ == "CONNECT"; }

    // True if the fields that are kept say that the content is gRPC's.
    bool is_grpc() const { return is_grpc_; }

    // Frees memory beyond that of usual requests.
    void release_memory();

private:
    std::string method_;
    std::string scheme_;
    std::string authority_;
    std::string path_;
    std::string protocol_;
    // The value of Host if there is no :authority.
    std::string host_;
    // Lines of all fields but Host and Cookie.
    std::string lines_;
    // The crumbs of the Cookie field (RFC 9113 §8.2.3), joined.
    std::string cookie_;
    std::string text_;

    std::size_t fields_ = 0;
    std::size_t bytes_ = 0;
    bool has_length_ = false;
    bool is_websocket_ = false;
    bool is_grpc_ = false;
    // The refusal for its size; a status of 0: there is none.
    http::rejection too_large_{0};
    http::rejection refusal_;

    std::array<std::string*, 9> parts()
    {
        return {
            &method_, &scheme_, &authority_, &path_, &protocol_, &host_, &lines_, &cookie_, &text_};
    }

    void add_pseudo(std::string_view name, std::string_view value);
    std::optional<verdict> check();
    void write(bool last, std::string_view key);
};

}  // namespace gateway::http2
