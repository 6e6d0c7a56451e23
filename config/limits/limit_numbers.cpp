// `numbers_of()` makes a limit's limit::limit from what was read of it.
#include "config/limits/limit_sections.hpp"
#include "config/limits/window_start.hpp"

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

// Returns the unit of windows of that length, or nothing if they cannot begin by a wall clock.
std::optional<window_unit> unit_of(const rate& r)
{
    return r.monthly             ? std::optional{window_unit::month}
           : r.period == 7 * 24h ? std::optional{window_unit::week}
           : r.period == 24h     ? std::optional{window_unit::day}
                                 : std::nullopt;
}

// Reports a value of the limit that its numbers, or those of a plan, cannot have. A plan's mapping
// has no such key, so the problem is at its rate.
void refuse_value(
    section& from, const limit_draft& l, const std::string& key, const std::string& why
)
{
    if (l.of_plan) {
        from.problem("rate", "does not go with the limit's \"" + key + "\": " + why);
    } else {
        from.problem(key, why);
    }
}

// Returns when windows begin, if that is by a wall clock.
std::optional<wall_clock> wall_clock_of(section& from, const limit_draft& l)
{
    const std::string& start = l.written.start;
    const auto unit = unit_of(l.written.rate);
    const bool by_length = start.empty() || start == "aligned";
    if (start.empty() && l.written.rate.monthly) {
        refuse_value(
            from, l, "start", "missing: a month begins at a wall-clock time, such as \"1 00:00\""
        );
        return std::nullopt;
    }
    if (by_length && !l.written.rate.monthly) {
        if (from.has("time_zone")) {
            from.problem("time_zone", "has no effect without a \"start\" at a wall-clock time");
        }
        return std::nullopt;
    }
    const auto parsed = unit ? parse_wall_clock(by_length ? "00:00" : start, *unit) : std::nullopt;
    if (!parsed) {
        refuse_value(
            from,
            l,
            "start",
            "expected \"aligned\", or of a rate per d \"08:00\", per w \"mon 08:00\", per mo "
            "\"1 08:00\" (day 1 to 28), got " +
                quote(start)
        );
    }
    return parsed;
}

// Returns the calendar that limits with such windows share. If there is no such zone, reports a
// problem and returns null.
std::shared_ptr<const limit::calendar> shared_calendar(
    section& from, const limit_draft& l, const wall_clock& start, draft& d
)
{
    const written_limit& w = l.written;
    auto& known =
        d.calendars[format_rate({1, w.rate.period, w.rate.monthly}) + w.start + w.time_zone];
    if (known == nullptr) {
        known = calendar_of(start, w.time_zone);
    }
    if (known == nullptr) {
        refuse_value(
            from,
            l,
            "time_zone",
            "not in the tz database (of the package tzdata): " + quote(w.time_zone) +
                ", a name is for example Europe/Berlin"
        );
    }
    return known;
}

// Reports a refill that takes too long: at `key`, which says how much a bucket holds, or at the
// rate if that key was not written.
void refuse_long_refill(section& from, std::string_view key, std::int64_t tokens)
{
    from.problem(
        from.has(key) ? key : "rate",
        "a refill of " + std::to_string(tokens) +
            " tokens would take too long, the maximum is 100 years"
    );
}

// Returns a limit in fixed windows. If they are impossible, reports a problem and returns nothing.
std::optional<limit::limit> made_of_windows(section& from, const limit_draft& l, draft& d)
{
    const rate& r = l.written.rate;
    limit::window_options options{
        .count = r.tokens,
        .length = r.period,
        .aligned = !l.written.start.empty(),
        .dates = nullptr,
        .capacity = l.burst};
    if (const auto start = wall_clock_of(from, l)) {
        options.dates = shared_calendar(from, l, *start, d);
        if (options.dates == nullptr) {
            return std::nullopt;
        }
        if (l.burst > most_windows_held * r.tokens) {
            from.problem(
                "capacity",
                "more than " + std::to_string(most_windows_held) + " times the count in \"rate\""
            );
            return std::nullopt;
        }
    }
    auto made = limit::limit::in_windows(options);
    if (!made) {
        refuse_long_refill(from, "capacity", l.burst);
    }
    return made;
}

// Returns a token bucket. If a refill takes too long, reports a problem and returns nothing.
std::optional<limit::limit> made_of_a_rate(section& from, const limit_draft& l)
{
    auto made = limit::limit::make(l.written.rate.tokens, l.written.rate.period, l.burst);
    if (!made) {
        refuse_long_refill(from, "burst", l.burst);
    }
    return made;
}

// Returns a limit in a sliding window. If that is too long, or too short for its parts, reports a
// problem and returns nothing.
std::optional<limit::limit> made_of_a_sliding_window(section& from, const limit_draft& l)
{
    const bool log = l.written.algorithm == algorithm::sliding_log;
    const rate& r = l.written.rate;
    auto made = limit::limit::sliding(r.tokens, r.period, log ? 0 : l.written.resolution);
    if (!made) {
        from.problem("rate", "a sliding window takes 64us to 100 years");
    }
    return made;
}

}  // namespace

std::optional<limit::limit> numbers_of(section& from, const limit_draft& l, draft& d)
{
    switch (l.written.algorithm) {
        case algorithm::token_bucket:
            return made_of_a_rate(from, l);
        case algorithm::fixed_window:
            return made_of_windows(from, l, d);
        case algorithm::sliding_window:
        case algorithm::sliding_log:
            return made_of_a_sliding_window(from, l);
        case algorithm::concurrency:
            break;
    }
    return limit::limit::in_flight(l.burst, l.written.lease);
}

}  // namespace gateway::config
