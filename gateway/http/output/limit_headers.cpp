#include "gateway/http/output/limit_headers.hpp"

#include <algorithm>
#include <tuple>

namespace gateway::http {

namespace {

void add_x_ratelimit(const limit_statement& statement, text_writer& to)
{
    const limit_report& r = tightest(statement.reports);
    const base::duration reset = r.decision.reset_after;
    to.add("X-RateLimit-Limit: ").add(r.limit->burst());
    to.add("\r\nX-RateLimit-Remaining: ").add(r.decision.remaining);
    if (!r.limit->counts_in_flight()) {
        to.add("\r\nX-RateLimit-Reset: ");
        to.add(seconds_up(statement.options.reset_as_epoch ? statement.unix_now + reset : reset));
    }
    to.add("\r\n");
}

// Adds RateLimit-Policy and RateLimit. Names need no escaping, as the configuration allows only
// plain ASCII without quotes and backslashes in them.
void add_ratelimit(std::span<const limit_report> reports, text_writer& to)
{
    std::string_view separator = "RateLimit-Policy: \"";
    for (const limit_report& r : reports) {
        const auto window = r.limit->refill();
        to.add(separator).add(r.name).add("\";q=").add(r.limit->burst());
        if (r.limit->counts_in_flight()) {
            to.add(";qu=\"concurrent-requests\"");
        } else {
            to.add(";w=").add(std::max<std::int64_t>(seconds_up(window), 1));
        }
        separator = ", \"";
    }
    separator = "\r\nRateLimit: \"";
    for (const limit_report& r : reports) {
        to.add(separator).add(r.name).add("\";r=").add(r.decision.remaining);
        if (!r.limit->counts_in_flight()) {
            to.add(";t=").add(seconds_up(r.decision.reset_after));
        }
        separator = ", \"";
    }
    to.add("\r\n");
}

}  // namespace

const limit_report& tightest(std::span<const limit_report> reports)
{
    const auto tightness = [](const limit_report& r) {
        const limit::decision& d = r.decision;
        return std::tuple{
            d.allowed, limit::requests_left(d, r.cost), d.remaining, -d.reset_after.count()};
    };
    return *std::min_element(
        reports.begin(),
        reports.end(),
        [tightness](const auto& a, const auto& b) { return tightness(a) < tightness(b); }
    );
}

void add_limit_headers(const limit_statement& statement, text_writer& out)
{
    if (statement.reports.empty()) {
        return;
    }
    if (statement.options.x_ratelimit) {
        add_x_ratelimit(statement, out);
    }
    if (statement.options.ratelimit) {
        add_ratelimit(statement.reports, out);
    }
}

std::size_t limit_headers_size(const limit_statement& statement)
{
    std::size_t size = 80 + 3 * text_writer::number;
    for (const limit_report& r :
         statement.options.ratelimit ? statement.reports : decltype(statement.reports){}) {
        size += 40 + 2 * (r.name.size() + 16 + 2 * text_writer::number);
    }
    return size;
}

void append_limit_headers(const limit_statement& statement, std::string& out)
{
    if (!statement.empty()) {
        text_writer to(out, limit_headers_size(statement));
        add_limit_headers(statement, to);
    }
}

void add_retry_after(base::duration wait, text_writer& out)
{
    out.add("Retry-After: ").add(std::max<std::int64_t>(seconds_up(wait), 1)).add("\r\n");
}

}  // namespace gateway::http
