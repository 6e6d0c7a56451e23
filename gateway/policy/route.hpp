// `route` states which requests it takes, which limits they are under, and which upstream serves
// them.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/content/json_paths.hpp"
#include "gateway/http/options.hpp"
#include "gateway/http/output/error_body.hpp"
#include "gateway/policy/route_shape.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::policy {

// Name in metrics for requests that no route matched. No route may have it.
inline constexpr std::string_view no_route_name = "none";

inline constexpr std::size_t no_upstream = static_cast<std::size_t>(-1);

inline constexpr std::size_t max_match_path_bytes = 512;
inline constexpr std::size_t max_header_matches = 8;
inline constexpr std::size_t max_header_match_bytes = 128;

// A field that a request must have exactly once, with this value.
struct header_match {
    // Name of the field, in lower case.
    std::string name;
    // Value of 1 to max_header_match_bytes bytes. The case of letters counts.
    std::string value;

    auto operator<=>(const header_match&) const = default;
};

// A member that the request's JSON content must have, with this value.
struct json_match {
    // Path of the member (content/json_paths.hpp).
    std::string path;
    // A string, the digits of an integer, `true` or `false`, of at most max_header_match_bytes.
    std::string value;
    // Index of the path in policy::request_paths. Set by policy::finish().
    std::size_t index = 0;

    auto operator<=>(const json_match&) const = default;
};

enum class url_scheme : std::uint8_t { any, http, https };

struct route_match {
    // Host in lower case, without port and trailing dot. Empty: any host. "*.example.com": any host
    // that ends so, with one label or more in front.
    std::string host;
    // A normalized path (path.hpp) of at most max_match_path_bytes, which is a prefix by whole
    // segments. Empty: any path.
    std::string path;
    // The setting `path_exact`: `path` is the whole path, with or without one '/' at its end.
    bool exact = false;
    // Case-sensitive. Empty: any method, unknown ones included.
    std::vector<std::string> methods;
    // Sorted, with each name once, at most max_header_matches.
    std::vector<header_match> headers{};
    // Sorted, with each path once, at most max_header_matches.
    std::vector<json_match> json{};
    url_scheme scheme = url_scheme::any;
    // True if paths are compared without regard to the case of letters (path_case.hpp).
    // Requires: `path` is ASCII.
    bool ignore_case = false;
};

// The setting `rejection`: what becomes of requests that limits of a route reject.
struct route_rejection {
    // Index into policy::upstreams of the one that serves them, bans apart, or no_upstream if they
    // get the answer below.
    std::size_t upstream = no_upstream;
    // The answer. Without a `file` only its status is used, and the body is problem details.
    http::fixed_response page;
    // File that holds the body.
    std::string file;
    // The form of this answer without a file, and of all other errors that the gateway makes itself
    // on the route.
    http::error_format format = http::error_format::problem;
    // True if the rejection is sent with status 200 instead of 429. Only for JSON-RPC.
    bool rejects_with_200 = false;
};

// Bounds of one route. Nothing: those of `http` and of its upstream apply.
struct route_bounds {
    // Longest time from sending the request to the response's header.
    std::optional<base::duration> response_timeout;
    // These replace the members of http::options with the same names.
    std::optional<base::duration> body_timeout;
    std::optional<std::uint64_t> max_body_bytes;
    std::optional<std::size_t> max_inspected_body;
    std::optional<bool> refuses_long_body;

    bool changes_http() const
    {
        return body_timeout || max_body_bytes || max_inspected_body || refuses_long_body;
    }

    // Returns the options in force on this route, where all other routes have `all`.
    http::options within(http::options all) const
    {
        all.body_timeout = body_timeout.value_or(all.body_timeout);
        all.max_body_bytes = max_body_bytes.value_or(all.max_body_bytes);
        all.max_inspected_body = max_inspected_body.value_or(all.max_inspected_body);
        all.refuses_long_body = refuses_long_body.value_or(all.refuses_long_body);
        return all;
    }
};

// Fate of a request at the upstream when its client leaves.
enum class client_abort : std::uint8_t { close, finish };

struct route {
    // Label in metrics, and value of the key part `route`.
    std::string name;

    route_match match;
    // Indices into policy::limits. Those that need no token come first.
    std::vector<std::size_t> limits;
    // Number of limits that need no token.
    std::size_t limits_without_token = 0;
    // True if one of its limits is enforced, and reported to clients by the usual fields.
    bool reports_limits = false;
    // Words of its enforced limits, each once (http::limit_fields).
    std::vector<std::string> limit_words{};
    // True if one of its limits has a soft threshold of which clients are warned.
    bool may_warn = false;
    // True if a response may correct a charge of one of its limits.
    bool corrects = false;
    // True if its requests may wait for their tokens.
    bool holds = false;
    // Paths in the request's content on which its limits depend.
    content::path_set content_paths = 0;
    // Path of the id of a call of JSON-RPC, which its rejection repeats; nothing: it repeats none.
    std::optional<std::size_t> rpc_id_path{};
    // True if the content of responses states what one of its limits is charged.
    bool reads_usage = false;
    // True if one of its limits counts requests in flight.
    bool counts_permits = false;
    // True if the key or the plan of one of its limits depends on a claim of a token.
    bool reads_token = false;
    // Index into policy::upstreams, or `no_upstream` if its shape has an answer.
    std::size_t upstream = 0;
    // Fate of rejected requests. Nothing: 429 and problem details.
    std::optional<route_rejection> rejection{};
    // Longest time of a whole request; 0: no bound.
    base::duration timeout{0};
    route_bounds bounds{};
    client_abort on_client_abort = client_abort::close;
    // True if `shape` changes anything.
    bool shaped = false;
    route_shape shape{};

    // True if another upstream serves rejected requests.
    bool serves_over_limit() const { return rejection && rejection->upstream != no_upstream; }
};

}  // namespace gateway::policy
