#include "gateway/http/date_line.hpp"

#include <chrono>
#include <ctime>

namespace gateway::http {

void date_line::refresh(base::duration unix_time)
{
    const auto second = std::chrono::floor<std::chrono::seconds>(unix_time).count();
    if (second == second_) {
        return;
    }
    second_ = second;
    const std::time_t time{second};
    std::tm utc{};
    gmtime_r(&time, &utc);
    // The locale is never set, so names of days and months are English.
    std::strftime(text_.data(), text_.size(), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &utc);
}

}  // namespace gateway::http
