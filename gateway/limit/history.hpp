// What a bucket of a sliding limit has been charged: how many tokens when, oldest first. A token
// comes back when its taking is one window old; see limit::sliding_supply.
// Twin of store/redis/sliding.lua.
#pragma once

#include "gateway/limit/moments.hpp"
#include "gateway/limit/terms.hpp"

#include <cstddef>
#include <cstdint>

namespace gateway::limit {

// The moment that a token taken at `now` counts for: never sooner.
constexpr std::int64_t counted_at(const terms& t, std::int64_t now)
{
    return now + (t.part - now % t.part) % t.part;
}

class history {
public:
    // Tokens that have not come back.
    std::int64_t used() const { return used_; }

    // Of the tokens that have not come back: the moment of the n-th, from 1.
    std::int64_t taken_at(std::int64_t n) const;

    // Of the newest, or before any other.
    std::int64_t newest() const
    {
        return moments_.all().empty() ? INT64_MIN : moments_.all().back().at;
    }

    // What was taken until then has come back.
    void forget(std::int64_t until);

    // Whether more memory may be taken.
    enum class growth : bool { none, any };

    // Takes tokens at that moment, or at the newest one's if that is later. Where there is no room
    // for one more moment, the newest one moves to it: its tokens come back later, never sooner.
    void take(std::int64_t at, std::int64_t tokens, growth allowed = growth::any);

    // Gives back tokens that count from `since` or later, the oldest first.
    void give_back(std::int64_t since, std::int64_t tokens);

    // What has not come back, oldest first.
    std::span<const token_moment> moments() const { return moments_.all(); }

    // Moments that it keeps.
    std::size_t size() const { return moments_.all().size(); }

    // Moments for which it has memory of its own.
    std::size_t own_room() const { return moments_.own_room(); }

private:
    // In the order of time.
    moment_queue moments_;
    std::int64_t used_ = 0;
};

static_assert(sizeof(history) == 64, "one line of the cache");

}  // namespace gateway::limit
