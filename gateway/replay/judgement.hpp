// `judgement` is what a policy makes of one logged request. Plain value.
#pragma once

#include "gateway/base/hash.hpp"
#include "gateway/base/ip_address.hpp"
#include "gateway/limit/limit.hpp"
#include "gateway/policy/limit_rule.hpp"
#include "gateway/replay/logs/logged_request.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gateway::replay {

// `route_gap` lists the parts that decide between routes and that the log lacks.
struct route_gap {
    part_set parts = 0;
    bool scheme = false;

    bool any() const { return parts != 0 || scheme; }

    bool operator==(const route_gap&) const = default;
};

// `limit_judgement` is what one limit makes of it.
struct limit_judgement {
    // Index of policy::limits.
    std::size_t limit = 0;
    verdict is = verdict::unjudged;
    // The facts that the log tells for this limit. Set if it is not judged.
    part_set known = 0;
    // Tokens that it costs, and the numbers of its bucket; null: no bucket decided.
    std::int64_t cost = 0;
    const limit::limit* numbers = nullptr;
    // Hash of the bucket's name. Set only if the candidate is asked for it.
    base::hash128 bucket{};
};

struct judgement {
    verdict is = verdict::allowed;
    // Index of policy::routes, unless the request has no route.
    std::size_t route = no_route;
    // If there is any, the request is not judged, as its route is not certain.
    route_gap gap;
    // The client's address, cut to the prefix that is one client. Set if there is a route.
    base::ip_address client;
    std::array<limit_judgement, policy::max_limits_per_route> entries{};
    std::size_t count = 0;

    static constexpr std::size_t no_route = static_cast<std::size_t>(-1);

    std::span<const limit_judgement> limits() const { return {entries.data(), count}; }

    void clear()
    {
        is = verdict::allowed;
        route = no_route;
        gap = {};
        count = 0;
    }
};

}  // namespace gateway::replay
