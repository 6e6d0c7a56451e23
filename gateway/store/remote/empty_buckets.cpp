#include "gateway/store/remote/empty_buckets.hpp"

#include "gateway/store/remote/microseconds.hpp"

#include <algorithm>

namespace gateway::store {

namespace {

// True if the charge's bucket may be remembered: only a token bucket is. Others get tokens by the
// store's clock, or when another request ends. A correction is never rejected.
bool may_be_remembered(const charge& c)
{
    return c.correction == nullptr && !c.may_be_corrected && c.penalty == nullptr &&
           c.max_wait == base::duration{0} && c.limit->in_microseconds().is_by_time();
}

// True if an earlier charge of the question is of the same bucket as its i-th.
bool is_charged_before(std::span<const charge> charges, std::size_t i)
{
    return std::any_of(
        charges.begin(),
        charges.begin() + static_cast<std::ptrdiff_t>(i),
        [&](const charge& c) { return c.bucket_name.hash() == charges[i].bucket_name.hash(); }
    );
}

}  // namespace

empty_buckets::empty_buckets(const last_answer& last, base::duration fresh_for)
    : last_(last), fresh_for_(fresh_for), sets_(std::make_unique<std::array<set, slots / ways>>())
{}

void empty_buckets::remember(
    std::span<const charge> charges, const answer& given, base::instant now
)
{
    // The time is rounded up: the answer came within the microsecond that ends there.
    const std::int64_t ticks = floor_us(now) + 1;
    for (std::size_t i = 0; i < charges.size(); ++i) {
        if (!given.admitted && is_charged_before(charges, i)) {
            continue;  // The decision counts tokens that were then not taken.
        }
        const limit::decision& d = given.decisions()[i];
        const worth of = worth_of(charges[i], d, charges.size() == 1, given.admitted);
        // A banned bucket is not remembered: its tokens do not tell when it passes again.
        if (may_be_remembered(charges[i]) && !d.banned &&
            (of != worth::update || ticks < last_full_at_)) {
            const auto full_in = std::chrono::ceil<std::chrono::microseconds>(d.reset_after);
            // A bucket with tokens must not seem to have fewer. The store decided after it was
            // asked.
            const std::int64_t from = of == worth::free_room ? floor_us(last_.asked_at()) : ticks;
            put(charges[i], ticks, from + full_in.count(), of);
        }
    }
}

bool empty_buckets::decides(
    std::span<const charge> charges, base::instant now, belief counts, answer& into
) const
{
    const std::int64_t ticks = floor_us(now);
    const std::int64_t fresh_at = counts == belief::all ? 0 : ticks;
    if (ticks >= last_full_at_ || !last_.counts(now, counts)) {
        return false;
    }
    into.clear();
    bool rejects = false;
    bool all_shadow = true;
    bool all_known = true;
    for (const charge& c : charges) {
        all_shadow = all_shadow && !c.enforced;
        const slot* const p = may_be_remembered(c) ? find(c, fresh_at) : nullptr;
        const auto step = p == nullptr
                              ? limit::step{.allowed = true, .after = {}}
                              : limit::take(c.limit->in_microseconds(), p->bucket, ticks, c.cost);
        if (step.allowed) {
            into.add_unknown();
            all_known = false;
            continue;
        }
        into.add(limit::decision_in<std::chrono::microseconds>(step));
        rejects = rejects || c.enforced;
    }
    into.admitted = !rejects;
    return rejects || (all_shadow && all_known);
}

// Returns what an answer about a bucket is worth. Of several buckets none is remembered that the
// question itself has emptied: the store is to be asked once more, so that the client hears of all
// limits that reject it. Its rejection then shows the others, too.
empty_buckets::worth empty_buckets::worth_of(
    const charge& c, const limit::decision& d, bool is_only, bool admitted
)
{
    if (d.remaining < c.cost && (is_only || !d.allowed)) {
        return worth::room;
    }
    const bool is_beside = !admitted && d.reset_after > base::duration{0};
    return is_beside ? worth::free_room : worth::update;
}

empty_buckets::set& empty_buckets::set_of(const base::hash128& id) const
{
    return (*sets_)[id.low % (slots / ways)];
}

// Updates the bucket if it is remembered, whatever is in it now. Otherwise remembers it if it is
// worth the room.
void empty_buckets::put(const charge& c, std::int64_t now, std::int64_t full_at, worth of)
{
    const limit::terms& t = c.limit->in_microseconds();
    const slot fresh{
        c.bucket_name.hash(),
        {t, full_at},
        t.burst,
        floor_us(last_.asked_at() + fresh_for_),
        last_.epoch()};
    set& in = set_of(fresh.id);
    const auto same = [&fresh](const slot& p) { return p.id == fresh.id; };
    const auto free_at = [this, now](const slot& p) {
        return p.fresh_until > now && p.epoch == last_.epoch() ? p.bucket.full_at() : 0;
    };
    const auto sooner = [&free_at](const slot& a, const slot& b) {
        return free_at(a) < free_at(b);
    };
    auto at = std::find_if(in.begin(), in.end(), same);
    if (at == in.end()) {
        at = std::min_element(in.begin(), in.end(), sooner);
        const std::int64_t latest = of == worth::room ? full_at : now;
        if (of == worth::update || free_at(*at) > latest) {
            return;
        }
    }
    *at = fresh;
    last_full_at_ = std::max(last_full_at_, full_at);
}

// Returns the bucket's entry, or null. Null as well if the limit has changed since: the store's
// bucket adopts the change in its own time.
const empty_buckets::slot* empty_buckets::find(const charge& c, std::int64_t fresh_at) const
{
    const limit::terms& t = c.limit->in_microseconds();
    const base::hash128 id = c.bucket_name.hash();
    for (const slot& p : set_of(id)) {
        if (p.id == id) {
            const bool counts = p.fresh_until > fresh_at && p.epoch == last_.epoch() &&
                                p.bucket.follows(t) && p.burst == t.burst;
            return counts ? &p : nullptr;
        }
    }
    return nullptr;
}

}  // namespace gateway::store
