// The local store's memory: slots in segments, each with its own small lock.
//
// A slot is 32 bytes, found by 96 bits of the keyed hash of a bucket's name; two of them never meet
// in practice, so they are the bucket's identity. A segment is a circular run of slots with linear
// probing. Untouched memory is not taken from the system. A slot with a bucket that was never
// charged, which is all zeros, is empty: so fresh pages are an empty table.
//
// Where a bucket is depends on its key alone: those of a client under several limits with the same
// key are side by side, in a segment that is locked once and in cache lines that are fetched once.
//
// What sliding limits need more than a slot, a history, is in a second array of mapped memory at
// the slot's place: both are fetched at once, and it is never touched for other limits. What
// histories keep outside of it is bounded, too. The bans of a bucket, and its rejections if its
// limit has a penalty, are beside the slots of its segment and count as a bucket.
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
    // Kept outside of the table, for each bucket that there may be.
    static constexpr std::size_t moments_per_bucket = 16;

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
        __builtin_prefetch(&slots_[place_of(index, id)], 1);
    }

    // Of a bucket that slides.
    void prefetch_history(std::size_t index, const bucket_id& id) const
    {
        __builtin_prefetch(&histories_[place_of(index, id)], 1);
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

    // Promises room for one more bucket in a segment that is locked, forgetting full ones there
    // (but `keep`) and in one other segment if need be. False: no room.
    bool reserve(segment& where, std::int64_t now, std::span<const bucket_id> keep);

    // The number of moments that histories have room for outside of the table.
    std::size_t moments() const { return moments_.load(std::memory_order_relaxed); }

    // Whether they may have more.
    bool has_moments() const { return moments() < max_buckets_ * moments_per_bucket; }

    // As reserve(), for a bucket that slides.
    bool reserve_sliding(segment& where, std::int64_t now, std::span<const bucket_id> keep);

    // What is known of the bucket's rejections; null: nothing, and there is no room. Moves no slot.
    limit::offences* offences_of(segment& where, const bucket_id& id);

    // Of a bucket of whose rejections nothing is known; null: no room.
    limit::offences* make_offences(segment& where, const bucket_id& id, std::int64_t now)
    {
        return make_room(where, now, {&id, 1}) ? &where.make_offences(id) : nullptr;
    }

    // Takes back a promise that is not needed.
    void release(segment& where);

    // Puts a bucket for which room was promised; returns where it is.
    limit::bucket& fulfil(
        segment& where, const slot& fresh, std::int64_t now, std::span<const bucket_id> keep
    );

    // Forgets full buckets in the next `count` segments.
    void sweep(std::int64_t now, std::size_t count);

private:
    std::size_t max_buckets_;
    std::size_t segment_count_;
    std::size_t segment_size_;
    // Of all segments.
    mapped_array<slot> slots_;
    mapped_array<limit::history> histories_;

    std::unique_ptr<segment[]> segments_;
    // The number of buckets remembered or promised.
    alignas(64) std::atomic<std::size_t> live_{0};
    std::atomic<std::size_t> moments_{0};
    // The number of segments visited to forget full buckets; tells which comes next.
    std::atomic<std::size_t> cursor_{0};

    std::size_t place_of(std::size_t index, const bucket_id& id) const
    {
        return index * segment_size_ + home_slot(id, segment_size_);
    }

    bool count_one();
    // Room for one more, whose segment is locked.
    bool make_room(segment& where, std::int64_t now, std::span<const bucket_id> keep);
    void reclaim(segment& where, std::int64_t now, std::span<const bucket_id> keep);
};

}  // namespace gateway::store
