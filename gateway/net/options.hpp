// How a host name is kept resolved.
#pragma once

#include "gateway/base/clock.hpp"

#include <cstddef>

namespace gateway::net {

struct resolver_options {
    base::duration refresh = std::chrono::seconds{30};  // after a good answer
    base::duration retry = std::chrono::seconds{1};     // after none
    std::size_t max_addresses = 16;                     // of one name; more are left out
    bool operator==(const resolver_options&) const = default;
};

}  // namespace gateway::net
