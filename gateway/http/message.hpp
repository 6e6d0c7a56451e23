// The heads of messages, parsed: slices of the bytes they came in, valid as long as those bytes.
#pragma once

#include "gateway/http/field.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace gateway::http {

// How a message's body is delimited (RFC 9112 §6).
struct framing {
    enum class kind : std::uint8_t { none, length, chunked, until_close };
    kind how = kind::none;

    // The body's length in bytes, with kind::length only.
    std::uint64_t length = 0;

    bool is_empty() const { return how == kind::none || (how == kind::length && length == 0); }
};

struct request_head {
    std::string_view method;

    // The target as it came.
    std::string_view target;
    // Of the target, without query; "*" for OPTIONS *. Of several slashes at its beginning, one.
    std::string_view path;

    // The query with its '?', or empty.
    std::string_view query;
    // The authority of an absolute-form target, else that of Host; may be empty in HTTP/1.0.
    std::string_view authority;

    bool absolute_form = false;
    bool http_1_0 = false;
    bool expects_continue = false;
    bool has_via = false;
    // X-Forwarded-For, Forwarded or X-Real-IP is there.
    bool names_client = false;
    // The value of Max-Forwards, of OPTIONS and TRACE only: no other method obeys it.
    std::optional<std::uint64_t> max_forwards;
    // Of a Content-Length that is not spelt as we would: to be written anew.
    std::optional<std::uint64_t> respelt_length;
    // Whether it asks for a WebSocket, by a whole opening handshake.
    bool websocket = false;
    // Whether what it says in traceparent is none, so that its trace begins anew.
    bool malformed_trace = false;

    framing body;
    field_list fields;
    connection_options connection;

    // The bytes of the head, empty line included.
    std::size_t size = 0;

    // Whether the client wants this connection for another request (RFC 9112 §9.3).
    bool keep_alive() const { return !connection.close && (!http_1_0 || connection.keep_alive); }

    // Whether the target is path and query as they came, and nothing else.
    bool is_target_kept() const { return path.data() == target.data(); }

    bool is_head() const { return method == "HEAD"; }

    void clear();
};

struct response_head {
    // The whole first line, CRLF included.
    std::string_view start_line;

    int status = 0;
    std::string_view reason;
    bool http_1_0 = false;

    // Whether it has a Date that will be forwarded.
    bool has_date = false;
    // It announces content where there can be none; some servers send it all the same.
    bool content_may_follow = false;
    std::optional<std::uint64_t> respelt_length;
    framing body;
    field_list fields;
    connection_options connection;
    std::size_t size = 0;

    bool keep_alive() const { return !connection.close && (!http_1_0 || connection.keep_alive); }

    void clear();
};

// Why a message is refused: what to answer, and in a sentence why. Static text only.
struct rejection {
    int status = 400;
    std::string_view detail{};
};

}  // namespace gateway::http
