// `write_text` writes the result of a replay for people, in lines of at most 80 columns.
#pragma once

#include "gateway/replay/result.hpp"

#include <ostream>

namespace gateway::replay {

void write_text(const replay_result& r, std::ostream& out);

}  // namespace gateway::replay
