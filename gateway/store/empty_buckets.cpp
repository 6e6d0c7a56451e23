#include "gateway/store/empty_buckets.hpp"

#include <algorithm>

namespace gateway::store {

namespace {

// Of windows nothing is remembered: what they issue, they issue by the store's clock.
bool may_be_remembered(const charge& c)
{
    return !c.may_be_corrected && c.limit->in_microseconds().issued_in == nullptr;
}

std::int64_t microseconds(base::instant moment)
{
    using std::chrono::microseconds;
    return std::chrono::floor<microseconds>(moment.time_since_epoch()).count();
}

}  // namespace

empty_buckets::empty_buckets()
    : key_(base::random_hash_key()), sets_(std::make_unique<std::array<set, places / ways>>())
{}

void empty_buckets::remember(
    std::span<const charge> charges, const answer& given, base::instant now
)
{
    // Rounded up: the answer came within the microsecond that ends there.
    const std::int64_t ticks = microseconds(now) + 1;
    for (std::size_t i = 0; i < charges.size(); ++i) {
        const limit::decision& d = given.decisions()[i];
        const bool is_empty = d.remaining < charges[i].cost;
        if (may_be_remembered(charges[i]) && (is_empty || ticks < last_full_at_)) {
            const auto full_in = std::chrono::ceil<std::chrono::microseconds>(d.reset_after);
            put(charges[i], ticks + full_in.count(), is_empty);
        }
    }
}

bool empty_buckets::decides(std::span<const charge> charges, base::instant now, answer& into) const
{
    const std::int64_t ticks = microseconds(now);
    if (ticks >= last_full_at_) {
        return false;
    }
    into.clear();
    bool rejects = false;
    bool all_shadow = true;
    bool all_known = true;
    for (const charge& c : charges) {
        all_shadow = all_shadow && !c.enforced;
        const place* const p = may_be_remembered(c) ? find(c) : nullptr;
        const auto said = p == nullptr
                              ? limit::step{.allowed = true, .after = {}}
                              : limit::take(c.limit->in_microseconds(), p->bucket, ticks, c.cost);
        if (said.allowed) {
            into.add_unknown();
            all_known = false;
            continue;
        }
        into.add(limit::decision_in<std::chrono::microseconds>(said));
        rejects = rejects || c.enforced;
    }
    into.admitted = !rejects;
    return rejects || (all_shadow && all_known);
}

empty_buckets::set& empty_buckets::set_of(const base::hash128& id) const
{
    return (*sets_)[id.low % (places / ways)];
}

// A bucket that is remembered is brought up to date, whatever is in it now; another one gets a
// place only if it is empty.
void empty_buckets::put(const charge& c, std::int64_t full_at, bool is_empty)
{
    const limit::terms& t = c.limit->in_microseconds();
    const place fresh{base::siphash128(key_, c.bucket_name), {t, full_at}, t.burst};
    set& in = set_of(fresh.id);
    const auto same = [&fresh](const place& p) { return p.id == fresh.id; };
    const auto sooner = [](const place& a, const place& b) {
        return a.bucket.full_at() < b.bucket.full_at();
    };
    auto at = std::find_if(in.begin(), in.end(), same);
    if (at == in.end()) {
        at = std::min_element(in.begin(), in.end(), sooner);
        if (!is_empty || at->bucket.full_at() > full_at) {
            return;
        }
    }
    *at = fresh;
    last_full_at_ = std::max(last_full_at_, full_at);
}

// Null as well where the limit has changed since: the store's bucket follows it in its own time.
const empty_buckets::place* empty_buckets::find(const charge& c) const
{
    const limit::terms& t = c.limit->in_microseconds();
    const base::hash128 id = base::siphash128(key_, c.bucket_name);
    for (const place& p : set_of(id)) {
        if (p.id == id) {
            return p.bucket.follows(t) && p.burst == t.burst ? &p : nullptr;
        }
    }
    return nullptr;
}

}  // namespace gateway::store
