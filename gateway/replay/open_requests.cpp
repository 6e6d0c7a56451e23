#include "gateway/replay/open_requests.hpp"

#include <algorithm>
#include <utility>

namespace gateway::replay {

void open_requests::add(base::instant ends_at, limits::reservation taken, request_end how)
{
    open_.emplace(ends_at, open_request{std::move(taken), std::move(how)});
    if (open_.size() > most) {
        end_first();
    }
}

void open_requests::end_first()
{
    auto first = open_.extract(open_.begin());
    limits::reservation& taken = first.mapped().taken;
    const request_end& how = first.mapped().how;
    clock_.set(std::max(clock_.now(), first.key()));
    if (how.left) {
        taken.refund(corrections_, leases_, nullptr);
        return;
    }
    if (how.response.status != 0) {
        http::response_head head;
        for (const request_end::settled_cost& s : how.settled) {
            head.fields.push_back(
                {.id = http::field_name::other, .name = s.name, .value = s.tokens, .line = {}}
            );
        }
        taken.responded(how.response, &head, corrections_, nullptr);
    }
    if (!taken.empty()) {
        taken.ended(corrections_, leases_);
    }
}

void open_requests::move_to(base::instant now)
{
    while (!open_.empty() && open_.begin()->first <= now) {
        end_first();
    }
    while (!waits_.empty() && waits_.top() <= now) {
        waits_.pop();
    }
    clock_.set(now);
}

bool open_requests::hold(base::instant until, std::size_t most_waiting)
{
    if (waits_.size() >= most_waiting) {
        return false;
    }
    waits_.push(until);
    return true;
}

}  // namespace gateway::replay
