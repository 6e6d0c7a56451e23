// Bans: who is rejected too often is rejected altogether for a while, and for twice as long each
// next time. An operator may ban any bucket. Twin of store/redis/penalty.lua and
// store/redis/bans.lua.
#pragma once

#include "gateway/base/clock.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
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
    struct record {
        // Those that a ban may count, oldest first.
        std::vector<std::int64_t> rejections;
        std::int64_t banned_until = 0;
        // An operator gave the last ban, which holds under a limit without a penalty, too.
        bool by_operator = false;
        // Of the last ban; 0: there was none.
        std::int64_t length = 0;
        // From when on it is as good as never seen.
        std::int64_t forgotten_at = 0;
    };

    offences() = default;

    explicit offences(record r) : of_(std::move(r)) {}

    const record& kept() const { return of_; }

    bool banned(std::int64_t now) const { return now < of_.banned_until; }

    // The same under a limit with that penalty; null: with none.
    bool banned_under(const penalty* p, std::int64_t now) const
    {
        return banned(now) && (p != nullptr || of_.by_operator);
    }

    bool by_operator() const { return of_.by_operator; }

    std::int64_t banned_until() const { return of_.banned_until; }

    // One more rejection, of a bucket that is not banned.
    void rejected(const penalty& p, std::int64_t now)
    {
        std::erase_if(of_.rejections, [&](std::int64_t at) {
            return at <= now - p.within.count();
        });
        of_.rejections.push_back(now);
        of_.forgotten_at = std::max(of_.forgotten_at, now + p.within.count());
        if (std::ssize(of_.rejections) >= p.after) {
            const bool again = of_.length > 0 && now < of_.banned_until + p.max_ban.count();
            ban(again ? std::min(2 * of_.length, p.max_ban.count()) : p.ban.count(), p, now);
        }
    }

    // Bans the bucket for so long from now on, whatever there was, on behalf of an operator. A
    // length of 0 ends its ban. `p`: null if the limit has no penalty.
    void ban_by_operator(std::int64_t length, const penalty* p, std::int64_t now)
    {
        ban(length, p == nullptr ? penalty{} : *p, now);
        of_.by_operator = true;
    }

    std::int64_t forgotten_at() const { return of_.forgotten_at; }

    // The same on a clock that is so much ahead.
    offences moved(std::int64_t by) const
    {
        record r = of_;
        for (std::int64_t& at : r.rejections) {
            at += by;
        }
        r.banned_until += by;
        r.forgotten_at += by;
        return offences{std::move(r)};
    }

private:
    record of_;

    void ban(std::int64_t length, const penalty& p, std::int64_t now)
    {
        of_.rejections.clear();
        of_.by_operator = false;
        of_.length = length;
        of_.banned_until = now + length;
        of_.forgotten_at = of_.banned_until + p.max_ban.count();
    }
};

}  // namespace gateway::limit
