#include "gateway/store/postgres/call_reply.hpp"

#include "gateway/store/told_reply.hpp"

#include <algorithm>
#include <array>

namespace gateway::store::postgres {

bool call_reply::ended() const
{
    return shape_.empty() &&
           (is_usual_ ? told_.size() == 2 + 2 * buckets_before_ : at_ == told_.size());
}

call_results::kind call_reply::next(std::size_t charges, answer& into)
{
    if (shape_.empty()) {
        return kind::garbage;
    }
    const usual_questions& asked = shape_.front();
    const std::int64_t questions = is_usual_ ? asked.keys * asked.times : asked.times;
    const kind said = !is_usual_     ? read_question(told_, at_, charges, into)
                      : charges == 1 ? next_usual(asked, into)
                                     : kind::garbage;
    if (++answered_ == questions) {
        buckets_before_ += static_cast<std::size_t>(asked.keys);
        shape_ = shape_.subspan(1);
        answered_ = 0;
    }
    return said;
}

// What all buckets owed, then how many passed at each: the rest follows, by the algebra of
// limit/algebra.hpp.
call_results::kind call_reply::next_usual(const usual_questions& asked, answer& into)
{
    const auto rest = told_.subspan(2);
    const std::size_t bucket = buckets_before_ + static_cast<std::size_t>(answered_ / asked.times);
    if (rest.size() / 2 <= bucket) {
        return kind::garbage;
    }
    const std::int64_t before = answered_ % asked.times;
    const std::int64_t debt = rest[bucket];
    const std::int64_t passed = rest[rest.size() / 2 + bucket];
    const bool passes = before < passed;
    const std::int64_t most = asked.interval * asked.burst;
    const std::int64_t owed = debt + (passes ? before + 1 : passed) * asked.cost * asked.interval;
    if (debt < 0 || passed < 0 || passed > asked.times || (passes && owed > most)) {
        return kind::garbage;
    }
    // A token may have come back while the call waited for others, after this was refused.
    const std::int64_t least = asked.cost > asked.burst ? 0 : 1;
    const std::int64_t missing =
        std::max(owed + (std::min(asked.cost, asked.burst) - asked.burst) * asked.interval, least);
    const std::int64_t held = (owed + asked.interval - 1) / asked.interval;
    const std::array<std::int64_t, 4> four{
        passes ? 1 : 0, std::max<std::int64_t>(asked.burst - held, 0), passes ? 0 : missing, owed};
    into.clear();
    into.admitted = passes || !asked.enforced;
    return read_decision(four, into);
}

}  // namespace gateway::store::postgres
