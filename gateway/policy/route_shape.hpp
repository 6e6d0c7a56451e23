// `route_shape` states how a request of a route is changed on its way. Matching and limits see it
// as received.
#pragma once

#include "gateway/http/output/field_edits.hpp"
#include "gateway/http/output/fixed_response.hpp"
#include "gateway/policy/location.hpp"

#include <optional>
#include <string>

namespace gateway::policy {

// The settings `strip_prefix` and `rewrite_prefix`, which replace the beginning of the path.
struct prefix_change {
    // Whole segments of a normalized path, without a '/' at the end. May be empty.
    std::string from;
    // The replacement, likewise, as it is to be forwarded. Empty: `from` is removed.
    std::string to;
    // The text of `to` and a '/'.
    std::string to_and_slash;
};

// The source of the Host that the upstream gets.
enum class host_source : unsigned char { kept, upstream, named };

// The settings `redirect` and `respond`: the gateway's answer instead of an upstream's.
struct route_answer {
    http::fixed_response response;
    // Target of a redirect.
    std::optional<location> to;
};

struct route_shape {
    std::optional<prefix_change> prefix;
    host_source host = host_source::kept;
    // The host, perhaps with a port, with host_source::named.
    std::string host_name;
    // Changes to the head that goes upstream, and to the one that goes to the client.
    http::field_edits request;
    http::field_edits response;
    // The answer instead of an upstream's.
    std::optional<route_answer> answer;

    bool any() const
    {
        return prefix || host != host_source::kept || request.any() || response.any() || answer;
    }
};

}  // namespace gateway::policy
