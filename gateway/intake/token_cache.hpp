// `token_cache` verifies tokens once each, and not for each request, as a signature takes 20 to 70
// microseconds. It knows tokens by their SHA-256. Forged ones have a table of their own, so that
// nobody can push good ones out with them. There is one per worker and configuration, as the keys
// belong to the configuration.
// Thread: one thread only.
#pragma once

#include "gateway/base/hash.hpp"
#include "gateway/identity/web_token.hpp"

#include <cstring>
#include <list>
#include <unordered_map>
#include <vector>

namespace gateway::intake {

// The cache's verdict on a token.
struct known_token {
    // The verified token, valid until the cache is asked again; null: there is none, or it is not
    // good.
    const identity::verified_token* verified = nullptr;
    // True if the only fault of the token is that no key signed it.
    bool forged = false;
    // True if that is because its key is not known (identity::token_verification).
    bool unknown_key = false;
};

// `unknown_token` says what becomes of a token that the cache does not know.
enum class unknown_token { is_verified, is_passed_over };

class token_cache {
public:
    // Most verified tokens. Beyond it, the one that has not been seen for longest is forgotten. A
    // token takes about 300 bytes, and with the longest claims 256 more for each claim that keys
    // ask for.
    static constexpr std::size_t max_tokens = 10'000;

    // Most forged tokens that are remembered, 32 bytes each. Each has one slot that it can be in,
    // and takes it from the one before. A token that is bad for another reason, or whose key is not
    // known, is not remembered: that costs little to see, and such a token may become good.
    static constexpr std::size_t max_forged = 4'096;

    explicit token_cache(const identity::token_rules& good) : good_(good), forged_(max_forged) {}

    // Verifies a token, unless it is known. `now` is in Unix time.
    known_token find(std::string_view token, base::duration now)
    {
        return find(token, now, unknown_token::is_verified);
    }

    // Does the same, or takes no notice of a token that is not known.
    known_token find(std::string_view token, base::duration now, unknown_token unknown);

    std::size_t size() const { return known_.size(); }

private:
    struct entry {
        base::sha256_digest digest;
        identity::verified_token token;
    };

    struct first_bytes {
        std::size_t operator()(const base::sha256_digest& digest) const
        {
            std::size_t hash = 0;
            std::memcpy(&hash, digest.data(), sizeof hash);
            return hash;
        }
    };

    const identity::token_rules& good_;
    // Verified tokens, the one seen last in front.
    std::list<entry> entries_;
    std::unordered_map<base::sha256_digest, std::list<entry>::iterator, first_bytes> known_;
    std::vector<base::sha256_digest> forged_;

    base::sha256_digest& slot_if_forged(const base::sha256_digest& digest)
    {
        return forged_[first_bytes{}(digest) % max_forged];
    }

    void forget(std::list<entry>::iterator e);
};

}  // namespace gateway::intake
