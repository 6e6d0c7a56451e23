// The three forms in which the result of a replay is shown.
#pragma once

#include "gateway/replay/result.hpp"

#include <boost/json/object.hpp>

#include <ostream>
#include <string>

namespace gateway::replay {

// Writes the result for people, in lines of at most 80 columns.
void write_text(const replay_result& r, std::ostream& out);

// Returns the result for programs.
boost::json::object as_json(const replay_result& r);

// Returns the result as one page without external resources, with plots.
std::string as_html(const replay_result& r);

}  // namespace gateway::replay
