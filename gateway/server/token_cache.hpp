// Tokens that have been verified, so that it is done once for each and not for each request: a
// signature takes 20 to 70 microseconds. Only good ones are in it, by their SHA-256, so nobody can
// push them out with bad ones. One per worker and configuration, one thread.
#pragma once

#include "gateway/base/hash.hpp"
#include "gateway/identity/web_token.hpp"

#include <cstring>
#include <list>
#include <unordered_map>

namespace gateway::server {

class token_cache {
public:
    // Past it, the one that has not been seen for longest is forgotten. A token takes about 300
    // bytes, with the longest claims 300 and 256 for each claim that keys ask for.
    static constexpr std::size_t max_tokens = 10'000;

    explicit token_cache(const identity::token_rules& good) : good_(good) {}

    // What the token says at `now`, in Unix time; null if it is not good. Until the next call.
    const identity::verified_token* find(std::string_view token, base::duration now);

    std::size_t size() const { return places_.size(); }

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
    // The one seen last is in front.
    std::list<entry> entries_;
    std::unordered_map<base::sha256_digest, std::list<entry>::iterator, first_bytes> places_;

    void forget(std::list<entry>::iterator e);
};

}  // namespace gateway::server
