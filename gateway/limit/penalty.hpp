// `penalty` and `offences` ban a client: too many rejections reject the client altogether for a
// while, and twice as long each next time. An operator may ban any bucket. Twin of
// store/redis/penalty.lua and store/redis/bans.lua.
#pragma once

#include "gateway/base/clock.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace gateway::limit {

struct penalty {
    // Number of rejections that cause a ban, 1 to most_rejections. 0: rejections cause none.
    std::int64_t after = 0;
    // Time within which those rejections happen.
    base::duration within{0};
    // Length of the first ban.
    base::duration ban{0};
    // Longest ban. A ban that begins less than this time after the end of another is twice as
    // long as that one.
    base::duration max_ban{0};

    static constexpr std::int64_t most_rejections = 1000;
    static constexpr base::duration longest = std::chrono::hours{24 * 365};

    bool any() const { return after > 0; }

    bool operator==(const penalty&) const = default;
};

// `offences` records one bucket's rejections and bans, in nanoseconds of some clock.
class offences {
public:
    struct record {
        // Moments of the rejections that a ban may count, oldest first.
        std::vector<std::int64_t> rejections;
        std::int64_t banned_until = 0;
        // True if an operator gave the last ban, which also holds under a limit without a penalty.
        bool by_operator = false;
        // Length of the last ban. 0: there was none.
        std::int64_t length = 0;
        // Moment from which the record is as good as never seen.
        std::int64_t forgotten_at = 0;
    };

    offences() = default;

    explicit offences(record r) : of_(std::move(r)) {}

    const record& kept() const { return of_; }

    bool banned(std::int64_t now) const { return now < of_.banned_until; }

    // True if the ban holds under a limit with that penalty. Null: the limit has no penalty.
    bool banned_under(const penalty* p, std::int64_t now) const
    {
        return banned(now) && (p != nullptr || of_.by_operator);
    }

    bool by_operator() const { return of_.by_operator; }

    std::int64_t banned_until() const { return of_.banned_until; }

    // Records one more rejection of a bucket that is not banned, and bans it if that was one too
    // many.
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

    // Bans the bucket on behalf of an operator, from now on for `length`, whatever there was
    // before. A length of 0 ends its ban. `p` is null if the limit has no penalty.
    void ban_by_operator(std::int64_t length, const penalty* p, std::int64_t now)
    {
        ban(length, p == nullptr ? penalty{} : *p, now);
        of_.by_operator = true;
    }

    std::int64_t forgotten_at() const { return of_.forgotten_at; }

    // Returns the same record on a clock that is `by` ahead.
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
