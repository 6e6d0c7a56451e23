// `resolver_options` says how often a host name is resolved again, and how many addresses are kept.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstddef>

namespace gateway::net {

struct resolver_options {
    // Value of `refresh` or `retry` with which a name is queried again only by
    // resolved_name::ask().
    static constexpr base::duration never = base::duration::max();

    // Time from a good answer to the next query.
    base::duration refresh = std::chrono::seconds{30};
    // Time from a failure to the next query.
    base::duration retry = std::chrono::seconds{1};
    // Most addresses kept of one name; the rest is left out.
    std::size_t max_addresses = 16;

    bool operator==(const resolver_options&) const = default;
};

}  // namespace gateway::net
