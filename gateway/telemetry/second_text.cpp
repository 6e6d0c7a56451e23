#include "gateway/telemetry/second_text.hpp"

#include <chrono>
#include <ctime>

namespace gateway::telemetry {

void second_text::render(std::int64_t second)
{
    const std::time_t time{second};
    std::tm utc{};
    gmtime_r(&time, &utc);
    // The locale is never set, so month names are English.
    std::strftime(iso_.data(), iso_.size(), "%Y-%m-%dT%H:%M:%S", &utc);
    std::strftime(common_.data(), common_.size(), "%d/%b/%Y:%H:%M:%S +0000", &utc);
    second_ = second;
}

void second_text::append_iso(std::string& out, base::duration unix_time)
{
    using std::chrono::floor;
    const auto second = floor<std::chrono::seconds>(unix_time);
    const auto millis = floor<std::chrono::milliseconds>(unix_time - second).count();
    if (second.count() != second_) {
        render(second.count());
    }
    out.append(iso_.data(), iso_.size() - 1);
    out += '.';
    out += static_cast<char>('0' + millis / 100);
    out += static_cast<char>('0' + millis / 10 % 10);
    out += static_cast<char>('0' + millis % 10);
    out += 'Z';
}

void second_text::append_common(std::string& out, base::duration unix_time)
{
    const auto second = std::chrono::floor<std::chrono::seconds>(unix_time).count();
    if (second != second_) {
        render(second);
    }
    out.append(common_.data(), common_.size() - 1);
}

}  // namespace gateway::telemetry
