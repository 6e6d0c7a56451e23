#include "config/routes/route_name.hpp"

#include <algorithm>
#include <map>

namespace gateway::config {
namespace {

std::string short_name(const policy::route_match& match)
{
    const std::string name = match.host + encoded_path(match.path);
    return name.empty() ? "/" : name;
}

std::string long_name(const policy::route_match& match)
{
    std::string name;
    for (const std::string& method : match.methods) {
        name += (name.empty() ? "" : ",") + method;
    }
    name += name.empty() ? "" : " ";
    if (match.scheme != policy::url_scheme::any) {
        name += match.scheme == policy::url_scheme::https ? "https://" : "http://";
    }
    name += match.host + (match.exact ? "=" : "") + (match.ignore_case ? "~" : "") +
            encoded_path(match.path) + (match.path.empty() ? "*" : "");
    // Only the names of headers and members are added, as their values may be secret.
    for (const policy::header_match& h : match.headers) {
        name += ' ' + h.name;
    }
    for (const policy::json_match& m : match.json) {
        name += " json:" + m.path;
    }
    return name;
}

}  // namespace

std::string encoded_path(std::string_view normalised)
{
    constexpr std::string_view hex = "0123456789ABCDEF";
    std::string text;
    for (const char c : normalised) {
        if (c > 0x20 && c < 0x7f) {
            text += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        text += {'%', hex[byte >> 4], hex[byte & 15]};
    }
    return text;
}

bool has_letters_of_ascii(std::string_view normalised)
{
    return std::none_of(normalised.begin(), normalised.end(), [](char c) {
        return static_cast<unsigned char>(c) >= 0x80;
    });
}

void name_routes(std::span<policy::route> routes)
{
    std::map<std::string, int> uses;
    for (const policy::route& route : routes) {
        ++uses[route.name.empty() ? short_name(route.match) : route.name];
    }
    for (policy::route& route : routes) {
        if (route.name.empty()) {
            const std::string name = short_name(route.match);
            const bool fits = uses[name] == 1 && name != policy::no_route_name;
            route.name = fits ? name : long_name(route.match);
        }
    }
}

}  // namespace gateway::config
