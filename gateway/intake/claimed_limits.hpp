// `claimed_limits` has the limits whose numbers tokens state (`rate: { claim: … }`), one for each
// pair of numbers that has come. A worker has them for as long as its view of the configuration.
// Thread: one thread only.
#pragma once

#include "gateway/identity/web_token.hpp"
#include "gateway/policy/limit_rule.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

namespace gateway::intake {

class claimed_limits {
public:
    // Most limits, of all rules together, about 250 bytes each. Further pairs of numbers count as
    // the default.
    static constexpr std::size_t most = 10'000;

    // Returns the limit of the rule by the numbers of the token, or by the default ones if there is
    // no token.
    // Requires: rule.claimed.any().
    // Ownership: the limit lives as long as this object; the rule outlives both.
    const limit::limit& of(const policy::limit_rule& rule, const identity::verified_token* token);

    // Returns the tokens that come back in each period of a limit that it has made, by looking
    // through all of them; nothing of another one.
    std::optional<std::int64_t> tokens_of(const limit::limit& made) const;

private:
    using numbers = std::tuple<const policy::limit_rule*, std::int64_t, std::int64_t>;

    std::map<numbers, limit::limit> made_;
};

}  // namespace gateway::intake
