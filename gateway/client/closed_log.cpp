#include "gateway/client/closed_log.hpp"

#include "gateway/telemetry/log.hpp"

#include <atomic>
#include <cstdint>
#include <string>

namespace gateway::client {

namespace {

constexpr base::duration between_lines = std::chrono::seconds{10};

}  // namespace

void log_closed_connection(const base::ip_address& peer, std::string_view reason, base::instant now)
{
    // The moment from which the next line may come, and the number of those that may not.
    static std::atomic<base::duration::rep> next{0};
    static std::atomic<std::uint64_t> suppressed{0};
    const base::duration::rep present = now.time_since_epoch().count();
    base::duration::rep due = next.load();
    if (present < due || !next.compare_exchange_strong(due, present + between_lines.count())) {
        suppressed.fetch_add(1);
        return;
    }
    std::string line = "HTTP/2 connection of " + peer.to_string() + " closed: ";
    line += reason;
    if (const std::uint64_t more = suppressed.exchange(0); more > 0) {
        line += "; " + std::to_string(more) + " more were not logged";
    }
    telemetry::log(telemetry::log_level::warning, line);
}

}  // namespace gateway::client
