#include "gateway/http/limit_headers.hpp"

#include "gateway/http/text_writer.hpp"

#include <algorithm>

namespace gateway::http {

namespace {

std::int64_t seconds_up(base::duration d)
{
    return std::chrono::ceil<std::chrono::seconds>(d).count();
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

void append_x_ratelimit(
    const limit_report& r, bool as_epoch, base::duration unix_now, std::string& out
)
{
    const base::duration reset =
        as_epoch ? unix_now + r.decision.reset_after : r.decision.reset_after;
    text_writer to(out, 80 + 3 * text_writer::number);
    to.add("X-RateLimit-Limit: ").add(r.limit->burst());
    to.add("\r\nX-RateLimit-Remaining: ").add(r.decision.remaining);
    to.add("\r\nX-RateLimit-Reset: ").add(seconds_up(reset)).add("\r\n");
}

// Names are plain ASCII without quotes or backslashes: the configuration allows no others.
void append_ratelimit(std::span<const limit_report> reports, std::string& out)
{
    std::size_t most = 40;
    for (const limit_report& r : reports) {
        most += 2 * (r.name.size() + 16 + 2 * text_writer::number);
    }
    text_writer to(out, most);
    std::string_view separator = "RateLimit-Policy: \"";
    for (const limit_report& r : reports) {
        const auto window = base::duration{r.limit->in_nanoseconds().capacity()};
        to.add(separator).add(r.name).add("\";q=").add(r.limit->burst());
        to.add(";w=").add(std::max<std::int64_t>(seconds_up(window), 1));
        separator = ", \"";
    }
    separator = "\r\nRateLimit: \"";
    for (const limit_report& r : reports) {
        to.add(separator).add(r.name).add("\";r=").add(r.decision.remaining);
        to.add(";t=").add(seconds_up(r.decision.reset_after));
        separator = ", \"";
    }
    to.add("\r\n");
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
    text_writer to(out, 20 + text_writer::number);
    to.add("Retry-After: ").add(std::max<std::int64_t>(seconds_up(wait), 1)).add("\r\n");
}

}  // namespace gateway::http
