// This part of conversation_state has its deadlines and probes, and the end of its connection.
#include "gateway/store/remote/conversation_state.hpp"

#include <algorithm>

namespace gateway::store {

namespace {

// Deadlines this close to each other are checked together. That is far less than the 5 ms by which
// an answer may be late.
constexpr base::duration deadline_grain = std::chrono::milliseconds{1};

}  // namespace

void conversation_state::ready(base::instant now)
{
    link_.greeted();
    if (!send_waiting(now)) {
        return;
    }
    if (breaker_.open()) {
        probe(now);
    } else {
        port_.report(std::nullopt);
    }
}

void conversation_state::give_up(failure why, base::instant now)
{
    port_.hang_up();
    lost(why, now);
}

void conversation_state::lost(failure why, base::instant now)
{
    const std::uint64_t era = ++era_;
    link_.lost(why);
    probe_number_ = 0;
    probe_late_ = false;
    if (pending() > 0) {
        note_failure(why, now);
    }
    port_.report(why);
    for (call& c : calls_) {
        // The call is free before any question fails, as that may already ask for the next
        // connection.
        c.number = 0;
        for (pending_question& p : c.all()) {
            fail(p.claim(), why, taken::perhaps, now);
            if (era_ != era) {
                return;
            }
        }
    }
    while (!waiting_.empty() && era_ == era) {
        fail(take_waiting(), why, taken::no, now);
    }
}

void conversation_state::close(pending_ones what)
{
    ++era_;
    link_.close();
    const auto end = [what](question* asker, taken tokens) {
        if (asker != nullptr && what == pending_ones::fail) {
            asker->failed(failure::unreachable, tokens);
        }
    };
    for (call& c : calls_) {
        c.number = 0;
        for (pending_question& p : c.questions) {
            end(p.release(), taken::perhaps);
        }
    }
    while (!waiting_.empty()) {
        end(take_waiting().asker, taken::no);
    }
}

void conversation_state::wake_by(base::instant at)
{
    if (at < wake_at_) {
        wake_at_ = at;
        port_.wake_at(at);
    }
}

void conversation_state::wake_for_lease(base::instant at)
{
    lease_end_ = std::min(lease_end_, at);
    wake_by(at);
}

void conversation_state::passed(base::instant now)
{
    if (link_.closed()) {
        return;
    }
    wake_at_ = base::instant::max();
    if (is_stuck(now)) {
        give_up(failure::timeout, now);
    } else if (expire_calls(now)) {
        expire_waiting(now);
    }
    if (link_.closed()) {
        return;
    }
    check_probe(now);
    if (lease_end_ <= now) {
        lease_end_ = leases_.passed(now);
    }
    const base::instant next = next_deadline();
    if (next != base::instant::max()) {
        wake_by(std::max(next, now + deadline_grain));
    }
}

bool conversation_state::is_stuck(base::instant now) const
{
    const auto overdue = [this, now](const call& c) {
        return c.number != 0 && due_at(c) + stuck_after_ <= now;
    };
    return std::any_of(calls_.begin(), calls_.end(), overdue) ||
           (probe_number_ != 0 && probe_deadline_ + stuck_after_ <= now);
}

// Fails the questions under way whose time is up. Returns false if all that was pending has ended.
// A question that waited for long may have had little time left when it was sent. Its failure says
// something about the store only if the store had the whole timeout.
bool conversation_state::expire_calls(base::instant now)
{
    const std::uint64_t era = era_;
    for (call& c : calls_) {
        if (c.number == 0) {
            continue;
        }
        if (!c.late && due_at(c) <= now) {
            c.late = true;
            note_failure(failure::timeout, now);
        }
        for (pending_question& p : c.all()) {
            if (p.asker == nullptr || p.deadline > now) {
                continue;
            }
            metrics_.duration.observe(now - p.asked);
            const failure why = c.late ? failure::timeout : failure::overload;
            fail(p.claim(), why, taken::perhaps, now);
            if (era_ != era) {
                return false;
            }
        }
    }
    return true;
}

// True if the store sent nothing while the question waited, and for a whole timeout before that.
bool conversation_state::was_silent_for(const pending_question& p) const
{
    const auto was_overdue = [this, &p](const call& c) {
        return c.number != 0 && due_at(c) <= p.asked;
    };
    return !link_.ready() || std::all_of(calls_.begin(), calls_.end(), was_overdue);
}

// Fails the questions whose time was up before they were sent, oldest first. Returns false if all
// that was pending has ended. It is a failure of the store only if the store is silent. Otherwise
// the worker's queue was too long.
bool conversation_state::expire_waiting(base::instant now)
{
    const std::uint64_t era = era_;
    bool noted = false;
    while (!waiting_.empty() && waiting_.front().deadline <= now) {
        const pending_question overdue = take_waiting();
        if (overdue.asker == nullptr) {
            continue;
        }
        const failure why = was_silent_for(overdue) ? failure::timeout : failure::overload;
        if (why == failure::timeout && !noted) {
            noted = true;
            note_failure(why, now);
        }
        fail(overdue, why, taken::no, now);
        if (era_ != era) {
            return false;
        }
    }
    return true;
}

void conversation_state::check_probe(base::instant now)
{
    if (probe_number_ != 0 && !probe_late_ && probe_deadline_ <= now) {
        probe_late_ = true;
        probe_later(now);
    }
    if (probe_at_ <= now) {
        probe(now);
    }
}

// Sends a probe. Does nothing while the breaker is closed, or without a connection, as the next
// connection begins with a probe. While a probe is under way it only plans the next one.
void conversation_state::probe(base::instant now)
{
    probe_at_ = base::instant::max();
    if (!link_.ready() || !breaker_.open()) {
        return;
    }
    if (probe_number_ != 0) {
        probe_later(now);
        return;
    }
    probe_number_ = ++last_number_;
    probe_late_ = false;
    probe_deadline_ = now + options_.timeout;
    metrics_.requests.add();
    port_.send_probe(probe_number_);
    wake_by(probe_deadline_);
}

void conversation_state::probe_later(base::instant now)
{
    const double chance = std::uniform_real_distribution<double>{0, 1}(random_);
    probe_at_ = now + breaker_.pause(chance);
    wake_by(probe_at_);
}

void conversation_state::probe_succeeded()
{
    probe_at_ = base::instant::max();
    breaker_.probe_succeeded();
    link_.proved();
    port_.report(std::nullopt);
}

base::instant conversation_state::next_deadline() const
{
    base::instant next = std::min(probe_at_, lease_end_);
    for (const call& c : calls_) {
        if (c.number == 0) {
            continue;
        }
        next = std::min(next, c.late ? due_at(c) + stuck_after_ : due_at(c));
        for (const pending_question& p : c.all()) {
            if (p.asker != nullptr) {
                next = std::min(next, p.deadline);
            }
        }
    }
    if (!waiting_.empty()) {
        next = std::min(next, waiting_.front().deadline);
    }
    if (probe_number_ != 0) {
        next = std::min(next, probe_late_ ? probe_deadline_ + stuck_after_ : probe_deadline_);
    }
    return next;
}

}  // namespace gateway::store
