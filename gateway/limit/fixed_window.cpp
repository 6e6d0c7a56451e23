#include "gateway/limit/fixed_window.hpp"

namespace gateway::limit {

namespace {

constexpr base::duration longest_refill = std::chrono::seconds{windows::longest};

}  // namespace

terms window_terms(const windows& w, std::int64_t burst)
{
    return {.interval = 1, .burst = burst, .issued_in = &w, .how = supply_kind::fixed_window};
}

void append_window_numbers(
    const windows& w, std::int64_t burst, std::vector<std::int64_t>& to, base::duration now
)
{
    to.insert(to.end(), {windows_code, burst});
    w.append_numbers(to, burst, now / std::chrono::microseconds{1});
}

std::optional<fixed_window_numbers> fixed_window_numbers::make(const window_options& options)
{
    using std::chrono::microseconds;
    const auto& [count, length, aligned, dates, capacity] = options;
    if (count < 1 || capacity < 1 || count > windows::most_tokens ||
        capacity > windows::most_tokens || length / microseconds{1} < count) {
        return std::nullopt;
    }
    const __int128 refill =
        static_cast<__int128>(length.count()) * ((capacity + count - 1) / count);
    if (refill > longest_refill.count()) {
        return std::nullopt;
    }
    return fixed_window_numbers{
        {{count, length.count(), 1'000'000'000, aligned, dates},
         {count, length / microseconds{1}, 1'000'000, aligned, dates}},
        capacity};
}

std::optional<fixed_window_numbers> fixed_window_numbers::scaled(const smaller& to) const
{
    if (to.count < 1) {
        return std::nullopt;
    }
    const fixed_window_numbers made{
        {both_->nanoseconds.issuing(to.count), both_->microseconds.issuing(to.count)}, to.burst};
    return made.refill() <= longest_refill ? std::optional{made} : std::nullopt;
}

base::duration fixed_window_numbers::refill() const
{
    const windows& w = both_->nanoseconds;
    return base::duration{(capacity_ + w.count() - 1) / w.count() * w.length()};
}

}  // namespace gateway::limit
