#include "gateway/limits/reports/heavy_hitters.hpp"

#include "gateway/identity/bucket_name.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace gateway::limits {

namespace {

// Returns how often a name without a slot may have been counted: never, unless all slots are taken.
std::uint64_t least_of(const std::vector<heavy_hitters::hitter>& all)
{
    if (all.size() < heavy_hitters::most) {
        return 0;
    }
    return std::min_element(
               all.begin(),
               all.end(),
               [](const auto& a, const auto& b) { return a.count < b.count; }
    )->count;
}

// Returns the name that stands for one that is too long: its limit, and the digest of all of it.
std::string digest_of(std::string_view bucket_name)
{
    identity::bucket_name name;
    name.start(identity::limit_of(bucket_name));
    name.add(base::sha256_hex128(bucket_name));
    return std::string{name.bytes()};
}

}  // namespace

heavy_hitters::heavy_hitters() : entries_(std::make_unique<std::array<entry, most>>())
{
    table_.fill(none);
}

// Returns the slot of `id` in the table, or the free slot for it.
std::size_t heavy_hitters::slot_of(const base::hash128& id) const
{
    std::size_t slot = id.low % slots;
    while (table_[slot] != none && (*entries_)[table_[slot]].id != id) {
        slot = (slot + 1) % slots;
    }
    return slot;
}

// Removes `id` from the table. Entries behind it move up, so that each is found without a gap
// before it.
void heavy_hitters::forget(const base::hash128& id)
{
    std::size_t gap = slot_of(id);
    table_[gap] = none;
    for (std::size_t next = (gap + 1) % slots; table_[next] != none; next = (next + 1) % slots) {
        const std::size_t home = (*entries_)[table_[next]].id.low % slots;
        if ((next + slots - home) % slots >= (next + slots - gap) % slots) {
            table_[gap] = std::exchange(table_[next], none);
            gap = next;
        }
    }
}

void heavy_hitters::exchange(std::size_t a, std::size_t b)
{
    std::swap(heap_[a], heap_[b]);
    at_[heap_[a].entry] = static_cast<index>(a);
    at_[heap_[b].entry] = static_cast<index>(b);
}

void heavy_hitters::rise(std::size_t at)
{
    while (at > 0 && heap_[at].count < heap_[(at - 1) / 2].count) {
        exchange(at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

void heavy_hitters::sink(std::size_t at)
{
    while (2 * at + 1 < used_) {
        std::size_t least = 2 * at + 1;
        if (least + 1 < used_ && heap_[least + 1].count < heap_[least].count) {
            ++least;
        }
        if (heap_[at].count <= heap_[least].count) {
            return;
        }
        exchange(at, least);
        at = least;
    }
}

// Returns an unused entry, or that of the least count, whose name is forgotten.
heavy_hitters::index heavy_hitters::free_entry()
{
    if (used_ < most) {
        const auto fresh = static_cast<index>(used_++);
        heap_[fresh] = {.count = 0, .entry = fresh};
        at_[fresh] = fresh;
        rise(fresh);
        return fresh;
    }
    const node& least = heap_[0];
    entry& p = (*entries_)[least.entry];
    forget(p.id);
    p.what.error = least.count;
    return least.entry;
}

void heavy_hitters::count(const base::hashed_name& bucket)
{
    ++total_;
    const base::hash128& id = bucket.hash();
    index which = table_[slot_of(id)];
    if (which == none) {
        which = free_entry();
        entry& p = (*entries_)[which];
        p.id = id;
        p.what.is_digest = bucket.bytes().size() > longest_name;
        p.what.name = p.what.is_digest ? digest_of(bucket.bytes()) : bucket.bytes();
        table_[slot_of(id)] = which;
    }
    ++heap_[at_[which]].count;
    sink(at_[which]);
}

std::vector<heavy_hitters::hitter> heavy_hitters::all() const
{
    std::vector<hitter> hitters;
    for (std::size_t i = 0; i < used_; ++i) {
        hitter& h = hitters.emplace_back((*entries_)[heap_[i].entry].what);
        h.count = heap_[i].count;
    }
    return hitters;
}

std::vector<heavy_hitters::hitter> merged(const std::vector<std::vector<heavy_hitters::hitter>>& of)
{
    std::map<std::string, heavy_hitters::hitter> by_name;
    std::uint64_t unseen = 0;
    for (const auto& hitters : of) {
        unseen += least_of(hitters);
    }
    for (const auto& hitters : of) {
        const std::uint64_t least = least_of(hitters);
        for (const heavy_hitters::hitter& h : hitters) {
            heavy_hitters::hitter& sum = by_name[h.name];
            if (sum.name.empty()) {
                sum = {.name = h.name, .is_digest = h.is_digest, .count = unseen, .error = unseen};
            }
            // This worker knows the name, so what it might have counted unseen is taken off.
            sum.count += h.count - least;
            sum.error += h.error - least;
        }
    }
    std::vector<heavy_hitters::hitter> all;
    all.reserve(by_name.size());
    for (auto& [name, h] : by_name) {
        all.push_back(std::move(h));
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return a.count != b.count ? a.count > b.count : a.name < b.name;
    });
    return all;
}

}  // namespace gateway::limits
