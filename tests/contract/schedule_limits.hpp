// The limits and the moments that random schedules choose from: from one token a year to a million
// a second, from one token to a thousand million, and what clocks and calendars have that is odd.
#pragma once

#include "tests/contract/slow_model.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace gateway::store::testing {

inline constexpr base::duration calendar_begin =
    std::chrono::sys_days{std::chrono::year{2020} / 1 / 1}.time_since_epoch();
inline constexpr base::duration calendar_end =
    std::chrono::sys_days{std::chrono::year{2110} / 1 / 1}.time_since_epoch();

// 08:00 in Berlin is 07:00 UTC in winter and 06:00 in summer, which is from the last Sunday of
// March to that of October.
inline std::shared_ptr<const limit::calendar> days_in_berlin()
{
    using namespace std::chrono;
    auto dates = std::make_shared<limit::calendar>();
    const sys_days last = year{2112} / 1 / 1;
    for (sys_days day = year{2018} / 1 / 1; day < last; day += days{1}) {
        const year y = year_month_day{day}.year();
        const bool summer = day >= sys_days{y / March / Sunday[std::chrono::last]} &&
                            day < sys_days{y / October / Sunday[std::chrono::last]};
        const auto begin = day + hours{summer ? 6 : 7};
        dates->begins.push_back(begin.time_since_epoch() / seconds{1});
    }
    return dates;
}

inline std::shared_ptr<const limit::calendar> months()
{
    using namespace std::chrono;
    auto dates = std::make_shared<limit::calendar>();
    for (year_month m = year{2018} / 1; m < year{2150} / 1; m += std::chrono::months{1}) {
        dates->begins.push_back(sys_days{m / 1}.time_since_epoch() / seconds{1});
    }
    return dates;
}

inline const std::vector<spec>& all_specs()
{
    using std::chrono::hours;
    using std::chrono::seconds;
    using kind = spec::kind;
    constexpr hours day{24};
    static const auto berlin = days_in_berlin();
    static const std::vector<spec> all{
        {.what = kind::token_bucket, .count = 1, .period = 365 * day, .capacity = 1},
        {.what = kind::token_bucket, .count = 1, .period = 365 * day, .capacity = 100},
        {.what = kind::token_bucket, .count = 1'000'000, .period = seconds{1}, .capacity = 1},
        {.what = kind::token_bucket,
         .count = 1'000'000,
         .period = seconds{1},
         .capacity = 1'000'000'000},
        // Tokens of these take no whole number of microseconds.
        {.what = kind::token_bucket, .count = 999'999, .period = seconds{1}, .capacity = 5},
        {.what = kind::token_bucket, .count = 600'000, .period = seconds{1}, .capacity = 1'000'000},
        {.what = kind::token_bucket, .count = 1'234'567, .period = seconds{61}, .capacity = 90},
        {.what = kind::token_bucket, .count = 3, .period = seconds{1}, .capacity = 5},
        {.what = kind::token_bucket, .count = 7, .period = seconds{60}, .capacity = 20},
        {.what = kind::token_bucket, .count = 100, .period = seconds{1}, .capacity = 1000},
        {.what = kind::fixed_window, .count = 5, .period = seconds{10}, .capacity = 5},
        {.what = kind::fixed_window, .count = 6, .period = hours{1}, .capacity = 14},
        {.what = kind::fixed_window,
         .count = 1'000'000,
         .period = seconds{1},
         .capacity = 1'000'000'000},
        {.what = kind::fixed_window,
         .count = 9,
         .period = seconds{60},
         .capacity = 9,
         .aligned = true},
        {.what = kind::fixed_window,
         .count = 1,
         .period = 365 * day,
         .capacity = 3,
         .aligned = true},
        {.what = kind::fixed_window,
         .count = 10,
         .period = day,
         .capacity = 10,
         .aligned = true,
         .dates = berlin},
        {.what = kind::fixed_window,
         .count = 3,
         .period = day,
         .capacity = 7,
         .aligned = true,
         .dates = berlin},
        {.what = kind::fixed_window,
         .count = 100,
         .period = 30 * day,
         .capacity = 250,
         .aligned = true,
         .dates = months()},
        {.what = kind::sliding, .count = 4, .period = seconds{10}},
        {.what = kind::sliding, .count = 9, .period = hours{1}, .parts = 16},
        {.what = kind::sliding, .count = 1, .period = 365 * day, .parts = 2},
        {.what = kind::sliding, .count = 100, .period = seconds{1}, .parts = 64},
        {.what = kind::sliding, .count = 3, .period = seconds{7}, .parts = 3},
        {.what = kind::concurrency, .period = seconds{10}, .capacity = 1},
        {.what = kind::concurrency, .period = seconds{1}, .capacity = 3},
        {.what = kind::concurrency, .period = hours{1}, .capacity = 1'000'000'000}};
    return all;
}

inline std::vector<const spec*> specs_of(spec::kind what)
{
    std::vector<const spec*> found;
    for (const spec& s : all_specs()) {
        if (s.what == what) {
            found.push_back(&s);
        }
    }
    return found;
}

inline std::string words_of(const spec& s)
{
    constexpr std::array<const char*, 4> kinds{
        "token_bucket", "fixed_window", "sliding", "concurrency"};
    return std::string{kinds[static_cast<std::size_t>(s.what)]} + " " + std::to_string(s.count) +
           " in " + std::to_string(s.period / std::chrono::seconds{1}) + " s, at most " +
           std::to_string(s.capacity);
}

inline std::vector<base::duration> notable_moments()
{
    using namespace std::chrono;
    const auto at = [](year_month_day day, base::duration time) {
        return base::duration{sys_days{day}.time_since_epoch()} + time;
    };
    return {
        at(year{2026} / 3 / 28, hours{23}),                                // Berlin: 23 hours
        at(year{2026} / 10 / 24, hours{23}),                               // Berlin: 25 hours
        at(year{2028} / 2 / 28, hours{23} + minutes{58}),                  // a leap day
        at(year{2100} / 2 / 28, hours{23} + minutes{58}),                  // and none
        at(year{2038} / 1 / 19, hours{3} + minutes{13}),                   // 31 bits of seconds
        at(year{2106} / 2 / 7, hours{6} + minutes{27}),                    // 32 bits
        at(year{2026} / 12 / 31, hours{23} + minutes{59} + seconds{30})};  // a year
}

}  // namespace gateway::store::testing
