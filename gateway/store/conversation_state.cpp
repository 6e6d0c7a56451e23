#include "gateway/store/conversation_state.hpp"

#include "gateway/store/alike_questions.hpp"

#include <algorithm>

namespace gateway::store {

namespace {

// A server may pause for a moment, to fork, say, without its connection being given up.
constexpr base::duration least_stuck = std::chrono::milliseconds{250};
constexpr base::duration most_stuck = std::chrono::milliseconds{500};

// Questions answered from memory before the loop does something else.
constexpr int recalls_in_a_row = 128;

}  // namespace

conversation_state::conversation_state(
    conversation_port& port,
    const conversation_options& options,
    telemetry::store_metrics& metrics,
    std::uint32_t seed
)
    : port_(port),
      options_(options),
      stuck_after_(std::clamp(options.timeout, least_stuck, most_stuck)),
      metrics_(metrics),
      breaker_(options.breaker),
      empty_(options.remember_for),
      waiting_(options.max_pending),
      leases_(*this),
      random_(seed)
{}

// What ask() returns when it does not ask.
failure conversation_state::refuse(failure why, base::instant now)
{
    metrics_.failures[static_cast<std::size_t>(why)].add();
    note_failure(why, now);
    return why;
}

void conversation_state::note_failure(failure why, base::instant now)
{
    if (breaker_.failed(why, now)) {
        port_.report(why);
        probe_later(now);
    }
}

bool conversation_state::recalls(std::span<const charge> charges, base::instant now, answer& into)
    const
{
    using belief = empty_buckets::belief;
    return recalls(charges, now, healthy() ? belief::fresh : belief::all, into);
}

bool conversation_state::recalls(
    std::span<const charge> charges, base::instant now, empty_buckets::belief counts, answer& into
) const
{
    return options_.remember_rejections && empty_.decides(charges, now, counts, into) &&
           !leases_.cover(charges, now, leases_that_count());
}

token_leases::belief conversation_state::leases_that_count() const
{
    return healthy() ? token_leases::belief::fresh : token_leases::belief::all;
}

bool conversation_state::take_leased(
    std::span<const charge> charges, base::instant now, answer& into
)
{
    const bool taken = leases_.spend(charges, now, leases_that_count(), into);
    if (taken) {
        metrics_.leased_decisions.add();
    }
    return taken;
}

bool conversation_state::end_leases(base::instant now)
{
    return leases_.end(now);
}

std::optional<failure> conversation_state::ask(
    std::span<const charge> charges, question& q, base::instant now
)
{
    leases_.asked(charges, now);
    return ask_store(charges, q, now);
}

// Not of a store that fails, and not where many wait already.
std::optional<failure> conversation_state::ask_for_lease(
    std::span<const charge> charges, question& q, base::instant now
)
{
    if (!healthy() || pending() >= options_.max_pending / 2) {
        return failure::overload;
    }
    return ask_store(charges, q, now);
}

std::optional<failure> conversation_state::ask_store(
    std::span<const charge> charges, question& q, base::instant now
)
{
    if (link_.closed()) {
        return failure::unreachable;
    }
    if (breaker_.open()) {
        return refuse(failure::open, now);
    }
    if (const auto why = link_.unusable(); why && !link_.awaited()) {
        return refuse(*why, now);
    }
    const std::size_t before = pending();
    if (before >= options_.max_pending) {
        return refuse(failure::overload, now);
    }
    const base::instant deadline = now + options_.timeout;
    wake_by(deadline);
    if (before == 0 && link_.ready() && !filling_) {
        call& first = calls_.front();
        first.count = 1;
        first.questions.front().hold(q, charges, now, deadline);
        send(first, now);
    } else {
        waiting_.push().hold(q, charges, now, deadline);
        port_.wake_after_turn();
    }
    return std::nullopt;
}

// Those that have left are counted, too, until their turn comes.
std::size_t conversation_state::pending() const
{
    std::size_t count = waiting_.size();
    for (const call& c : calls_) {
        count += c.number == 0 ? 0 : c.count;
    }
    return count;
}

void conversation_state::send(call& c, base::instant now)
{
    c.number = ++last_number_;
    c.sent = now;
    c.late = false;
    wake_by(due_at(c));
    metrics_.requests.add();
    port_.send(c);
}

call* conversation_state::free_call()
{
    return under_way(0);
}

call* conversation_state::under_way(std::int64_t number)
{
    const auto is_it = [number](const call& c) { return c.number == number; };
    const auto found = std::find_if(calls_.begin(), calls_.end(), is_it);
    return found == calls_.end() ? nullptr : &*found;
}

void conversation_state::turn_ended(base::instant now)
{
    if (link_.ready() && !filling_ && expire_waiting(now)) {
        send_waiting(now);
    }
}

// As many calls as may be. False: all that was pending has gone.
bool conversation_state::send_waiting(base::instant now)
{
    int recalled = 0;
    for (call* c = free_call(); c != nullptr && !waiting_.empty(); c = free_call()) {
        filling_ = true;
        const bool still_there = fill(*c, recalled, now);
        filling_ = false;
        if (!still_there) {
            return false;
        }
        if (c->count > 0) {
            send(*c, now);
        } else if (recalled > recalls_in_a_row) {
            break;  // the rest when the loop has done something else
        }
    }
    return true;
}

// With those whose turn has come, but for those that an earlier answer has decided. False: all that
// was pending has gone.
bool conversation_state::fill(call& c, int& recalled, base::instant now)
{
    const std::uint64_t era = era_;
    std::size_t charges = 0;
    answer known;
    c.count = 0;
    while (!waiting_.empty() && c.count < call::max_questions) {
        pending_question& next = waiting_.front();
        if (next.asker == nullptr) {
            waiting_.pop();
        } else if (recalls(next.charges, now, known)) {
            if (++recalled > recalls_in_a_row) {
                port_.wake_after_turn();
                break;
            }
            take_waiting().asker->answered(known);
            if (era_ != era) {
                return false;
            }
        } else if (charges + next.charges.size() > call::max_charges) {
            break;
        } else {
            charges += next.charges.size();
            c.questions[c.count++].take_over(next);
            waiting_.pop();
        }
    }
    drop_those_who_left(c);
    bring_together(c);
    return true;
}

// Who was told something meanwhile may have ended questions that were already in the call, and what
// their charges pointed to.
void conversation_state::drop_those_who_left(call& c)
{
    std::size_t kept = 0;
    for (pending_question& p : c.all()) {
        pending_question& place = c.questions[kept];
        if (p.asker != nullptr && &place != &p) {
            place.take_over(p);
        }
        kept += place.asker != nullptr ? 1 : 0;
    }
    c.count = kept;
}

// The one that has waited longest, claimed.
pending_question conversation_state::take_waiting()
{
    const pending_question oldest = waiting_.front().claim();
    waiting_.pop();
    return oldest;
}

bool conversation_state::answered(std::int64_t number, call_results& said, base::instant now)
{
    if (number == probe_number_) {
        answer ignored;
        // Somebody else's value under the probe's key says nothing about the store.
        if (said.next(1, ignored) == call_results::kind::garbage || !said.ended()) {
            give_up(failure::protocol, now);
            return false;
        }
        probe_number_ = 0;
        if (!probe_late_) {
            probe_succeeded();
        }
        return true;
    }
    call* const c = under_way(number);
    return c == nullptr || settle(*c, said, now);
}

bool conversation_state::settle(call& c, call_results& said, base::instant now)
{
    const std::uint64_t era = era_;
    if (!c.late) {
        link_.proved();
        breaker_.succeeded(now);
    }
    empty_.heard(said.grant_mark(), c.sent);
    leases_.heard(said.grant_mark(), c.sent);
    answer a;
    for (pending_question& p : c.all()) {
        const auto kind = said.next(p.charges.size(), a);
        if (kind == call_results::kind::garbage) {
            give_up(failure::protocol, now);
            return false;
        }
        if (p.asker == nullptr) {
            continue;
        }
        metrics_.duration.observe(now - p.asked);
        if (kind == call_results::kind::corrupt) {
            port_.found_corrupt({&p, 1});
            fail(p.claim(), failure::corrupt, taken::no, now);
        } else if (kind == call_results::kind::failed) {
            if (said.why() == failure::corrupt) {
                port_.found_corrupt({&p, 1});
            }
            fail(p.claim(), said.why(), said.tokens(), now);
        } else {
            leases_.answered(p.charges, a, c.sent, now);
            if (options_.remember_rejections) {
                empty_.remember(p.charges, a, now);
            }
            p.release()->answered(a);
        }
        if (era_ != era) {
            return true;
        }
    }
    c.number = 0;
    if (!said.ended()) {
        give_up(failure::protocol, now);
        return false;
    }
    return true;
}

void conversation_state::refused(std::int64_t number, failure why, taken tokens, base::instant now)
{
    if (number == probe_number_) {
        probe_number_ = 0;
        if (!probe_late_) {
            probe_later(now);
        }
        return;
    }
    call* const c = under_way(number);
    if (c == nullptr) {
        return;
    }
    const std::uint64_t era = era_;
    if (!c->late) {
        note_failure(why, now);
    }
    if (why == failure::corrupt) {
        port_.found_corrupt(c->all());
    }
    for (pending_question& p : c->all()) {
        if (p.asker != nullptr) {
            metrics_.duration.observe(now - p.asked);
            fail(p.claim(), why, tokens, now);
        }
        if (era_ != era) {
            return;
        }
    }
    c->number = 0;
}

// What the store said of its bucket before decides a question that fails, however long ago that
// was: a client that is known to be limited is rejected, whatever happens to the store.
void conversation_state::fail(
    const pending_question& claimed, failure why, taken tokens, base::instant now
)
{
    if (claimed.asker == nullptr) {
        return;
    }
    if (answer known; recalls(claimed.charges, now, empty_buckets::belief::all, known)) {
        claimed.asker->answered(known);
        return;
    }
    metrics_.failures[static_cast<std::size_t>(why)].add();
    claimed.asker->failed(why, tokens);
}

}  // namespace gateway::store
