#include "gateway/http/output/limit_headers.hpp"

#include "gateway/http/field.hpp"
#include "gateway/http/output/duration_text.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace gateway::http {

namespace {

// Returns the tightest of the limits that are chosen, or null if none is.
template <class Chosen>
const limit_report* tightest_of(std::span<const limit_report> reports, Chosen chosen)
{
    const auto tightness = [](const limit_report& r) {
        const limit::decision& d = r.decision;
        return std::tuple{
            d.allowed, limit::requests_left(d, r.cost), d.remaining, -d.reset_after.count()};
    };
    const limit_report* best = nullptr;
    for (const limit_report& r : reports) {
        if (chosen(r) && (best == nullptr || tightness(r) < tightness(*best))) {
            best = &r;
        }
    }
    return best;
}

bool is_usual(const limit_report& r)
{
    return r.usual();
}

bool is_shown(const limit_report& r)
{
    return !r.hidden();
}

void add_x_ratelimit(const limit_statement& statement, text_writer& to)
{
    const limit_report* const tightest = tightest_of(statement.reports, is_usual);
    if (tightest == nullptr) {
        return;
    }
    const limit_report& r = *tightest;
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
    if (std::none_of(reports.begin(), reports.end(), is_shown)) {
        return;
    }
    std::string_view separator = "RateLimit-Policy: \"";
    for (const limit_report& r : reports) {
        if (r.hidden()) {
            continue;
        }
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
        if (r.hidden()) {
            continue;
        }
        to.add(separator).add(r.name).add("\";r=").add(r.decision.remaining);
        if (!r.limit->counts_in_flight()) {
            to.add(";t=").add(seconds_up(r.decision.reset_after));
        }
        separator = ", \"";
    }
    to.add("\r\n");
}

// Adds the three fields of the tightest limit with this word. The reset is a time from now,
// whatever the form of X-RateLimit-Reset is, as clients of OpenAI's API read it.
void add_word(std::span<const limit_report> reports, std::string_view word, text_writer& to)
{
    const limit_report* const r =
        tightest_of(reports, [word](const limit_report& one) { return one.has_word(word); });
    if (r == nullptr) {
        return;
    }
    to.add("x-ratelimit-limit-").add(word).add(": ").add(r->limit->burst());
    to.add("\r\nx-ratelimit-remaining-").add(word).add(": ").add(r->decision.remaining);
    if (!r->limit->counts_in_flight()) {
        const duration_text reset(r->decision.reset_after);
        to.add("\r\nx-ratelimit-reset-").add(word).add(": ").add(reset.text());
    }
    to.add("\r\n");
}

// Adds the names of the limits that warn, in the order of the route.
void add_warnings(std::span<const limit_report> reports, text_writer& to)
{
    bool any = false;
    for (const limit_report& r : reports) {
        if (r.warns && !r.hidden()) {
            to.add(any ? std::string_view{", "} : "X-RateLimit-Warning: ").add(r.name);
            any = true;
        }
    }
    to.add(any ? std::string_view{"\r\n"} : "");
}

// Returns the part of a name behind `beginning`, which is in lower case, or nothing.
std::optional<std::string_view> behind(std::string_view name, std::string_view beginning)
{
    const bool begins =
        name.size() > beginning.size() && reads_as(name.substr(0, beginning.size()), beginning);
    return begins ? std::optional{name.substr(beginning.size())} : std::nullopt;
}

}  // namespace

bool limit_statement::replaces() const
{
    return due || (options.any() && std::any_of(reports.begin(), reports.end(), is_usual));
}

bool limit_statement::replaces(std::string_view name) const
{
    const auto about = has_more() ? behind(name, "x-ratelimit-") : std::nullopt;
    if (!about) {
        return false;
    }
    if (may_warn && reads_as(*about, "warning")) {
        return true;
    }
    for (const std::string_view number : {"limit-", "remaining-", "reset-"}) {
        if (const auto word = behind(*about, number)) {
            return std::any_of(words.begin(), words.end(), [&word](const std::string& w) {
                return reads_as(*word, w);
            });
        }
    }
    return false;
}

const limit_report& tightest(std::span<const limit_report> reports)
{
    return *tightest_of(reports, [](const limit_report&) { return true; });
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
    for (const std::string& word : statement.words) {
        add_word(statement.reports, word, out);
    }
    if (statement.may_warn) {
        add_warnings(statement.reports, out);
    }
}

std::size_t limit_headers_size(const limit_statement& statement)
{
    std::size_t size = 80 + 3 * text_writer::number;
    for (const limit_report& r :
         statement.options.ratelimit ? statement.reports : decltype(statement.reports){}) {
        size += 40 + 2 * (r.name.size() + 16 + 2 * text_writer::number);
    }
    for (const std::string& word : statement.words) {
        size += 80 + 3 * word.size() + 2 * text_writer::number + duration_text::longest;
    }
    for (const limit_report& r :
         statement.may_warn ? statement.reports : decltype(statement.reports){}) {
        size += 24 + r.name.size();
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
