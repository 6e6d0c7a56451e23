#include "gateway/proxy/servers/balance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gateway::proxy {

namespace {

constexpr std::size_t nobody = static_cast<std::size_t>(-1);

std::uint64_t sum_of(weights all)
{
    return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

// Returns the server in whose part of the line of all weights, without `left_out`, the point is.
std::size_t server_at(weights all, std::uint64_t total, std::uint64_t random, std::size_t left_out)
{
    std::uint64_t point = (total * (random & 0xffffffffU)) >> 32U;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i == left_out) {
            continue;
        }
        if (point < all[i]) {
            return i;
        }
        point -= all[i];
    }
    return nobody;
}

}  // namespace

std::uint32_t weight_after(std::uint32_t configured, base::duration back, base::duration slow_start)
{
    const std::uint32_t whole = configured * weight_unit;
    if (back >= slow_start || back < base::duration{0}) {
        return whole;
    }
    const double part = static_cast<double>(back.count()) / static_cast<double>(slow_start.count());
    return std::max(static_cast<std::uint32_t>(whole * part), whole / 10);
}

std::optional<pair_of_servers> draw_two(weights all, std::uint64_t random)
{
    const std::uint64_t total = sum_of(all);
    if (total == 0) {
        return std::nullopt;
    }
    const std::size_t first = server_at(all, total, random, nobody);
    const std::uint64_t others = total - all[first];
    if (others == 0) {
        return pair_of_servers{first, first};
    }
    return pair_of_servers{first, server_at(all, others, random >> 32U, first)};
}

std::optional<std::size_t> turns::next(weights all)
{
    std::size_t richest = nobody;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i] == 0) {
            continue;
        }
        credit_[i] += all[i];
        if (richest == nobody || credit_[i] > credit_[richest]) {
            richest = i;
        }
    }
    if (richest == nobody) {
        return std::nullopt;
    }
    credit_[richest] -= static_cast<std::int64_t>(sum_of(all));
    return richest;
}

std::optional<std::size_t> by_key(
    weights all, std::span<const std::uint64_t> seeds, std::uint64_t key
)
{
    std::size_t best = nobody;
    double best_score = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i] == 0) {
            continue;
        }
        // The number is uniform in (0, 1), neither end included: 52 bits and a half.
        const auto bits = static_cast<double>(mixed(seeds[i] ^ key) >> 12U);
        const double score = all[i] / -std::log((bits + 0.5) * 0x1p-52);
        if (best == nobody || score > best_score) {
            best = i;
            best_score = score;
        }
    }
    if (best == nobody) {
        return std::nullopt;
    }
    return best;
}

std::uint64_t key_of(const base::ip_address& client)
{
    std::uint64_t key = 0;
    for (const std::uint8_t byte : client.network_order()) {
        key = mixed(key ^ byte);
    }
    return key;
}

std::uint64_t mixed(std::uint64_t x)
{
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31U);
}

}  // namespace gateway::proxy
