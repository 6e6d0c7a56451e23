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
    std::uint64_t length = 0;  // with kind::length

    bool is_empty() const { return how == kind::none || (how == kind::length && length == 0); }
};

struct request_head {
    std::string_view method;
    std::string_view target;  // as it came
    // Of the target, without query; "*" for OPTIONS *. Of several slashes at its beginning, one.
    std::string_view path;
    std::string_view query;      // with its '?', or empty
    std::string_view authority;  // of an absolute-form target, else of Host; may be empty in 1.0
    bool absolute_form = false;
    bool http_1_0 = false;
    bool expects_continue = false;
    bool has_via = false;
    // X-Forwarded-For, Forwarded or X-Real-IP is there.
    bool names_client = false;
    std::optional<std::uint64_t> max_forwards;  // of OPTIONS and TRACE, which alone obey it
    // Of a Content-Length that is not spelt as we would: to be written anew.
    std::optional<std::uint64_t> respelt_length;
    bool websocket = false;  // asks for one, by a whole opening handshake
    framing body;
    field_list fields;
    connection_options connection;
    std::size_t size = 0;  // bytes of the head, empty line included

    // Whether the client wants this connection for another request (RFC 9112 §9.3).
    bool keep_alive() const { return !connection.close && (!http_1_0 || connection.keep_alive); }

    // Whether the target is path and query as they came, and nothing else.
    bool is_target_kept() const { return path.data() == target.data(); }

    bool is_head() const { return method == "HEAD"; }

    void clear();
};

struct response_head {
    std::string_view start_line;  // CRLF included
    int status = 0;
    std::string_view reason;
    bool http_1_0 = false;
    bool has_date = false;  // one that will be forwarded
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
