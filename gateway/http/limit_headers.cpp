#include "gateway/http/limit_headers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace gateway::http {

namespace {

using namespace std::string_view_literals;

std::int64_t seconds_up(base::duration d)
{
    return std::chrono::ceil<std::chrono::seconds>(d).count();
}

void append_number(std::string& out, std::int64_t n)
{
    char digits[20];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), n).ptr;
    out.append(digits, end);
}

// The limit to speak of when only one can be named: the one with the fewest tokens left, and among
// equals the one that takes longest to fill.
const limit_report& tightest(std::span<const limit_report> reports)
{
    return *std::min_element(reports.begin(), reports.end(), [](const auto& a, const auto& b) {
        if (a.decision.remaining != b.decision.remaining) {
            return a.decision.remaining < b.decision.remaining;
        }
        return a.decision.reset_after > b.decision.reset_after;
    });
}

// A text and three numbers on every response: put together in place, then appended at once.
class short_text {
public:
    template <std::size_t N>
    short_text& add(const char (&literal)[N])
    {
        std::memcpy(end_, literal, N - 1);
        end_ += N - 1;
        return *this;
    }

    short_text& add(std::int64_t n)
    {
        end_ = std::to_chars(end_, bytes_.data() + bytes_.size(), n).ptr;
        return *this;
    }

    std::string_view view() const { return {bytes_.data(), end_}; }

private:
    std::array<char, 160> bytes_;
    char* end_ = bytes_.data();
};

void append_x_ratelimit(
    const limit_report& r, bool as_epoch, base::duration unix_now, std::string& out
)
{
    const base::duration reset =
        as_epoch ? unix_now + r.decision.reset_after : r.decision.reset_after;
    short_text lines;
    lines.add("X-RateLimit-Limit: ").add(r.limit->burst());
    lines.add("\r\nX-RateLimit-Remaining: ").add(r.decision.remaining);
    lines.add("\r\nX-RateLimit-Reset: ").add(seconds_up(reset)).add("\r\n");
    out.append(lines.view());
}

// Names are plain ASCII without quotes or backslashes: the configuration allows no others.
void append_ratelimit(std::span<const limit_report> reports, std::string& out)
{
    std::string_view separator = "RateLimit-Policy: \"";
    for (const limit_report& r : reports) {
        out.append(separator).append(r.name).append("\";q="sv);
        append_number(out, r.limit->burst());
        out.append(";w="sv);
        const auto window = base::duration{r.limit->in_nanoseconds().capacity()};
        append_number(out, std::max<std::int64_t>(seconds_up(window), 1));
        separator = ", \"";
    }
    separator = "\r\nRateLimit: \"";
    for (const limit_report& r : reports) {
        out.append(separator).append(r.name).append("\";r="sv);
        append_number(out, r.decision.remaining);
        out.append(";t="sv);
        append_number(out, seconds_up(r.decision.reset_after));
        separator = ", \"";
    }
    out.append("\r\n"sv);
}

}  // namespace

void append_limit_headers(
    std::span<const limit_report> reports,
    const limit_header_options& options,
    base::duration unix_now,
    std::string& out
)
{
    if (reports.empty()) {
        return;
    }
    if (options.x_ratelimit) {
        append_x_ratelimit(tightest(reports), options.reset_as_epoch, unix_now, out);
    }
    if (options.ratelimit) {
        append_ratelimit(reports, out);
    }
}

void append_retry_after(base::duration wait, std::string& out)
{
    out.append("Retry-After: "sv);
    append_number(out, std::max<std::int64_t>(seconds_up(wait), 1));
    out.append("\r\n"sv);
}

}  // namespace gateway::http
