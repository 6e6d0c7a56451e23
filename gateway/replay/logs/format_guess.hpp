// `guess_format` finds out by the first lines of a log in which format it is.
#pragma once

#include "gateway/replay/logs/json_format.hpp"
#include "gateway/replay/logs/line_reader.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace gateway::replay {

// Number of first lines that are looked at.
inline constexpr std::size_t guessed_lines = 100;

struct guessed_format {
    // The reader that reads the most of the lines; null: there is none that reads any.
    std::unique_ptr<line_reader> reader;
    // Parts that these lines have. A later line without one tells that its request had none.
    part_set held = 0;
};

// `described` is the format that the operator describes, if one is described: then no other counts.
// Ownership: `wanted` outlives the reader.
guessed_format guess_format(
    std::span<const std::string> first_lines,
    const wanted_parts& wanted,
    const std::optional<json_format>& described
);

}  // namespace gateway::replay
