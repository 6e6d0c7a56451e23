#include "gateway/store/pending_corrections.hpp"

#include "gateway/store/receipt.hpp"

#include <iterator>

namespace gateway::store {

namespace {

constexpr base::duration tick = std::chrono::microseconds{1};
constexpr base::duration asked_for = std::chrono::minutes{1};
// Longest time that a correction takes to reach the store and be made.
constexpr base::duration takes = std::chrono::seconds{1};

}  // namespace

pending_corrections::pending::pending(
    pending_corrections& owner, const wanted_correction& wanted, base::instant now
)
    : owner_(owner),
      wanted_(wanted),
      bucket_name_(wanted.of.bucket_name.bytes()),
      receipt_(fresh_receipt()),
      since_(now)
{
    charge& c = wanted_.of;
    c.bucket_name = base::hashed_name{bucket_name_, c.bucket_name.hash()};
    c.may_be_corrected = true;
    c.max_wait = {};
    c.lease = nullptr;
    c.correction = &wanted_.what;
    c.receipt = receipt_;
}

// True if a refund would come too late: the tokens have come back by themselves while the store was
// away.
bool pending_corrections::pending::is_needless(base::instant now)
{
    const limit::terms& terms = wanted_.of.limit->in_microseconds();
    wanted_.what.of.held = (now - wanted_.there_at) / tick + 1;
    return wanted_.what.what == limit::correction::kind::refund &&
           limit::came_back(terms, wanted_.what.of.held, takes / tick);
}

void pending_corrections::pending::ask(base::instant now)
{
    if (is_needless(now)) {
        owner_.all_.erase(self);
        return;
    }
    asked_at_ = now;
    (void)wanted_.store.ask({&wanted_.of, 1}, *this);  // on a refusal, retry() asks again
}

void pending_corrections::add(const wanted_correction& wanted, base::instant now)
{
    if (!has_room()) {
        wanted.lost.add();
        return;
    }
    pending& made = all_.emplace_back(*this, wanted, now);
    made.self = std::prev(all_.end());
    made.ask(now);
}

void pending_corrections::retry(base::instant now)
{
    for (auto next = all_.begin(); next != all_.end();) {
        pending& p = *next++;
        if (now - p.since() > asked_for) {
            p.lose();
            all_.erase(p.self);
        } else if (p.waits(now)) {
            p.ask(now);
        }
    }
}

void pending_corrections::lose_all()
{
    for (pending& p : all_) {
        p.lose();
    }
    all_.clear();
}

}  // namespace gateway::store
