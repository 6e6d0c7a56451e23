#include "gateway/store/remote/conversation_state.hpp"

#include <algorithm>

namespace gateway::store {

namespace {

// These bounds let a server pause for a moment, for example to fork, without losing its connection.
constexpr base::duration least_stuck = std::chrono::milliseconds{250};
constexpr base::duration most_stuck = std::chrono::milliseconds{500};

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
      empty_(last_answer_, options.remember_for),
      waiting_(options.max_pending),
      leases_(*this, last_answer_),
      random_(seed)
{}

// Counts the failure of a question that is not asked, and returns it, for ask() to return.
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
    const bool recalled = recalls(charges, now, what_counts(), into);
    if (recalled) {
        metrics_.remembered_decisions.add();
    }
    return recalled;
}

bool conversation_state::recalls(
    std::span<const charge> charges, base::instant now, belief counts, answer& into
) const
{
    return options_.remember_rejections && empty_.decides(charges, now, counts, into) &&
           !leases_.cover(charges, now, what_counts());
}

belief conversation_state::what_counts() const
{
    return healthy() ? belief::fresh : belief::all;
}

bool conversation_state::take_leased(
    std::span<const charge> charges, base::instant now, answer& into
)
{
    const bool taken = leases_.spend(charges, now, what_counts(), into);
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

// Asks for a lease, but not if the store fails, or if many questions wait already.
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

// Returns the number of pending questions. Abandoned ones count until their turn comes.
std::size_t conversation_state::pending() const
{
    std::size_t count = waiting_.size();
    for (const call& c : calls_) {
        count += c.number == 0 ? 0 : c.count;
    }
    return count;
}

}  // namespace gateway::store
