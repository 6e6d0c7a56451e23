// Functions that read numbers and addresses as access logs write them. Pure.
#pragma once

#include "gateway/base/ip_address.hpp"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gateway::replay {

// Each read function sets `out` and returns true if the whole text is such a number.
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

// Parses an IP address, alone or with a port: "192.0.2.1:4711", "[2001:db8::1]:4711".
inline std::optional<base::ip_address> parse_logged_address(std::string_view text)
{
    if (text.starts_with('[')) {
        return base::ip_address::parse(text.substr(1, text.find(']') - 1));
    }
    const std::size_t colon = text.find(':');
    const bool has_port = colon != text.npos && text.find(':', colon + 1) == text.npos;
    return base::ip_address::parse(has_port ? text.substr(0, colon) : text);
}

}  // namespace gateway::replay
