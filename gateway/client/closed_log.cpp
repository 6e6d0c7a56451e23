#include "gateway/client/closed_log.hpp"

#include "gateway/telemetry/log.hpp"
#include "gateway/telemetry/shared_line_budget.hpp"

#include <string>

namespace gateway::client {

namespace {

constexpr base::duration between_lines = std::chrono::seconds{10};

}  // namespace

void log_closed_connection(const base::ip_address& peer, std::string_view reason, base::instant now)
{
    static telemetry::shared_line_budget budget{1, between_lines};
    const auto suppressed = budget.spend(now);
    if (!suppressed) {
        return;
    }
    std::string line = "HTTP/2 connection of " + peer.to_string() + " closed: ";
    line += reason;
    telemetry::log(telemetry::log_level::warning, line + telemetry::unlogged_note(*suppressed));
}

}  // namespace gateway::client
