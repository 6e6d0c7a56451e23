#include "gateway/intake/claimed_limits.hpp"

namespace gateway::intake {

namespace {

std::int64_t number_in(const policy::claimed_number& number, const identity::verified_token* token)
{
    return number.stated_by(
        token != nullptr && number.any() ? token->claim(number.claim) : std::nullopt
    );
}

}  // namespace

const limit::limit& claimed_limits::of(
    const policy::limit_rule& rule, const identity::verified_token* token
)
{
    const policy::claimed_numbers& claimed = rule.claimed;
    const std::int64_t tokens = number_in(claimed.tokens, token);
    const std::int64_t burst = number_in(claimed.burst, token);
    const numbers key{&rule, tokens, burst};
    const auto known = made_.find(key);
    if (known != made_.end()) {
        return known->second;
    }
    const auto made = made_.size() < most ? claimed.limit_of(tokens, burst) : std::nullopt;
    return made ? made_.emplace(key, *made).first->second : rule.limit;
}

std::optional<std::int64_t> claimed_limits::tokens_of(const limit::limit& made) const
{
    for (const auto& [key, limit] : made_) {
        if (&limit == &made) {
            return std::get<1>(key);
        }
    }
    return std::nullopt;
}

}  // namespace gateway::intake
