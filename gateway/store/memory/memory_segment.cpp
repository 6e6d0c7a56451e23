#include "gateway/store/memory/memory_segment.hpp"

#include <algorithm>
#include <utility>

namespace gateway::store {

namespace {

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
        // This is the common case in a table full of debtors: there is nothing to look for.
        return 0;
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
    // The loop goes round once, from an empty slot on. No search goes beyond an empty slot, so a
    // bucket that stays has to move only if one before it in the same run is forgotten.
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

// Moves the bucket to the first empty slot from its home on, if that is before its present one.
// Otherwise a search would end at the empty slot.
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

}  // namespace gateway::store
