#include "gateway/replay/client_counts.hpp"

#include <algorithm>
#include <utility>

namespace gateway::replay {

// Moves all clients into a table of so many slots.
void client_counts::rehash(std::size_t slots)
{
    std::vector<counted> before(slots);
    before.swap(slots_);
    for (const counted& c : before) {
        if (c.total() > 0) {
            slot_of(c.client) = c;
        }
    }
}

void client_counts::forget_half()
{
    std::vector<std::uint64_t> totals;
    totals.reserve(names_.size());
    for (const counted& c : slots_) {
        if (c.total() > 0) {
            totals.push_back(c.total());
        }
    }
    const auto middle = totals.begin() + static_cast<std::ptrdiff_t>(totals.size() / 2);
    std::nth_element(totals.begin(), middle, totals.end());
    // Clients with as many as the middle one go, too, until half of all have gone.
    std::size_t to_go = names_.size() / 2;
    std::vector<std::string> names;
    for (counted& c : slots_) {
        if (c.total() == 0) {
            continue;
        }
        if (to_go > 0 && c.total() <= *middle) {
            --to_go;
            c = {};
        } else {
            names.push_back(std::move(names_[c.name]));
            c.name = static_cast<std::uint32_t>(names.size() - 1);
        }
    }
    names_ = std::move(names);
    forgotten_ = true;
    rehash(slots_.size());
}

std::vector<client_count> client_counts::busiest(std::size_t count) const
{
    std::vector<const counted*> order;
    for (const counted& c : slots_) {
        if (c.total() > 0) {
            order.push_back(&c);
        }
    }
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()));
    std::partial_sort(order.begin(), end, order.end(), [this](const auto* a, const auto* b) {
        if (a->rejected != b->rejected) {
            return a->rejected > b->rejected;
        }
        return a->total() != b->total() ? a->total() > b->total()
                                        : names_[a->name] < names_[b->name];
    });
    std::vector<client_count> out;
    for (auto at = order.begin(); at != end; ++at) {
        const counted& c = **at;
        out.push_back({names_[c.name], c.allowed, c.rejected, c.first_rejected, c.last_rejected});
    }
    return out;
}

std::size_t client_counts::rejected() const
{
    return static_cast<std::size_t>(std::count_if(slots_.begin(), slots_.end(), [](const auto& c) {
        return c.rejected > 0;
    }));
}

}  // namespace gateway::replay
