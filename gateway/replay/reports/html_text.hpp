// Functions that put texts into an HTML page. Pure.
#pragma once

#include <string>
#include <string_view>

namespace gateway::replay {

// Appends the text with its markup escaped. Control characters and those that turn the direction
// of writing become visible, and bytes that are not UTF-8 become U+FFFD, so that a text that a
// stranger chose changes nothing around it.
void append_html(std::string& to, std::string_view text);

}  // namespace gateway::replay
