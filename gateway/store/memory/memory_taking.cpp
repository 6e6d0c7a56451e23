#include "gateway/store/memory/memory_taking.hpp"

#include "gateway/limit/correction.hpp"

#include <algorithm>
#include <cassert>

namespace gateway::store {

memory_taking::memory_taking(
    memory_parts& of, std::span<const charge> charges, std::int64_t now, intent what
)
    : parts_(of), charges_(charges), now_(now), what_(what)
{
    assert(charges.size() <= max_charges);
    locate();
    lock();
}

memory_taking::~memory_taking()
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        const location& p = locations_[i];
        if (p.what == kind::promised && p.first == i) {
            parts_.buckets.release(segment_of(p));
        }
    }
    if (shared_locked_) {
        parts_.shared.unlock();
    }
    for (std::size_t i = locked_count_; i-- > 0;) {
        parts_.buckets.at(locked_[i]).unlock();
    }
}

void memory_taking::decide(answer& a)
{
    if (store::decide(charges_, *this, what_, a)) {
        keep_taken();
        report_locations(a);
    }
}

bool memory_taking::take_anyway(std::int64_t tokens, bool into_debt)
{
    segment& in = segment_of(locations_[0]);
    if (limit::bucket* const b = in.find(ids_[0])) {
        const auto own = limit::terms_to_correct_in(
            terms(0), *b, moment_with_past(parts_, in, *b, now_), limit::correction::kind::charge
        );
        if (!own) {
            return true;
        }
        if (*own != terms(0)) {
            in.store(*b, limit::charged(*own, *b, now_, tokens, into_debt));
            return true;
        }
    }
    if (!find_locations()) {
        return false;
    }
    standing& s = standing_for(0);
    s.after = limit::charged(terms(0), s.before, moment(0), tokens, into_debt);
    s.wait = 0;
    keep_taken();
    return true;
}

// Rejects a banned client, and counts rejections.
void memory_taking::punish(std::size_t i, limit::decision& decision)
{
    segment& in = segment_of(locations_[i]);
    const limit::penalty* const p = charges_[i].penalty;
    limit::offences* o = in.find_offences(ids_[i]);
    const bool counts = p != nullptr && p->any() && what_ == intent::take;
    if (!decision.allowed && counts && !(o != nullptr && o->banned(now_))) {
        o = parts_.buckets.offences_of(in, ids_[i]);
        if (o != nullptr) {
            o->rejected(*p, now_);
            in.note(*o);
        }
    }
    if (o != nullptr && o->banned_under(p, now_)) {
        const base::duration left{o->banned_until() - now_};
        const base::duration tokens_in =
            decision.allowed ? base::duration{0} : decision.retry_after;
        decision = untouched(terms(i), standing_for(i).after, moment(i));
        decision.allowed = false;
        decision.banned = true;
        decision.retry_after = std::max(tokens_in, left);
    }
}

void memory_taking::keep_taken()
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        location& p = locations_[i];
        standing& s = p.stands;
        // A bucket that is full needs none of the room it was promised: it is as good as never
        // seen.
        if (!s.is_taken() || (p.what == kind::promised && s.after.is_full(now_))) {
            continue;
        }
        if (terms(i).counts_permits()) {
            const bool begins = !s.before.counts_in_flight() || s.before.owed() == 0;
            s.after = limit::bucket::in_flight(
                s.after.owed(), begins ? parts_.permit.load() : s.before.first_permit()
            );
        }
        if (p.what == kind::promised) {
            fulfil(i);
        }
        if (slides(i)) {
            using growth = limit::history::growth;
            const growth allowed = parts_.buckets.has_moments() ? growth::any : growth::none;
            const std::int64_t tokens = s.after.owed() - s.before.owed();
            slide(p, [&](sliding_bucket& b) {
                b.take(terms(i), at_parts(), s.wait, tokens, allowed);
            });
        } else {
            keep(p, s.after);
        }
    }
}

// Puts into the answer by what corrections find the bucket again: the number by which permits are
// released, and the charges that took from a shared bucket.
void memory_taking::report_locations(answer& a)
{
    for (std::size_t i = 0; i < charges_.size(); ++i) {
        const bool counts = terms(i).counts_permits();
        if (counts) {
            a.permits = parts_.permit.load();
        }
        if (shared_locked_ && location_for(i).what == kind::shared) {
            a.add_shared(i);
            if (counts) {
                note_holder(i, a.decisions()[i]);
            }
        }
    }
}

void memory_taking::note_holder(std::size_t i, const limit::decision& decision)
{
    shared_bucket* const shared = parts_.shared.find(charges_[i].limit_name);
    if (decision.allowed && charges_[i].cost > 0 && shared != nullptr) {
        shared->holders.push_back(ids_[i]);
    }
}

void memory_taking::fulfil(std::size_t i)
{
    location& p = locations_[i];
    const slot fresh{ids_[i], limit_tag(charges_[i].limit_name), p.stands.after};
    p.at = &parts_.buckets.fulfil(segment_of(p), fresh, now_, ids());
    p.what = kind::kept;
    if (p.past != nullptr) {
        slide(p, [&](sliding_bucket& b) { b.past = *p.past; });
    }
}

}  // namespace gateway::store
