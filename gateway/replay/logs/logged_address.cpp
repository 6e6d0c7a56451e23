#include "gateway/replay/logs/logged_address.hpp"

namespace gateway::replay {

std::optional<base::ip_address> parse_logged_address(std::string_view text)
{
    if (text.starts_with('[')) {
        return base::ip_address::parse(text.substr(1, text.find(']') - 1));
    }
    const std::size_t colon = text.find(':');
    const bool has_port = colon != text.npos && text.find(':', colon + 1) == text.npos;
    return base::ip_address::parse(has_port ? text.substr(0, colon) : text);
}

}  // namespace gateway::replay
