// `request_costs` are the tokens that a request costs under each of its limits, as the access log
// has them. Pure, like the other values of a request's record.
#pragma once

#include "gateway/limits/verdict.hpp"
#include "gateway/telemetry/access_log.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace gateway::limits {

class request_costs {
public:
    void clear() { costs_.clear(); }

    // Notes the costs of a verdict. The limit that refused the request comes first.
    // Ownership: the names of the limits outlive this object.
    void note(const verdict& v)
    {
        for (const verdict::entry& e : v.limits()) {
            if (e.limit != nullptr) {
                costs_.push_back({e.rule->name, e.cost, e.rule->cost_varies()});
            }
        }
        if (v.is == verdict::ruling::allowed || v.deciding() == nullptr) {
            return;
        }
        const auto first = std::find_if(costs_.begin(), costs_.end(), [&v](const auto& c) {
            return c.limit == v.deciding()->rule->name;
        });
        std::rotate(costs_.begin(), first, first == costs_.end() ? first : first + 1);
    }

    // Notes what the request has cost in the end.
    void settle(std::string_view limit, std::int64_t tokens)
    {
        for (telemetry::limit_cost& c : costs_) {
            c.tokens = c.limit == limit ? tokens : c.tokens;
        }
    }

    std::span<const telemetry::limit_cost> all() const { return costs_; }

private:
    // It keeps its memory.
    std::vector<telemetry::limit_cost> costs_;
};

}  // namespace gateway::limits
