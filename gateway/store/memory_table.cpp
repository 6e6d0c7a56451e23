#include "gateway/store/memory_table.hpp"

#include <algorithm>
#include <utility>

namespace gateway::store {

namespace {

// Small enough that forgetting in a whole segment takes some microseconds, large enough that by
// chance none of them overflows: at 2/3 full the margin is 18 standard deviations where a client
// has one bucket, and 4.6 where it has 16.
constexpr std::size_t slots_per_segment = 2048;
constexpr std::size_t least_slots = 16;

std::size_t wanted_slots(std::size_t max_buckets)
{
    return std::max(max_buckets + max_buckets / 2 + 2, least_slots);
}

bool contains(std::span<const bucket_id> ids, const bucket_id& id)
{
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

limit::bucket* segment::find(const bucket_id& id) const
{
    for (std::size_t i = home(id); !slots_[i].empty(); i = next(i)) {
        if (slots_[i].id() == id) {
            return &slots_[i].bucket;
        }
    }
    return nullptr;
}

void segment::adopt(
    std::span<slot> slots, limit::history* histories, std::atomic<std::size_t>& moments
)
{
    slots_ = slots;
    histories_ = histories;
    moments_ = &moments;
}

std::size_t segment::index_of(const limit::bucket& b) const
{
    const auto* const at = reinterpret_cast<const std::byte*>(&b);
    return static_cast<std::size_t>(at - reinterpret_cast<const std::byte*>(slots_.data())) /
           sizeof(slot);
}

void segment::forget_history(const limit::bucket& of)
{
    limit::history& h = history_of(of);
    count_moments(-h.own_room());
    h = {};
}

segment::inserted segment::insert(
    const slot& fresh, std::int64_t now, std::span<const bucket_id> keep
)
{
    release();
    std::size_t i = home(fresh.id());
    while (!slots_[i].empty() && !(slots_[i].bucket.is_full(now) && !contains(keep, slots_[i].id()))
    ) {
        i = next(i);
    }
    const bool replaced = !slots_[i].empty();
    used_ += replaced ? 0 : 1;
    drop_history(slots_[i].bucket);
    slots_[i] = fresh;
    earliest_ = std::min(earliest_, fresh.bucket.full_at());
    return {&slots_[i].bucket, replaced};
}

std::size_t segment::reclaim(std::int64_t now, std::span<const bucket_id> keep)
{
    if (earliest_ > now) {
        return 0;  // the common case of a table full of debtors: nothing to look for
    }
    const std::size_t before = used_ + offences_.size();
    earliest_ = never;
    for (auto o = offences_.begin(); o != offences_.end();) {
        if (o->second.forgotten_at() <= now && !contains(keep, o->first)) {
            o = offences_.erase(o);
        } else {
            note((o++)->second);
        }
    }
    // Once round, from an empty slot on: no search goes beyond one, so what stays has to move only
    // behind a bucket that goes.
    std::size_t i = 0;
    while (!slots_[i].empty()) {
        i = next(i);
    }
    bool behind_one = false;
    for (std::size_t seen = 1; seen < slots_.size(); ++seen) {
        i = next(i);
        if (slots_[i].empty()) {
            behind_one = false;
        } else if (slots_[i].bucket.is_full(now) && !contains(keep, slots_[i].id())) {
            forget(i);
            behind_one = true;
        } else {
            earliest_ = std::min(earliest_, slots_[i].bucket.full_at());
            if (behind_one) {
                move_home(i);
            }
        }
    }
    return before - used_ - offences_.size();
}

void segment::forget(std::size_t i)
{
    drop_history(slots_[i].bucket);
    slots_[i] = {};
    --used_;
}

// To the first empty slot from its home on, if there is one before it: else a search would end
// there.
void segment::move_home(std::size_t i)
{
    std::size_t to = home(slots_[i].id());
    while (to != i && !slots_[to].empty()) {
        to = next(to);
    }
    if (to == i) {
        return;
    }
    slots_[to] = std::exchange(slots_[i], {});
    if (slots_[to].bucket.slides()) {
        histories_[to] = std::exchange(histories_[i], {});
    }
}

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
            // Only tried, never waited for: locks are taken in order, and this one may be before
            // ours.
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
