#include "gateway/proxy/pool/server_conduct.hpp"

#include "gateway/telemetry/log.hpp"
#include "gateway/telemetry/shared_line_budget.hpp"

namespace gateway::proxy {

namespace {

// Bounds the log lines of all workers, upstreams and servers together, so that many servers that
// are down do not hide everything else.
constexpr std::uint64_t max_complaints_per_second = 10;

std::string rarely()
{
    return " (logged once in " + std::to_string(server_conduct::failures_logged_every.count()) +
           " s";
}

}  // namespace

void server_conduct::responded(std::size_t server, int status, base::duration took)
{
    metrics_.upstream.duration.observe(took);
    retries_.request();
    if (options_.ejection.on_5xx && status >= 500) {
        blame(server);
    } else {
        capacity_.succeeded(server, clock_.now());
    }
}

// Does not blame the server for a body that stops, which may be the client's fault, nor for the end
// of a connection that may have been idle for too long.
bool server_conduct::did_not_respond(std::size_t server, failure why, bool reused)
{
    const bool at_fault =
        is_after_sending(why) && why != failure::body_timeout && !(why == failure::reset && reused);
    if (at_fault) {
        blame(server);
    }
    return at_fault;
}

void server_conduct::complain(std::size_t server, std::string_view what)
{
    if (what.empty()) {
        return;
    }
    last_complaint_ = to_text(options_.servers[server].address) + ": " + std::string{what};
    if (!is_due(complained_[server])) {
        return;
    }
    static telemetry::shared_line_budget budget{max_complaints_per_second};
    if (const auto suppressed = budget.spend(clock_.now())) {
        warn(last_complaint_ + rarely() + telemetry::unlogged_note(*suppressed));
    }
}

void server_conduct::count_failure(failure why)
{
    metrics_.upstream.failures[static_cast<std::size_t>(why)].add();
    if (is_due(failure_logged_)) {
        warn(
            std::string(detail_for(why)) + rarely() + "; gateway_upstream_failures_total counts all"
        );
    }
}

// True if the last such log line is long enough ago; the time is then noted. Metrics and the access
// log have all the others.
bool server_conduct::is_due(std::optional<base::instant>& last) const
{
    if (last && clock_.now() - *last < failures_logged_every) {
        return false;
    }
    last = clock_.now();
    return true;
}

void server_conduct::warn(const std::string& what) const
{
    telemetry::log(telemetry::log_level::warning, "upstream " + options_.name + ": " + what + ')');
}

bool server_conduct::take_retry(bool reused)
{
    const bool permitted = retries_.take_retry(clock_.now(), reused);
    (permitted ? metrics_.upstream.retries : metrics_.upstream.retries_refused).add();
    return permitted;
}

void server_conduct::blame(std::size_t server)
{
    metrics_.servers[server]->failures.add();
    if (capacity_.failed(server, clock_.now())) {
        telemetry::log(
            telemetry::log_level::warning,
            "upstream " + options_.name + ": " + to_text(options_.servers[server].address) +
                " fails, and is passed over for a while"
        );
    }
}

}  // namespace gateway::proxy
