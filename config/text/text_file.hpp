// Small files that the configuration names.
#pragma once

#include <cstddef>
#include <string>

namespace gateway::config {

struct text_file {
    std::string text;
    // Why it could not be read, as words that follow its name; empty if it was.
    std::string complaint;
};

// At most `max` bytes of a regular file, or a complaint that it has more. A pipe or device, which
// might never end, is refused.
text_file read_text_file(const std::string& path, std::size_t max);

// Without the line feed at its end, and a carriage return before it.
std::string without_line_end(std::string text);

}  // namespace gateway::config
