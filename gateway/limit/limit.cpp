#include "gateway/limit/limit.hpp"

#include <utility>

namespace gateway::limit {

namespace {

using wide = __int128;

// Returns the tokens of part `i` of `n`. The first parts get what cannot be divided.
std::int64_t part(std::int64_t tokens, std::int64_t i, std::int64_t n)
{
    return tokens / n + (i < tokens % n ? 1 : 0);
}

}  // namespace

limit::limit(any_numbers numbers) : numbers_(std::move(numbers))
{
    std::visit(
        [this](const auto& n) {
            nanoseconds_ = n.in_ticks(base::duration{1});
            microseconds_ = n.in_ticks(std::chrono::microseconds{1});
        },
        numbers_
    );
}

std::optional<limit> limit::split(std::int64_t n) const
{
    std::vector<limit> parts;
    for (std::int64_t i = 0; i < n; ++i) {
        const auto one = scaled(
            {.burst = part(burst(), i, n), .count = part(window_count(), i, n), .times = n, .by = 1}
        );
        if (!one || counts_in_flight()) {
            return std::nullopt;
        }
        parts.push_back(*one);
    }
    limit made = *this;
    made.parts_ = std::make_shared<const std::vector<limit>>(std::move(parts));
    return made;
}

std::optional<limit> limit::shared_out(std::int64_t n, std::int64_t m) const
{
    const auto of = [n, m](std::int64_t tokens) {
        return static_cast<std::int64_t>(static_cast<wide>(tokens) * n / m);
    };
    const auto one =
        scaled({.burst = of(burst()), .count = of(window_count()), .times = m, .by = n});
    if (!one) {
        return std::nullopt;
    }
    limit made = *this;
    made.share_ = std::make_shared<const limit>(*one);
    return made;
}

std::optional<limit> limit::at_rate(std::int64_t tokens, base::duration period) const
{
    return std::visit(
        [tokens, period](const auto& n) { return of(n.at_rate(tokens, period)); }, numbers_
    );
}

std::optional<limit> limit::scaled(const smaller& to) const
{
    if (to.burst < 1) {
        return std::nullopt;
    }
    return std::visit([&to](const auto& n) { return of(n.scaled(to)); }, numbers_);
}

}  // namespace gateway::limit
