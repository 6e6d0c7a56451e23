#include "gateway/proxy/server_conduct.hpp"

#include "gateway/telemetry/log.hpp"

namespace gateway::proxy {

namespace {

std::string rarely()
{
    return " (told once in " + std::to_string(server_conduct::failures_told_every.count()) + " s";
}

}  // namespace

void server_conduct::responded(std::size_t server, int status, base::duration took)
{
    metrics_.upstream.duration.observe(took);
    retries_.request();
    if (options_.ejection.on_5xx && status >= 500) {
        blame(server);
    } else {
        places_.succeeded(server, clock_.now());
    }
}

// A body that stops may be the client's fault, and a connection may have been idle for too long.
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
    if (!what.empty()) {
        tell(
            complained_,
            to_text(options_.servers[server].address) + ": " + std::string{what} + rarely()
        );
    }
}

void server_conduct::count_failure(failure why)
{
    metrics_.upstream.failures[static_cast<std::size_t>(why)].add();
    tell(
        told_,
        std::string(detail_for(why)) + rarely() + "; gateway_upstream_failures_total counts all"
    );
}

// The log tells of one at a time: the rest is for metrics.
void server_conduct::tell(std::optional<base::instant>& last, const std::string& what) const
{
    if (!last || clock_.now() - *last >= failures_told_every) {
        last = clock_.now();
        telemetry::log(
            telemetry::log_level::warning, "upstream " + options_.name + ": " + what + ')'
        );
    }
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
    if (places_.failed(server, clock_.now())) {
        telemetry::log(
            telemetry::log_level::warning,
            "upstream " + options_.name + ": " + to_text(options_.servers[server].address) +
                " fails, and is passed over for a while"
        );
    }
}

}  // namespace gateway::proxy
