// Reads small files that the configuration names.
#pragma once

#include <cstddef>
#include <string>

namespace gateway::config {

struct text_file {
    std::string text;
    // The reason why it could not be read, worded to follow its name. Empty if it was read.
    std::string complaint;
};

// Reads at most `max` bytes of a regular file, or complains that it has more. Refuses a pipe or
// device, which might never end.
text_file read_text_file(const std::string& path, std::size_t max);

// Returns the text without the line feed at its end, and a carriage return before that.
std::string without_line_end(std::string text);

}  // namespace gateway::config
