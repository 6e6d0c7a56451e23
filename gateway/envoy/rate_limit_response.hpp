// `rate_limit_response` is the answer to Envoy: the message
// envoy.service.ratelimit.v3.RateLimitResponse. Pure.
#pragma once

#include "gateway/envoy/rate_limit_request.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::envoy {

// Verdicts, by their numbers in the message.
enum class code : std::uint8_t { unknown = 0, ok = 1, over_limit = 2 };

// A limit as Envoy shows it.
// Ownership: the configuration has the name.
struct current_limit {
    std::string_view name;
    std::uint32_t requests_per_unit = 0;
    // `unknown`: the limit's time is no whole unit.
    time_unit unit = time_unit::unknown;
};

// The verdict on one descriptor.
struct descriptor_status {
    envoy::code code = envoy::code::ok;
    // Nothing: no limit has decided.
    std::optional<current_limit> limit{};
    std::uint32_t remaining = 0;
    // Whole seconds until the limit is full again.
    std::int64_t reset_seconds = 0;
};

// A header for the response to Envoy's client.
struct response_header {
    std::string_view name;
    std::string_view value;
};

// Ownership: it views into what its maker keeps.
struct rate_limit_response {
    envoy::code overall = envoy::code::ok;
    // One for each descriptor of the request, in their order.
    std::vector<descriptor_status> statuses;
    std::vector<response_header> headers;

    // Begins with `count` descriptors that no limit is for.
    void begin(std::size_t count)
    {
        overall = envoy::code::ok;
        statuses.assign(count, {});
        headers.clear();
    }
};

// Appends the encoded message.
void append(const rate_limit_response& response, std::string& to);

}  // namespace gateway::envoy
