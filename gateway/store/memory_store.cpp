#include "gateway/store/memory_store.hpp"

#include "gateway/limit/correction.hpp"
#include "gateway/store/memory_taking.hpp"

#include <algorithm>
#include <mutex>

namespace gateway::store {

namespace {

std::int64_t ticks(base::instant now)
{
    return now.time_since_epoch().count();
}

// Where a bucket would be.
struct vacancy {
    bucket_id id;
    segment& in;
    limit::moment at;
};

// Of a client that has no bucket: in one that begins with the debt of the one that clients share
// for want of room, or, if there is still none, in that one.
void charge_more(
    memory_parts& parts, const charge& c, const vacancy& where, const limit::correction& what
)
{
    const limit::terms& t = c.limit->in_nanoseconds();
    const limit::moment shared_at = moment_of(parts, t, everybody, where.at.now);
    const std::lock_guard locked{parts.shared};
    limit::bucket* shared = parts.shared.find(c.limit_name);
    if (parts.buckets.reserve(where.in, where.at.now, {&where.id, 1})) {
        limit::bucket fresh;
        if (shared != nullptr) {
            *shared = limit::rebased(t, *shared, shared_at);
            fresh = limit::moved(t, *shared, shared_at, where.at);
        }
        fresh = limit::corrected(t, fresh, where.at, what);
        const slot charged{where.id, limit_tag(c.limit_name), fresh};
        parts.buckets.fulfil(where.in, charged, where.at.now, {&where.id, 1});
    } else if (parts.on_full == memory_options::when_full::share) {
        shared = &parts.shared.make(c.limit_name);
        *shared = limit::corrected(t, limit::rebased(t, *shared, shared_at), shared_at, what);
    }
}

}  // namespace

memory_store::memory_store(const memory_options& options)
    : parts_(std::make_unique<memory_parts>(options))
{}

memory_store::~memory_store() = default;

bool memory_store::decide(
    intent what, std::span<const charge> charges, base::instant now, answer& into
)
{
    into.clear();
    into.taken_at = now;
    memory_taking question{*parts_, charges, ticks(now)};
    if (!question.find_places()) {
        return false;
    }
    question.decide(what, into);
    return true;
}

void memory_store::refund(std::span<const charge> charges, const answer& given, base::instant now)
{
    if (!given.admitted) {
        return;
    }
    const std::int64_t held = std::max<std::int64_t>((now - given.taken_at).count(), 0);
    for (std::size_t i = 0; i < charges.size(); ++i) {
        const charge& c = charges[i];
        const limit::decision& said = given.decisions()[i];
        if (said.allowed && c.cost > 0) {
            const limit::terms& t = c.limit->in_nanoseconds();
            const auto before = limit::owed_before(t, said, c.cost, base::duration{1});
            correct(c, {.of = {.tokens = c.cost, .held = held, .owed_before = before}}, now);
        }
    }
}

void memory_store::correct(const charge& c, const limit::correction& what, base::instant now)
{
    const bucket_id id = id_of(parts_->key, c);
    const limit::terms& t = c.limit->in_nanoseconds();
    segment& s = parts_->buckets.at(parts_->buckets.segment_of(id));
    const std::lock_guard locked{s};
    limit::bucket* const b = s.find(id);
    const limit::moment at = moment_of(*parts_, t, id.low, ticks(now));
    const bool charges = what.what == limit::correction::kind::charge;
    if (b == nullptr && charges) {
        charge_more(*parts_, c, {id, s, at}, what);
    } else if (b != nullptr && (charges || b->follows(t))) {
        // Is nothing given back at another rate: a reload came between, and what flowed back at
        // which rate is not known.
        s.store(*b, limit::corrected(t, *b, at, what));
    }
}

void memory_store::rebase(std::span<const changed_limit> changed, base::instant now)
{
    const std::int64_t at = ticks(now);
    const auto follow = [&](const changed_limit& c, std::uint64_t hash, limit::bucket& b) {
        const limit::terms& t = c.limit->in_nanoseconds();
        b = limit::rebased(t, b, moment_of(*parts_, t, hash, at));
    };
    parts_->buckets.for_each_bucket([&](std::uint32_t tag, const bucket_id& id, limit::bucket& b) {
        for (const changed_limit& c : changed) {
            if (limit_tag(c.name) == tag) {
                follow(c, id.low, b);
            }
        }
    });
    const std::lock_guard locked{parts_->shared};
    for (const changed_limit& c : changed) {
        if (limit::bucket* const b = parts_->shared.find(c.name)) {
            follow(c, everybody, *b);
        }
    }
}

void memory_store::set_unix_time(base::duration to_unix)
{
    parts_->to_unix.store(to_unix.count(), std::memory_order_relaxed);
}

void memory_store::sweep(base::instant now, std::size_t passes)
{
    const std::size_t all = parts_->buckets.segments();
    const std::size_t part =
        (all + std::max<std::size_t>(passes, 1) - 1) / std::max<std::size_t>(passes, 1);
    parts_->buckets.sweep(ticks(now), part);
    parts_->shared.forget(ticks(now));
}

std::size_t memory_store::size() const
{
    return parts_->buckets.live();
}

std::uint64_t memory_store::turned_away() const
{
    return parts_->turned_away.load(std::memory_order_relaxed);
}

std::size_t memory_store::bytes() const
{
    return sizeof(memory_parts) + parts_->buckets.bytes();
}

}  // namespace gateway::store
