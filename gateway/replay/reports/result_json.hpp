// `as_json` writes the result of a replay for programs.
#pragma once

#include "gateway/replay/result.hpp"

#include <boost/json/object.hpp>

namespace gateway::replay {

boost::json::object as_json(const replay_result& r);

}  // namespace gateway::replay
