#include "gateway/telemetry/history/totals.hpp"

#include <numeric>

namespace gateway::telemetry {

std::uint64_t count_of(std::span<const std::uint64_t> counts)
{
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::optional<double> quantile(const duration_counts& counts, double q)
{
    const std::uint64_t all = count_of(counts);
    if (all == 0) {
        return std::nullopt;
    }
    const double rank = q * static_cast<double>(all);
    const auto& bounds = histogram::bounds_seconds;
    double below = 0;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        const auto here = static_cast<double>(counts[i]);
        if (here > 0 && below + here >= rank) {
            const double from = i == 0 ? 0 : bounds[i - 1];
            return from + (bounds[i] - from) * (rank - below) / here;
        }
        below += here;
    }
    return bounds.back();
}

}  // namespace gateway::telemetry
