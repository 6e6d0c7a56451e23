#include "gateway/admin/stream/event_id.hpp"

#include "gateway/base/text.hpp"

#include <limits>

namespace gateway::admin {

std::string event_id(std::string_view process, std::uint64_t number)
{
    return std::string{process}.append("-").append(std::to_string(number));
}

std::uint64_t event_number(std::string_view id, std::string_view process)
{
    if (!id.starts_with(process) || id.substr(process.size()).substr(0, 1) != "-") {
        return 0;
    }
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    return base::parse_decimal(id.substr(process.size() + 1), most).value_or(0);
}

}  // namespace gateway::admin
