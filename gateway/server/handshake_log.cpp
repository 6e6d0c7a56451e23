#include "gateway/server/handshake_log.hpp"

#include "gateway/telemetry/log.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace gateway::server {

namespace {

// Far fewer than `log.max_lines_per_second` of all lines: whoever scans the port must not hide what
// else the log has to say.
constexpr std::uint64_t max_lines_per_second = 10;

// Most bytes of a name that a line has.
constexpr std::size_t max_name = 255;

// Lines of the present second, and failures that were not logged. Workers that meet at the turn of
// a second may log some lines more.
struct shared_budget {
    std::atomic<base::instant::rep> second{0};
    std::atomic<std::uint64_t> spent{0};
    std::atomic<std::uint64_t> suppressed{0};
};

// Returns the number of failures that were not logged before this one; nothing: this one is not
// logged either.
std::optional<std::uint64_t> spend_line(base::instant now)
{
    static shared_budget budget;
    const auto second = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
    if (budget.second.exchange(second) < second) {
        budget.spent = 0;
    }
    if (budget.spent.fetch_add(1) >= max_lines_per_second) {
        ++budget.suppressed;
        return std::nullopt;
    }
    return budget.suppressed.exchange(0);
}

}  // namespace

void log_failed_handshake(
    const base::ip_address& peer, std::string_view name, std::string_view reason, base::instant now
)
{
    const auto suppressed = spend_line(now);
    if (!suppressed) {
        return;
    }
    std::string line = "TLS handshake with " + peer.to_string() + " failed: ";
    line += reason;
    if (!name.empty()) {
        line += "; it asked for the name ";
        line += name.substr(0, max_name);
    }
    if (*suppressed > 0) {
        line += "; " + std::to_string(*suppressed) + " more were not logged";
    }
    telemetry::log(telemetry::log_level::warning, line);
}

}  // namespace gateway::server
