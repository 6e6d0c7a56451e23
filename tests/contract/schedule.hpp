// Stores beside the slow model under random schedules: requests, corrections, bans, reloads, and
// time that passes and is set. To the tick, for every kind of limit.
#pragma once

#include "tests/contract/schedule_subjects.hpp"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace gateway::store::testing {

// One schedule, for the local store and another one, which may be shared.
template <typename Other>
class schedule {
public:
    explicit schedule(std::uint64_t seed)
        : random_(seed), times_(begin()), local_(times_), other_(times_)
    {
        for (int i = 0; i < names; ++i) {
            limits_.push_back(pick(specs_of(static_cast<spec::kind>(i % 4))));
        }
    }

    void run(int steps)
    {
        for (int step = 0; step < steps && !::testing::Test::HasFatalFailure(); ++step) {
            SCOPED_TRACE("step " + std::to_string(step));
            const std::int64_t dice = below(100);
            if (dice < 60) {
                ask();
            } else if (dice < 75) {
                correct();
            } else if (dice < 94) {
                pass(some_time());
            } else if (dice < 97) {
                set_clock();
            } else {
                reload();
            }
        }
    }

    int rejections() const { return local_.rejections() + other_.rejections(); }

    int admissions() const { return local_.admissions() + other_.admissions(); }

private:
    std::mt19937_64 random_;
    times times_;
    std::vector<const spec*> limits_;
    compared<local_subject> local_;
    compared<Other> other_;
    std::int64_t places_ = 0;

    std::int64_t below(std::int64_t n)
    {
        return std::uniform_int_distribution<std::int64_t>{0, n - 1}(random_);
    }

    template <typename Values>
    typename Values::value_type pick(const Values& values)
    {
        return values[static_cast<std::size_t>(below(std::ssize(values)))];
    }

    // Around moments that have broken clocks before, and a while before a clock change.
    times begin()
    {
        return {
            pick(std::array<base::duration, 3>{
                std::chrono::hours{1},
                std::chrono::milliseconds{std::int64_t{1} << 32} - std::chrono::seconds{30},
                std::chrono::hours{24 * 400}}),
            pick(notable_moments()) + below(120) * std::chrono::seconds{1} +
                below(1'000'000) * std::chrono::microseconds{1}};
    }

    // Never long ago, so that what is near matters most.
    base::duration some_time()
    {
        const auto nudge = (below(3) - 1) * std::chrono::microseconds{1};
        switch (below(6)) {
            case 0:
                return std::max(other_.retry() + nudge, base::duration{0});
            case 1:
                return std::max(
                    std::chrono::ceil<std::chrono::microseconds>(local_.retry()) + nudge,
                    std::chrono::microseconds{0}
                );
            case 2:
                return std::max(other_.reset() + nudge, base::duration{0});
            case 3:
                return below(1000) * scale();
            case 4:
                return pick(std::array{penalty.within, penalty.ban, penalty.max_ban}) + nudge;
            default:
                return below(10) * scale();
        }
    }

    base::duration scale()
    {
        return pick(std::array<base::duration, 10>{
            std::chrono::microseconds{1},
            std::chrono::microseconds{1},
            std::chrono::milliseconds{1},
            std::chrono::milliseconds{1},
            std::chrono::milliseconds{10},
            std::chrono::seconds{1},
            std::chrono::seconds{1},
            std::chrono::seconds{10},
            std::chrono::hours{1},
            std::chrono::hours{24}});
    }

    bool in_range(base::duration unix) const
    {
        return unix > calendar_begin && unix < calendar_end;
    }

    void pass(base::duration d)
    {
        if (in_range(times_.unix + d)) {
            set({times_.monotonic + d, times_.unix + d});
        }
    }

    void set(const times& t)
    {
        times_ = t;
        local_.set_clock(t);
        other_.set_clock(t);
        const base::duration away = (below(41) - 20) * std::chrono::hours{1};
        if constexpr (Other::shared) {
            other_.subject().set_gateway_clock(away);
        }
    }

    // The wall clock is set, by a lot or a little.
    void set_clock()
    {
        const base::duration by = pick(std::array<base::duration, 8>{
                                      std::chrono::milliseconds{1},
                                      std::chrono::milliseconds{900},
                                      std::chrono::seconds{7},
                                      std::chrono::hours{1},
                                      std::chrono::hours{25},
                                      std::chrono::milliseconds{std::int64_t{1} << 32},
                                      std::chrono::hours{24 * 366},
                                      std::chrono::hours{24 * 365 * 10}}) *
                                  (below(2) == 0 ? 1 : -1);
        if (!in_range(times_.unix + by)) {
            return;
        }
        local_.sweep(limits_);
        other_.sweep(limits_);
        std::vector<std::int64_t> before;
        for (int i = 0; i < buckets; ++i) {
            before.push_back(tokens_by_the_wall_clock(i));
        }
        const base::duration was = times_.unix;
        set({times_.monotonic, times_.unix + by});
        for (int i = 0; i < buckets; ++i) {
            if (by_the_wall_clock(i)) {
                judge_windows(i, before[static_cast<std::size_t>(i)], was);
            }
        }
    }

    const spec& limit_of(int bucket) const
    {
        return *limits_[static_cast<std::size_t>(bucket / clients)];
    }

    bool by_the_wall_clock(int bucket) const
    {
        return limit_of(bucket).what == spec::kind::fixed_window && limit_of(bucket).aligned;
    }

    std::int64_t tokens_by_the_wall_clock(int bucket)
    {
        return by_the_wall_clock(bucket)
                   ? local_.look({.bucket = bucket, .limit = &limit_of(bucket), .cost = 0})
                   : 0;
    }

