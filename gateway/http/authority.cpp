#include "gateway/http/authority.hpp"

#include "gateway/base/bytes16.hpp"
#include "gateway/base/ip_address.hpp"
#include "gateway/base/text.hpp"
#include "gateway/http/chars.hpp"

#include <algorithm>

namespace gateway::http {

namespace {

constexpr auto host_table = base::alphanumeric_and("-._");

// True if the text has 16 bytes or more, all of them letters, digits, '.' or '-', as in nearly
// every long name.
bool is_plain(std::string_view text)
{
    const auto has_other = [](const char* p) {
        const base::bytes16 c = base::load16(p);
        const base::bytes16 from_a = (c | 0x20) - 'a';
        const base::bytes16 from_0 = c - '0';
        return base::any_true((from_a > 25) & (from_0 > 9) & (c != '.') & (c != '-'));
    };
    return text.size() >= sizeof(base::bytes16) && !base::any_step(text, has_other);
}

bool is_host_name(std::string_view text)
{
    const bool plain = is_plain(text) || std::all_of(text.begin(), text.end(), [](char c) {
                           return host_table[static_cast<unsigned char>(c)];
                       });
    return plain && !text.empty() && text.front() != '.' &&
           text.find("..") == std::string_view::npos;
}

bool is_port(std::string_view text)  // The port may be empty: port = *DIGIT.
{
    return text.empty() || base::parse_decimal(text, 65535).has_value();
}

}  // namespace

bool is_authority(std::string_view text)
{
    if (text.starts_with('[')) {
        const std::size_t close = text.find(']');
        if (close == std::string_view::npos) {
            return false;
        }
        const std::string_view inside = text.substr(1, close - 1);
        const std::string_view after = text.substr(close + 1);
        const bool is_v6 =
            inside.find(':') != std::string_view::npos && base::ip_address::parse(inside);
        return is_v6 && (after.empty() || (after.front() == ':' && is_port(after.substr(1))));
    }
    const std::size_t colon = text.find(':');
    const bool has_port = colon != std::string_view::npos;
    return is_host_name(text.substr(0, colon)) && (!has_port || is_port(text.substr(colon + 1)));
}

}  // namespace gateway::http
