// `describe_http` describes the section `http`: what a client may send, and how slowly.
#include "config/sections.hpp"
#include "config/text/ranges.hpp"

namespace gateway::config {
namespace {

void describe_timeouts(keys& k, http::options& options)
{
    k("header_timeout",
      "bounds the time from the first byte of a request to the end of its header; 408 past it")
        .time(options.header_timeout);
    k("idle_timeout", "bounds the time between two requests of a connection")
        .time(options.idle_timeout);
    k("body_timeout", "bounds the time in which no byte of a body moves, either way")
        .time(options.body_timeout);
    k("tunnel_idle_timeout",
      "bounds the time in which no byte of a WebSocket moves, either way ([below](#websockets))")
        .time(options.tunnel_idle_timeout);
}

// Describes the bounds of one message.
void describe_messages(keys& k, http::options& options)
{
    k("max_header_bytes",
      "bounds the request line and header together; 431 past it, 414 if the request line alone "
      "is longer")
        .size(options.max_header_bytes, {256, mib});
    k("max_headers", "bounds the number of a request's header fields; 431 past it")
        .number(options.max_headers, {1, 1000});
    k("max_body_bytes", "bounds the body of a request; 413 past it. 0 is no bound")
        .size(options.max_body_bytes, {0, largest_body});
    k("max_inspected_body",
      "bounds how much of a request's JSON content is read before the request is decided about, on "
      "routes that depend on it. What lies behind is absent to keys and costs")
        .size(options.max_inspected_body, {1, mib});
    k("on_long_body",
      "says what becomes of a request whose content is longer and lacks in its beginning a member "
      "that a limit needs: that is `missing`, or the request is refused with `413`")
        .word(options.refuses_long_body, long_bodies);
    k("max_chunk_line_bytes",
      "bounds one chunk-size line of a chunked body, with its extensions; 400 past it, in a "
      "response 502")
        .size(options.chunks.max_line_bytes, {16, mib});
    k("max_chunk_extension_bytes",
      "bounds all extensions of a chunked body together; 400 past it, in a response 502")
        .size(options.chunks.max_extension_bytes, {0, 16 * mib});
    k("max_trailer_bytes", "bounds the trailers of a chunked body; 400 past it, in a response 502")
        .size(options.chunks.max_trailer_bytes, {16, mib});
}

// Describes the bounds of what is read before it is wanted, or after it no longer is.
void describe_leftovers(keys& k, http::options& options)
{
    k("max_pipelined_bytes",
      "bounds what is kept of the bytes that a client sends ahead of a response; past it, the "
      "client is not read")
        .size(options.max_pipelined_bytes, {kib, 16 * mib});
    k("max_refused_body_bytes",
      "bounds how much of a refused request's body is read and dropped, so that the connection "
      "can be kept; past it, the connection is closed")
        .size(options.max_refused_body_bytes, {0, gib});
    k("linger_timeout",
      "bounds how long the gateway waits for the rest of a refused request's body, and how long "
      "it reads on from a connection that it closes, so that no reset overtakes its last answer")
        .time(options.linger_timeout);
    k("max_linger_bytes",
      "bounds how much is read on, and dropped, from a connection that the gateway closes")
        .size(options.max_linger_bytes, {0, gib});
}

}  // namespace

void describe_http(keys& root, draft& d)
{
    http::options& options = d.result.http;
    constexpr key itself{.name = "http", .summary = "what a client may send, and how slowly"};
    root(itself).mapping([&](keys& k) {
        describe_timeouts(k, options);
        describe_messages(k, options);
        describe_leftovers(k, options);
    });
}

}  // namespace gateway::config
