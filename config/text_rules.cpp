#include "config/text_rules.hpp"

#include <algorithm>

namespace gateway::config {
namespace {

bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool all_in(std::string_view text, std::string_view extra)
{
    return std::all_of(text.begin(), text.end(), [&](char c) {
        return is_alphanumeric(c) || extra.find(c) != std::string_view::npos;
    });
}

}  // namespace

bool is_name(std::string_view text)
{
    return !text.empty() && text.size() <= 64 && all_in(text, "_.-");
}

bool is_token(std::string_view text, std::size_t max)
{
    return !text.empty() && text.size() <= max && all_in(text, "!#$%&'*+-.^_`|~");
}

bool is_visible(std::string_view text, std::size_t max)
{
    return text.size() <= max &&
           std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

bool is_host_name(std::string_view text)
{
    return !text.empty() && text.size() <= 253 && all_in(text, "-_.") && text.front() != '.' &&
           text.find("..") == std::string_view::npos;
}

}  // namespace gateway::config
