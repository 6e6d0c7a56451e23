// Which requests, which limits, which upstream.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/http/options.hpp"
#include "gateway/policy/route_shape.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::policy {

// What metrics call the requests that no route matched; so no route has that name.
inline constexpr std::string_view no_route_name = "none";

inline constexpr std::size_t no_upstream = static_cast<std::size_t>(-1);

inline constexpr std::size_t max_match_path_bytes = 512;
inline constexpr std::size_t max_header_matches = 8;
inline constexpr std::size_t max_header_match_bytes = 128;

// A field that a request must have once, with this value.
struct header_match {
    // Lower case.
    std::string name;
    // 1 to max_header_match_bytes; the case of letters counts.
    std::string value;

    auto operator<=>(const header_match&) const = default;
};

enum class url_scheme : std::uint8_t { any, http, https };

struct route_match {
    // Lower case, no port, no trailing dot; empty: any host. "*.example.com": any that ends so,
    // with one label or more in front.
    std::string host;
    // A normalised path (path.hpp) of at most max_match_path_bytes, which is a prefix by whole
    // segments; empty: any path.
    std::string path;
    // The setting `path_exact`: `path` is the whole path, with or without one '/' at its end.
    bool exact = false;
    // Case-sensitive; empty: any method, unknown ones included.
    std::vector<std::string> methods;
    // Sorted, each name once, at most max_header_matches.
    std::vector<header_match> headers{};
    url_scheme scheme = url_scheme::any;
    // Paths are compared without regard to the case of letters (path_case.hpp). Requires: `path` is
    // ASCII.
    bool ignore_case = false;
};

// The setting `rejection`: what limits of a route answer when they reject.
struct route_rejection {
    // Without a `file`, only its status means something: the body tells the problem.
    http::fixed_response page;
    // Of the body.
    std::string file;
};

// Bounds of a route's own; nothing: those of `http` and of its upstream.
struct route_bounds {
    // Longest time from the request sent to the response's header.
    std::optional<base::duration> response_timeout;
    // These replace the members of http::options with the same names.
    std::optional<base::duration> body_timeout;
    std::optional<std::uint64_t> max_body_bytes;

    bool changes_http() const { return body_timeout || max_body_bytes; }

    // Returns what is in force where all other routes have `all`.
    http::options within(http::options all) const
    {
        all.body_timeout = body_timeout.value_or(all.body_timeout);
        all.max_body_bytes = max_body_bytes.value_or(all.max_body_bytes);
        return all;
    }
};

// How a request goes on upstream when its client leaves.
enum class client_abort : std::uint8_t { close, finish };

struct route {
    // A label of metrics, and the value of the key part `route`.
    std::string name;

    route_match match;
    // Indices into policy::limits. Those that need no token come first.
    std::vector<std::size_t> limits;
    // Number of limits that need no token.
    std::size_t limits_without_token = 0;
    // Whether one of them is enforced.
    bool enforces = false;
    // Whether a response may correct what one of them charged.
    bool corrects = false;
    // Whether its requests may wait for their tokens.
    bool holds = false;
    // Whether they have places in flight.
    bool counts_places = false;
    // Whether the key of one of them has a claim of a token.
    bool reads_token = false;
    // Index into policy::upstreams, or `no_upstream`: its shape has an answer.
    std::size_t upstream = 0;
    // Nothing: 429 and the problem.
    std::optional<route_rejection> rejection{};
    // Of a whole request; 0: no bound.
    base::duration timeout{0};
    route_bounds bounds{};
    client_abort on_client_abort = client_abort::close;
    // Whether `shape` changes anything.
    bool shaped = false;
    route_shape shape{};
};

}  // namespace gateway::policy
