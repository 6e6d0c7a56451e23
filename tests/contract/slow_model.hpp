// What limits mean, as plainly as it can be written, for any clock: the rules of docs and contract
// without the representation that makes them fast. Every store is held to it by schedule_test.cpp.
#pragma once

#include "tests/contract/spec.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace gateway::store::testing {

class slow_model {
public:
    // `tick`: the store's. `shared`: many gateways use the store. `offset`: of the windows, not
    // aligned, of a bucket, when they are so many ticks long.
    slow_model(
        base::duration tick,
        bool shared,
        std::function<std::int64_t(int bucket, std::int64_t length)> offset
    )
        : tick_(tick.count()), shared_(shared), offset_(std::move(offset))
    {}

    // In ticks; `to_unix` is what makes the store's clock Unix time.
    void set_clock(std::int64_t now, std::int64_t to_unix)
    {
        now_ = now;
        to_unix_ = to_unix;
    }

    verdict take(std::span<const wish> wishes)
    {
        verdict v;
        std::map<int, question_state> before;
        for (const wish& w : wishes) {
            follow(w.bucket, *w.limit);
            before[w.bucket] = {.debt = debt_of(w.bucket, *w.limit)};
        }
        auto after = before;
        for (const wish& w : wishes) {
            v.all.push_back(judge(w, after[w.bucket]));
            v.admitted = v.admitted && (v.all.back().allowed || !w.enforced);
        }
        if (v.admitted) {
            count_later(wishes, v, after);
        }
        for (std::size_t i = 0; i < wishes.size(); ++i) {
            const wish& w = wishes[i];
            if (v.all[i].allowed && !v.admitted) {
                const std::int64_t debt = before[w.bucket].debt;
                v.all[i] = {true, false, left(*w.limit, debt), 0, time_of(w, debt)};
            } else if (v.all[i].allowed && (w.cost > 0 || notes_windows(w))) {
                write(w, after[w.bucket]);
            }
        }
        return v;
    }

    // `held`: ticks since it was taken; `owed_before`: then, in units of the limit.
    void refund(const wish& w, std::int64_t held, std::int64_t owed_before)
    {
        if (owes_in_other_terms(w)) {
            return;  // what flowed back meanwhile, at which rate, is not known
        }
        const bool follows = same_supply(buckets_[w.bucket].under, *w.limit) &&
                             !is_of_a_later_window(w.bucket, buckets_[w.bucket]) &&
                             !is_ahead(*w.limit, buckets_[w.bucket]);
        if (!follows && !shared_) {
            return;
        }
        follow(w.bucket, *w.limit);
        account& b = buckets_[w.bucket];
        if (kind_of(*w.limit) == spec::kind::concurrency) {
            b.permits.erase(w.permit);
        } else if (!follows) {
            // As above, but it is written under the present limit.
        } else if (kind_of(*w.limit) == spec::kind::sliding) {
            const std::int64_t length = ticks(w.limit->period);
            if (shared_) {
                // A correction may come so much later than its question was decided.
                held += std::min(ticks(std::chrono::seconds{1}), length / 8);
            }
            if (shared_ || held < length) {
                give_back_stamps(b, now_ - held, w.cost);
            }
        } else {
            const std::int64_t debt = debt_of(w.bucket, *w.limit);
            if (w.max_wait > 0 && others_wait(w, debt, held, owed_before)) {
                write(w, {.debt = debt});
                return;
            }
            const std::int64_t lost =
                std::max<std::int64_t>(issued_in_last(w, held) - owed_before, 0);
            const std::int64_t unit = unit_of(*w.limit);
            const std::int64_t tokens = std::min(w.cost, up(debt + lost, unit));
            const std::int64_t given = std::clamp<std::int64_t>(tokens * unit - lost, 0, debt);
            write(w, {.debt = debt - given});
        }
    }

    // Whatever it holds.
    void charge(const wish& asked, std::int64_t tokens, bool into_debt)
    {
        wish w = asked;
        if (owes_in_other_terms(w)) {
            const spec& own = *buckets_[w.bucket].under;
            if (kind_of(own) != spec::kind::token_bucket || kind_of(*w.limit) != kind_of(own)) {
                return;
            }
            spec& at_its_rate = at_own_rates_.emplace_back(own);
            at_its_rate.capacity = std::clamp<std::int64_t>(
                w.limit->capacity, 1, ticks(limit::limit::max_refill) / unit_of(own)
            );
            w.limit = &at_its_rate;
        }
        follow(w.bucket, *w.limit);
        const std::int64_t debt = debt_of(w.bucket, *w.limit);
        const std::int64_t unit = unit_of(*w.limit);
        const std::int64_t most = into_debt ? most_owed(*w.limit) : capacity(*w.limit) * unit;
        const std::int64_t room = std::max<std::int64_t>(most - debt, 0) / unit;
        write(w, {.debt = debt + std::min(tokens, room) * unit});
    }

