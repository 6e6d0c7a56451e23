// This part of conversation_state decides which questions travel together, and when.
#include "gateway/store/remote/conversation_state.hpp"

#include <algorithm>

namespace gateway::store {

namespace {

// Most questions that are answered from memory before the loop does something else.
constexpr int recalls_in_a_row = 128;

}  // namespace

void conversation_state::turn_ended(base::instant now)
{
    if (link_.ready() && !filling_ && expire_waiting(now)) {
        send_waiting(now);
    }
}

// Sends as many calls as are allowed. Returns false if all that was pending has ended.
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
            break;  // the rest follows when the loop has done something else
        }
    }
    return true;
}

// Fills a call with the next questions, except those that an earlier answer decides. Returns false
// if all that was pending has ended.
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

// Removes the questions that have been abandoned since they joined the call. A question that was
// answered meanwhile may have destroyed them, and what their charges pointed to.
void conversation_state::drop_those_who_left(call& c)
{
    std::size_t kept = 0;
    for (pending_question& p : c.all()) {
        pending_question& slot = c.questions[kept];
        if (p.asker != nullptr && &slot != &p) {
            slot.take_over(p);
        }
        kept += slot.asker != nullptr ? 1 : 0;
    }
    c.count = kept;
}

// Takes the question that has waited longest out of the queue.
pending_question conversation_state::take_waiting()
{
    const pending_question oldest = waiting_.front().claim();
    waiting_.pop();
    return oldest;
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

}  // namespace gateway::store
