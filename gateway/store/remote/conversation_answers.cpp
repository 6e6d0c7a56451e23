// This part of conversation_state passes on the store's answers, and failures.
#include "gateway/store/remote/conversation_state.hpp"

namespace gateway::store {

bool conversation_state::answered(std::int64_t number, call_results& results, base::instant now)
{
    if (number == probe_number_) {
        answer ignored;
        // A foreign value under the probe's key says nothing about the store.
        if (results.next(1, ignored) == call_results::kind::garbage || !results.ended()) {
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
    return c == nullptr || settle(*c, results, now);
}

bool conversation_state::settle(call& c, call_results& results, base::instant now)
{
    const std::uint64_t era = era_;
    if (!c.late) {
        link_.proved();
        breaker_.succeeded(now);
    }
    if (last_answer_.heard(results.grant_epoch(), c.sent)) {
        empty_.forget();
        leases_.forget();
    }
    answer a;
    for (pending_question& p : c.all()) {
        const auto kind = results.next(p.charges.size(), a);
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
            if (results.why() == failure::corrupt) {
                port_.found_corrupt({&p, 1});
            }
            fail(p.claim(), results.why(), results.tokens(), now);
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
    if (!results.ended()) {
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

// Fails a question, unless an earlier answer about its bucket decides it, however old that is: a
// client that is known to be limited is rejected, whatever happens to the store.
void conversation_state::fail(
    const pending_question& claimed, failure why, taken tokens, base::instant now
)
{
    if (claimed.asker == nullptr) {
        return;
    }
    if (answer known; recalls(claimed.charges, now, belief::all, known)) {
        claimed.asker->answered(known);
        return;
    }
    metrics_.failures[static_cast<std::size_t>(why)].add();
    claimed.asker->failed(why, tokens);
}

}  // namespace gateway::store
