#include "gateway/client/settlement_log.hpp"

#include "gateway/telemetry/log.hpp"

#include <mutex>
#include <set>
#include <string>

namespace gateway::client {

namespace {

// Most names of limits that are remembered. Reloads may bring others without end.
constexpr std::size_t most_names = 10'000;

// Returns true the first time that it gets a name.
bool is_first(const std::string& limit)
{
    static std::mutex guard;
    static std::set<std::string> known;
    const std::scoped_lock lock{guard};
    return known.size() < most_names && known.insert(limit).second;
}

}  // namespace

void log_coded_response(const policy::policy& policy, const policy::route& route)
{
    for (const std::size_t i : route.limits) {
        const policy::limit_rule& limit = policy.limits[i];
        if (!limit.outcome.usage.empty() && is_first(limit.name)) {
            telemetry::log(
                telemetry::log_level::warning,
                "limit " + limit.name + ": an upstream of route " + route.name +
                    " compresses its responses although it was asked for Accept-Encoding: "
                    "identity, so that what they say of their cost cannot be read"
            );
        }
    }
}

}  // namespace gateway::client
