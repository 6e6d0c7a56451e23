// `as_html` writes the result of a replay as one page without external resources, with plots.
#pragma once

#include "gateway/replay/result.hpp"

#include <string>

namespace gateway::replay {

std::string as_html(const replay_result& r);

}  // namespace gateway::replay
