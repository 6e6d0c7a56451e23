// `add_limit_headers` and `add_retry_after` write the fields that report limits to a client:
// X-RateLimit-*, RateLimit (draft-ietf-httpapi-ratelimit-headers-10), Retry-After (RFC 9110
// §10.2.3). Pure: they depend on decisions only.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/http/output/text_writer.hpp"
#include "gateway/limit/decision.hpp"
#include "gateway/limit/limit.hpp"

#include <span>
#include <string>
#include <string_view>

namespace gateway::http {

// The decision of one limit about a request.
struct limit_report {
    std::string_view name{};
    const limit::limit* limit = nullptr;
    limit::decision decision{};
    // Tokens that the request costs under this limit.
    std::int64_t cost = 1;
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

    // True if the request's route has limits that are reported to clients, even if none has
    // decided. The upstream's X-RateLimit fields are then not passed on.
    bool due = false;

    bool replaces() const { return due || !empty(); }

    bool empty() const { return reports.empty() || !options.any(); }
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
