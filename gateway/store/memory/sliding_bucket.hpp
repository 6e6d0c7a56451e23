// The bucket of a sliding limit as the local store keeps it: what it owes and when all of that has
// come back, as of any bucket, beside its history. The two are kept in step here.
#pragma once

#include "gateway/limit/algebra.hpp"
#include "gateway/limit/history.hpp"

#include <cstdint>

namespace gateway::store {

struct sliding_bucket {
    limit::bucket& bucket;
    limit::history& past;

    // Forgets what has come back. A bucket of another limit owes as much from now on as it did.
    void bring_to(const limit::terms& t, std::int64_t now)
    {
        if (!bucket.slides()) {
            past = {};
            past.take(limit::counted_at(t, now), limit::tokens_owed(bucket, now));
        }
        past.forget(now - t.length);
        follow(t);
    }

    // The limit's window may have another length than before.
    void follow(const limit::terms& t)
    {
        const bool empty = past.used() == 0;
        bucket = limit::bucket::sliding(past.used(), empty ? 0 : past.newest() + t.length);
    }

    // Tokens taken at `now` that count from `wait` later on.
    void take(
        const limit::terms& t,
        std::int64_t now,
        std::int64_t wait,
        std::int64_t tokens,
        limit::history::growth allowed
    )
    {
        past.take(limit::counted_at(t, now + wait), tokens, allowed);
        follow(t);
    }

    // What was taken `what.held` ago.
    void give_back(const limit::terms& t, std::int64_t now, const limit::refund& what)
    {
        past.forget(now - t.length);
        past.give_back(now - what.held, what.tokens);
        follow(t);
    }

    void reset(const limit::terms& t)
    {
        past = {};
        follow(t);
    }
};

}  // namespace gateway::store
