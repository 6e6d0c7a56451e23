// The functions here describe the sections `log` and `response_headers`: what operators and clients
// get to read.
#include "config/sections.hpp"
#include "config/text/ranges.hpp"

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

constexpr base::duration longest_flush = 1h;
constexpr std::uint64_t most_log_lines = 100'000;

}  // namespace

void describe_log(keys& root, draft& d)
{
    using telemetry::log_format;
    using telemetry::log_level;
    constexpr words<log_level, 4> levels{{
        {"debug", log_level::debug},
        {"info", log_level::info},
        {"warning", log_level::warning},
        {"error", log_level::error},
    }};
    constexpr words<log_format, 2> formats{{
        {"json", log_format::json},
        {"text", log_format::text},
    }};
    telemetry::log_options& options = d.result.log;
    root.mapping({"log", {}}, [&](keys& log) {
        log.word({"level", "of diagnostics, on stderr"}, options.level, levels);
        log.flag({"access", "one line per request on stdout"}, options.access);
        log.word({"format", "of both"}, options.format, formats);
        log.size(
            {"max_backlog_bytes",
             "lines of requests waiting for a slow reader; past it they are dropped and counted"},
            options.max_backlog_bytes,
            64 * kib,
            gib
        );
        log.time(
            {"flush_timeout",
             "what a reader that does not move gets at the end, before the rest is dropped"},
            options.flush_timeout,
            0s,
            longest_flush
        );
        log.number(
            {"max_lines_per_second", "of diagnostics; more are counted, and the count is logged"},
            options.max_lines_per_second,
            1,
            most_log_lines
        );
    });
}

void describe_response_headers(keys& root, draft& d)
{
    using reset = policy::header_options::reset_form;
    constexpr words<reset, 2> forms{{{"delta", reset::delta}, {"epoch", reset::epoch}}};
    policy::header_options& options = d.policy.headers;
    root.mapping({"response_headers", {}}, [&](keys& headers) {
        headers.flag(
            {"x_ratelimit",
             "`X-RateLimit-Limit` (burst), `X-RateLimit-Remaining` (whole tokens left), "
             "`X-RateLimit-Reset` (until full); of the limit that rejects, else "
             "of the one that lets the fewest requests of this cost pass"},
            options.x_ratelimit
        );
        headers.word(
            {"reset",
             "`X-RateLimit-Reset` as seconds from now (`delta`) or as Unix time (`epoch`)"},
            options.reset,
            forms
        );
        headers.flag(
            {"ratelimit",
             "`RateLimit-Policy` and `RateLimit`, the structured fields of the IETF draft, one "
             "item per limit"},
            options.ratelimit
        );
    });
}

}  // namespace gateway::config