    void reset(int bucket) { buckets_.erase(bucket); }

    // False: the place is lost.
    bool renew(const wish& w)
    {
        if (owes_in_other_terms(w)) {
            return false;
        }
        follow(w.bucket, *w.limit);
        auto& permits = buckets_[w.bucket].permits;
        const auto found = permits.find(w.permit);
        if (found != permits.end()) {
            found->second = now_ + ticks(w.limit->period);
        }
        return found != permits.end();
    }

    void ban(const wish& w, std::int64_t length)
    {
        if (shared_) {  // writes what is owed, too
            follow(w.bucket, *w.limit);
            if (paid_back(*w.limit)) {
                write(w, {.debt = debt_of(w.bucket, *w.limit)});
            }
        }
        offences_[w.bucket] = {
            .until = now_ + length, .length = length, .by_operator = length > 0, .rejections = {}};
    }

    // Follows the limit at once, not when its client comes.
    void walk(int bucket, const spec& limit)
    {
        const auto found = buckets_.find(bucket);
        if (found != buckets_.end() && found->second.under != nullptr &&
            paid_back(*found->second.under) && paid_back(limit)) {
            follow(bucket, limit);
        } else if (!shared_ && found != buckets_.end() && found->second.under != nullptr &&
                   kind_of(*found->second.under) == spec::kind::sliding &&
                   kind_of(limit) == spec::kind::sliding) {
            found->second.under = &limit;
        }
    }

    // Whether the bucket is as good as never seen.
    bool full(int bucket)
    {
        const account& b = buckets_[bucket];
        return b.under == nullptr ||
               (kind_of(*b.under) == spec::kind::sliding
                    ? b.stamps.empty() || b.stamps.back().at + ticks(b.under->period) <= now_
                : kind_of(*b.under) == spec::kind::fixed_window ? b.full_at <= now_
                                                                : tokens_owed(b) == 0);
    }

    // The limit that it owes under; null: it owes nothing.
    const spec* owes_under(int bucket) { return buckets_[bucket].under; }

    // Whether it has a history under another window than this limit's.
    bool was_sliding(int bucket, const spec& now) const
    {
        const auto found = buckets_.find(bucket);
        return found != buckets_.end() && found->second.under != nullptr &&
               kind_of(*found->second.under) == spec::kind::sliding &&
               (kind_of(now) != spec::kind::sliding ||
                (shared_ && now.period != found->second.under->period));
    }

    bool forgives(int bucket, const limit::penalty& p)
    {
        const offences& o = offences_[bucket];
        return o.until + ticks(p.max_ban) <= now_ &&
               std::all_of(o.rejections.begin(), o.rejections.end(), [&](std::int64_t at) {
                   return at + ticks(p.within) < now_;
               });
    }

    void forget_bans(int bucket) { offences_.erase(bucket); }

    // An operator's ban is over. What a penalty makes of it is as before.
    bool ended_by_hand(int bucket)
    {
        offences& o = offences_[bucket];
        return o.until <= now_ && std::exchange(o.by_operator, false);
    }

    // Whole tokens.
    std::int64_t owes(int bucket)
    {
        const account& b = buckets_[bucket];
        return b.under == nullptr ? 0 : tokens_owed(b);
    }

private:
    using wide = __int128;

    struct stamp {
        std::int64_t at;
        std::int64_t tokens;
    };

    struct account {
        // Null: it owes nothing.
        const spec* under = nullptr;
        // What it owed when it was written: units of a token bucket, or tokens of windows.
        std::int64_t owed = 0;
        // When that was; and the number of the window.
        std::int64_t at = 0;
        std::int64_t window = 0;
        std::int64_t full_at = 0;
        // A clock that stepped back makes nobody owe more.
        std::int64_t most = 0;
        std::vector<stamp> stamps;
        std::map<std::int64_t, std::int64_t> permits;
    };

