#include "gateway/store/memory_table.hpp"

#include <algorithm>
#include <new>
#include <sys/mman.h>

namespace gateway::store {

namespace {

// Small enough that forgetting in a whole segment takes a microsecond or two, large enough that
// by chance none of them overflows: at 2/3 full the margin is 13 standard deviations.
constexpr std::size_t slots_per_segment = 1024;
constexpr std::size_t least_slots = 16;

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

bool segment::insert(const slot& fresh, std::int64_t now, std::span<const bucket_id> keep)
{
    release();
    earliest_ = std::min(earliest_, fresh.bucket.full_at());
    std::size_t i = home(fresh.id());
    for (; !slots_[i].empty(); i = next(i)) {
        if (slots_[i].bucket.is_full(now) && !contains(keep, slots_[i].id())) {
            slots_[i] = fresh;
            return true;
        }
    }
    slots_[i] = fresh;
    ++used_;
    return false;
}

std::size_t segment::reclaim(std::int64_t now, std::span<const bucket_id> keep)
{
    if (earliest_ > now) {
        return 0;  // the common case of a table full of debtors: nothing to look for
    }
    const std::size_t before = used_;
    earliest_ = never;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        // Erasing moves another bucket into the hole: look at the same place again.
        while (!slots_[i].empty() && slots_[i].bucket.is_full(now) &&
               !contains(keep, slots_[i].id())) {
            erase(i);
        }
        if (!slots_[i].empty()) {
            earliest_ = std::min(earliest_, slots_[i].bucket.full_at());
        }
    }
    return before - used_;
}

// Knuth, TAOCP 3, 6.4 algorithm R: what comes later in the run moves back into the hole, unless
// that would put it before its home.
void segment::erase(std::size_t hole)
{
    const std::size_t size = slots_.size();
    for (std::size_t i = next(hole); !slots_[i].empty(); i = next(i)) {
        const std::size_t from_home = (i + size - home(slots_[i].id())) % size;
        const std::size_t from_hole = (i + size - hole) % size;
        if (from_home >= from_hole) {
            slots_[hole] = slots_[i];
            hole = i;
        }
    }
    slots_[hole] = {};
    --used_;
}

memory_table::memory_table(std::size_t max_buckets)
    : max_buckets_(std::max<std::size_t>(max_buckets, 1))
{
    const std::size_t wanted = std::max(max_buckets_ + max_buckets_ / 2 + 2, least_slots);
    segment_count_ = std::max<std::size_t>(wanted / slots_per_segment, 1);
    segment_size_ = (wanted + segment_count_ - 1) / segment_count_;
    const std::size_t slots = segment_count_ * segment_size_;
    segments_ = std::make_unique<segment[]>(segment_count_);
    void* const memory = mmap(
        nullptr,
        slots * sizeof(slot),
        PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
        -1,
        0
    );
    if (memory == MAP_FAILED) {
        throw std::bad_alloc{};
    }
    madvise(memory, slots * sizeof(slot), MADV_HUGEPAGE);  // a wish: fewer TLB misses
    slots_ = static_cast<slot*>(memory);
    for (std::size_t i = 0; i < segment_count_; ++i) {
        segments_[i].adopt({slots_ + i * segment_size_, segment_size_});
    }
}

memory_table::~memory_table()
{
    munmap(slots_, segment_count_ * segment_size_ * sizeof(slot));
}

std::size_t memory_table::bytes() const
{
    return sizeof(*this) + segment_count_ * (sizeof(segment) + segment_size_ * sizeof(slot));
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
    where.promise();
    return true;
}

void memory_table::release(segment& where)
{
    where.release();
    live_.fetch_sub(1, std::memory_order_relaxed);
}

void memory_table::fulfil(
    segment& where, const slot& fresh, std::int64_t now, std::span<const bucket_id> keep
)
{
    if (where.insert(fresh, now, keep)) {
        live_.fetch_sub(1, std::memory_order_relaxed);
    }
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
