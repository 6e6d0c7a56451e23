// The functions here describe the sections `log` and `response_headers`: what operators and clients
// get to read.
#include "config/sections.hpp"
#include "config/text/ranges.hpp"
#include "config/text/text_rules.hpp"
#include "config/text/yaml_text.hpp"
#include "config/urls/address.hpp"

namespace gateway::config {
namespace {

using namespace std::chrono_literals;

constexpr base::duration longest_flush = 1h;
constexpr std::uint64_t most_log_lines = 100'000;

using target_kind = telemetry::log_target::kind;

constexpr std::string_view standard_socket = "/dev/log";

// Puts the address of a syslog server in place, or returns what is wrong with it.
std::string take_syslog(const std::string& address, telemetry::log_target& target)
{
    if (address.starts_with('/')) {
        if (const auto complaint = complaint_about_socket_path(address)) {
            return *complaint;
        }
        target.is = target_kind::unix_syslog;
        target.address = address;
        return {};
    }
    const auto parsed = parse_listen_address(address);
    if (!parsed.value || !parsed.value->socket_path.empty() || parsed.value->port == 0) {
        return "expected the path of a Unix socket or IP:PORT after \"syslog:\", got " +
               quote(address);
    }
    target.is = target_kind::udp_syslog;
    target.address = parsed.value->host;
    target.port = parsed.value->port;
    return {};
}

std::string take_output(const std::string& text, const draft& d, telemetry::log_target& target)
{
    constexpr std::string_view syslog_at = "syslog:";
    target = {.text = text};
    if (text == "stdout") {
        return {};
    }
    if (text == "syslog" || text.starts_with(syslog_at)) {
        return take_syslog(
            std::string{text == "syslog" ? standard_socket : text.substr(syslog_at.size())}, target
        );
    }
    if (is_url(text) || text.find('/') == std::string::npos || text.ends_with('/')) {
        return "expected stdout, syslog, syslog:ADDRESS or the path of a file (./NAME for one "
               "beside the configuration), got " +
               quote(text);
    }
    target.is = target_kind::file;
    target.address = beside(d, text);
    return {};
}

void describe_log_output(keys& log, draft& d)
{
    telemetry::log_target& target = d.result.log.output;
    log("output",
        "says where the lines of requests go: to stdout; to `syslog`, which is `/dev/log`; to "
        "`syslog:ADDRESS`, the path of another Unix socket or `IP:PORT` (UDP); or to a file, "
        "which SIGHUP opens again")
        .text(
            {.documented = {"`stdout`", "`stdout`, `syslog`, `syslog:ADDRESS`, a path with a `/`"},
             .schema = R"({"type":"string","pattern":"^(stdout|syslog(:.+)?|.*/.*[^/])$"})",
             .take = [&](const std::string& text) { return take_output(text, d, target); },
             .print = [&] { return yaml(target.text); }}
        );
}

}  // namespace

void describe_log(keys& root, draft& d)
{
    using telemetry::log_format;
    using telemetry::log_level;
    constexpr words<log_level, 4> levels{
        {{"debug", log_level::debug},
         {"info", log_level::info},
         {"warning", log_level::warning},
         {"error", log_level::error}}};
    constexpr words<log_format, 2> formats{
        {{"json", log_format::json}, {"text", log_format::text}}};
    telemetry::log_options& options = d.result.log;
    constexpr key itself{.name = "log", .summary = "diagnostics and the access log"};
    root(itself).mapping([&](keys& k) {
        k("level", "the lowest level of diagnostics that are logged, on stderr")
            .word(options.level, levels);
        k("access", "writes one line per request").flag(options.access);
        describe_log_output(k, d);
        describe_log_fields(k, d);
        k("format", "the format of diagnostics and of the lines of requests")
            .word(options.format, formats);
        k("max_backlog_bytes",
          "bounds the lines of requests that wait for a slow reader; past it they are dropped and "
          "counted")
            .size(options.max_backlog_bytes, {64 * kib, gib});
        k("flush_timeout",
          "bounds how long the end of the process waits for a reader that does not move, before "
          "it drops the rest")
            .time(options.flush_timeout, {0s, longest_flush});
        k("max_lines_per_second",
          "bounds the lines of diagnostics; more are counted, and the count is logged. Lines that "
          "say what became of a start, a reload or an upgrade have as many of their own")
            .number(options.max_lines_per_second, {1, most_log_lines});
    });
}

void describe_response_headers(keys& root, draft& d)
{
    using reset = policy::header_options::reset_form;
    constexpr words<reset, 2> forms{{{"delta", reset::delta}, {"epoch", reset::epoch}}};
    policy::header_options& options = d.policy.headers;
    constexpr key itself{
        .name = "response_headers", .summary = "what responses tell clients of their limits"};
    root(itself).mapping([&](keys& k) {
        k("x_ratelimit",
          "adds `X-RateLimit-Limit` (burst), `X-RateLimit-Remaining` (whole tokens left) and "
          "`X-RateLimit-Reset` (until full) of the limit that rejects, else of the one that lets "
          "the fewest requests of this cost pass")
            .flag(options.x_ratelimit);
        k("reset",
          "writes `X-RateLimit-Reset` as seconds from now (`delta`) or as Unix time (`epoch`)")
            .word(options.reset, forms);
        k("ratelimit",
          "adds `RateLimit-Policy` and `RateLimit`, the structured fields of the IETF draft, with "
          "one item per limit")
            .flag(options.ratelimit);
    });
}

}  // namespace gateway::config