    // In memory the beginning of a window is read as the nearest one, so the model knows bounds
    // only: forward at most what the windows bring that have begun; back one window, as if it had
    // begun.
    void judge_windows(int bucket, std::int64_t before, base::duration was)
    {
        const spec& s = limit_of(bucket);
        const limit::limit made = s.make();
        const limit::windows& w = *made.in_nanoseconds().issued_in;
        const std::int64_t begun = w.index(times_.unix.count()) - w.index(was.count());
        const __int128 most = static_cast<__int128>(begun < 0 ? 1 : begun) * s.count + before;
        ASSERT_LE(tokens_by_the_wall_clock(bucket), most) << words_of(s);
        const wish w_reset{.bucket = bucket, .limit = &s};
        local_.reset(w_reset);
        other_.reset(w_reset);
    }

    wish some_wish(int bucket)
    {
        const spec& s = limit_of(bucket);
        wish w{.bucket = bucket, .limit = &s};
        const std::int64_t full = s.what == spec::kind::sliding ? s.count : s.capacity;
        w.cost = pick(std::array<std::int64_t, 8>{0, 1, 1, 1, 2, full, full / 2 + 1, full + 1});
        w.enforced = below(4) != 0;
        w.penalty = penalty_of(bucket);
        if (s.what == spec::kind::concurrency) {
            w.cost = std::min<std::int64_t>(w.cost, 1);
            w.permit = ++places_;
        } else if (below(4) == 0) {
            w.max_wait = pick(std::array<base::duration, 4>{
                             std::chrono::milliseconds{1},
                             std::chrono::seconds{1},
                             std::chrono::seconds{600},
                             std::chrono::seconds{7}}) /
                         std::chrono::microseconds{1};
            w.max_reserved = pick(std::array<std::int64_t, 3>{1, 2, s.count});
        }
        return w;
    }

    void ask()
    {
        std::vector<wish> wishes;
        for (std::int64_t n = below(3); n >= 0; --n) {
            wishes.push_back(some_wish(static_cast<int>(below(buckets))));
        }
        const bool lifetime = below(3) == 0;
        local_.take(wishes, lifetime);
        if (!::testing::Test::HasFatalFailure()) {
            SCOPED_TRACE("in the shared store");
            other_.take(wishes, lifetime);
        }
    }

    void correct()
    {
        const std::uint64_t any = random_();
        const wish w = some_wish(static_cast<int>(below(buckets)));
        const spec& s = *w.limit;
        switch (below(6)) {
            case 0:
            case 1:
            case 2:
                local_.refund(any, limits_);
                other_.refund(any, limits_);
                break;
            case 3:
                if (s.what != spec::kind::concurrency && s.dates == nullptr) {
                    const std::int64_t tokens = 1 + below(s.count + 3);
                    const bool into_debt = below(2) == 0;
                    local_.charge_more(w, tokens, into_debt);
                    other_.charge_more(w, tokens, into_debt);
                }
                break;
            case 4:
                if (below(2) == 0) {
                    const base::duration length = below(2) * below(20) * std::chrono::seconds{1};
                    local_.ban(w, length);
                    other_.ban(w, length);
                } else {
                    local_.reset(w);
                    other_.reset(w);
                }
                break;
            default:
                if constexpr (Other::shared) {
                    other_.renew(any, limits_);
                }
                break;
        }
    }

    // Returns true if a debt at one rate may be one at the other that is a microsecond more than
    // exact: a script counts in doubles.
    static bool rounds(const spec* from, const spec& to)
    {
        if (from == nullptr) {
            return false;
        }
        const auto interval = [](const spec& s) {
            return s.what == spec::kind::token_bucket ? s.make().in_microseconds().interval : 0;
        };
        return static_cast<__int128>(interval(*from)) * interval(to) >= __int128{1} << 53;
    }

    // Places and tokens have nothing to do with each other; and a debt that is longer than a
    // calendar's part which a script is told of is paid back by estimated windows.
    void reload()
    {
        const auto name = static_cast<std::size_t>(below(names));
        const spec* const fresh = pick(specs_of(static_cast<spec::kind>(below(4))));
        const bool permits = fresh->what == spec::kind::concurrency ||
                             limits_[name]->what == spec::kind::concurrency;
        for (int i = 0; i < clients; ++i) {
            const int bucket = static_cast<int>(name) * clients + i;
            const std::int64_t owes = std::max(local_.owes(bucket), other_.owes(bucket));
            if (permits || rounds(other_.owes_under(bucket), *fresh) ||
                (fresh->dates != nullptr && owes > fresh->capacity)) {
                local_.reset({.bucket = bucket, .limit = limits_[name]});
                other_.reset({.bucket = bucket, .limit = limits_[name]});
            }
        }
        local_.sweep(limits_);  // it may have forgotten who owes nothing, or not
        if constexpr (!Other::shared) {
            other_.sweep(limits_);
        }
        limits_[name] = fresh;
        local_.walk(limits_);
        const bool soon = below(2) == 0;
        if (!Other::shared || fresh->dates != nullptr || soon) {  // a shared store takes its time
            other_.walk(limits_);
        }
    }
};

// Runs the schedules of the seeds from `first` to `last`.
template <typename Other>
void run_schedules(std::uint64_t first, std::uint64_t last)
{
    int rejections = 0;
    int admissions = 0;
    for (std::uint64_t seed = first; seed <= last && !::testing::Test::HasFatalFailure(); ++seed) {
        SCOPED_TRACE("GATEWAY_SCHEDULE_SEED=" + std::to_string(seed));
        schedule<Other> s{seed};
        s.run(1500);
        rejections += s.rejections();
        admissions += s.admissions();
    }
    EXPECT_GT(rejections, 500);
    EXPECT_GT(admissions, 1000);
}

}  // namespace gateway::store::testing
