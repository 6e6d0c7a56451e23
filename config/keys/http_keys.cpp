// `describe_http` describes the section `http`: what a client may send, and how slowly.
#include "config/sections.hpp"
#include "config/text/ranges.hpp"

namespace gateway::config {
namespace {

void describe_timeouts(keys& k, http::options& options)
{
    k("header_timeout", "from the first byte of a request to the end of its header; 408 past it")
        .time(options.header_timeout);
    k("idle_timeout", "between requests of a connection").time(options.idle_timeout);
    k("body_timeout", "without a byte of body moving, either way").time(options.body_timeout);
    k("tunnel_idle_timeout",
      "of a WebSocket, without a byte moving, either way ([below](#websockets))")
        .time(options.tunnel_idle_timeout);
}

// Describes the bounds of one message.
void describe_messages(keys& k, http::options& options)
{
    k("max_header_bytes",
      "request line and header together; 431 past it, 414 if the request line alone is longer")
        .size(options.max_header_bytes, {256, mib});
    k("max_headers", "header fields").number(options.max_headers, {1, 1000});
    k("max_body_bytes", "413 past it; 0 is no limit")
        .size(options.max_body_bytes, {0, largest_body});
    k("max_chunk_line_bytes",
      "one chunk-size line of a chunked body, its extensions included; 400 past it, in a "
      "response 502")
        .size(options.chunks.max_line_bytes, {16, mib});
    k("max_chunk_extension_bytes", "all extensions of a chunked body; likewise")
        .size(options.chunks.max_extension_bytes, {0, 16 * mib});
    k("max_trailer_bytes", "the trailers of a chunked body; likewise")
        .size(options.chunks.max_trailer_bytes, {16, mib});
}

// Describes the bounds of what is read before it is wanted, or after it no longer is.
void describe_leftovers(keys& k, http::options& options)
{
    k("max_pipelined_bytes", "kept of what a client sends ahead of a response; then it is not read")
        .size(options.max_pipelined_bytes, {kib, 16 * mib});
    k("max_refused_body_bytes",
      "of a refused request's body, read away so that the connection can be kept; it is closed "
      "past that")
        .size(options.max_refused_body_bytes, {0, gib});
    k("linger_timeout",
      "how long such a body is awaited, and how long a connection that we close is listened on, "
      "so that no reset overtakes our last answer")
        .time(options.linger_timeout);
    k("max_linger_bytes", "how much is read meanwhile, and dropped")
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