    struct offences {
        std::int64_t until = 0;
        std::int64_t length = 0;
        // An operator gave the last ban.
        bool by_operator = false;
        std::vector<std::int64_t> rejections;
    };

    // Of a bucket while a question is decided.
    struct question_state {
        std::int64_t debt = 0;
        std::int64_t wait = 0;
    };

    std::int64_t tick_;
    bool shared_;
    std::function<std::int64_t(int, std::int64_t)> offset_;
    std::int64_t now_ = 0;
    std::int64_t to_unix_ = 0;
    std::map<int, account> buckets_;
    // Limits of token buckets, with the capacity of others.
    std::deque<spec> at_own_rates_;
    std::map<int, offences> offences_;

    static std::int64_t up(wide a, wide b) { return static_cast<std::int64_t>((a + b - 1) / b); }

    std::int64_t ticks(base::duration d) const { return d.count() / tick_; }

    // In a shared store, whose ticks are coarse, a token bucket whose tokens take no whole number
    // of ticks has them come when they are due, rounded up to a tick.
    bool is_spread(const spec& s) const
    {
        const wide period = ticks(s.period);
        return shared_ && s.what == spec::kind::token_bucket && s.count <= period &&
               up(period, s.count) * wide{s.count} * 1000 > period * 1001;
    }

    // Returns the kind that it counts as: tokens that are due are windows of one.
    spec::kind kind_of(const spec& s) const
    {
        return is_spread(s) ? spec::kind::fixed_window : s.what;
    }

    std::int64_t window_count(const spec& s) const { return is_spread(s) ? 1 : s.count; }

    // Tokens that are due in each period.
    struct due {
        wide count;
        wide period;
    };

    due due_of(const spec& s) const
    {
        constexpr wide longest = 10'000'000;
        const wide period = ticks(s.period);
        return period <= longest ? due{s.count, period} : due{s.count * longest / period, longest};
    }

    bool paid_back(const spec& s) const
    {
        return kind_of(s) == spec::kind::token_bucket || kind_of(s) == spec::kind::fixed_window;
    }

    // Of a token. A token bucket counts in ticks, of which a token takes so many.
    std::int64_t unit_of(const spec& s) const
    {
        return kind_of(s) == spec::kind::token_bucket
                   ? up(s.period.count(), static_cast<wide>(s.count) * tick_)
                   : 1;
    }

    std::int64_t capacity(const spec& s) const
    {
        return kind_of(s) == spec::kind::sliding ? s.count : s.capacity;
    }

    std::int64_t most_owed(const spec& s) const
    {
        constexpr wide tokens = (wide{1} << 40) - 1;
        const std::int64_t century = ticks(limit::limit::max_refill);
        return kind_of(s) == spec::kind::token_bucket ? century
               : kind_of(s) == spec::kind::fixed_window
                   ? static_cast<std::int64_t>(
                         std::min<wide>(wide{century / window_length(s)} * window_count(s), tokens)
                     )
                   : static_cast<std::int64_t>(tokens);
    }

    bool same_supply(const spec* a, const spec& b) const
    {
        return a != nullptr && kind_of(*a) == kind_of(b) &&
               (kind_of(*a) != spec::kind::token_bucket || unit_of(*a) == unit_of(b)) &&
               (kind_of(*a) != spec::kind::fixed_window ||
                (a->count == b.count && a->period == b.period && a->aligned == b.aligned &&
                 a->dates == b.dates));
    }

    // Windows.

    std::int64_t window_length(const spec& s) const
    {
        return is_spread(s) ? static_cast<std::int64_t>(due_of(s).period / due_of(s).count)
                            : ticks(s.period);
    }

    std::int64_t shift(int bucket, const spec& s) const
    {
        return s.aligned || is_spread(s) ? to_unix_ : offset_(bucket, ticks(s.period));
    }

    std::int64_t window_at(int bucket, const spec& s, std::int64_t at) const
    {
        const std::int64_t seen = at + shift(bucket, s);
        if (is_spread(s)) {
            return static_cast<std::int64_t>(seen * due_of(s).count / due_of(s).period);
        }
        if (s.dates == nullptr) {
            const std::int64_t length = ticks(s.period);
            return seen / length - (seen % length < 0 ? 1 : 0);
        }
        const std::int64_t second = seen / ticks(std::chrono::seconds{1});
        const auto& begins = s.dates->begins;
        return std::upper_bound(begins.begin(), begins.end(), second) - begins.begin() - 1;
    }

