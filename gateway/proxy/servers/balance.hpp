// Three pure ways to choose one of several servers by weight. A weight of zero means that a server
// is not to be chosen; with nothing but zeros there is none to choose.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/base/ip_address.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gateway::proxy {

using weights = std::span<const std::uint32_t>;

// The weight that stands for a configured weight of one: steps as fine as a slow start needs.
inline constexpr std::uint32_t weight_unit = 256;

// Returns the weight of a server that has been back for `back`. It grows from a tenth to all of it,
// in a straight line over `slow_start`.
std::uint32_t weight_after(
    std::uint32_t configured, base::duration back, base::duration slow_start
);

// Two servers drawn by weight, which differ where there are two.
struct pair_of_servers {
    std::size_t first;
    std::size_t second;
};

// Requires: 64 good bits in `random`.
std::optional<pair_of_servers> draw_two(weights all, std::uint64_t random);

// Chooses by the power of two choices (Mitzenmacher 2001): of two servers drawn, the one with fewer
// requests for its weight; the first if they are equal, so that idle servers are used by weight.
template <typename Requests>
std::optional<std::size_t> least_requests(weights all, std::uint64_t random, Requests requests_at)
{
    const auto two = draw_two(all, random);
    if (!two) {
        return std::nullopt;
    }
    const std::uint64_t first = std::uint64_t{requests_at(two->first)} * all[two->second];
    const std::uint64_t second = std::uint64_t{requests_at(two->second)} * all[two->first];
    return second < first ? two->second : two->first;
}

// `turns` chooses servers in turn, evenly spread: with weights 2 and 1, a b a a b a. Each server
// gains its weight every time, and the richest is chosen and pays for all.
class turns {
public:
    explicit turns(std::size_t servers) : credit_(servers) {}

    std::optional<std::size_t> next(weights all);

private:
    std::vector<std::int64_t> credit_;
};

// Chooses by rendezvous hashing with weights (Thaler, Ravishankar 1998; Schindelhauer, Schomaker
// 2005): every server draws a number from its own seed and the key, and the best one wins. A server
// that comes or goes moves only the keys that it wins or had.
std::optional<std::size_t> by_key(
    weights all, std::span<const std::uint64_t> seeds, std::uint64_t key
);

std::uint64_t key_of(const base::ip_address& client);

// Returns bits that follow from `x` alone and look random (Steele, Lea, Flood 2014: SplitMix64).
std::uint64_t mixed(std::uint64_t x);

}  // namespace gateway::proxy
