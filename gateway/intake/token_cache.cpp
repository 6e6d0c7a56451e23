#include "gateway/intake/token_cache.hpp"

namespace gateway::intake {

known_token token_cache::find(std::string_view token, base::duration now, unknown_token unknown)
{
    if (token.size() > identity::max_token_bytes) {
        return {};
    }
    const base::sha256_digest digest = base::sha256(token);
    if (const auto found = known_.find(digest); found != known_.end()) {
        const auto verified = found->second;
        if (now >= verified->token.expires) {
            forget(verified);
            return {};
        }
        entries_.splice(entries_.begin(), entries_, verified);
        return {.verified = &verified->token};
    }
    base::sha256_digest& if_forged = slot_if_forged(digest);
    if (if_forged == digest) {
        return {.forged = true};
    }
    if (unknown == unknown_token::is_passed_over) {
        return {};
    }
    identity::token_verification result = identity::verify_token(good_, token, now);
    if (result.forged && !result.unknown_key) {
        if_forged = digest;
    }
    if (!result.token) {
        return {.forged = result.forged, .unknown_key = result.unknown_key};
    }
    if (known_.size() == max_tokens) {
        forget(std::prev(entries_.end()));
    }
    entries_.push_front({digest, *std::move(result.token)});
    known_.emplace(digest, entries_.begin());
    return {.verified = &entries_.front().token};
}

void token_cache::forget(std::list<entry>::iterator e)
{
    known_.erase(e->digest);
    entries_.erase(e);
}

}  // namespace gateway::intake
