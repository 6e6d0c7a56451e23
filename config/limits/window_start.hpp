// Windows of a limit that begin by a wall clock: "08:00", "mon 08:00" or "1 08:00" in a time zone
// of the tz database.
#pragma once

#include "gateway/limit/calendar.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::config {

enum class window_unit { day, week, month };

struct wall_clock {
    window_unit unit = window_unit::day;
    // Day of a week, 1 (Monday) to 7, or of a month, 1 to 28.
    unsigned day = 1;
    unsigned hour = 0;
    unsigned minute = 0;
};

// Parses a time of that unit. Returns nothing if it is none. Without a day a week begins on Monday
// and a month on the 1st.
std::optional<wall_clock> parse_wall_clock(std::string_view text, window_unit unit);

// Returns when the windows begin, from 2020 to 2150. A time that a clock change leaves out is that
// of the change. The first of a time that comes twice counts. Returns null if the tz database has
// no such zone, or is not there.
std::shared_ptr<const limit::calendar> calendar_of(
    const wall_clock& start, const std::string& zone
);

}  // namespace gateway::config
