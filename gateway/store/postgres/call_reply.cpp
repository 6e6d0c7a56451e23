#include "gateway/store/postgres/call_reply.hpp"

namespace gateway::store::postgres {

bool call_reply::ended() const
{
    return walk_.ended() && (is_usual_ ? told_.size() == 2 + walk_.bucket() : at_ == told_.size());
}

call_results::kind call_reply::next(std::size_t charges, answer& into)
{
    if (walk_.ended()) {
        return kind::garbage;
    }
    const kind said = !is_usual_     ? read_question(told_, at_, charges, into)
                      : charges == 1 ? next_usual(into)
                                     : kind::garbage;
    walk_.go_on();
    return said;
}

call_results::kind call_reply::next_usual(answer& into) const
{
    const auto debts = told_.subspan(2);
    const std::size_t bucket = walk_.bucket();
    if (debts.size() <= bucket) {
        return kind::garbage;
    }
    return read_usual(walk_.asked(), walk_.before(), debts[bucket], into);
}

}  // namespace gateway::store::postgres
