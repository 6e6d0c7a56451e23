// How a host name is kept resolved.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstddef>

namespace gateway::net {

struct resolver_options {
    // For `refresh` or `retry`: a name is asked for again only by resolved_name::ask().
    static constexpr base::duration never = base::duration::max();

    // How long after a good answer a name is asked for again.
    base::duration refresh = std::chrono::seconds{30};
    // How long after a failure a name is asked for again.
    base::duration retry = std::chrono::seconds{1};
    // Most addresses of one name; more are left out.
    std::size_t max_addresses = 16;

    bool operator==(const resolver_options&) const = default;
};

}  // namespace gateway::net
