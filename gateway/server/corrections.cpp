#include "gateway/server/corrections.hpp"

#include "gateway/base/hash.hpp"

#include <algorithm>

namespace gateway::server {

namespace {

constexpr base::duration asked_for = std::chrono::minutes{1};

// 128 bits that nobody else has.
std::string fresh_receipt()
{
    const base::hash_key random = base::random_hash_key();
    return base::sha256_hex128({reinterpret_cast<const char*>(random.data()), sizeof(random)});
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
      taken_at_(r.taken_at),
      bucket_name_(r.bucket_name),
      receipt_(fresh_receipt()),
      what_(what),
      charge_{
          .limit_name = r.rule->name,
          .bucket_name = bucket_name_,
          .limit = &r.rule->limit,
          .may_be_corrected = true,
          .correction = &what_,
          .receipt = receipt_},
      since_(owner.loop_.now())
{}

// What flows back while the store is away is not given back as well.
void corrections::pending::ask()
{
    const base::duration held = owner_.loop_.now() - taken_at_;
    what_.of.held = std::max<std::int64_t>(held / std::chrono::microseconds{1}, 0) + 1;
    (void)store_.ask({&charge_, 1}, *this);  // if it cannot be asked now, retry() comes again
}

void corrections::make(
    const std::shared_ptr<const policy_view>& view, const reserved& r, const limit::correction& what
)
{
    if (r.shared == nullptr) {
        const store::charge c{
            .limit_name = r.rule->name, .bucket_name = r.bucket_name, .limit = &r.rule->limit};
        local_.correct(c, what, loop_.now());
    } else if (pending_.size() < max_pending) {
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
        if (loop_.now() - p.since() > asked_for) {
            p.lose();
            pending_.erase(p.self);
        } else if (p.waits()) {
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
