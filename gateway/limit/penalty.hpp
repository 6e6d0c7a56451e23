// Bans: who is rejected too often is rejected altogether for a while, and for twice as long each
// next time. Twin of store/redis/penalty.lua.
#pragma once

#include "gateway/base/clock.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gateway::limit {

struct penalty {
    // So many rejections, 1 to most_rejections; 0: none bans.
    std::int64_t after = 0;
    // In this time.
    base::duration within{0};
    // How long the first ban is.
    base::duration ban{0};
    // The longest one; and so long after a ban the next is twice as long.
    base::duration max_ban{0};

    static constexpr std::int64_t most_rejections = 1000;
    static constexpr base::duration longest = std::chrono::hours{24 * 365};

    bool any() const { return after > 0; }

    bool operator==(const penalty&) const = default;
};

// What is known of one bucket's rejections, in nanoseconds of some clock.
class offences {
public:
    bool banned(std::int64_t now) const { return now < banned_until_; }

    std::int64_t banned_until() const { return banned_until_; }

    // One more rejection, of a bucket that is not banned.
    void rejected(const penalty& p, std::int64_t now)
    {
        std::erase_if(rejections_, [&](std::int64_t at) { return at <= now - p.within.count(); });
        rejections_.push_back(now);
        forgotten_at_ = std::max(forgotten_at_, now + p.within.count());
        if (std::ssize(rejections_) >= p.after) {
            const bool again = length_ > 0 && now <= banned_until_ + p.max_ban.count();
            ban(again ? std::min(2 * length_, p.max_ban.count()) : p.ban.count(), p, now);
        }
    }

    // For so long from now on, whatever there was.
    void ban(std::int64_t length, const penalty& p, std::int64_t now)
    {
        rejections_.clear();
        length_ = length;
        banned_until_ = now + length;
        forgotten_at_ = banned_until_ + p.max_ban.count();
    }

    // From when on it is as good as never seen.
    std::int64_t forgotten_at() const { return forgotten_at_; }

private:
    // Those that a ban may count, oldest first.
    std::vector<std::int64_t> rejections_;
    std::int64_t banned_until_ = 0;
    // Of the last ban; 0: there was none.
    std::int64_t length_ = 0;
    std::int64_t forgotten_at_ = 0;
};

}  // namespace gateway::limit
