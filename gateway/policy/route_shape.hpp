// How a request of a route is changed on its way. Matching and limits see it as it came.
#pragma once

#include "gateway/http/output/field_edits.hpp"
#include "gateway/http/output/fixed_response.hpp"
#include "gateway/policy/location.hpp"

#include <optional>
#include <string>

namespace gateway::policy {

// The settings `strip_prefix` and `rewrite_prefix`: another beginning of the path.
struct prefix_change {
    // Whole segments of a normalised path, without a '/' at the end; may be empty.
    std::string from;
    // Likewise, as it is to be forwarded; empty: `from` is taken away.
    std::string to;
    // `to` and a '/'.
    std::string to_and_slash;
};

// Which Host the upstream gets.
enum class host_source : unsigned char { kept, upstream, named };

// The settings `redirect` and `respond`: what the gateway says instead of an upstream.
struct route_answer {
    http::fixed_response response;
    // Of a redirect.
    std::optional<location> to;
};

struct route_shape {
    std::optional<prefix_change> prefix;
    host_source host = host_source::kept;
    // With host_source::named: the host, perhaps with a port.
    std::string host_name;
    // Of the head that goes upstream, and of that which goes to the client.
    http::field_edits request;
    http::field_edits response;
    // Instead of an upstream.
    std::optional<route_answer> answer;

    bool any() const
    {
        return prefix || host != host_source::kept || request.any() || response.any() || answer;
    }
};

}  // namespace gateway::policy
