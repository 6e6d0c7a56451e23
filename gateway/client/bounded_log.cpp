#include "gateway/client/bounded_log.hpp"

#include "gateway/telemetry/log.hpp"
#include "gateway/telemetry/shared_line_budget.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace gateway::client {

namespace {

// Bound of failed handshakes. It is far below `log.max_lines_per_second` of all lines, so that
// somebody who scans the port cannot hide the rest of the log.
constexpr std::uint64_t max_lines_per_second = 10;

// Most bytes of a name in one line.
constexpr std::size_t max_name = 255;

}  // namespace

void log_failed_handshake(
    const base::ip_address& peer, std::string_view name, std::string_view reason, base::instant now
)
{
    static telemetry::shared_line_budget budget{max_lines_per_second};
    const auto suppressed = budget.spend(now);
    if (!suppressed) {
        return;
    }
    std::string line = "TLS handshake with " + peer.to_string() + " failed: ";
    line += reason;
    if (!name.empty()) {
        line += "; it asked for the name ";
        line += name.substr(0, max_name);
    }
    telemetry::log(telemetry::log_level::warning, line + telemetry::unlogged_note(*suppressed));
}

void log_closed_connection(const base::ip_address& peer, std::string_view reason, base::instant now)
{
    static telemetry::shared_line_budget budget{1, std::chrono::seconds{10}};
    const auto suppressed = budget.spend(now);
    if (!suppressed) {
        return;
    }
    std::string line = "HTTP/2 connection of " + peer.to_string() + " closed: ";
    line += reason;
    telemetry::log(telemetry::log_level::warning, line + telemetry::unlogged_note(*suppressed));
}

void log_coded_response(const policy::route& route, base::instant now)
{
    static telemetry::shared_line_budget budget{1, std::chrono::hours{1}};
    if (budget.spend(now)) {
        telemetry::log(
            telemetry::log_level::warning,
            "an upstream of route " + route.name +
                " compresses its responses although it was asked for Accept-Encoding: identity, "
                "so that limits with settle.json cannot read what they cost"
        );
    }
}

}  // namespace gateway::client
