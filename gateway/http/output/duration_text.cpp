#include "gateway/http/output/duration_text.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

namespace gateway::http {

namespace {

constexpr std::int64_t per_second = 1000;
constexpr std::int64_t per_minute = 60 * per_second;
constexpr std::int64_t per_hour = 60 * per_minute;

}  // namespace

duration_text::duration_text(base::duration d)
{
    const std::int64_t all =
        std::max<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(d).count(), 0);
    if (all > 0 && all < per_second) {
        put(all, "ms");
        return;
    }
    if (all >= per_hour) {
        put(all / per_hour, "h");
    }
    if (all >= per_minute) {
        put(all % per_hour / per_minute, "m");
    }
    put(all % per_minute / per_second, "");
    put_fraction(all % per_second);
    put("s");
}

void duration_text::put(std::string_view text)
{
    std::copy(text.begin(), text.end(), room_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += text.size();
}

void duration_text::put(std::int64_t number, std::string_view unit)
{
    char* const begin = room_.data() + size_;
    size_ += static_cast<std::size_t>(
        std::to_chars(begin, room_.data() + room_.size(), number).ptr - begin
    );
    put(unit);
}

// Puts a part of a second behind its whole seconds, without zeros at its end.
void duration_text::put_fraction(std::int64_t milliseconds)
{
    if (milliseconds == 0) {
        return;
    }
    std::int64_t digits = milliseconds;
    std::int64_t scale = per_second / 10;
    put(".");
    for (; digits > 0; digits %= scale, scale /= 10) {
        put(digits / scale, "");
    }
}

}  // namespace gateway::http
