// The stores under random schedules, each with the slow model beside it and driven by a clock that
// the test sets.
#pragma once

#include "gateway/limit/correction.hpp"
#include "gateway/store/memory/memory_store.hpp"
#include "tests/contract/schedule_limits.hpp"
#include "tests/contract/slow_model.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gateway::store::testing {

inline constexpr int names = 10;
inline constexpr int clients = 2;
inline constexpr int buckets = names * clients;
// Four limits of ten ban who is rejected too often.
inline constexpr int first_with_penalty = 6;

inline const limit::penalty penalty{
    .after = 2,
    .within = std::chrono::seconds{10},
    .ban = std::chrono::seconds{5},
    .max_ban = std::chrono::seconds{60}};

// That of the bucket's limit; null: it has none.
inline const limit::penalty* penalty_of(int bucket)
{
    return bucket / clients >= first_with_penalty ? &penalty : nullptr;
}

// The times of both stores at one moment.
struct times {
    base::duration monotonic{0};
    base::duration unix{0};
};

// A wish as a store is asked it.
class asked {
public:
    asked(const wish& w, const limit::limit& l, base::duration tick)
        : name_(1, static_cast<char>('a' + w.bucket / clients)),
          bucket_(name_ + std::to_string(w.bucket % clients)),
          limit_(l)
    {
        charge_ = {
            .limit_name = {},
            .bucket_name = {},
            .limit = nullptr,
            .cost = w.cost,
            .enforced = w.enforced,
            .permit = w.permit,
            .max_wait = w.max_wait * tick,
            .max_reserved = w.max_reserved,
            .penalty = w.penalty,
            .may_be_corrected = true};
    }

    charge get() const
    {
        charge c = charge_;
        c.limit_name = name_;
        c.bucket_name = base::hashed_name{bucket_};
        c.limit = &limit_;
        return c;
    }

private:
    std::string name_;
    std::string bucket_;
    limit::limit limit_;
    charge charge_;
};

class local_subject {
public:
    static constexpr base::duration tick{1};
    static constexpr bool shared = false;

    explicit local_subject(const times& t) { set_clock(t); }

    void set_clock(const times& t)
    {
        now_ = base::instant{t.monotonic};
        store_.set_unix_time(t.unix - t.monotonic);
    }

    answer take(std::span<const charge> charges)
    {
        answer a;
        EXPECT_TRUE(store_.take(charges, now_, a));
        for (std::size_t i = 0; i < charges.size(); ++i) {
            places_[charges[i].permit] = a.permit(i);
        }
        return a;
    }

    bool correct(const charge& c, const limit::correction& what, const std::string&)
    {
        charge known = c;
        known.permit = places_[c.permit];
        EXPECT_TRUE(store_.correct(known, what, now_));
        return true;
    }

    void walk(const std::vector<std::pair<std::string, const limit::limit*>>& limits)
    {
        std::vector<memory_store::changed_limit> changed;
        for (const auto& [name, limit] : limits) {
            changed.push_back({name, limit});
        }
        store_.rebase(changed, now_);
    }

    void forget(const charge&) { store_.sweep(now_, 1); }

    void forget_bans(const charge&) { store_.sweep(now_, 1); }

    // Where the bucket's windows of that length begin, which only the store knows.
    std::int64_t offset(const charge& of, std::int64_t length)
    {
        const auto l =
            *limit::limit::in_windows({.count = 1, .length = base::duration{length}, .capacity = 1}
            );
        charge c = of;
        c.limit = &l;
        c.cost = 1;
        const std::int64_t now = now_.time_since_epoch().count();
        memory_store& s = store_;
        EXPECT_TRUE(s.correct(c, {.what = limit::correction::kind::reset}, now_));
        const std::int64_t begins = now + take({&c, 1}).decisions()[0].reset_after.count();
        EXPECT_TRUE(s.correct(c, {.what = limit::correction::kind::reset}, now_));
        return (length - begins % length) % length;
    }

