// `health_report` writes a shared store's health to the log and to its metric. It logs each change
// once, so that a store that stays away does not fill the log.
#pragma once

#include "gateway/store/store.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <optional>
#include <string>

namespace gateway::store {

class health_report {
public:
    health_report(std::string name, telemetry::store_metrics& metrics);

    // Notes the last failure, and the words of the server or the system about it.
    void note(failure of, std::string words);

    // Reports the store's health. `why` is its failure, or nothing if all is well.
    void report(std::optional<failure> why, const std::string& address, bool up, bool breaker_open);

    // Stops reporting.
    void retire() { retired_ = true; }

private:
    std::string name_;
    telemetry::store_metrics& metrics_;
    bool retired_ = false;
    // Failure that was logged last. Nothing: the store was well.
    std::optional<failure> reported_ = failure::open;
    std::string reported_words_;
    failure noted_ = failure::open;
    std::string words_;
};

}  // namespace gateway::store
