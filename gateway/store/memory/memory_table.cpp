#include "gateway/store/memory/memory_table.hpp"

#include <algorithm>

namespace gateway::store {

namespace {

// Slots of a segment. They are few enough that forgetting in a whole segment takes some
// microseconds, and enough that by chance no segment overflows: at 2/3 full the margin is 18
// standard deviations if a client has one bucket, and 4.6 if it has 16.
constexpr std::size_t slots_per_segment = 2048;
constexpr std::size_t least_slots = 16;

std::size_t wanted_slots(std::size_t max_buckets)
{
    return std::max(max_buckets + max_buckets / 2 + 2, least_slots);
}

}  // namespace

memory_table::memory_table(std::size_t max_buckets)
    : max_buckets_(std::max<std::size_t>(max_buckets, 1)),
      segment_count_(std::max<std::size_t>(wanted_slots(max_buckets_) / slots_per_segment, 1)),
      segment_size_((wanted_slots(max_buckets_) + segment_count_ - 1) / segment_count_),
      slots_(segment_count_ * segment_size_),
      histories_(segment_count_ * segment_size_),
      segments_(std::make_unique<segment[]>(segment_count_))
{
    for (std::size_t i = 0; i < segment_count_; ++i) {
        const std::size_t first = i * segment_size_;
        segments_[i].adopt(
            slots_.all().subspan(first, segment_size_), &histories_[first], moments_
        );
    }
}

memory_table::~memory_table()
{
    if (moments_ > 0) {
        for (std::size_t i = 0; i < slots_.all().size(); ++i) {
            if (slots_[i].bucket.slides()) {
                histories_[i] = {};
            }
        }
    }
}

bool memory_table::count_one()
{
    std::size_t seen = live_.load(std::memory_order_relaxed);
    while (seen < max_buckets_) {
        if (live_.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed)) {
            return true;
        }
    }
    return false;
}

void memory_table::reclaim(segment& where, std::int64_t now, std::span<const bucket_id> keep)
{
    live_.fetch_sub(where.reclaim(now, keep), std::memory_order_relaxed);
}

bool memory_table::reserve(segment& where, std::int64_t now, std::span<const bucket_id> keep)
{
    if (!where.has_room()) {
        reclaim(where, now, keep);
        if (!where.has_room()) {
            return false;
        }
    }
    if (!make_room(where, now, keep)) {
        return false;
    }
    where.promise();
    return true;
}

bool memory_table::make_room(segment& where, std::int64_t now, std::span<const bucket_id> keep)
{
    if (!count_one()) {
        reclaim(where, now, keep);
        if (!count_one()) {
            // The other lock is tried, never waited for: locks are taken in order, and this one may
            // come before the one held.
            segment& other =
                segments_[cursor_.fetch_add(1, std::memory_order_relaxed) % segment_count_];
            if (other.try_lock()) {
                reclaim(other, now, keep);
                other.unlock();
            }
            if (!count_one()) {
                return false;
            }
        }
    }
    return true;
}

bool memory_table::reserve_sliding(
    segment& where, std::int64_t now, std::span<const bucket_id> keep
)
{
    if (!has_moments()) {
        reclaim(where, now, keep);
    }
    return has_moments() && reserve(where, now, keep);
}

limit::offences* memory_table::offences_of(segment& where, const bucket_id& id)
{
    if (limit::offences* const known = where.find_offences(id)) {
        return known;
    }
    return count_one() ? &where.make_offences(id) : nullptr;
}

void memory_table::release(segment& where)
{
    where.release();
    live_.fetch_sub(1, std::memory_order_relaxed);
}

limit::bucket& memory_table::fulfil(
    segment& where, const slot& fresh, std::int64_t now, std::span<const bucket_id> keep
)
{
    const segment::inserted put = where.insert(fresh, now, keep);
    if (put.replaced) {
        live_.fetch_sub(1, std::memory_order_relaxed);
    }
    return *put.at;
}

void memory_table::sweep(std::int64_t now, std::size_t count)
{
    for (std::size_t i = 0; i < std::min(count, segment_count_); ++i) {
        segment& s = segments_[cursor_.fetch_add(1, std::memory_order_relaxed) % segment_count_];
        s.lock();
        reclaim(s, now, {});
        s.unlock();
    }
}

}  // namespace gateway::store
