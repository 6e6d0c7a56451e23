#include "config/limits/window_start.hpp"

#include "config/text/units.hpp"

#include <algorithm>
#include <array>
#include <date/tz.h>
#include <stdexcept>

namespace gateway::config {
namespace {

constexpr std::array<std::string_view, 7> weekdays{"mon", "tue", "wed", "thu", "fri", "sat", "sun"};

constexpr date::year first_year{2020};
constexpr date::year last_year{2150};

// Last year whose clock changes the files of the tz database name. Zones that go on by a rule have
// a change in it. The rule is in the files, too, but the library does not read it.
constexpr date::year last_named{2037};

// Parses two digits, at most `max`.
std::optional<unsigned> two_digits(std::string_view text, unsigned max)
{
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    if (text.size() != 2 || !std::all_of(text.begin(), text.end(), digit)) {
        return std::nullopt;
    }
    const auto number = static_cast<unsigned>((text[0] - '0') * 10 + (text[1] - '0'));
    return number <= max ? std::optional{number} : std::nullopt;
}

std::optional<unsigned> day_of(std::string_view text, window_unit unit)
{
    if (unit == window_unit::week) {
        const auto found = std::find(weekdays.begin(), weekdays.end(), text);
        return found == weekdays.end()
                   ? std::nullopt
                   : std::optional{static_cast<unsigned>(found - weekdays.begin()) + 1};
    }
    const auto day = parse_number(text);
    return unit == window_unit::month && day && *day >= 1 && *day <= 28
               ? std::optional{static_cast<unsigned>(*day)}
               : std::nullopt;
}

// Returns the first day after `day` on which a window begins.
date::local_days next_day(date::local_days day, const wall_clock& start)
{
    switch (start.unit) {
        case window_unit::day:
            return day + date::days{1};
        case window_unit::week: {
            const date::weekday wanted{start.day % 7};
            const auto ahead = wanted - date::weekday{day};
            return day + (ahead == date::days{0} ? date::days{7} : ahead);
        }
        case window_unit::month:
            break;
    }
    const date::year_month_day here{day};
    const date::local_days in_this{here.year() / here.month() / date::day{start.day}};
    return in_this > day ? in_this
                         : date::local_days{
                               (date::year_month{here.year(), here.month()} + date::months{1}) /
                               date::day{start.day}};
}

// Returns the same date, with the same weekday, in one of the last years with named changes. Rules
// go by months and weekdays, so the clock is the same. One of eleven years in a row has it.
date::local_days named_day_like(date::local_days day)
{
    const date::year_month_day here{day};
    if (here.month() == date::February && here.day() == date::day{29}) {
        return named_day_like(day - date::days{1}) + date::days{1};
    }
    date::local_days like;
    date::year year = last_named;
    do {
        like = date::local_days{year-- / here.month() / here.day()};
    } while (date::weekday{like} != date::weekday{day});
    return like;
}

// True if the zone's clock goes on by a rule on that day, while the library thinks that it stands.
bool goes_by_rule(const date::time_zone& zone, date::local_days day, date::sys_seconds begin)
{
    if (date::year_month_day{day}.year() <= last_named) {
        return false;
    }
    const date::sys_info info = zone.get_info(begin);
    const date::year_month_day changed{date::floor<date::days>(info.begin)};
    return changed.year() == last_named && info.end >= date::sys_days{last_year / 1 / 1};
}

std::int64_t begin_on(date::local_days day, std::chrono::minutes time, const date::time_zone& zone)
{
    date::sys_seconds begin =
        date::floor<std::chrono::seconds>(zone.to_sys(day + time, date::choose::earliest));
    if (goes_by_rule(zone, day, begin)) {
        const date::local_days like = named_day_like(day);
        begin = date::floor<std::chrono::seconds>(
            zone.to_sys(like + time, date::choose::earliest) + (day - like)
        );
    }
    return begin.time_since_epoch().count();
}

}  // namespace

std::optional<wall_clock> parse_wall_clock(std::string_view text, window_unit unit)
{
    wall_clock start{.unit = unit};
    if (const std::size_t space = text.find(' '); space != std::string_view::npos) {
        const auto day = day_of(text.substr(0, space), unit);
        if (!day) {
            return std::nullopt;
        }
        start.day = *day;
        text.remove_prefix(space + 1);
    }
    const auto hour = two_digits(text.substr(0, 2), 23);
    const auto minute =
        text.size() == 5 && text[2] == ':' ? two_digits(text.substr(3), 59) : std::nullopt;
    if (!hour || !minute) {
        return std::nullopt;
    }
    start.hour = *hour;
    start.minute = *minute;
    return start;
}

std::shared_ptr<const limit::calendar> calendar_of(const wall_clock& start, const std::string& zone)
try {
    const date::time_zone* const where = date::locate_zone(zone);
    const auto time = std::chrono::hours{start.hour} + std::chrono::minutes{start.minute};
    const date::local_days end{last_year / date::January / 1};
    auto made = std::make_shared<limit::calendar>();
    date::local_days day = date::local_days{first_year / date::January / 1} - date::days{1};
    for (day = next_day(day, start); day < end; day = next_day(day, start)) {
        made->begins.push_back(begin_on(day, time, *where));
    }
    return made;

} catch (const std::runtime_error&) {
    return nullptr;
}

}  // namespace gateway::config
