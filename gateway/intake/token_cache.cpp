#include "gateway/intake/token_cache.hpp"

namespace gateway::intake {

known_token token_cache::find(std::string_view token, base::duration now)
{
    if (token.size() > identity::max_token_bytes) {
        return {};
    }
    const base::sha256_digest digest = base::sha256(token);
    if (const auto place = places_.find(digest); place != places_.end()) {
        const auto known = place->second;
        if (now >= known->token.expires) {
            forget(known);
            return {};
        }
        entries_.splice(entries_.begin(), entries_, known);
        return {.verified = &known->token};
    }
    base::sha256_digest& if_forged = place_if_forged(digest);
    if (if_forged == digest) {
        return {.forged = true};
    }
    identity::token_verification result = identity::verify_token(good_, token, now);
    if (result.forged) {
        if_forged = digest;
    }
    if (!result.token) {
        return {.forged = result.forged};
    }
    if (places_.size() == max_tokens) {
        forget(std::prev(entries_.end()));
    }
    entries_.push_front({digest, *std::move(result.token)});
    places_.emplace(digest, entries_.begin());
    return {.verified = &entries_.front().token};
}

void token_cache::forget(std::list<entry>::iterator e)
{
    places_.erase(e->digest);
    entries_.erase(e);
}

}  // namespace gateway::intake
