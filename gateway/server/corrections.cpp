#include "gateway/server/corrections.hpp"

#include "gateway/store/receipt.hpp"

namespace gateway::server {

namespace {

constexpr base::duration asked_for = std::chrono::minutes{1};

// A store that could not be asked is asked again so soon.
constexpr base::duration rest = std::chrono::milliseconds{100};

constexpr base::duration second = std::chrono::seconds{1};

// Since the tokens were there, in the ticks of their store.
std::int64_t held(base::instant there_at, base::instant now, base::duration tick)
{
    return (now - there_at) / tick;
}

// No later than the tokens were there: at once, or after a wait.
base::instant there_at(const reserved& r)
{
    return r.taken_at + r.decision.retry_after;
}

}  // namespace

corrections::pending::pending(
    corrections& owner,
    std::shared_ptr<const policy_view> view,
    const reserved& r,
    const limit::correction& what
)
    : owner_(owner),
      view_(std::move(view)),
      store_(*r.shared),
      metrics_(*r.metrics),
      there_at_(there_at(r)),
      bucket_name_(r.bucket_name),
      receipt_(store::fresh_receipt()),
      what_(what),
      charge_(charge_of(r, bucket_name_)),
      since_(owner.clock_.now())
{
    charge_.may_be_corrected = true;
    charge_.correction = &what_;
    charge_.receipt = receipt_;
}

bool corrections::pending::waits(base::instant now) const
{
    return !asked() && now - asked_at_ >= rest;
}

// What flows back while the store is away is not given back as well.
bool corrections::pending::is_needless()
{
    constexpr base::duration tick = std::chrono::microseconds{1};
    what_.of.held = held(there_at_, owner_.clock_.now(), tick) + 1;
    return what_.what == limit::correction::kind::give_back &&
           limit::came_back(charge_.limit->in_microseconds(), what_.of.held, second / tick);
}

void corrections::pending::ask()
{
    if (is_needless()) {
        owner_.pending_.erase(self);
        return;
    }
    asked_at_ = owner_.clock_.now();
    (void)store_.ask({&charge_, 1}, *this);  // if it cannot be asked now, retry() comes again
}

void corrections::make(
    const std::shared_ptr<const policy_view>& view, const reserved& r, const limit::correction& what
)
{
    if (r.shared == nullptr) {
        limit::correction now = what;
        now.of.held = held(there_at(r), clock_.now(), base::duration{1});
        if (!local_.correct(charge_of(r, r.bucket_name), now, clock_.now())) {
            r.metrics->corrections_lost.add();
        }
    } else if (has_room()) {
        pending& made = pending_.emplace_back(*this, view, r, what);
        made.self = std::prev(pending_.end());
        made.ask();
    } else {
        r.metrics->corrections_lost.add();
    }
}

void corrections::retry()
{
    for (auto next = pending_.begin(); next != pending_.end();) {
        pending& p = *next++;
        if (clock_.now() - p.since() > asked_for) {
            p.lose();
            pending_.erase(p.self);
        } else if (p.waits(clock_.now())) {
            p.ask();
        }
    }
}

void corrections::lose_all()
{
    for (pending& p : pending_) {
        p.lose();
    }
    pending_.clear();
}

}  // namespace gateway::server
