#include "gateway/content/json_number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace gateway::content {

namespace {

// Digits of the largest integers.
constexpr std::int64_t most_digits = 16;

// Returns the exponent, which is made smaller where it is out of any range.
std::optional<std::int64_t> read_exponent(std::string_view text)
{
    if (text.starts_with('+')) {
        text.remove_prefix(1);
    }
    constexpr std::int64_t far_away = 1'000'000;
    std::int64_t exponent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (error == std::errc::result_out_of_range) {
        return text.starts_with('-') ? -far_away : far_away;
    }
    return error == std::errc{} && end == text.data() + text.size()
               ? std::optional{std::clamp(exponent, -far_away, far_away)}
               : std::nullopt;
}

}  // namespace

std::optional<std::int64_t> whole_number(std::string_view text)
{
    const bool negative = text.starts_with('-');
    text.remove_prefix(negative ? 1 : 0);
    const std::size_t mantissa = std::min(text.find_first_of("eE"), text.size());
    const auto exponent = mantissa == text.size() ? std::optional<std::int64_t>{0}
                                                  : read_exponent(text.substr(mantissa + 1));
    if (!exponent) {
        return std::nullopt;
    }
    const std::size_t point = std::min(text.find('.'), mantissa);
    std::string digits(text.substr(0, point));
    std::int64_t scale = *exponent;
    if (point < mantissa) {
        const std::string_view fraction = text.substr(point + 1, mantissa - point - 1);
        digits += fraction;
        scale -= static_cast<std::int64_t>(fraction.size());
    }
    digits.erase(0, digits.find_first_not_of('0'));
    if (digits.empty()) {
        return 0;
    }
    const std::size_t last = digits.find_last_not_of('0');
    scale += static_cast<std::int64_t>(digits.size() - last - 1);
    digits.resize(last + 1);
    if (scale < 0) {
        return std::nullopt;
    }
    std::int64_t value = largest_integer + 1;
    if (scale + static_cast<std::int64_t>(digits.size()) <= most_digits) {
        digits.append(static_cast<std::size_t>(scale), '0');
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
        value = std::min(value, largest_integer + 1);
    }
    return negative ? -value : value;
}

bool reads_as_integer(const std::string& text)
{
    const double number = std::strtod(text.c_str(), nullptr);
    return std::abs(number) <= static_cast<double>(largest_integer) && std::trunc(number) == number;
}

}  // namespace gateway::content
