// `rate_limit_service` states which limits the descriptors of an Envoy are under.
#pragma once

#include "gateway/policy/route.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace gateway::policy {

inline constexpr std::size_t max_rate_limit_services = 64;
// Most rules of a service, and most entries that one matches.
inline constexpr std::size_t max_descriptor_rules = 1000;
inline constexpr std::size_t max_matched_entries = 16;

// An entry that a descriptor must have at this position.
struct entry_match {
    std::string key;
    // Nothing: any value.
    std::optional<std::string> value{};

    bool operator==(const entry_match&) const = default;
};

// The limits of descriptors with these entries, no more and no fewer, in this order.
struct descriptor_rule {
    std::vector<entry_match> match;
    // Indices into policy::limits.
    std::vector<std::size_t> limits;
};

struct rate_limit_service {
    std::string name;
    // The domain whose descriptors it decides. Limits are for no other.
    std::string domain;
    // The first rule that matches a descriptor has its limits.
    std::vector<descriptor_rule> descriptors;
    // Stands for the service where metrics and the access log name a route. No request is routed
    // to it. Filled in by policy::finish().
    route as_route{};
};

}  // namespace gateway::policy
