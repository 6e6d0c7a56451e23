// `read_number`, `read_status` and `read_cost` read the numbers of access logs. Pure.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace gateway::replay {

// Each sets `out` and returns true if the whole text is such a number.
template <typename Number>
bool read_number(std::string_view text, Number& out)
{
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) {
        return false;
    }
    out = number;
    return true;
}

// A status has three digits at most; nginx writes 000 if there was no response.
inline bool read_status(std::string_view text, int& out)
{
    int status = 0;
    if (!read_number(text, status) || status < 0 || status > 999) {
        return false;
    }
    out = status;
    return true;
}

inline bool read_cost(std::string_view text, std::int64_t& out)
{
    std::int64_t cost = 0;
    if (!read_number(text, cost) || cost < 0) {
        return false;
    }
    out = cost;
    return true;
}

}  // namespace gateway::replay
