// Functions that read the moments of access logs, in Unix time. Pure.
#pragma once

#include "gateway/base/clock.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gateway::replay {

// Parses "2026-11-21T02:45:33.123Z" (RFC 3339); the fraction and the zone are optional, and without
// a zone the time is UTC. A blank may stand for the T.
std::optional<base::duration> parse_rfc3339(std::string_view text);

// Parses "21/Nov/2026:02:45:33 +0000" of the common log format, or with ".123" and without a zone,
// which is how HAProxy writes it. Without a zone the time is UTC.
std::optional<base::duration> parse_common_time(std::string_view text);

// Parses decimal seconds, "0.001234", exactly to the nanosecond; further digits are dropped. With
// an exponent, "8.1e-05", they are rounded.
std::optional<base::duration> parse_seconds(std::string_view text);

// Parses Unix time as a number: seconds with or without a fraction, or whole milliseconds,
// microseconds or nanoseconds, which their size tells apart.
std::optional<base::duration> parse_unix_time(std::string_view text);

// Parses any of these forms but that of the common log format.
std::optional<base::duration> parse_moment(std::string_view text);

// `repeated_moment` parses the moments of one log, where many lines have the same text.
class repeated_moment {
public:
    // Returns what `parse` returns for the text.
    template <typename Parse>
    std::optional<base::duration> read(std::string_view text, Parse parse)
    {
        if (text != text_) {
            text_ = text;
            moment_ = parse(text);
        }
        return moment_;
    }

private:
    std::string text_;
    std::optional<base::duration> moment_{};
};

}  // namespace gateway::replay