    std::int64_t begin_of(int bucket, const spec& s, std::int64_t window) const
    {
        const std::int64_t begin = is_spread(s) ? up(window * due_of(s).period, due_of(s).count)
                                   : s.dates == nullptr
                                       ? window * ticks(s.period)
                                       : s.dates->begins.at(static_cast<std::size_t>(window)) *
                                             ticks(std::chrono::seconds{1});
        return begin - shift(bucket, s);
    }

    // Whether an allowed question writes what is owed in the present window, though it takes
    // nothing.
    bool notes_windows(const wish& w) const
    {
        return !shared_ && kind_of(*w.limit) == spec::kind::fixed_window;
    }

    // What buckets owe.

    std::int64_t units_owed(const account& b) const
    {
        return std::clamp<std::int64_t>(b.owed - (now_ - b.at), 0, b.most);
    }

    std::int64_t tokens_in_windows(int name, const account& b) const
    {
        const std::int64_t passed = window_at(name, *b.under, now_) - b.window;
        const wide issued = wide{std::max<std::int64_t>(passed, 0)} * window_count(*b.under);
        return static_cast<std::int64_t>(std::max<wide>(b.owed - issued, 0));
    }

    static std::int64_t sum(const std::vector<stamp>& stamps)
    {
        std::int64_t all = 0;
        for (const stamp& s : stamps) {
            all += s.tokens;
        }
        return all;
    }

    // Whole tokens, for a limit of another kind. What a window has brought since is not seen.
    std::int64_t tokens_owed(const account& b) const
    {
        switch (kind_of(*b.under)) {
            case spec::kind::token_bucket:
                return up(units_owed(b), unit_of(*b.under));
            case spec::kind::fixed_window:
                return b.full_at <= now_ ? 0 : b.owed;
            case spec::kind::sliding:
                return sum(b.stamps);
            case spec::kind::concurrency:
                break;
        }
        return std::count_if(b.permits.begin(), b.permits.end(), [this](const auto& p) {
            return p.second > now_;
        });
    }

    std::int64_t debt_of(int name, const spec& s)
    {
        const account& b = buckets_[name];
        if (b.under == nullptr) {
            return 0;
        }
        return kind_of(s) == spec::kind::token_bucket   ? units_owed(b)
               : kind_of(s) == spec::kind::fixed_window ? tokens_in_windows(name, b)
               : kind_of(s) == spec::kind::sliding      ? sum(b.stamps)
                                                   : static_cast<std::int64_t>(b.permits.size());
    }

    // A correction for a request of before a reload.
    bool owes_in_other_terms(const wish& w)
    {
        const spec* const own = buckets_[w.bucket].under;
        return !full(w.bucket) &&
               (!same_supply(own, *w.limit) ||
                (kind_of(*own) == spec::kind::sliding && own->period != w.limit->period));
    }

    // A shared store's clock has stepped back by more than a window.
    bool is_of_a_later_window(int name, const account& b) const
    {
        return shared_ && b.under != nullptr && kind_of(*b.under) == spec::kind::fixed_window &&
               b.owed > 0 && b.window - window_at(name, *b.under, now_) > 1;
    }

    // It has stepped back by more than any request waits.
    bool is_ahead(const spec& s, const account& b) const
    {
        const std::int64_t part = s.parts == 0 ? 1 : up(ticks(s.period), s.parts);
        const std::int64_t most = now_ + ticks(std::chrono::minutes{10}) + part;
        return shared_ && !b.stamps.empty() && b.stamps.back().at > most;
    }

