// `memory_table` is the local store's memory: slots in segments, each with its own small lock.
//
// A slot is 32 bytes, found by 96 bits of the keyed hash of a bucket's name. Two names never have
// the same bits in practice, so these are the bucket's identity. A segment is a circular run of
// slots with linear probing. Untouched memory is not taken from the system. A slot is empty if its
// bucket was never charged, which is all zeros, so fresh pages are an empty table.
//
// The slot of a bucket depends on its key alone. The buckets of a client under several limits with
// the same key are side by side, in a segment that is locked once and in cache lines that are
// fetched once.
//
// The history that a sliding limit needs beside its slot is in a second array of mapped memory, at
// the slot's index. Both are fetched at once, and the second is never touched for other limits. The
// memory that histories keep outside of it is bounded, too. The bans of a bucket, and its
// rejections if its limit has a penalty, are beside the slots of its segment and count as a bucket.
#pragma once

#include "gateway/store/memory/mapped_array.hpp"
#include "gateway/store/memory/memory_segment.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace gateway::store {

class memory_table {
public:
    // Moments that histories may keep outside of the table, for each bucket of `max_buckets`.
    static constexpr std::size_t moments_per_bucket = 16;

    // Errors: throws std::bad_alloc.
    explicit memory_table(std::size_t max_buckets);

    ~memory_table();
    memory_table(const memory_table&) = delete;
    memory_table& operator=(const memory_table&) = delete;

    std::size_t segment_of(const bucket_id& id) const { return scaled(id.high, segment_count_); }

    // Prefetches segment and slot at once. The slot's address is computed, not read from the
    // segment.
    void prefetch(std::size_t index, const bucket_id& id) const
    {
        __builtin_prefetch(&segments_[index], 1);
        __builtin_prefetch(&slots_[slot_of(index, id)], 1);
    }

    // Prefetches the history of a bucket that slides.
    void prefetch_history(std::size_t index, const bucket_id& id) const
    {
        __builtin_prefetch(&histories_[slot_of(index, id)], 1);
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

    // Promises room for one more bucket in a segment. If need be, forgets full buckets there
    // (except `keep`) and in one other segment. Returns false if there is no room.
    // Requires: the segment is locked.
    bool reserve(segment& where, std::int64_t now, std::span<const bucket_id> keep);

    // Number of moments that histories have room for outside of the table.
    std::size_t moments() const { return moments_.load(std::memory_order_relaxed); }

    // True if histories may take room for more.
    bool has_moments() const { return moments() < max_buckets_ * moments_per_bucket; }

    // Does the same as reserve() for a bucket that slides, which needs room for moments, too.
    bool reserve_sliding(segment& where, std::int64_t now, std::span<const bucket_id> keep);

    // Returns the record of the bucket's rejections, a fresh one if it has none. Returns null if
    // there is no room for it. Moves no slot.
    limit::offences* offences_of(segment& where, const bucket_id& id);

    // Begins a record for a bucket that has none. Returns null if there is no room. May move slots.
    limit::offences* make_offences(segment& where, const bucket_id& id, std::int64_t now)
    {
        return make_room(where, now, {&id, 1}) ? &where.make_offences(id) : nullptr;
    }

    // Takes back a promise that is not needed.
    void release(segment& where);

    // Puts a bucket for which room was promised. Returns where it is.
    limit::bucket& fulfil(
        segment& where, const slot& fresh, std::int64_t now, std::span<const bucket_id> keep
    );

    // Forgets full buckets in the next `count` segments.
    void sweep(std::int64_t now, std::size_t count);

private:
    std::size_t max_buckets_;
    std::size_t segment_count_;
    std::size_t segment_size_;
    // Slots of all segments.
    mapped_array<slot> slots_;
    mapped_array<limit::history> histories_;

    std::unique_ptr<segment[]> segments_;
    // The number of buckets remembered or promised.
    alignas(64) std::atomic<std::size_t> live_{0};
    std::atomic<std::size_t> moments_{0};
    // Number of segments visited to forget full buckets, which tells the next one.
    std::atomic<std::size_t> cursor_{0};

    std::size_t slot_of(std::size_t index, const bucket_id& id) const
    {
        return index * segment_size_ + home_slot(id, segment_size_);
    }

    bool count_one();
    // Counts one more bucket, and forgets full ones if need be.
    // Requires: the segment is locked.
    bool make_room(segment& where, std::int64_t now, std::span<const bucket_id> keep);
    void reclaim(segment& where, std::int64_t now, std::span<const bucket_id> keep);
};

}  // namespace gateway::store
