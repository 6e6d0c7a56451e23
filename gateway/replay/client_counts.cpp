#include "gateway/replay/client_counts.hpp"

#include <algorithm>

namespace gateway::replay {

namespace {

std::uint64_t total_of(const client_count& c)
{
    return c.allowed + c.rejected;
}

}  // namespace

void client_counts::forget_half()
{
    std::vector<std::uint64_t> totals;
    totals.reserve(all_.size());
    for (const auto& [hash, c] : all_) {
        totals.push_back(total_of(c));
    }
    const auto middle = totals.begin() + static_cast<std::ptrdiff_t>(totals.size() / 2);
    std::nth_element(totals.begin(), middle, totals.end());
    // Clients with as many as the middle one go, too, until half of all have gone.
    std::size_t to_go = all_.size() / 2;
    for (auto at = all_.begin(); at != all_.end() && to_go > 0;) {
        if (total_of(at->second) <= *middle) {
            at = all_.erase(at);
            --to_go;
        } else {
            ++at;
        }
    }
    forgotten_ = true;
}

std::vector<client_count> client_counts::busiest(std::size_t count) const
{
    std::vector<const client_count*> order;
    order.reserve(all_.size());
    for (const auto& [hash, c] : all_) {
        order.push_back(&c);
    }
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()));
    std::partial_sort(order.begin(), end, order.end(), [](const auto* a, const auto* b) {
        if (a->rejected != b->rejected) {
            return a->rejected > b->rejected;
        }
        return total_of(*a) != total_of(*b) ? total_of(*a) > total_of(*b) : a->client < b->client;
    });
    std::vector<client_count> out;
    for (auto at = order.begin(); at != end; ++at) {
        out.push_back(**at);
    }
    return out;
}

std::size_t client_counts::rejected() const
{
    return static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), [](const auto& c) {
        return c.second.rejected > 0;
    }));
}

}  // namespace gateway::replay
