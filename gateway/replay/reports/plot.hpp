// Functions that draw plots as SVG, to stand in a page whose style sheet colours them. Pure.
#pragma once

#include "gateway/replay/suggestion.hpp"
#include "gateway/replay/timeline.hpp"

#include <string>

namespace gateway::replay {

// Returns bars over time: allowed requests, and on them those that are rejected or not judged.
std::string timeline_plot(const timeline& t);

// Returns the pairs of rate and burst as a line on logarithmic axes, with the best one marked.
std::string curve_plot(const suggestion& s);

}  // namespace gateway::replay
