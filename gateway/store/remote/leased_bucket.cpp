#include "gateway/store/remote/leased_bucket.hpp"

#include "gateway/store/receipt.hpp"
#include "gateway/store/remote/microseconds.hpp"

#include <algorithm>

namespace gateway::store {

namespace {

using us = std::chrono::microseconds;

// One lease takes at most a quarter of what is left in a bucket, so that others find something,
// too.
constexpr std::int64_t part_of_the_rest = 4;

// A lease should last for at least this number of requests.
constexpr std::int64_t requests_at_least = 8;

std::int64_t ticks(base::duration time)
{
    return time / us{1};
}

}  // namespace

leased_bucket::leased_bucket(const charge& c, lease_port& port)
    : port_(port),
      limit_name_(c.limit_name),
      name_(c.bucket_name.bytes()),
      id_(c.bucket_name.hash()),
      limit_(*c.limit),
      leases_{lease{*this}, lease{*this}}
{}

bool leased_bucket::follows(const charge& c) const
{
    return c.limit->pace_in_microseconds() == pace() && c.limit->burst() == limit_.burst();
}

std::int64_t leased_bucket::usable(std::int64_t now) const
{
    return leases_[0].usable(now) + leases_[1].usable(now);
}

// Returns both leases, oldest first. The tokens that the bucket is paid back first must be spent
// first.
std::array<leased_bucket::lease*, 2> leased_bucket::oldest_first()
{
    std::array<lease*, 2> both{&leases_[0], &leases_[1]};
    if (leases_[1].tokens.asked() < leases_[0].tokens.asked()) {
        std::swap(both[0], both[1]);
    }
    return both;
}

// For a charge that may be corrected, `reset_after` is the time until the tokens that are spent
// here would have been paid back, because a correction computes from that (limit::owed_before).
limit::decision leased_bucket::spend(const charge& c, std::int64_t now)
{
    std::int64_t wanted = c.cost;
    std::optional<std::int64_t> before;
    for (lease* const l : oldest_first()) {
        if (const std::int64_t some = std::min(l->usable(now), wanted); some > 0) {
            const std::int64_t at = l->tokens.owed_before(now);
            before = before ? std::min(*before, at) : at;
            l->tokens.spend(some, now);
            wanted -= some;
        }
    }
    const std::int64_t debt =
        std::max<std::int64_t>(full_at_ - now - pace().time_of(usable(now)), 0);
    const std::int64_t until_paid = before.value_or(0) + pace().time_of(c.cost);
    return {
        .allowed = true,
        .remaining = std::max<std::int64_t>(limit_.burst() - pace().tokens_owed(debt), 0),
        .reset_after = us{c.may_be_corrected ? until_paid : debt},
    };
}

void leased_bucket::heard(std::int64_t asked, std::int64_t full_at)
{
    asked_at_ = asked;
    full_at_ = full_at;
    for (lease& l : leases_) {
        l.tokens.heard(full_at);
    }
}

std::int64_t leased_bucket::most(const limit::token_lease& rule) const
{
    return std::min(limit_.burst() * rule.percent / 100, pace().tokens_in(ticks(rule.time)));
}

// Returns a free lease, or null. A lease with nothing left to spend becomes free.
leased_bucket::lease* leased_bucket::free_lease(std::int64_t now)
{
    const auto is_free = [now](lease& l) {
        if (l.is == lease::state::held && l.tokens.owed(now) == 0) {
            l.is = lease::state::free;
        }
        return l.is == lease::state::free;
    };
    const auto found = std::find_if(leases_.begin(), leases_.end(), is_free);
    return found == leases_.end() ? nullptr : &*found;
}

// Returns the number of tokens for the next lease. A bucket that is nearly full is paid back what
// it owes so soon that few tokens would not last. There it is as many as come back while some
// requests arrive, as nobody else could have them.
std::int64_t leased_bucket::worth(
    const limit::token_lease& rule, std::int64_t cost, std::int64_t demand, std::int64_t now
) const
{
    const std::int64_t period = ticks(rule.time) / periods;
    const std::int64_t debt = std::max<std::int64_t>(full_at_ - now, 0);
    const std::int64_t rest = limit_.burst() - pace().tokens_owed(debt);
    const std::int64_t some = requests_at_least * cost;
    const std::int64_t lasting = period / std::max(demand, some) * some;
    const std::int64_t issued = pace().tokens_in(std::max<std::int64_t>(lasting - debt, 0));
    const std::int64_t count = std::max(demand, issued);
    return std::min({count, most(rule) - usable(now), rest / part_of_the_rest});
}

void leased_bucket::consider(
    const limit::token_lease& rule, std::int64_t cost, std::int64_t demand, base::instant now
)
{
    const std::int64_t at = ceil_us(now);
    if (usable(at) > last_ / 2 || now < rests_until_ || !is_at_rest()) {
        return;
    }
    lease* const next = free_lease(at);
    const std::int64_t count = next == nullptr ? 0 : worth(rule, cost, demand, at);
    if (count >= std::max(limit::token_lease::least, 2 * cost)) {
        next->take(count, rule.time, now);
    }
}

void leased_bucket::forget()
{
    for (lease& l : leases_) {
        l.is = l.is == lease::state::held ? lease::state::free : l.is;
    }
}

void leased_bucket::refund(giving which, std::int64_t grant_epoch, base::instant now)
{
    for (lease& l : leases_) {
        const bool over = which == giving::all || l.usable(ceil_us(now)) == 0;
        if (l.is == lease::state::held && over) {
            l.refund(grant_epoch, now);
        }
    }
}

base::instant leased_bucket::next_end() const
{
    base::instant next = base::instant::max();
    for (const lease& l : leases_) {
        if (l.is == lease::state::held) {
            next = std::min(next, base::instant{us{l.tokens.until()}});
        }
    }
    return next;
}

bool leased_bucket::is_at_rest() const
{
    return std::all_of(leases_.begin(), leases_.end(), [](const lease& l) {
        return l.is == lease::state::free || l.is == lease::state::held;
    });
}

bool leased_bucket::is_idle() const
{
    return std::all_of(leases_.begin(), leases_.end(), [](const lease& l) {
        return l.is == lease::state::free;
    });
}

void leased_bucket::lease::take(std::int64_t count, base::duration time, base::instant now)
{
    time_ = time;
    charge_ = {
        .limit_name = of_.limit_name_,
        .bucket_name = base::hashed_name{of_.name_, of_.id_},
        .limit = &of_.limit_,
        .cost = count,
    };
    is = state::asking;
    ask(now);
}

// True if the bucket would miss the tokens: not if it will soon be full anyway. Others may then
// hold leases, which would be of more tokens than the bucket owes.
bool leased_bucket::lease::is_missed(std::int64_t count, std::int64_t now) const
{
    return of_.full_at_ - now - of_.pace().time_of(count) >= 2 * ticks(time_);
}

void leased_bucket::lease::refund(std::int64_t grant_epoch, base::instant now)
{
    const std::int64_t at = ceil_us(now);
    const std::int64_t count = tokens.owed(at);
    is = state::free;
    if (count == 0 || !is_missed(count, at)) {
        return;
    }
    const std::int64_t held = at - tokens.asked();
    correction_ = {
        .what = limit::correction::kind::refund,
        .of =
            {.tokens = count,
             .held = held,
             .owed_before = of_.units_in(held + tokens.owed_before(at))},
        .grant_epoch = grant_epoch};
    receipt_ = fresh_receipt();
    charge_.may_be_corrected = true;
    charge_.correction = &correction_;
    charge_.receipt = receipt_;
    is = state::giving_back;
    ask(now);
}

void leased_bucket::lease::ask(base::instant now)
{
    asked_at_ = now;
    if (of_.port_.ask_for_lease({&charge_, 1}, *this, now)) {
        is = state::free;
    }
}

// Takes the store's answer. The time of a lease counts from when it was asked for, which is no
// later than when the store answered.
void leased_bucket::lease::answered(const answer& a)
{
    const bool was_asking = is == state::asking;
    is = state::free;
    if (!was_asking || !a.knows(0)) {
        return;
    }
    const auto asked = floor_us(asked_at_);
    const std::int64_t until = asked + ticks(time_);
    of_.heard(asked, asked + ticks(a.decisions()[0].reset_after));
    if (a.decisions()[0].banned) {
        of_.forget();
    }
    if (!a.admitted) {
        return;
    }
    of_.last_ = charge_.cost;
    tokens = {of_.pace(), {charge_.cost, asked, of_.full_at_, until}};
    is = state::held;
    of_.port_.wake_for_lease(base::instant{us{until}});
}

// Frees the lease. Tokens that the store took all the same come back by themselves.
void leased_bucket::lease::failed(failure, taken)
{
    of_.rests_until_ = asked_at_ + time_;
    is = state::free;
}

}  // namespace gateway::store
