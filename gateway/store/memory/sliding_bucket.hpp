// `sliding_bucket` is the bucket of a sliding limit as the local store keeps it: like any bucket it
// says what is owed and when all of that has come back; beside it is its history. The functions
// here keep the two in step.
#pragma once

#include "gateway/limit/algebra.hpp"
#include "gateway/limit/debt.hpp"
#include "gateway/limit/history.hpp"

#include <cstdint>

namespace gateway::store {

struct sliding_bucket {
    limit::bucket& bucket;
    limit::history& past;

    // Forgets tokens that have come back. A bucket of another limit goes on owing as much as
    // before.
    void bring_to(const limit::terms& t, limit::moment at)
    {
        if (!bucket.slides()) {
            past = {};
            past.take(limit::counted_at(t, at.now, at.shift), limit::tokens_owed(bucket, at.now));
        }
        past.forget(at.now - t.length);
        follow(t);
    }

    // Recomputes the bucket from the history, as the limit's window may have another length now.
    void follow(const limit::terms& t)
    {
        const bool empty = past.used() == 0;
        bucket = limit::bucket::sliding(past.used(), empty ? 0 : past.newest() + t.length);
    }

    // Takes tokens at that moment that count from `wait` later on.
    void take(
        const limit::terms& t,
        limit::moment at,
        std::int64_t wait,
        std::int64_t tokens,
        limit::history::growth allowed
    )
    {
        past.take(limit::counted_at(t, at.now + wait, at.shift), tokens, allowed);
        follow(t);
    }

    // Refunds tokens that were taken `what.held` ago.
    void refund(const limit::terms& t, std::int64_t now, const limit::refund& what)
    {
        past.forget(now - t.length);
        past.refund(now - what.held, what.tokens);
        follow(t);
    }

    void reset(const limit::terms& t)
    {
        past = {};
        follow(t);
    }
};

}  // namespace gateway::store
