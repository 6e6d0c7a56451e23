#include "gateway/store/memory/memory_store.hpp"

#include "gateway/store/memory/memory_corrections.hpp"
#include "gateway/store/memory/memory_handover.hpp"

#include <algorithm>
#include <mutex>

namespace gateway::store {

namespace {

std::int64_t ticks(base::instant now)
{
    return now.time_since_epoch().count();
}

}  // namespace

memory_store::memory_store(const memory_options& options)
    : parts_(std::make_unique<memory_parts>(options)),
      swap_server_(std::make_unique<swap_server>(*parts_))
{}

memory_store::~memory_store() = default;

// Acts on the buckets of these charges, in whichever process they are. `act` is called with whether
// they may be copies; if not, it returns nothing when the buckets have left this process.
template <typename Act>
bool memory_store::act_on_owner(std::span<const charge> charges, base::instant now, Act act)
{
    std::optional<bool> done = act(copies::no);
    while (!done) {
        bucket_keeper* const keeper = parts_->custody.find();
        if (keeper == nullptr) {
            done = act(copies::no);
            continue;
        }
        const std::lock_guard asking{*keeper};
        bucket_swap swap{*parts_, charges, now};
        for (bool settled = false; !settled;) {
            swap.decide([&] { done = act(copies::yes); });
            const auto answer = keeper->ask(swap.request());
            // The copies are all that is left of a process that has gone.
            settled = !answer || swap.settle(*answer);
        }
    }
    return *done;
}

bool memory_store::decide(
    intent what, std::span<const charge> charges, base::instant now, answer& into
)
{
    return act_on_owner(charges, now, [&](copies may_be) -> std::optional<bool> {
        into.clear();
        into.taken_at = now;
        memory_taking question{*parts_, charges, ticks(now), what};
        if (may_be == copies::no && !parts_->custody.here()) {
            return std::nullopt;
        }
        if (!question.find_locations()) {
            return false;
        }
        question.decide(into);
        return true;
    });
}

void memory_store::refund(std::span<const charge> charges, const answer& given, base::instant now)
{
    if (!given.admitted) {
        return;
    }
    for (std::size_t i = 0; i < charges.size(); ++i) {
        const charge& c = charges[i];
        const limit::decision& decision = given.decisions()[i];
        if (decision.allowed && c.cost > 0) {
            const limit::terms& t = c.limit->in_nanoseconds();
            const auto before = limit::owed_before(t, decision, c.cost, base::duration{1});
            const std::int64_t held = (now - given.taken_at - decision.retry_after).count();
            const limit::refund back{.tokens = c.cost, .held = held, .owed_before = before};
            charge taken = c;
            taken.permit = given.permit(i);
            taken.is_of_shared_bucket = given.is_shared(i);
            const bool in_line = c.max_wait > base::duration{0};
            const std::int64_t waited = decision.retry_after.count();
            (void)correct(taken, {.of = back, .in_line = in_line, .waited = waited}, now);
        }
    }
}

bool memory_store::correct(const charge& c, const limit::correction& what, base::instant now)
{
    return act_on_owner({&c, 1}, now, [&](copies may_be) -> std::optional<bool> {
        if (what.what == limit::correction::kind::charge) {
            memory_taking question{*parts_, {&c, 1}, ticks(now), intent::take};
            if (may_be == copies::no && !parts_->custody.here()) {
                return std::nullopt;
            }
            return question.take_anyway(what.of.tokens, what.into_debt);
        }
        const bucket_id id = id_of(c);
        segment& s = parts_->buckets.at(parts_->buckets.segment_of(id));
        const std::lock_guard locked{s};
        if (may_be == copies::no && !parts_->custody.here()) {
            return std::nullopt;
        }
        return correct_bucket(*parts_, c, {id, s, ticks(now)}, what, may_be);
    });
}

void memory_store::rebase(std::span<const changed_limit> changed, base::instant now)
{
    // A bucket that counted something else may count permits now, so a new permit number begins.
    parts_->next_permit();
    if (changed.empty()) {
        return;
    }
    const std::int64_t at = ticks(now);
    const auto follow = [&](const limit::terms& t, std::uint64_t hash, limit::bucket& b) {
        // A bucket that becomes sliding or ceases to be, or that counts permits, follows when its
        // client comes. The same holds for a shared bucket that slides.
        if (!t.keeps_history() && !b.slides() && !b.counts_in_flight()) {
            b = limit::rebased(t, b, moment_of(*parts_, t, hash, at));
        }
    };
    parts_->buckets.for_each_bucket([&](slot& s, limit::history& past) {
        for (const changed_limit& c : changed) {
            if (limit_tag(c.name) != s.limit_tag) {
                continue;
            }
            const limit::terms& t = c.limit->in_nanoseconds();
            if (t.keeps_history() && s.bucket.slides()) {
                sliding_bucket{s.bucket, past}.follow(t);
            } else {
                follow(t, s.low, s.bucket);
            }
        }
    });
    const std::lock_guard locked{parts_->shared};
    for (const changed_limit& c : changed) {
        if (shared_bucket* const b = parts_->shared.find(c.name)) {
            b->note_terms(c.limit->in_nanoseconds(), at);
            follow(c.limit->in_nanoseconds(), everybody, b->bucket);
        }
    }
}

void memory_store::leave()
{
    parts_->custody.leave();
}

void memory_store::stay()
{
    parts_->custody.come_back();
}

void memory_store::follow(bucket_keeper& keeper)
{
    parts_->custody.arrive_at(keeper);
}

void memory_store::begin_swaps()
{
    swap_server_->begin();
}

std::string memory_store::answer_swap(std::string_view request)
{
    return swap_server_->answer(request);
}

void memory_store::end_swap()
{
    swap_server_->release();
}

void memory_store::end_swaps()
{
    swap_server_->end();
}

void memory_store::set_unix_time(base::duration to_unix)
{
    parts_->to_unix.store(to_unix.count(), std::memory_order_relaxed);
}

void memory_store::begin_windows(base::duration to_unix)
{
    parts_->to_windows = to_unix.count();
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

std::size_t memory_store::moments() const
{
    return parts_->buckets.moments();
}

std::uint64_t memory_store::turned_away() const
{
    return parts_->turned_away.load(std::memory_order_relaxed);
}

}  // namespace gateway::store