    // What is owed is owed under these numbers from now on.
    void follow(int name, const spec& s)
    {
        account& b = buckets_[name];
        if (b.under == nullptr) {
            // Fresh.
        } else if (!same_supply(b.under, s)) {
            const account old = std::exchange(b, {});
            const bool by_rate = kind_of(*old.under) == spec::kind::token_bucket &&
                                 kind_of(s) == spec::kind::token_bucket;
            const wide from = by_rate ? unit_of(*old.under) : 1;
            const wide owed = by_rate ? units_owed(old) : tokens_owed(old);
            const wide debt = (owed * unit_of(s) + from - 1) / from;
            if (debt > 0 && kind_of(s) != spec::kind::concurrency) {
                const auto most = static_cast<std::int64_t>(std::min<wide>(debt, most_owed(s)));
                write({.bucket = name, .limit = &s}, {.debt = most});
            }
        } else if (is_of_a_later_window(name, b)) {
            write({.bucket = name, .limit = &s}, {.debt = b.owed});
        } else if (kind_of(s) == spec::kind::sliding) {
            std::erase_if(b.stamps, [&](const stamp& x) { return x.at + ticks(s.period) <= now_; });
            if (is_ahead(s, b)) {
                b.stamps = {{counted_at(s, now_), sum(b.stamps)}};
            }
        } else if (kind_of(s) == spec::kind::concurrency && shared_) {
            std::erase_if(b.permits, [this](const auto& p) { return p.second <= now_; });
        }
        b.under = &s;
    }

    void write(const wish& w, const question_state& q)
    {
        account& b = buckets_[w.bucket];
        const spec& s = *w.limit;
        b.under = &s;
        if (kind_of(s) == spec::kind::concurrency) {
            b.permits[w.permit] = shared_ ? now_ + ticks(s.period) : INT64_MAX;
        } else if (kind_of(s) == spec::kind::sliding) {
            const std::int64_t newest = b.stamps.empty() ? INT64_MIN : b.stamps.back().at;
            const std::int64_t at = std::max(newest, counted_at(s, now_ + q.wait));
            const std::int64_t more = q.debt - sum(b.stamps);
            if (more > 0) {
                b.stamps.push_back({at, more});
            }
        } else {
            b.owed = q.debt;
            b.at = now_;
            b.most = std::max(q.debt, unit_of(s) * capacity(s));
            if (kind_of(s) == spec::kind::fixed_window) {
                b.window = window_at(w.bucket, s, now_);
                b.full_at = now_ + time_of(w, q.debt);
            }
        }
    }

    // A window that slides counts tokens by parts, from the end of one.
    std::int64_t counted_at(const spec& s, std::int64_t at) const
    {
        const std::int64_t part = s.parts == 0 ? 1 : up(ticks(s.period), s.parts);
        return up(at, part) * part;
    }

    void give_back_stamps(account& b, std::int64_t since, std::int64_t tokens) const
    {
        for (stamp& s : b.stamps) {
            const std::int64_t given = s.at >= since ? std::min(tokens, s.tokens) : 0;
            s.tokens -= given;
            tokens -= given;
        }
        std::erase_if(b.stamps, [](const stamp& s) { return s.tokens == 0; });
    }

    std::int64_t issued_in_last(const wish& w, std::int64_t held) const
    {
        return kind_of(*w.limit) == spec::kind::token_bucket
                   ? held
                   : (window_at(w.bucket, *w.limit, now_) -
                      window_at(w.bucket, *w.limit, now_ - held)) *
                         window_count(*w.limit);
    }

    // Requests that came behind one that gives back what it took.
    bool others_wait(const wish& w, std::int64_t debt, std::int64_t held, std::int64_t owed_before)
        const
    {
        const std::int64_t unit = unit_of(*w.limit);
        if (held >= 0) {
            return debt > capacity(*w.limit) * unit;
        }
        // When its window begins a shared store hears of later.
        const bool is_late = shared_ && kind_of(*w.limit) == spec::kind::fixed_window;
        const std::int64_t most = ticks(std::chrono::seconds{1});
        const std::int64_t late = is_late ? std::min(most, window_length(*w.limit) / 8) : 0;
        return debt + issued_in_last(w, held - late) >= owed_before + (w.cost + 1) * unit;
    }

    // Decisions.

    // What a sliding limit takes counts from when the request goes on, whichever limit it waits
    // for.
    void count_later(std::span<const wish> wishes, verdict& v, std::map<int, question_state>& after)
        const
    {
        std::int64_t wait = 0;
        for (std::size_t i = 0; i < wishes.size(); ++i) {
            wait = wishes[i].enforced ? std::max(wait, v.all[i].retry) : wait;
        }
        for (std::size_t i = 0; i < wishes.size(); ++i) {
            const spec& s = *wishes[i].limit;
            verdict::said& said = v.all[i];
            if (kind_of(s) == spec::kind::sliding && said.allowed && wishes[i].cost > 0 &&
                said.retry < wait) {
                said.retry = wait;
                said.reset =
                    std::max(said.reset, counted_at(s, now_ + wait) + ticks(s.period) - now_);
                after[wishes[i].bucket].wait = std::max(after[wishes[i].bucket].wait, wait);
            }
        }
    }

