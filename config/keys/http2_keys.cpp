// `describe_http2` describes the section `http2`: what a client may have open on one connection.
#include "config/sections.hpp"
#include "config/text/ranges.hpp"

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t most_streams = 1000;
constexpr std::uint64_t most_requests = 1'000'000'000;

}  // namespace

void describe_http2(keys& root, draft& d)
{
    http2::options& options = d.result.http2;
    constexpr key itself{
        .name = "http2", .summary = "what a client may have open on an HTTP/2 connection"};
    root(itself).mapping([&](keys& k) {
        k("max_streams",
          "a connection has at most this number of requests at a time. One more is not "
          "served, and charged to nobody")
            .number(options.max_streams, {1, most_streams});
        k("stream_window", "a client may send this much of a body before somebody takes it")
            .size(options.stream_window, {kib, 16 * mib});
        k("connection_window", "it may send this much of all bodies of a connection")
            .size(options.connection_window, {64 * kib, gib});
        k("max_connection_age",
          "a connection of this age takes no further request, and closes after the last. 0 is no "
          "limit")
            .time(options.max_connection_age, {0s, 24h});
        k("max_requests",
          "a connection takes this number of requests, and closes after the last. 0 is no limit")
            .number(options.max_requests, {0, most_requests});
    });
}

}  // namespace gateway::config
