// What the log and the metric hear of a shared store's health: each change once, so that a store
// that stays away does not fill the log.
#pragma once

#include "gateway/store/store.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <optional>
#include <string>

namespace gateway::store {

class health_report {
public:
    health_report(std::string name, telemetry::store_metrics& metrics);

    // What the server or the system said at the last failure, and which it was.
    void note(failure of, std::string words);

    // Nothing: all is well.
    void tell(std::optional<failure> why, const std::string& address, bool up, bool breaker_open);

    // Tells no more.
    void retire() { retired_ = true; }

private:
    std::string name_;
    telemetry::store_metrics& metrics_;
    bool retired_ = false;
    // What the log said last; nothing: all is well.
    std::optional<failure> told_ = failure::open;
    std::string told_words_;
    failure noted_ = failure::open;
    std::string words_;
};

}  // namespace gateway::store
