// `line_reader` reads the lines of one format of access logs.
// Thread: one thread only.
#pragma once

#include "gateway/replay/logs/logged_request.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace gateway::replay {

class line_reader {
public:
    virtual ~line_reader() = default;

    // Name of the format, for people.
    virtual std::string_view name() const = 0;

    // Reads a line, without its end. It may change the bytes, into which the result views. Returns
    // false if the line is not of this format; `out` then means nothing. `parts` has the parts of
    // the request; `out.parts` is left empty.
    virtual bool read(std::span<char> line, logged_request& out, std::vector<part_text>& parts) = 0;
};

}  // namespace gateway::replay
