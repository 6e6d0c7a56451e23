#include "gateway/replay/client_counts.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gateway::replay {

// Finds all clients anew in a table of so many slots.
void client_counts::index(std::size_t slots)
{
    slots_.assign(slots, none);
    for (std::size_t i = 0; i < all_.size(); ++i) {
        slots_[slot_of(all_[i].client)] = static_cast<std::uint32_t>(i);
    }
}

void client_counts::forget_half()
{
    std::vector<std::uint64_t> totals;
    totals.reserve(all_.size());
    for (const counted& c : all_) {
        totals.push_back(c.total());
    }
    const auto middle = totals.begin() + static_cast<std::ptrdiff_t>(totals.size() / 2);
    std::nth_element(totals.begin(), middle, totals.end());
    // Clients with as many as the middle one go, too, until half of all have gone.
    std::size_t to_go = all_.size() / 2;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (to_go > 0 && all_[i].total() <= *middle) {
            --to_go;
        } else {
            all_[kept] = all_[i];
            std::swap(names_[kept], names_[i]);
            ++kept;
        }
    }
    all_.resize(kept);
    names_.resize(kept);
    index(slots_.size());
    forgotten_ = true;
}

std::vector<client_count> client_counts::busiest(std::size_t count) const
{
    std::vector<std::size_t> order(all_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()));
    std::partial_sort(order.begin(), end, order.end(), [this](std::size_t a, std::size_t b) {
        const counted& x = all_[a];
        const counted& y = all_[b];
        if (x.rejected != y.rejected) {
            return x.rejected > y.rejected;
        }
        return x.total() != y.total() ? x.total() > y.total() : names_[a] < names_[b];
    });
    std::vector<client_count> out;
    for (auto at = order.begin(); at != end; ++at) {
        const counted& c = all_[*at];
        out.push_back({names_[*at], c.allowed, c.rejected, c.first_rejected, c.last_rejected});
    }
    return out;
}

std::size_t client_counts::rejected() const
{
    return static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), [](const counted& c) {
        return c.rejected > 0;
    }));
}

}  // namespace gateway::replay
