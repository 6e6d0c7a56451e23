// Functions that make bytes chosen by a stranger safe to print. Pure and append-only: they allocate
// nothing but the output.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gateway::telemetry {

// Most bytes of one text that are printed. "..." stands for what was cut.
inline constexpr std::size_t max_text_bytes = 2048;

// Appends the inside of a JSON string (RFC 8259 §7). Control characters, DEL and U+0080 to U+009F
// included, become \u00XX, and bytes that are not UTF-8 become U+FFFD, so a line is always valid
// JSON.
void append_json_text(std::string& out, std::string_view text);

// Appends the inside of a quoted word in a line for people. Quotes and backslashes get a backslash,
// and the bytes of control characters and those that are not UTF-8 become \xXX.
void append_plain_text(std::string& out, std::string_view text);

// Appends a text that is the rest of its line: as above, but quotes stay as they are.
void append_line_text(std::string& out, std::string_view text);

}  // namespace gateway::telemetry
