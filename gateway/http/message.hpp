// `request_head` and `response_head` hold the parsed heads of messages.
// Ownership: they are slices of the received bytes, and valid as long as those.
#pragma once

#include "gateway/http/field.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace gateway::http {

// `framing` states how a message's body is delimited (RFC 9112 §6).
struct framing {
    enum class kind : std::uint8_t { none, length, chunked, until_close };
    kind how = kind::none;

    // Length of the body in bytes, with kind::length only.
    std::uint64_t length = 0;

    bool is_empty() const { return how == kind::none || (how == kind::length && length == 0); }
};

// `http_version` is the version of HTTP that a message came in.
enum class http_version : std::uint8_t { http_1_0, http_1_1, http_2 };

struct request_head {
    std::string_view method;

    // The target as received.
    std::string_view target;
    // The target's path, without query, or "*" for OPTIONS *. Several slashes at its beginning
    // become one.
    std::string_view path;

    // The query with its '?', or empty.
    std::string_view query;
    // The authority of an absolute-form target, else that of Host. May be empty in HTTP/1.0.
    std::string_view authority;

    bool absolute_form = false;
    http_version version = http_version::http_1_1;
    // True if the client wants this connection for another request (RFC 9112 §9.3).
    bool keep_alive = true;
    bool expects_continue = false;
    bool has_via = false;
    // True if X-Forwarded-For, Forwarded or X-Real-IP is present.
    bool names_client = false;
    // The value of Max-Forwards, with OPTIONS and TRACE only, as no other method obeys it.
    std::optional<std::uint64_t> max_forwards;
    // The value of a Content-Length that is not spelled as the gateway spells it. It is written
    // anew.
    std::optional<std::uint64_t> respelt_length;
    // True if the request asks for a WebSocket, by a complete opening handshake.
    bool websocket = false;
    // True if the client understands trailers, which TE says (RFC 9110 §10.1.4).
    bool accepts_trailers = false;
    // True if Connection nominates a field that a trailer could be, too. No trailer then passes.
    bool nominates_trailers = false;
    // True if `traceparent` is malformed or repeated; the request then starts a new trace.
    bool malformed_trace = false;
    // Value of `traceparent` if it is valid; else empty.
    std::string_view trace_parent{};
    // True if the content is gRPC's, which Content-Type says.
    bool grpc = false;
    // Value of `grpc-timeout` if there is one; else empty.
    std::string_view grpc_timeout{};

    framing body;
    field_list fields;

    // Bytes of the head, empty line included.
    std::size_t size = 0;

    bool is_1_0() const { return version == http_version::http_1_0; }

    // True if the target consists of path and query as received, and nothing else.
    bool is_target_kept() const { return path.data() == target.data(); }

    bool is_head() const { return method == "HEAD"; }

    void clear();
};

struct response_head {
    // The whole first line, CRLF included.
    std::string_view start_line;

    int status = 0;
    std::string_view reason;
    http_version version = http_version::http_1_1;
    // True if the server keeps this connection for another response (RFC 9112 §9.3).
    bool keep_alive = true;

    // True if the head has a Date that will be forwarded.
    bool has_date = false;
    // True if the fields announce content, or give no length, where there can be no content. Some
    // servers send it all the same.
    bool content_may_follow = false;
    // True if Connection nominates a field that a trailer could be, too. No trailer then passes.
    bool nominates_trailers = false;
    std::optional<std::uint64_t> respelt_length;
    // The length of a body in chunks, which only HTTP/2 can announce.
    std::optional<std::uint64_t> announced_length;
    framing body;
    field_list fields;
    std::size_t size = 0;

    bool is_1_0() const { return version == http_version::http_1_0; }

    void clear();
};

// A message's refusal: the status to answer, and a sentence that says why.
// Ownership: `detail` is static text.
struct rejection {
    int status = 400;
    std::string_view detail{};
};

}  // namespace gateway::http
