#include "gateway/tracing/export_pace.hpp"

#include <charconv>
#include <ctime>
#include <string>

namespace gateway::tracing {

base::duration parse_retry_after(std::string_view value, base::duration unix_now)
{
    constexpr std::int64_t longest = 1'000'000'000;  // more would not fit into a duration
    std::int64_t seconds = 0;
    const char* const end = value.data() + value.size();
    const auto read = std::from_chars(value.data(), end, seconds);
    if (read.ec != std::errc{} || read.ptr != end) {
        std::tm parts{};
        const std::string text{value};
        const char* const rest = strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
        if (rest == nullptr || *rest != '\0') {
            return base::duration{0};
        }
        seconds =
            timegm(&parts) - std::chrono::duration_cast<std::chrono::seconds>(unix_now).count();
    }
    return std::chrono::seconds{std::clamp(seconds, std::int64_t{0}, longest)};
}

}  // namespace gateway::tracing
