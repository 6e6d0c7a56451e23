#include "gateway/limit/windows.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gateway::limit {

namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b)
{
    return a / b - (a % b < 0 ? 1 : 0);
}

// Mixes a number into the hash as FNV-1a does (draft-eastlake-fnv), a whole number at a time.
std::uint64_t mixed(std::uint64_t hash, std::int64_t number)
{
    hash = (hash ^ static_cast<std::uint64_t>(number)) * 0x100000001b3;
    return hash ^ (hash >> 32);
}

// Includes all dates in the hash, as some calendars differ only in when windows begin in summer.
std::int64_t id_of(
    std::int64_t count, std::int64_t length, std::int64_t alignment, const calendar* dates
)
{
    std::uint64_t hash = mixed(0xcbf29ce484222325, count);
    hash = mixed(mixed(hash, length), alignment);
    if (dates != nullptr) {
        hash = std::accumulate(dates->begins.begin(), dates->begins.end(), hash, mixed);
    }
    return static_cast<std::int64_t>(hash % (1U << windows::id_bits));
}

std::int64_t most_owed_in(std::int64_t steps, std::int64_t count)
{
    const __int128 tokens = static_cast<__int128>(steps) * count;
    return static_cast<std::int64_t>(std::min<__int128>(tokens, windows::most_tokens));
}

}  // namespace

windows::windows(
    std::int64_t count,
    std::int64_t length,
    std::int64_t ticks_per_second,
    bool aligned,
    std::shared_ptr<const calendar> dates
)
    : count_(count),
      length_(length),
      ticks_per_second_(ticks_per_second),
      aligned_(aligned),
      dates_(std::move(dates)),
      period_(length),
      id_(id_of(count, length, aligned ? aligned_windows : offset_windows, dates_.get())),
      most_owed_(most_owed_in(longest * ticks_per_second / length, count))
{}

windows windows::spread(std::int64_t count, std::int64_t period, std::int64_t ticks_per_second)
{
    windows made{1, period / count, ticks_per_second, true};
    made.period_ = period;
    made.in_period_ = count;
    made.id_ = id_of(count, period, spread_windows, nullptr);
    return made;
}

// Extends the calendar: windows before its first beginning and after its last one are usual ones.
std::int64_t windows::calendar_index(std::int64_t at) const
{
    const auto last = static_cast<std::int64_t>(dates_->begins.size());
    const std::int64_t from_first = at - calendar_begin(1);
    const std::int64_t from_last = at - calendar_begin(last);
    return from_first < 0   ? 1 + floor_div(from_first, length_)
           : from_last >= 0 ? last + from_last / length_
                            : dates_->index(floor_div(at, ticks_per_second_));
}

std::int64_t windows::calendar_begin(std::int64_t index) const
{
    const auto last = static_cast<std::int64_t>(dates_->begins.size());
    const std::int64_t known = std::clamp<std::int64_t>(index, 1, last);
    return dates_->begin(known) * ticks_per_second_ + (index - known) * length_;
}

// Window k of a period is the last that begins by the moment r of it: k * period / in_period <= r.
std::int64_t windows::index(std::int64_t at) const
{
    if (dates_ != nullptr) {
        return calendar_index(at);
    }
    const std::int64_t periods = floor_div(at, period_);
    if (in_period_ == 1) {
        return periods;
    }
    return periods * in_period_ + (at - periods * period_) * in_period_ / period_;
}

std::int64_t windows::begin(std::int64_t index) const
{
    if (dates_ != nullptr) {
        return calendar_begin(index);
    }
    if (in_period_ == 1) {
        return index * period_;
    }
    const std::int64_t periods = floor_div(index, in_period_);
    const std::int64_t within = (index - periods * in_period_) * period_;
    return periods * period_ + (within + in_period_ - 1) / in_period_;
}

// Appends one window more on each side, as the store's clock may differ from the gateway's by that
// much.
void windows::append_numbers(std::vector<std::int64_t>& to, std::int64_t capacity, std::int64_t now)
    const
{
    if (in_period_ > 1) {
        to.insert(to.end(), {in_period_, period_, spread_windows, id_});
        return;
    }
    to.insert(
        to.end(),
        {count_, dates_ == nullptr ? length_ : 0, aligned_ ? aligned_windows : offset_windows, id_}
    );
    if (dates_ == nullptr) {
        return;
    }
    const auto last = static_cast<std::int64_t>(dates_->begins.size());
    const std::int64_t present = index(now);
    const std::int64_t from = std::clamp<std::int64_t>(present - 1, 1, last);
    const std::int64_t until =
        std::clamp<std::int64_t>(present + 2 + (capacity + count_ - 1) / count_, from, last);
    to.push_back(until - from + 1);
    for (std::int64_t i = from; i <= until; ++i) {
        to.push_back(dates_->begin(i));
    }
}

bool windows::operator==(const windows& other) const
{
    const bool same_dates =
        dates_ == other.dates_ ||
        (dates_ != nullptr && other.dates_ != nullptr && *dates_ == *other.dates_);
    return count_ == other.count_ && length_ == other.length_ && aligned_ == other.aligned_ &&
           period_ == other.period_ && in_period_ == other.in_period_ && same_dates;
}

}  // namespace gateway::limit
