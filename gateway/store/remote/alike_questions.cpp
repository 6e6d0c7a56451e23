#include "gateway/store/remote/call.hpp"

#include <algorithm>
#include <iterator>

namespace gateway::store {

namespace {

bool same(const charge& a, const charge& b)
{
    return a.bucket_name.hash() == b.bucket_name.hash() && a.correction == nullptr &&
           b.correction == nullptr && a.limit == b.limit && a.cost == b.cost &&
           a.enforced == b.enforced && a.max_wait == b.max_wait &&
           a.max_reserved == b.max_reserved && a.penalty == b.penalty && a.permit == b.permit &&
           a.looks == b.looks && a.bucket_name.bytes() == b.bucket_name.bytes() &&
           a.limit_name == b.limit_name;
}

// True if the question has a charge to that bucket.
bool touches(const pending_question& q, const charge& of)
{
    return std::any_of(q.charges.begin(), q.charges.end(), [&of](const charge& c) {
        return c.bucket_name.hash() == of.bucket_name.hash() && c.limit_name == of.limit_name;
    });
}

// Moves the question to `to`, and those in between one slot back.
template <typename Place>
void move_up(pending_question& moving, Place to, Place from)
{
    if (to == from) {
        return;
    }
    pending_question moved;
    moved.take_over(moving);
    for (Place at = from; at != to; --at) {
        at->take_over(*std::prev(at));
    }
    to->take_over(moved);
}

// Moves up the questions that ask the same as the first one, until one in between is about the same
// bucket. Returns the slot behind them.
template <typename Place>
Place gather_behind(Place first, Place end)
{
    auto behind = std::next(first);
    const bool may_move = first->charges.size() == 1;
    for (auto next = behind; may_move && next != end; ++next) {
        if (ask_the_same(*first, *next)) {
            move_up(*next, behind, next);
            ++behind;
        } else if (touches(*next, first->charges.front())) {
            break;
        }
    }
    return behind;
}

}  // namespace

bool ask_the_same(const pending_question& a, const pending_question& b)
{
    return std::equal(
        a.charges.begin(),
        a.charges.end(),
        b.charges.begin(),
        b.charges.end(),
        [](const charge& x, const charge& y) { return same(x, y); }
    );
}

void bring_together(call& c)
{
    const auto all = c.all();
    for (auto first = all.begin(); first != all.end();) {
        first = gather_behind(first, all.end());
    }
}

}  // namespace gateway::store
