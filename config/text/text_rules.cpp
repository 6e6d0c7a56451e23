#include "config/text/text_rules.hpp"

#include "gateway/base/chars.hpp"
#include "gateway/base/hex.hpp"
#include "gateway/base/ip_address.hpp"
#include "gateway/base/text.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

constexpr std::size_t longest_method = 32;

std::string in_capitals(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    return text;
}

constexpr auto name_bytes = base::alphanumeric_and("_.-");

bool is_of_name_bytes(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) {
        return name_bytes[static_cast<unsigned char>(c)];
    });
}

}  // namespace

bool is_name(std::string_view text)
{
    return !text.empty() && text.size() <= 64 && is_of_name_bytes(text);
}

bool is_token(std::string_view text, std::size_t max)
{
    return text.size() <= max && base::is_token(text);
}

std::string complaint_about_method(const std::string& text)
{
    if (!is_token(text, longest_method)) {
        return "expected a method such as GET, got " + quote(text);
    }
    if (const std::string capitals = in_capitals(text); text != capitals) {
        return "methods are case-sensitive: write " + capitals;
    }
    return text == "CONNECT" ? "CONNECT is never served: no request matches" : "";
}

bool is_visible(std::string_view text, std::size_t max)
{
    return text.size() <= max &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

bool is_printable(std::string_view text, std::size_t max)
{
    return text.size() <= max &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

bool is_field_value(std::string_view text, std::size_t max)
{
    return is_printable(text, max) && base::trimmed(text) == text;
}

bool is_url(std::string_view text)
{
    return text.find("://") != std::string_view::npos;
}

bool ends_in_number(std::string_view host)
{
    host = base::without_final_dot(host);
    std::string_view last = host.substr(host.find_last_of('.') + 1);
    const bool hex = last.starts_with("0x") || last.starts_with("0X");
    last.remove_prefix(hex ? 2 : 0);
    return (hex || !last.empty()) && std::all_of(last.begin(), last.end(), [hex](char c) {
               return hex ? base::hex_digit(c) >= 0 : c >= '0' && c <= '9';
           });
}

bool is_host_name(std::string_view text)
{
    if (ends_in_number(text)) {
        return base::ip_address::parse(base::without_final_dot(text)).has_value();
    }
    return !text.empty() && text.size() <= 253 && is_of_name_bytes(text) && text.front() != '.' &&
           text.find("..") == std::string_view::npos;
}

}  // namespace gateway::config
