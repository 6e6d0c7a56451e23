#include "gateway/store/remote/token_leases.hpp"

#include "gateway/store/remote/microseconds.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace gateway::store {

namespace {

// True if the charge may be paid from a lease. A store that counts tokens instead of time could not
// tell in a correction which tokens were spent.
bool may_be_leased(const charge& c)
{
    const bool by_time = c.limit->in_microseconds().is_by_time();
    return c.lease != nullptr && c.cost > 0 && (by_time || !c.may_be_corrected);
}

}  // namespace

token_leases::token_leases(lease_port& port, const last_answer& last) : port_(port), last_(last) {}

const leased_bucket* token_leases::find(const charge& c) const
{
    const auto found = buckets_.find(c.bucket_name.hash());
    return found == buckets_.end() ? nullptr : &found->second;
}

leased_bucket* token_leases::find(const charge& c)
{
    return const_cast<leased_bucket*>(std::as_const(*this).find(c));
}

// A question that charges a bucket twice is left to the store.
bool token_leases::cover(std::span<const charge> charges, base::instant now, belief counts) const
{
    if (buckets_.empty() || ended_ || !last_.counts(now, counts)) {
        return false;
    }
    for (std::size_t i = 0; i < charges.size(); ++i) {
        const charge& c = charges[i];
        const leased_bucket* const b = may_be_leased(c) ? find(c) : nullptr;
        if (b == nullptr || !b->follows(c) || b->usable(ceil_us(now)) < c.cost) {
            return false;
        }
        // Other requests may have got tokens refunded.
        const bool fresh =
            now - base::instant{std::chrono::microseconds{b->asked_at()}} <= last_answer::heard_for;
        if (c.may_be_corrected && counts == belief::fresh && !fresh) {
            return false;
        }
        const auto same = [&c](const charge& other) {
            return other.bucket_name.hash() == c.bucket_name.hash();
        };
        if (std::any_of(charges.begin(), charges.begin() + static_cast<std::ptrdiff_t>(i), same)) {
            return false;
        }
    }
    return true;
}

bool token_leases::spend(
    std::span<const charge> charges, base::instant now, belief counts, answer& into
)
{
    if (!cover(charges, now, counts)) {
        return false;
    }
    into.clear();
    for (const charge& c : charges) {
        leased_bucket& b = *find(c);
        into.add(b.spend(c, ceil_us(now)));
        b.consider(*c.lease, c.cost, demand_of(c, c.cost, now), now);
    }
    return true;
}

std::int64_t token_leases::demand_of(const charge& c, std::int64_t tokens, base::instant now)
{
    const std::int64_t period =
        c.lease->time / std::chrono::microseconds{1} / leased_bucket::periods;
    const std::int64_t cost = std::min(tokens, c.limit->burst());
    return demand_.count(c.bucket_name.hash(), cost, floor_us(now), period);
}

void token_leases::asked(std::span<const charge> charges, base::instant now)
{
    for (const charge& c : charges) {
        if (may_be_leased(c)) {
            (void)demand_of(c, c.cost, now);
        }
    }
}

void token_leases::answered(
    std::span<const charge> charges, const answer& a, base::instant sent, base::instant now
)
{
    for (std::size_t i = 0; i < charges.size(); ++i) {
        const charge& c = charges[i];
        if (!may_be_leased(c) || !a.knows(i) || ended_) {
            continue;
        }
        if (a.decisions()[i].banned) {
            if (leased_bucket* const banned = find(c)) {
                banned->forget();
            }
            continue;
        }
        const std::int64_t demand = demand_of(c, 0, now);
        leased_bucket* const b = demand >= limit::token_lease::least ? make(c, now) : find(c);
        if (b != nullptr && b->follows(c)) {
            const std::int64_t asked = floor_us(sent);
            b->heard(asked, asked + a.decisions()[i].reset_after / std::chrono::microseconds{1});
            b->consider(*c.lease, c.cost, demand, now);
        }
    }
}

// Returns the bucket, or null if there is no room. Leases from before a change of the limit are
// dropped, and their tokens come back by themselves.
leased_bucket* token_leases::make(const charge& c, base::instant now)
{
    if (leased_bucket* const known = find(c); known != nullptr) {
        if (known->follows(c)) {
            return known;
        }
        buckets_.erase(c.bucket_name.hash());
    }
    if (buckets_.size() == max_buckets) {
        forget_idle_ones(now);
    }
    if (buckets_.size() == max_buckets) {
        return nullptr;
    }
    return &buckets_
                .emplace(
                    std::piecewise_construct,
                    std::forward_as_tuple(c.bucket_name.hash()),
                    std::forward_as_tuple(c, port_)
                )
                .first->second;
}

void token_leases::forget()
{
    for (auto& [id, b] : buckets_) {
        b.forget();
    }
}

base::instant token_leases::passed(base::instant now)
{
    base::instant next = base::instant::max();
    for (auto& [id, b] : buckets_) {
        b.refund(leased_bucket::giving::what_is_over, last_.epoch(), now);
        next = std::min(next, b.next_end());
    }
    forget_idle_ones(now);
    return next;
}

void token_leases::forget_idle_ones(base::instant now)
{
    std::erase_if(buckets_, [now](const auto& one) { return one.second.may_be_forgotten(now); });
}

bool token_leases::end(base::instant now)
{
    ended_ = true;
    for (auto& [id, b] : buckets_) {
        b.refund(leased_bucket::giving::all, last_.epoch(), now);
    }
    return std::all_of(buckets_.begin(), buckets_.end(), [](const auto& one) {
        return one.second.is_idle();
    });
}

}  // namespace gateway::store
