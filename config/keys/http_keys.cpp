// `describe_http` describes the section `http`: what a client may send, and how slowly.
#include "config/sections.hpp"
#include "config/text/ranges.hpp"

namespace gateway::config {
namespace {

void describe_timeouts(keys& http, http::options& options)
{
    http.time(
        {"header_timeout",
         "from the first byte of a request to the end of its header; 408 past it"},
        options.header_timeout,
        shortest_timeout,
        longest_timeout
    );
    http.time(
        {"idle_timeout", "between requests of a connection"},
        options.idle_timeout,
        shortest_timeout,
        longest_timeout
    );
    http.time(
        {"body_timeout", "without a byte of body moving, either way"},
        options.body_timeout,
        shortest_timeout,
        longest_timeout
    );
    http.time(
        {"tunnel_idle_timeout",
         "of a WebSocket, without a byte moving, either way ([below](#websockets))"},
        options.tunnel_idle_timeout,
        shortest_timeout,
        longest_timeout
    );
}

// Describes the bounds of one message.
void describe_messages(keys& http, http::options& options)
{
    http.size(
        {"max_header_bytes",
         "request line and header together; 431 past it, 414 if the request line alone is "
         "longer"},
        options.max_header_bytes,
        256,
        mib
    );
    http.number({"max_headers", "header fields"}, options.max_headers, 1, 1000);
    http.size(
        {"max_body_bytes", "413 past it; 0 is no limit"}, options.max_body_bytes, 0, largest_body
    );
    http.size(
        {"max_chunk_line_bytes",
         "one chunk-size line of a chunked body, its extensions included; 400 past it, in a "
         "response 502"},
        options.chunks.max_line_bytes,
        16,
        mib
    );
    http.size(
        {"max_chunk_extension_bytes", "all extensions of a chunked body; likewise"},
        options.chunks.max_extension_bytes,
        0,
        16 * mib
    );
    http.size(
        {"max_trailer_bytes", "the trailers of a chunked body; likewise"},
        options.chunks.max_trailer_bytes,
        16,
        mib
    );
}

// Describes the bounds of what is read before it is wanted, or after it no longer is.
void describe_leftovers(keys& http, http::options& options)
{
    http.size(
        {"max_pipelined_bytes",
         "kept of what a client sends ahead of a response; then it is not read"},
        options.max_pipelined_bytes,
        kib,
        16 * mib
    );
    http.size(
        {"max_refused_body_bytes",
         "of a refused request's body, read away so that the connection can be kept; it is "
         "closed past that"},
        options.max_refused_body_bytes,
        0,
        gib
    );
    http.time(
        {"linger_timeout",
         "how long such a body is awaited, and how long a connection that we close is "
         "listened on, so that no reset overtakes our last answer"},
        options.linger_timeout,
        shortest_timeout,
        longest_timeout
    );
    http.size(
        {"max_linger_bytes", "how much is read meanwhile, and dropped"},
        options.max_linger_bytes,
        0,
        gib
    );
}

}  // namespace

void describe_http(keys& root, draft& d)
{
    http::options& options = d.result.http;
    root.mapping({"http", {}}, [&](keys& http) {
        describe_timeouts(http, options);
        describe_messages(http, options);
        describe_leftovers(http, options);
    });
}

}  // namespace gateway::config
