// An explanation as JSON, for people and programs (docs/admin-api.md).
#pragma once

#include "gateway/limits/reports/explanation.hpp"

#include <boost/json/value.hpp>

#include <vector>

namespace gateway::admin {

// Returns the explanation for people and programs. `looks` has one result for each limit that is
// asked and applies, in their order, or is empty if nobody looked.
boost::json::value as_json(
    const limits::explanation& e, const std::vector<limits::looked_at>& looks
);

}  // namespace gateway::admin
