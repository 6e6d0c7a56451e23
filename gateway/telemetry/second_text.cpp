#include "gateway/telemetry/second_text.hpp"

#include <chrono>

namespace gateway::telemetry {

void second_text::append_iso(std::string& out, base::duration unix_time)
{
    using std::chrono::floor;
    const auto second = floor<std::chrono::seconds>(unix_time);
    const auto millis = floor<std::chrono::milliseconds>(unix_time - second).count();
    out += iso_.at(unix_time);
    out += '.';
    out += static_cast<char>('0' + millis / 100);
    out += static_cast<char>('0' + millis / 10 % 10);
    out += static_cast<char>('0' + millis % 10);
    out += 'Z';
}

void second_text::append_common(std::string& out, base::duration unix_time)
{
    out += common_.at(unix_time);
}

}  // namespace gateway::telemetry
