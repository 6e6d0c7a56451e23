// `link_group` joins the links of one worker to one store, whose health is logged and measured
// together.
#pragma once

#include "gateway/store/remote/conversation_state.hpp"
#include "gateway/store/remote/corrupt_keys.hpp"
#include "gateway/store/remote/encoded_call.hpp"
#include "gateway/store/remote/health_report.hpp"
#include "gateway/telemetry/log.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace gateway::store::postgres {

class link_group {
public:
    link_group(std::string name, telemetry::store_metrics& metrics)
        : corrupt_keys_(name), health_(std::move(name), metrics)
    {}

    // Ownership: `of_a_link` stays as long as this.
    void add(const conversation_state& of_a_link) { conversations_.push_back(&of_a_link); }

    bool healthy() const
    {
        return std::all_of(conversations_.begin(), conversations_.end(), [](const auto* c) {
            return c->healthy();
        });
    }

    // Notes the class and the words of the last failure, as the server or the system gave them.
    void note(failure of, std::string words) { health_.note(of, std::move(words)); }

    // Reports a change of one link. No `why` means that all is well with it.
    void report(std::optional<failure> why, const std::string& address)
    {
        const bool up = healthy();
        const bool open =
            std::any_of(conversations_.begin(), conversations_.end(), [](const auto* c) {
                return c->breaker_open();
            });
        if (why || up) {
            health_.report(why, address, up, open);
        }
    }

    // Logs that a key of one of these questions holds something other than a bucket.
    void found_corrupt(std::span<const pending_question> asked, const std::string& key_prefix)
    {
        const auto key = [&key_prefix](const charge& c) { return key_of(key_prefix, c); };
        if (const auto line = corrupt_keys_.found(asked, key, base::now())) {
            telemetry::log(telemetry::log_level::warning, *line);
        }
    }

    // Ends all reports.
    void retire() { health_.retire(); }

private:
    corrupt_keys corrupt_keys_;
    health_report health_;
    std::vector<const conversation_state*> conversations_;
};

}  // namespace gateway::store::postgres
