// `log_field` is a part of requests that the operator wants in the access log. Plain value.
#pragma once

#include "gateway/policy/limit_rule.hpp"

#include <string>

namespace gateway::policy {

inline constexpr std::size_t max_log_fields = 16;

struct log_field {
    // Name in the log.
    std::string name;
    key_part part;
};

}  // namespace gateway::policy