    std::int64_t left(const spec& s, std::int64_t debt) const
    {
        return std::max<std::int64_t>(capacity(s) - up(debt, unit_of(s)), 0);
    }

    // Until so many units have come back.
    std::int64_t time_of(const wish& w, std::int64_t units)
    {
        const spec& s = *w.limit;
        if (units <= 0 || kind_of(s) == spec::kind::token_bucket) {
            return std::max<std::int64_t>(units, 0);
        }
        if (kind_of(s) == spec::kind::concurrency) {
            return ticks(std::chrono::seconds{1});
        }
        if (kind_of(s) == spec::kind::fixed_window) {
            const std::int64_t window = window_at(w.bucket, s, now_) + up(units, window_count(s));
            return begin_of(w.bucket, s, window) - now_;
        }
        const auto& stamps = buckets_[w.bucket].stamps;
        std::int64_t at = counted_at(s, now_);
        std::int64_t seen = 0;
        for (const stamp& x : stamps) {
            seen += x.tokens;
            if (seen >= units) {
                return x.at + ticks(s.period) - now_;
            }
            at = std::max(at, x.at);
        }
        return at + ticks(s.period) - now_;
    }

    verdict::said judge(const wish& w, question_state& q)
    {
        const spec& s = *w.limit;
        const std::int64_t unit = unit_of(s);
        const std::int64_t full = capacity(s) * unit;
        // Owed more than this, the request does not pass.
        const std::int64_t room = full - std::min(w.cost, capacity(s)) * unit;
        const std::int64_t missing = std::max<std::int64_t>(q.debt - room, 0);
        const bool possible = w.cost <= capacity(s);
        const bool waits = possible && missing > 0 && w.max_wait > 0 &&
                           up(missing, unit) <= w.max_reserved && time_of(w, missing) <= w.max_wait;
        const bool passes = possible && (missing == 0 || waits);
        const std::int64_t retry = time_of(w, missing);
        offences& o = offences_[w.bucket];
        const bool counts = w.penalty != nullptr && w.penalty->any();
        if (!passes && counts && banned_for(o) <= 0) {
            note_rejection(o, *w.penalty);
        }
        if ((w.penalty != nullptr || o.by_operator) && banned_for(o) > 0) {
            const std::int64_t tokens_in = passes ? 0 : retry;
            return {
                false,
                true,
                left(s, q.debt),
                std::max(tokens_in, banned_for(o)),
                time_of(w, q.debt)};
        }
        if (!passes) {
            return {false, false, left(s, q.debt), retry, time_of(w, q.debt)};
        }
        if (kind_of(s) == spec::kind::fixed_window) {
            // When it is full already, nothing comes to it.
            q.debt = std::max(q.debt, up(missing, window_count(s)) * window_count(s));
        }
        q.debt += w.cost * unit;
        q.wait = std::max(q.wait, retry);
        return {true, false, left(s, q.debt), retry, full_in(w, q.debt, retry)};
    }

    // The clock of a shared store may have stepped back: then as long as it was given for.
    std::int64_t banned_for(const offences& o) const
    {
        return shared_ && !o.by_operator ? std::min(o.until - now_, o.length) : o.until - now_;
    }

    // Until all is back, some of which is of a request that waits: that counts from then on.
    std::int64_t full_in(const wish& w, std::int64_t debt, std::int64_t wait)
    {
        const spec& s = *w.limit;
        const std::int64_t time = time_of(w, debt);
        return kind_of(s) == spec::kind::sliding && wait > 0
                   ? std::max(time, counted_at(s, now_ + wait) + ticks(s.period) - now_)
                   : time;
    }

    void note_rejection(offences& o, const limit::penalty& p) const
    {
        const std::int64_t since = now_ - ticks(p.within);
        std::erase_if(o.rejections, [since](std::int64_t at) { return at <= since; });
        o.rejections.push_back(now_);
        if (std::ssize(o.rejections) >= p.after) {
            const bool again = o.length > 0 && now_ < o.until + ticks(p.max_ban);
            const std::int64_t length =
                again ? std::min(2 * o.length, ticks(p.max_ban)) : ticks(p.ban);
            o = {.until = now_ + length, .length = length, .rejections = {}};
        }
    }
};

}  // namespace gateway::store::testing