    // The bucket's key must live for so long; in memory nothing expires.
    void check_lifetime(const charge&, base::duration) {}

private:
    memory_store store_{memory_options{.max_buckets = 10'000}};
    base::instant now_;
    // What the store calls the places that were taken.
    std::map<std::int64_t, std::int64_t> places_;
};

// A store and the model beside it.
template <typename Subject>
class compared {
public:
    explicit compared(const times& t)
        : subject_(t),
          model_(Subject::tick, Subject::shared, [this](int bucket, std::int64_t length) {
              return offset(bucket, length);
          })
    {
        set_clock(t);
        for (int bucket = 0; bucket < buckets; ++bucket) {
            for (const spec& s : all_specs()) {
                if (s.what == spec::kind::fixed_window && !s.aligned) {
                    offset(bucket, s.period / Subject::tick);
                }
            }
        }
    }

    Subject& subject() { return subject_; }

    // Of the last answer that rejected somebody: until it passes, and until its bucket is full.
    base::duration retry() const { return retry_; }

    base::duration reset() const { return reset_; }

    int rejections() const { return rejections_; }

    int admissions() const { return admissions_; }

    void set_clock(const times& t)
    {
        now_ = Subject::shared ? t.unix / Subject::tick : t.monotonic / Subject::tick;
        model_.set_clock(now_, Subject::shared ? 0 : (t.unix - t.monotonic) / Subject::tick);
        subject_.set_clock(t);
    }

    void take(std::vector<wish> wishes, bool look_at_lifetime)
    {
        std::vector<asked> words;
        std::vector<charge> charges;
        for (wish& w : wishes) {
            w.max_wait = w.max_wait * std::chrono::microseconds{1} / Subject::tick;
            words.emplace_back(w, w.limit->make(), Subject::tick);
        }
        for (const asked& a : words) {
            charges.push_back(a.get());
        }
        for (std::size_t i = 0; i < wishes.size(); ++i) {
            forget_returned(wishes[i]);
        }
        const verdict want = model_.take(wishes);
        const answer got = subject_.take(charges);
        for (std::size_t i = 0; i < wishes.size(); ++i) {
            const limit::decision& d = got.decisions()[i];
            const verdict::said& s = want.all[i];
            SCOPED_TRACE(
                "charge " + std::to_string(i) + " of bucket " + std::to_string(wishes[i].bucket) +
                " under " + words_of(*wishes[i].limit) + " costs " + std::to_string(wishes[i].cost)
            );
            ASSERT_EQ(d.allowed, s.allowed);
            ASSERT_EQ(d.banned, s.banned);
            ASSERT_EQ(d.remaining, s.remaining);
            ASSERT_EQ(d.retry_after / Subject::tick, s.retry);
            ASSERT_EQ(d.reset_after / Subject::tick, s.reset);
            // A local store's offsets of windows are other ones in each process.
            const bool varies = !Subject::shared && !wishes[i].limit->aligned &&
                                wishes[i].limit->what == spec::kind::fixed_window;
            retry_ = d.allowed || varies ? retry_ : d.retry_after;
            reset_ = d.reset_after;
            rejections_ += d.allowed ? 0 : 1;
            admissions_ += d.allowed ? 1 : 0;
            if (want.admitted && d.allowed && wishes[i].cost > 0) {
                const limit::terms& t = terms_of(*charges[i].limit);
                const auto owed = limit::owed_before(t, d, wishes[i].cost, Subject::tick);
                const std::int64_t wait = d.retry_after / Subject::tick;
                taken_.push_back({wishes[i], now_ + wait, wait, owed});
            }
        }
        ASSERT_EQ(got.admitted, want.admitted);
        const bool written = wishes.size() == 1 && got.decisions()[0].allowed && got.admitted &&
                             wishes[0].cost > 0 && wishes[0].limit->what != spec::kind::concurrency;
        if (look_at_lifetime && written) {
            subject_.check_lifetime(charges[0], got.decisions()[0].reset_after);
        }
    }

    // What one of those has taken whose limit is still of the same kind.
    void refund(std::uint64_t random, const std::vector<const spec*>& limits)
    {
        if (taken_.empty()) {
            return;
        }
        const std::size_t n = random % taken_.size();
        auto [w, there_at, wait, owed_before] = taken_[n];
        taken_.erase(taken_.begin() + static_cast<std::ptrdiff_t>(n));
        const spec* const present = limits[static_cast<std::size_t>(w.bucket / clients)];
        if (present->what != w.limit->what) {
            return;
        }
        w.limit = present;
        const std::int64_t held = std::max(now_ - there_at, -wait);
        if (present->dates != nullptr && held > present->period / Subject::tick) {
            return;  // a script is not told how long the windows were that long ago
        }
        forget_returned(w);
        model_.refund(w, held, owed_before);
        correct(
            w,
            {.what = limit::correction::kind::refund,
             .of = {.tokens = w.cost, .held = held, .owed_before = owed_before},
             .in_line = w.max_wait > 0}
        );
    }

    void charge_more(const wish& w, std::int64_t tokens, bool into_debt)
    {
        forget_returned(w);
        model_.charge(w, tokens, into_debt);
        correct(
            w,
            {.what = limit::correction::kind::charge,
             .of = {.tokens = tokens},
             .into_debt = into_debt}
        );
    }

    // Places that were taken before are not given back any more.
    void reset(const wish& w)
    {
        if (w.limit->what == spec::kind::concurrency) {
            std::erase_if(taken_, [&w](const taken& t) { return t.w.bucket == w.bucket; });
        }
        model_.reset(w.bucket);
        correct(w, {.what = limit::correction::kind::reset});
    }

    void ban(const wish& w, base::duration length)
    {
        using kind = limit::correction::kind;
        const std::int64_t held = length / Subject::tick;
        forget_returned(w);
        model_.ban(w, held);
        correct(w, {.what = held > 0 ? kind::ban : kind::unban, .of = {.held = held}});
    }

    // One of the places that were taken; maybe lost since.
    void renew(std::uint64_t random, const std::vector<const spec*>& limits)
    {
        if (!Subject::shared || taken_.empty()) {
            return;
        }
        wish w = taken_[random % taken_.size()].w;
        const spec* const present = limits[static_cast<std::size_t>(w.bucket / clients)];
        if (w.limit->what == spec::kind::concurrency && present->what == w.limit->what) {
            w.limit = present;
            const bool kept = model_.renew(w);
            ASSERT_EQ(correct(w, {.what = limit::correction::kind::renew}), kept);
        }
    }

    void walk(const std::vector<const spec*>& limits)
    {
        std::vector<limit::limit> made;
        std::vector<std::pair<std::string, const limit::limit*>> named;
        made.reserve(limits.size());
        for (int name = 0; name < names; ++name) {
            const spec& s = *limits[static_cast<std::size_t>(name)];
            made.push_back(s.make());
            if (!Subject::shared || made.back().keeps_debts()) {
                named.emplace_back(std::string(1, static_cast<char>('a' + name)), &made.back());
                for (int i = 0; i < clients; ++i) {
                    model_.walk(name * clients + i, s);
                }
            }
        }
        subject_.walk(named);
    }

    // What is as good as never seen is forgotten, as if its key had just expired.
    void sweep(const std::vector<const spec*>& limits)
    {
        for (int bucket = 0; bucket < buckets; ++bucket) {
            const wish w{
                .bucket = bucket, .limit = limits[static_cast<std::size_t>(bucket / clients)]};
            const asked a{w, w.limit->make(), Subject::tick};
            if (model_.full(bucket)) {
                model_.reset(bucket);
                subject_.forget(a.get());
            }
            forget_ban(bucket, a.get());
        }
    }

    // Whole tokens that the bucket has, as a store without the model says.
    std::int64_t look(const wish& w)
    {
        const asked a{w, w.limit->make(), Subject::tick};
        const charge c = a.get();
        return subject_.take({&c, 1}).decisions()[0].remaining;
    }

    std::int64_t owes(int bucket) { return model_.owes(bucket); }

    const spec* owes_under(int bucket) { return model_.owes_under(bucket); }

private:
    struct taken {
        wish w;
        std::int64_t there_at;
        std::int64_t wait;
        std::int64_t owed_before;
    };

    Subject subject_;
    slow_model model_;
    std::int64_t now_ = 0;
    std::vector<taken> taken_;
    std::map<std::pair<int, std::int64_t>, std::int64_t> offsets_;
    base::duration retry_{0};
    base::duration reset_{0};
    int rejections_ = 0;
    int admissions_ = 0;
    int receipts_ = 0;

    static const limit::terms& terms_of(const limit::limit& l)
    {
        return Subject::shared ? l.in_microseconds() : l.in_nanoseconds();
    }

    // What Redis keeps for a little longer is forgotten at once: bans; and a history, which does
    // not know how long the window was before a reload, so that its tokens count until all have
    // come back.
    void forget_returned(const wish& w)
    {
        const asked a{w, w.limit->make(), Subject::tick};
        if (model_.was_sliding(w.bucket, *w.limit) && model_.full(w.bucket)) {
            model_.reset(w.bucket);
            subject_.forget(a.get());
        }
        if (Subject::shared) {
            forget_ban(w.bucket, a.get());
        }
    }

    void forget_ban(int bucket, const charge& c)
    {
        const limit::penalty* const p = penalty_of(bucket);
        if constexpr (Subject::shared) {  // it may be kept for a little longer there, too
            if (model_.ended_by_hand(bucket)) {
                subject_.end_ban(c);
            }
        }
        if (model_.forgives(bucket, p == nullptr ? limit::penalty{} : *p)) {
            model_.forget_bans(bucket);
            subject_.forget_bans(c);
        }
    }

    bool correct(const wish& w, const limit::correction& what)
    {
        std::string receipt = std::to_string(++receipts_);
        receipt.insert(0, 32 - receipt.size(), '0');
        const asked a{w, w.limit->make(), Subject::tick};
        charge c = a.get();
        c.is_grant = what.what == limit::correction::kind::reset;  // as an operator has it made
        return subject_.correct(c, what, receipt);
    }

    std::int64_t offset(int bucket, std::int64_t length)
    {
        const auto known = offsets_.find({bucket, length});
        if (known != offsets_.end()) {
            return known->second;
        }
        const spec any{.period = std::chrono::seconds{1}};
        const asked a{{.bucket = bucket, .limit = &any}, any.make(), Subject::tick};
        return offsets_[{bucket, length}] = subject_.offset(a.get(), length);
    }
};

}  // namespace gateway::store::testing
