#include "gateway/base/text.hpp"

#include <algorithm>

namespace gateway::base {

bool equal_ignoring_case(std::string_view a, std::string_view b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return to_lower(x) == to_lower(y);
    });
}

std::string lower_case(std::string_view text)
{
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), to_lower);
    return lower;
}

std::string_view trimmed(std::string_view text)
{
    const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    while (!text.empty() && is_blank(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && is_blank(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

std::string_view without_quotes(std::string_view text)
{
    const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    return quoted ? text.substr(1, text.size() - 2) : text;
}

std::optional<std::uint64_t> parse_decimal(std::string_view text, std::uint64_t max)
{
    std::uint64_t value = 0;
    for (const char c : text) {
        const auto digit = static_cast<std::uint64_t>(static_cast<unsigned char>(c)) - '0';
        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value) || value > max) {
            return std::nullopt;
        }
    }
    return text.empty() ? std::nullopt : std::optional{value};
}

std::string host_and_port(std::string_view host, std::string_view port)
{
    const bool is_v6 = host.find(':') != std::string_view::npos;
    std::string both;
    both.append(is_v6 ? "[" : "").append(host).append(is_v6 ? "]:" : ":").append(port);
    return both;
}

}  // namespace gateway::base
