#include "gateway/replay/rate_steps.hpp"

#include <algorithm>
#include <array>

namespace gateway::replay {

namespace {

struct rate_unit {
    base::duration period;
    const char* text;
};

// The shortest unit first: of equal rates, that in the shortest unit is the one that is named.
constexpr std::array<rate_unit, 4> units{
    {{std::chrono::seconds{1}, "/s"},
     {std::chrono::minutes{1}, "/m"},
     {std::chrono::hours{1}, "/h"},
     {std::chrono::hours{24}, "/d"}}};

bool is_slower(const rate_step& a, const rate_step& b)
{
    // Counts are below 2^20 and periods below 2^47.
    using wide = __int128;
    return static_cast<wide>(a.count) * b.period.count() <
           static_cast<wide>(b.count) * a.period.count();
}

}  // namespace

std::string rate_step::text() const
{
    const auto unit = std::find_if(units.begin(), units.end(), [this](const rate_unit& u) {
        return u.period == period;
    });
    return std::to_string(count) + unit->text;
}

std::vector<rate_step> rate_steps()
{
    constexpr std::int64_t fine = 1000;
    constexpr std::int64_t fastest = 1'000'000;
    std::vector<rate_step> all;
    for (const rate_unit& u : units) {
        for (std::int64_t count = 1; count <= fine; ++count) {
            all.push_back({count, u.period});
        }
    }
    for (std::int64_t step = 10; step * fine <= fastest; step *= 10) {
        for (std::int64_t count = fine / 10 * step; count <= fine * step; count += step) {
            all.push_back({count, units.front().period});
        }
    }
    std::stable_sort(all.begin(), all.end(), is_slower);
    all.erase(
        std::unique(
            all.begin(),
            all.end(),
            [](const rate_step& a, const rate_step& b) { return !is_slower(a, b); }
        ),
        all.end()
    );
    return all;
}

}  // namespace gateway::replay
