#include "gateway/store/remote/health_report.hpp"

#include "gateway/telemetry/log.hpp"

#include <utility>

namespace gateway::store {

health_report::health_report(std::string name, telemetry::store_metrics& metrics)
    : name_(std::move(name)), metrics_(metrics)
{}

void health_report::note(failure of, std::string words)
{
    noted_ = of;
    words_ = std::move(words);
}

void health_report::report(
    std::optional<failure> why, const std::string& address, bool up, bool breaker_open
)
{
    if (retired_) {
        return;
    }
    metrics_.up.set(up ? 1 : 0);
    metrics_.breaker_open.set(breaker_open ? 1 : 0);
    const std::string words = why == noted_ ? words_ : std::string{};
    if (reported_ == why && reported_words_ == words) {
        return;
    }
    reported_ = why;
    reported_words_ = words;
    if (!why) {
        telemetry::log(telemetry::log_level::info, "store " + name_ + ": ready at " + address);
        return;
    }
    const auto reason = std::string{failure_names[static_cast<std::size_t>(*why)]};
    const auto level = *why == failure::auth || *why == failure::config
                           ? telemetry::log_level::error
                           : telemetry::log_level::warning;
    const std::string quoted = words.empty() ? std::string{} : " (" + words + ")";
    const std::string breaker = breaker_open ? ", not asked until a probe succeeds" : "";
    telemetry::log(
        level, "store " + name_ + ": failing at " + address + ": " + reason + quoted + breaker
    );
}

}  // namespace gateway::store
