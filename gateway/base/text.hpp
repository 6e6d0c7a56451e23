// Small rules for ASCII text. They do not depend on the locale; bytes above 0x7f are never letters,
// digits or spaces.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::base {

constexpr char to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// True if the texts are equal but for the case of ASCII letters.
bool equal_ignoring_case(std::string_view a, std::string_view b);

std::string lower_case(std::string_view text);

// Returns the text without leading and trailing spaces and tabs (OWS, RFC 9110 §5.6.3).
std::string_view trimmed(std::string_view text);

// Returns the text without the quotes around it, if there are two.
std::string_view without_quotes(std::string_view text);

// Returns "host:port", with brackets around an IPv6 address (RFC 3986 §3.2.2).
std::string host_and_port(std::string_view host, std::string_view port);

// Returns a host name without the final dot, which stands for the root of the DNS.
constexpr std::string_view without_final_dot(std::string_view host)
{
    return host.substr(0, host.size() - (host.ends_with('.') ? 1 : 0));
}

// Empties `text` and frees its memory, which the assignment of an empty text would keep.
inline void clear_keeping_nothing(std::string& text)
{
    std::string().swap(text);
}

// Empties `text`, and frees its memory if it has become large.
inline void clear_keeping_little(std::string& text)
{
    constexpr std::size_t little = 1024;
    if (text.capacity() > little) {
        clear_keeping_nothing(text);
    } else {
        text.clear();
    }
}

// Calls `element` with each element of a list, trimmed. Empty elements count, too.
template <typename Element>
void for_each_element(std::string_view list, char separator, Element element)
{
    while (true) {
        const std::size_t end = list.find(separator);
        element(trimmed(list.substr(0, end)));
        if (end == std::string_view::npos) {
            return;
        }
        list.remove_prefix(end + 1);
    }
}

// Parses one or more decimal digits and nothing else, at most `max`. Leading zeros are allowed.
std::optional<std::uint64_t> parse_decimal(std::string_view text, std::uint64_t max);

}  // namespace gateway::base
