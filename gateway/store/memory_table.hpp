// The local store's memory: slots in segments, each with its own small lock.
//
// A slot is 32 bytes, found by 96 bits of the keyed hash of a bucket's name; two of them never meet
// in practice, so they are the bucket's identity. A segment is a circular run of slots with linear
// probing and backward-shift deletion. Untouched memory is not taken from the system. A slot with
// a bucket that was never charged, which is all zeros, is empty: so fresh pages are an empty table.
#pragma once

#include "gateway/limit/bucket.hpp"
#include "gateway/store/spin_lock.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace gateway::store {

struct bucket_id {
    std::uint64_t low = 0;
    std::uint32_t high = 0;

    bool operator==(const bucket_id&) const = default;
};

// As in shared_buckets, a limit's buckets are found by its name when its rate changes: by a tag.
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

// A hash's share of `size`: uniform, and without a division.
inline std::size_t scaled(std::uint64_t hash, std::size_t size)
{
    return static_cast<std::size_t>((static_cast<unsigned __int128>(hash) * size) >> 64);
}

inline std::size_t scaled(std::uint32_t hash, std::size_t size)
{
    return static_cast<std::size_t>((static_cast<std::uint64_t>(hash) * size) >> 32);
}

// Everything but the constructor and lock() wants the lock held.
class alignas(64) segment {
public:
    void adopt(std::span<slot> slots) { slots_ = slots; }

    void lock() { lock_.lock(); }

    bool try_lock() { return lock_.try_lock(); }

    void unlock() { lock_.unlock(); }

    // The bucket; null: it is not there.
    limit::bucket* find(const bucket_id& id) const;

    // Room for one more, beyond what is promised already? One slot always stays empty, so that
    // every probe ends.
    bool has_room() const { return used_ + promised_ + 1 < slots_.size(); }

    void promise() { ++promised_; }

    void release() { --promised_; }

    // Puts a bucket that is not there yet, for which room was promised. True if it took the
    // place of a bucket that was full anyway (and is none of `keep`).
    bool insert(const slot& fresh, std::int64_t now, std::span<const bucket_id> keep);

    void store(limit::bucket& place, const limit::bucket& b)
    {
        place = b;
        earliest_ = std::min(earliest_, b.full_at());
    }

    // Forgets every bucket that is full anyway, but for `keep`; how many.
    std::size_t reclaim(std::int64_t now, std::span<const bucket_id> keep);

    // `change` gets the limit's tag, the bucket's id and the bucket.
    template <typename Change>
    void for_each_bucket(Change change)
    {
        for (slot& s : slots_.first(used_ == 0 ? 0 : slots_.size())) {
            if (!s.empty()) {
                change(s.limit_tag, s.id(), s.bucket);
                earliest_ = std::min(earliest_, s.bucket.full_at());
            }
        }
    }

private:
    static constexpr std::int64_t never = INT64_MAX;

    spin_lock lock_;
    std::uint32_t used_ = 0;
    std::uint32_t promised_ = 0;
    // No bucket here is full before this moment.
    std::int64_t earliest_ = never;

    std::span<slot> slots_;

    std::size_t home(const bucket_id& id) const { return scaled(id.low, slots_.size()); }

    std::size_t next(std::size_t i) const { return i + 1 == slots_.size() ? 0 : i + 1; }

    void erase(std::size_t hole);
};

class memory_table {
public:
    // Throws std::bad_alloc.
    explicit memory_table(std::size_t max_buckets);

    ~memory_table();
    memory_table(const memory_table&) = delete;
    memory_table& operator=(const memory_table&) = delete;

    std::size_t segment_of(const bucket_id& id) const { return scaled(id.high, segment_count_); }

    // Segment and slot at once: the slot's place is computed, not looked up in the segment.
    void prefetch(std::size_t index, const bucket_id& id) const
    {
        __builtin_prefetch(&segments_[index], 1);
        __builtin_prefetch(&slots_[index * segment_size_ + scaled(id.low, segment_size_)], 1);
    }

    segment& at(std::size_t index) { return segments_[index]; }

    std::size_t segments() const { return segment_count_; }

    template <typename Change>
    void for_each_bucket(Change change)
    {
        for (std::size_t i = 0; i < segment_count_; ++i) {
            segments_[i].lock();
            segments_[i].for_each_bucket(change);
            segments_[i].unlock();
        }
    }

    std::size_t live() const { return live_.load(std::memory_order_relaxed); }

    std::size_t bytes() const;

    // Promises room for one more bucket in a segment that is locked, forgetting full ones there
    // (but `keep`) and in one other segment if need be. False: no room.
    bool reserve(segment& where, std::int64_t now, std::span<const bucket_id> keep);

    // Takes back a promise that is not needed.
    void release(segment& where);

    void fulfil(
        segment& where, const slot& fresh, std::int64_t now, std::span<const bucket_id> keep
    );

    // Forgets full buckets in the next `count` segments.
    void sweep(std::int64_t now, std::size_t count);

private:
    std::size_t max_buckets_;
    std::size_t segment_count_;
    std::size_t segment_size_;
    // The slots of all segments, in mapped memory.
    slot* slots_;

    std::unique_ptr<segment[]> segments_;
    // The number of buckets remembered or promised.
    alignas(64) std::atomic<std::size_t> live_{0};
    // The number of segments visited to forget full buckets; tells which comes next.
    std::atomic<std::size_t> cursor_{0};

    bool count_one();
    void reclaim(segment& where, std::int64_t now, std::span<const bucket_id> keep);
};

}  // namespace gateway::store
