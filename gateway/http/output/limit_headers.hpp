// `add_limit_headers` and `add_retry_after` write the fields that report limits to a client:
// X-RateLimit-*, RateLimit (draft-ietf-httpapi-ratelimit-headers-10), x-ratelimit-limit-WORD and
// the like (OpenAI's), X-RateLimit-Warning, Retry-After (RFC 9110 §10.2.3). Pure: they depend on
// decisions only.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/http/output/text_writer.hpp"
#include "gateway/limit/decision.hpp"
#include "gateway/limit/limit.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gateway::http {

// `limit_fields` says which fields report one limit to clients.
struct limit_fields {
    // True if no field does.
    bool hidden = false;
    // End of the names x-ratelimit-limit-WORD, -remaining-WORD and -reset-WORD, in lower case.
    // Empty: the limit has no names of its own.
    std::string word{};

    bool usual() const { return !hidden && word.empty(); }

    bool operator==(const limit_fields&) const = default;
};

// The decision of one limit about a request.
struct limit_report {
    std::string_view name{};
    const limit::limit* limit = nullptr;
    limit::decision decision{};
    // Tokens that the request costs under this limit.
    std::int64_t cost = 1;
    // The fields that report the limit, or null for the usual ones.
    const limit_fields* fields = nullptr;
    // True if the request was allowed, and more of the limit is used than its soft threshold.
    bool warns = false;

    // True if the limit rejects the request.
    bool rejects() const { return !decision.allowed; }

    bool usual() const { return fields == nullptr || fields->usual(); }

    bool hidden() const { return fields != nullptr && fields->hidden; }

    bool has_word(std::string_view word) const
    {
        return fields != nullptr && fields->word == word && !fields->hidden;
    }
};

struct limit_header_options {
    bool x_ratelimit = true;
    bool reset_as_epoch = false;
    bool ratelimit = false;

    bool any() const { return x_ratelimit || ratelimit; }

    bool operator==(const limit_header_options&) const = default;
};

// Returns whole seconds, rounded up: no reported time is too early.
inline std::int64_t seconds_up(base::duration d)
{
    return std::chrono::ceil<std::chrono::seconds>(d).count();
}

// The report on the limits that decided about one request, and its form.
struct limit_statement {
    std::span<const limit_report> reports{};
    limit_header_options options{};

    // Unix time at which they decided. Used only if the reset is reported as an epoch.
    base::duration unix_now{0};

    // True if the request's route has limits that the usual fields report to clients, even if none
    // has decided. The upstream's X-RateLimit fields are then not passed on.
    bool due = false;
    // Words of limits of the route, each once, whether or not they have decided.
    std::span<const std::string> words{};
    // True if a limit of the route has a soft threshold.
    bool may_warn = false;

    // True if X-RateLimit-Limit, -Remaining and -Reset of the upstream are not passed on.
    bool replaces() const;
    // True if another field of the upstream is not passed on: one with a word, or a warning.
    bool replaces(std::string_view name) const;

    // True if the route's limits have fields other than the usual ones.
    bool has_more() const { return may_warn || !words.empty(); }

    bool empty() const { return reports.empty() || (!options.any() && !has_more()); }
};

// Returns the limit to report if only one can be named. A limit that rejects comes before others,
// then the one that lets the fewest requests like this one pass, because the same request may cost
// another number of tokens under each limit. Among equals it is the one with the fewest tokens
// left, then the one that takes longest to fill.
// Requires: there is one.
const limit_report& tightest(std::span<const limit_report> reports);

// Writes whole lines of at most limit_headers_size() bytes, or nothing if the report is empty.
void add_limit_headers(const limit_statement& statement, text_writer& out);
std::size_t limit_headers_size(const limit_statement& statement);
void append_limit_headers(const limit_statement& statement, std::string& out);

// Adds Retry-After in whole seconds, at least 1, never earlier than `wait`.
void add_retry_after(base::duration wait, text_writer& out);
inline constexpr std::size_t retry_after_size = 16 + text_writer::number;

}  // namespace gateway::http
