#include "gateway/replay/arrivals.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace gateway::replay {

void arrivals::add(const base::hash128& bucket, base::duration at, std::int64_t cost)
{
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    auto found = indices_.find(bucket);
    if (found == indices_.end()) {
        if (indices_.size() == most_buckets_) {
            partial_ = true;
            return;
        }
        found = indices_.emplace(bucket, static_cast<std::uint32_t>(indices_.size())).first;
        counts_.push_back(0);
        tokens_.push_back(0);
    }
    if (file_ == nullptr && good_) {
        file_.reset(std::tmpfile());
        good_ = file_ != nullptr;
        first_ = at.count();
    }
    cost = std::min(cost, most);
    last_ = at.count();
    ++counts_[found->second];
    tokens_[found->second] += cost;
    ++size_;
    const arrival a{found->second, static_cast<std::uint32_t>(cost), at.count()};
    good_ = good_ && std::fwrite(&a, sizeof a, 1, file_.get()) == 1;
}

// Writes the arrivals at one bucket, in their order.
bool arrivals::copy_bucket(std::uint32_t bucket, std::FILE* into)
{
    bool good = true;
    for_each([&](const arrival& a) {
        good = good && (a.bucket != bucket || std::fwrite(&a, sizeof a, 1, into) == 1);
    });
    return good;
}

// Writes the arrivals at the buckets from `from` up to but without `to`, sorted.
bool arrivals::sort_part(std::uint32_t from, std::uint32_t to, std::FILE* into)
{
    std::vector<std::size_t> next(to - from);
    std::size_t all = 0;
    for (std::uint32_t b = from; b < to; ++b) {
        next[b - from] = all;
        all += counts_[b];
    }
    std::vector<arrival> sorted(all);
    for_each([&](const arrival& a) {
        if (a.bucket >= from && a.bucket < to) {
            sorted[next[a.bucket - from]++] = a;
        }
    });
    return std::fwrite(sorted.data(), sizeof(arrival), all, into) == all;
}

bool arrivals::sort()
{
    indices_.clear();
    if (size_ == 0) {
        return true;
    }
    file sorted{std::tmpfile()};
    good_ = good_ && sorted != nullptr && std::fflush(file_.get()) == 0;
    std::uint32_t from = 0;
    const auto buckets = static_cast<std::uint32_t>(counts_.size());
    while (good_ && from < buckets) {
        std::uint32_t to = from;
        std::size_t all = 0;
        // One bucket alone may have more than fit.
        while (to < buckets && (to == from || all + counts_[to] <= most_in_memory)) {
            all += counts_[to++];
        }
        good_ =
            to == from + 1 ? copy_bucket(from, sorted.get()) : sort_part(from, to, sorted.get());
        from = to;
    }
    good_ = good_ && std::fflush(sorted.get()) == 0;
    file_ = std::move(sorted);
    return good_;
}

std::int64_t arrivals::most_tokens() const
{
    return tokens_.empty() ? 0 : *std::max_element(tokens_.begin(), tokens_.end());
}

}  // namespace gateway::replay
