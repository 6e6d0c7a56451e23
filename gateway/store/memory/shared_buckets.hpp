// `shared_buckets` holds one bucket per limit, found by its name, for clients without a slot in the
// memory store. There are none while the table has room, which any() tells without the lock.
// Requires: the lock is held, except for any(), lock() and forget(). It is taken after any
// segment's.
#pragma once

#include "gateway/limit/bucket.hpp"
#include "gateway/store/memory/bucket_id.hpp"
#include "gateway/store/memory/sliding_bucket.hpp"
#include "gateway/store/memory/spin_lock.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::store {

struct shared_bucket {
    limit::bucket bucket;
    // History of the bucket, if its limit is sliding.
    limit::history past;
    // Holders of the permits, one element for each permit.
    std::vector<bucket_id> holders{};
    // Moment since which the bucket has been paid back by the same rate or windows. Tokens that
    // were taken earlier are not refunded, as it is not known how many have been issued since.
    std::int64_t alike_since = 0;

    // Notes that the bucket is brought to these terms: clients of other plans may share it.
    void note_terms(const limit::terms& t, std::int64_t now)
    {
        const bool is_alike = bucket.follows(t) && (!t.keeps_history() || past.used() == 0 ||
                                                    bucket.full_at() - past.newest() == t.length);
        alike_since = bucket.never_charged() || is_alike ? alike_since : now;
    }

    sliding_bucket sliding() { return {bucket, past}; }
};

class shared_buckets {
public:
    bool any() const { return count_.load(std::memory_order_relaxed) > 0; }

    void lock() { lock_.lock(); }

    void unlock() { lock_.unlock(); }

    // Returns the bucket of that limit, or null if there is none.
    shared_bucket* find(std::string_view limit_name);

    // Returns the bucket of that limit, one that is fresh at `now` if there is none.
    shared_bucket& make(std::string_view limit_name, std::int64_t now);

    // Forgets the buckets that are full again.
    void forget(std::int64_t now);

    template <typename Visit>
    void for_each(Visit visit)
    {
        for (auto& [name, one] : buckets_) {
            visit(std::string_view{name}, one);
        }
    }

private:
    spin_lock lock_;
    std::map<std::string, shared_bucket, std::less<>> buckets_;
    // Number of buckets, readable without the lock.
    std::atomic<std::size_t> count_{0};

    void count() { count_.store(buckets_.size(), std::memory_order_relaxed); }
};

}  // namespace gateway::store
