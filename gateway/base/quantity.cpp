#include "gateway/base/quantity.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace gateway::base {
namespace {

template <class Number>
struct unit {
    std::string_view name;
    Number size;
};

using namespace std::chrono_literals;

// Units, the largest first: formatting takes the first one that divides the value.
constexpr std::array<unit<std::int64_t>, 5> duration_units{{
    {"d", duration{24h}.count()},
    {"h", duration{1h}.count()},
    {"m", duration{1min}.count()},
    {"s", duration{1s}.count()},
    {"ms", duration{1ms}.count()},
}};

constexpr std::array<unit<std::uint64_t>, 5> size_units{{
    {"TiB", 1ULL << 40},
    {"GiB", 1ULL << 30},
    {"MiB", 1ULL << 20},
    {"KiB", 1ULL << 10},
    {"", 1},
}};

// Parses a number followed by one of the units, multiplies it, and caps it at `max`.
template <class Units>
std::optional<std::uint64_t> parse_with_unit(
    std::string_view text, const Units& units, std::uint64_t max
)
{
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto number = parse_number(text.substr(0, digits));
    const auto found = std::find_if(units.begin(), units.end(), [&](const auto& u) {
        return u.name == text.substr(digits);
    });
    if (!number || found == units.end()) {
        return std::nullopt;
    }
    const auto size = static_cast<std::uint64_t>(found->size);
    return *number > max / size ? max : *number * size;
}

template <class Number, class Units>
std::string format_with_unit(Number value, const Units& units)
{
    const auto found = std::find_if(units.begin(), units.end(), [&](const auto& u) {
        return value % u.size == 0;
    });
    return std::to_string(value / found->size) + std::string{found->name};
}

}  // namespace

std::optional<std::uint64_t> parse_number(std::string_view text)
{
    if (text.empty() || (text.size() > 1 && text.front() == '0')) {
        return std::nullopt;
    }
    constexpr std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t number = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') {
            return std::nullopt;
        }
        const auto digit = static_cast<std::uint64_t>(c - '0');
        number = number > (max - digit) / 10 ? max : number * 10 + digit;
    }
    return number;
}

std::optional<duration> parse_duration(std::string_view text)
{
    constexpr auto max = static_cast<std::uint64_t>(duration::max().count());
    const auto ticks = parse_with_unit(text, duration_units, max);
    if (!ticks) {
        return std::nullopt;
    }
    return duration{static_cast<std::int64_t>(*ticks)};
}

std::optional<std::uint64_t> parse_size(std::string_view text)
{
    return parse_with_unit(text, size_units, std::numeric_limits<std::uint64_t>::max());
}

std::string format_duration(duration d)
{
    return d == duration::zero() ? "0s" : format_with_unit(d.count(), duration_units);
}

std::string format_size(std::uint64_t bytes)
{
    return bytes == 0 ? "0" : format_with_unit(bytes, size_units);
}

}  // namespace gateway::base
