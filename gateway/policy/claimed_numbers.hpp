// `claimed_numbers` say which numbers of a limit the token of a request states.
#pragma once

#include "gateway/limit/limit.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::policy {

struct claimed_number {
    // Name of the claim; empty: no token states the number.
    std::string claim{};
    // The number without a claim, or without a valid one.
    std::int64_t standard = 1;
    // Highest number that a claim can state. A higher one counts as this.
    std::int64_t max = 1;

    bool any() const { return !claim.empty(); }

    // Returns the number that the value of the claim states. Nothing: the token has no such claim.
    std::int64_t stated_by(std::optional<std::string_view> value) const;

    bool operator==(const claimed_number&) const = default;
};

// The numbers of a token bucket.
struct claimed_numbers {
    // Tokens that come back in each `period`.
    claimed_number tokens{};
    base::duration period{0};
    // Tokens in a full bucket. A `standard` of 0 stands for the tokens of one period.
    claimed_number burst{.standard = 0};

    bool any() const { return tokens.any() || burst.any(); }

    // Returns the names of the claims.
    std::vector<std::string> claims() const;

    // Returns the limit with these numbers. Nothing if they are impossible.
    std::optional<limit::limit> limit_of(std::int64_t of_period, std::int64_t of_bucket) const
    {
        return limit::limit::make(of_period, period, of_bucket == 0 ? of_period : of_bucket);
    }

    bool operator==(const claimed_numbers&) const = default;
};

}  // namespace gateway::policy
