// `history` stores what a bucket of a sliding limit has been charged: how many tokens and when,
// oldest first. A token comes back one window after it was taken, see sliding.hpp.
// Twin of store/redis/sliding.lua.
#pragma once

#include "gateway/limit/moments.hpp"
#include "gateway/limit/terms.hpp"

#include <cstddef>
#include <cstdint>

namespace gateway::limit {

// Returns the moment from which a token taken at `now` counts, rounded up to a part of the window.
// Parts begin at multiples of their length on the clock that is `shift` ahead.
// Requires: now + shift >= 0.
constexpr std::int64_t counted_at(const terms& t, std::int64_t now, std::int64_t shift)
{
    return now + (t.part - (now + shift) % t.part) % t.part;
}

class history {
public:
    // Returns the tokens that have not come back.
    std::int64_t used() const { return used_; }

    // Returns the moment at which the n-th token was taken, of those that have not come back.
    // Requires: 1 <= n <= used().
    std::int64_t taken_at(std::int64_t n) const;

    // Returns the newest moment, or INT64_MIN if there is none.
    std::int64_t newest() const
    {
        return moments_.all().empty() ? INT64_MIN : moments_.all().back().at;
    }

    // Forgets tokens taken at `until` or before, which have come back.
    void forget(std::int64_t until);

    // Says if a call may allocate memory.
    enum class growth : bool { none, any };

    // Takes tokens at that moment, or at the newest moment if that is later. If one more moment
    // needs memory and none may be allocated, the newest moment moves to `at`. Its tokens then come
    // back later, never sooner.
    void take(std::int64_t at, std::int64_t tokens, growth allowed = growth::any);

    // Refunds tokens that count from `since` or later, the oldest first.
    void refund(std::int64_t since, std::int64_t tokens);

    // Returns the moments whose tokens have not come back, oldest first.
    std::span<const token_moment> moments() const { return moments_.all(); }

    // Returns the number of moments.
    std::size_t size() const { return moments_.all().size(); }

    // Returns the number of moments that fit in memory of its own.
    std::size_t own_room() const { return moments_.own_room(); }

private:
    // Ascending in time.
    moment_queue moments_;
    std::int64_t used_ = 0;
};

static_assert(sizeof(history) == 64, "one line of the cache");

}  // namespace gateway::limit
