#include "gateway/replay/logs/timestamp.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace gateway::replay {

namespace {

constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;
// Latest second that a moment may have, in the year 2200. Nanoseconds up to it, and a century more,
// fit into 64 bits.
constexpr std::int64_t latest_second = 7'258'118'400;

// `digits` reads a text from left to right. After a mistake everything fails.
class digits {
public:
    explicit digits(std::string_view text) : left_(text) {}

    // Reads a number of exactly so many digits.
    int number(std::size_t count)
    {
        int value = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const unsigned digit = i < left_.size() ? static_cast<unsigned>(left_[i] - '0') : 10U;
            good_ = good_ && digit < 10;
            value = value * 10 + static_cast<int>(digit);
        }
        skip(count);
        return value;
    }

    void expect(char c) { good_ = accept(c) && good_; }

    // Reads the character if it is next. Returns false if it is not.
    bool accept(char c)
    {
        const bool is_next = left_.starts_with(c);
        skip(is_next ? 1 : 0);
        return is_next;
    }

    // Reads the digits behind a decimal point, as nanoseconds.
    std::int64_t fraction()
    {
        std::int64_t value = 0;
        std::int64_t unit = nanoseconds_per_second / 10;
        const std::size_t before = left_.size();
        while (!left_.empty() && left_.front() >= '0' && left_.front() <= '9') {
            value += (left_.front() - '0') * unit;
            unit /= 10;
            left_.remove_prefix(1);
        }
        good_ = good_ && left_.size() < before;
        return value;
    }

    std::string_view take(std::size_t count)
    {
        const std::string_view taken = left_.substr(0, count);
        skip(count);
        return taken;
    }

    void skip(std::size_t count) { left_.remove_prefix(std::min(count, left_.size())); }

    bool is_at_end() const { return left_.empty(); }

    bool good() const { return good_; }

private:
    std::string_view left_;
    bool good_ = true;
};

struct civil {
    int year = 0;
    int month = 0;
    int day = 0;
    int hour = 0;
    int minute = 0;
    int second = 0;
};

bool is_possible(const civil& c)
{
    return c.year >= 1970 && c.year < 2200 && c.month >= 1 && c.month <= 12 && c.day >= 1 &&
           c.day <= 31 && c.hour <= 23 && c.minute <= 59 && c.second <= 60;
}

std::int64_t unix_second(const civil& c)
{
    using namespace std::chrono;
    const sys_days date{
        year{c.year} / month{static_cast<unsigned>(c.month)} / day{static_cast<unsigned>(c.day)}};
    const std::int64_t days = date.time_since_epoch().count();
    return ((days * 24 + c.hour) * 60 + c.minute) * 60 + c.second;
}

// Reads "23:59:59".
void read_time_of_day(digits& in, civil& c)
{
    c.hour = in.number(2);
    in.expect(':');
    c.minute = in.number(2);
    in.expect(':');
    c.second = in.number(2);
}

// Reads "+01:00", "+0100", "Z" or nothing, as the seconds that local time is ahead.
std::int64_t read_zone(digits& in)
{
    if (in.is_at_end()) {
        return 0;
    }
    if (in.accept('Z') || in.accept('z')) {
        return 0;
    }
    const std::int64_t sign = in.accept('-') ? -1 : 1;
    if (sign == 1) {
        in.expect('+');
    }
    const int hours = in.number(2);
    in.accept(':');
    const int minutes = in.number(2);
    return sign * (hours * 3600 + minutes * 60);
}

std::optional<base::duration> moment_of(const civil& c, std::int64_t nanoseconds, digits& in)
{
    const std::int64_t ahead = read_zone(in);
    if (!in.good() || !in.is_at_end() || !is_possible(c)) {
        return std::nullopt;
    }
    return base::duration{(unix_second(c) - ahead) * nanoseconds_per_second + nanoseconds};
}

int month_of(std::string_view name)
{
    constexpr std::array<std::string_view, 12> names{
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) {
            return static_cast<int>(i) + 1;
        }
    }
    return 0;
}

// Parses seconds with an exponent, "8.1e-05", to the precision of a double.
std::optional<base::duration> parse_scientific(std::string_view text)
{
    double seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    const bool is_whole = error == std::errc{} && end == text.data() + text.size();
    if (!is_whole || seconds < 0 || seconds > static_cast<double>(latest_second)) {
        return std::nullopt;
    }
    return base::duration{std::llround(seconds * static_cast<double>(nanoseconds_per_second))};
}

}  // namespace

std::optional<base::duration> parse_rfc3339(std::string_view text)
{
    digits in{text};
    civil c;
    c.year = in.number(4);
    in.expect('-');
    c.month = in.number(2);
    in.expect('-');
    c.day = in.number(2);
    if (!in.accept('T') && !in.accept('t')) {
        in.expect(' ');
    }
    read_time_of_day(in, c);
    const std::int64_t nanoseconds = in.accept('.') || in.accept(',') ? in.fraction() : 0;
    return moment_of(c, nanoseconds, in);
}

std::optional<base::duration> parse_common_time(std::string_view text)
{
    digits in{text};
    civil c;
    c.day = in.number(2);
    in.expect('/');
    c.month = month_of(in.take(3));
    in.expect('/');
    c.year = in.number(4);
    in.expect(':');
    read_time_of_day(in, c);
    const std::int64_t nanoseconds = in.accept('.') ? in.fraction() : 0;
    in.accept(' ');
    return moment_of(c, nanoseconds, in);
}

std::optional<base::duration> parse_seconds(std::string_view text)
{
    std::int64_t seconds = 0;
    std::size_t used = 0;
    while (used < text.size() && text[used] >= '0' && text[used] <= '9' && seconds <= latest_second
    ) {
        seconds = seconds * 10 + (text[used] - '0');
        ++used;
    }
    if (used == 0 || seconds > latest_second) {
        return std::nullopt;
    }
    digits in{text.substr(used)};
    const std::int64_t nanoseconds = in.accept('.') ? in.fraction() : 0;
    if (!in.good() || !in.is_at_end()) {
        return text.find_first_of("eE") == text.npos ? std::nullopt : parse_scientific(text);
    }
    return base::duration{seconds * nanoseconds_per_second + nanoseconds};
}

std::optional<base::duration> parse_unix_time(std::string_view text)
{
    const std::size_t point = text.find('.');
    const std::size_t whole = point == text.npos ? text.size() : point;
    if (whole <= 10) {
        return parse_seconds(text);
    }
    if (point != text.npos) {
        // Milliseconds with a fraction, which is less than the log can mean.
        text = text.substr(0, point);
    }
    if (whole > 19) {
        return std::nullopt;
    }
    // 19 digits do not always fit into 63 bits.
    std::uint64_t value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') {
            return std::nullopt;
        }
        value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    const std::int64_t unit = whole <= 13 ? 1'000'000 : whole <= 16 ? 1'000 : 1;
    const auto per_second = static_cast<std::uint64_t>(nanoseconds_per_second / unit);
    if (value / per_second > static_cast<std::uint64_t>(latest_second)) {
        return std::nullopt;
    }
    return base::duration{static_cast<std::int64_t>(value) * unit};
}

std::optional<base::duration> parse_moment(std::string_view text)
{
    const bool has_date = text.size() > 4 && text[4] == '-';
    return has_date ? parse_rfc3339(text) : parse_unix_time(text);
}

}  // namespace gateway::replay
