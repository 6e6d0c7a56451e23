#include "gateway/client/settlement_log.hpp"

#include "gateway/telemetry/log.hpp"
#include "gateway/telemetry/shared_line_budget.hpp"

#include <string>

namespace gateway::client {

namespace {

constexpr base::duration between_warnings = std::chrono::hours{1};

}  // namespace

void log_coded_response(const policy::route& route, base::instant now)
{
    static telemetry::shared_line_budget budget{1, between_warnings};
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
