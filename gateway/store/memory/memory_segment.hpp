// `segment` is a part of the local store's memory: a circular run of slots with linear probing,
// behind its own lock; see store/memory/memory_table.hpp.
#pragma once

#include "gateway/limit/bucket.hpp"
#include "gateway/limit/penalty.hpp"
#include "gateway/store/memory/bucket_id.hpp"
#include "gateway/store/memory/sliding_bucket.hpp"
#include "gateway/store/memory/spin_lock.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>

namespace gateway::store {

// `slot` holds one bucket. `limit_tag` is a hash of its limit's name: when a rate changes, the
// limit's buckets are found by it (in shared_buckets, by the name itself).
struct slot {
    std::uint64_t low = 0;
    std::uint32_t high = 0;
    std::uint32_t limit_tag = 0;
    limit::bucket bucket;

    slot() = default;

    slot(const bucket_id& id, std::uint32_t tag, const limit::bucket& b)
        : low(id.low), high(id.high), limit_tag(tag), bucket(b)
    {}

    bucket_id id() const { return {low, high}; }

    bool empty() const { return bucket.never_charged(); }
};

static_assert(sizeof(slot) == 32);

// Maps a hash to an index below `size`: uniformly, and without a division.
inline std::size_t scaled(std::uint32_t hash, std::size_t size)
{
    return static_cast<std::size_t>((static_cast<std::uint64_t>(hash) * size) >> 32);
}

// Returns the index at which the search for a bucket begins in a segment of `size` slots. The
// segment is chosen by the first bits of the same hash; this spreads by the others (Knuth, TAOCP 3,
// 6.4, "Fibonacci hashing").
inline std::size_t home_slot(const bucket_id& id, std::size_t size)
{
    constexpr std::uint32_t golden_ratio = 0x9e3779b1;
    return scaled(id.high * golden_ratio, size);
}

// `segment` finds, inserts and forgets buckets in its slots.
// Requires: the lock is held, except for adopt(), lock() and try_lock().
class alignas(64) segment {
public:
    // Gives the segment its memory. `histories` has one element for each slot. `moments` counts the
    // moments that histories of the whole table keep in memory of their own.
    void adopt(std::span<slot> slots, limit::history* histories, std::atomic<std::size_t>& moments);

    void lock() { lock_.lock(); }

    bool try_lock() { return lock_.try_lock(); }

    void unlock() { lock_.unlock(); }

    // Returns the bucket, or null if it is not there.
    limit::bucket* find(const bucket_id& id) const;

    // Returns the history of a bucket here, which is empty unless the bucket slides.
    limit::history& history_of(const limit::bucket& b) const { return histories_[index_of(b)]; }

    // True if there is room for one bucket more than is promised already. One slot always stays
    // empty, so that every probe ends.
    bool has_room() const { return used_ + promised_ + 1 < slots_.size(); }

    void promise() { ++promised_; }

    void release() { --promised_; }

    // `inserted` is the outcome of putting a bucket into a segment that had none of its name.
    struct inserted {
        limit::bucket* at;
        // True if it took the slot of a bucket that was full (and is not in `keep`).
        bool replaced;
    };

    // Puts a bucket that is not here yet, and uses up the promise.
    // Requires: room was promised for it.
    inserted insert(const slot& fresh, std::int64_t now, std::span<const bucket_id> keep);

    void store(limit::bucket& slot, const limit::bucket& b)
    {
        if (!b.slides()) {
            drop_history(slot);
        }
        slot = b;
        earliest_ = std::min(earliest_, b.full_at());
    }

    // Makes the bucket as good as never seen.
    void make_full(limit::bucket& slot, std::int64_t now)
    {
        if (slot.slides()) {
            drop_history(slot);
            store(slot, limit::bucket::sliding(0, now));
        } else {
            store(
                slot,
                slot.counts_in_flight() ? limit::bucket::in_flight(0)
                                        : slot.moved(now - slot.full_at())
            );
        }
    }

    // Returns the limit tag of the slot that the bucket is in.
    std::uint32_t tag_of(const limit::bucket& b) const { return slots_[index_of(b)].limit_tag; }

    // Calls `change` with the bucket and its history. `change` makes it the bucket of a sliding
    // limit, if it is not one yet.
    template <typename Change>
    void slide(limit::bucket& slot, Change change)
    {
        sliding_bucket b{slot, history_of(slot)};
        const std::size_t before = b.past.own_room();
        change(b);
        count_moments(b.past.own_room() - before);
        earliest_ = std::min(earliest_, slot.full_at());
    }

    // Forgets every bucket that is full, and every record of rejections and bans that is over,
    // except those in `keep`. Returns how many of both.
    std::size_t reclaim(std::int64_t now, std::span<const bucket_id> keep);

    // Returns the bucket's rejections and ban, or null if none are known.
    limit::offences* find_offences(const bucket_id& id)
    {
        const auto found = offences_.find(id);
        return found == offences_.end() ? nullptr : &found->second;
    }

    limit::offences& make_offences(const bucket_id& id) { return offences_[id]; }

    // Notes a change of `o` in the bounds below.
    void note(const limit::offences& o)
    {
        earliest_ = std::min(earliest_, o.forgotten_at());
        if (o.by_operator()) {
            bans_end_ = std::max(bans_end_, o.banned_until());
        }
    }

    // True if an operator may have banned a bucket here. If not, only buckets under a limit with a
    // penalty are looked up among the offences.
    bool has_bans(std::int64_t now) const { return now < bans_end_; }

    // Calls `change` with each slot in use and its history.
    template <typename Change>
    void for_each_bucket(Change change)
    {
        for (std::size_t i = 0; i < (used_ == 0 ? 0 : slots_.size()); ++i) {
            if (!slots_[i].empty()) {
                change(slots_[i], histories_[i]);
                earliest_ = std::min(earliest_, slots_[i].bucket.full_at());
            }
        }
    }

    template <typename Visit>
    void for_each_offences(Visit visit) const
    {
        for (const auto& [id, o] : offences_) {
            visit(id, o);
        }
    }

private:
    static constexpr std::int64_t never = INT64_MAX;

    spin_lock lock_;
    std::uint32_t used_ = 0;
    std::uint32_t promised_ = 0;
    // Lower bound of the moment at which a bucket or a record of offences here can be forgotten.
    std::int64_t earliest_ = never;
    // Upper bound of the end of all bans by an operator.
    std::int64_t bans_end_ = INT64_MIN;

    std::span<slot> slots_;
    limit::history* histories_ = nullptr;
    std::atomic<std::size_t>* moments_ = nullptr;
    // Offences of buckets under limits with a penalty, and of buckets that an operator has banned.
    std::unordered_map<bucket_id, limit::offences, bucket_id_hash> offences_;

    std::size_t home(const bucket_id& id) const { return home_slot(id, slots_.size()); }

    std::size_t next(std::size_t i) const { return i + 1 == slots_.size() ? 0 : i + 1; }

    std::size_t index_of(const limit::bucket& b) const;
    void forget(std::size_t i);
    void move_home(std::size_t i);
    void forget_history(const limit::bucket& of);

    // Drops the history of a bucket that slides. Most do not, so this test is inline.
    void drop_history(const limit::bucket& of)
    {
        if (of.slides()) {
            forget_history(of);
        }
    }

    // Adds to the count of moments, or subtracts by the wrapping of unsigned numbers.
    void count_moments(std::size_t more)
    {
        if (more != 0) {
            moments_->fetch_add(more, std::memory_order_relaxed);
        }
    }
};

}  // namespace gateway::store
