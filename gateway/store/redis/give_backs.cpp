#include "gateway/store/redis/give_backs.hpp"

#include "gateway/store/receipt.hpp"

#include <utility>

namespace gateway::store::redis {

namespace {

constexpr base::duration tick = std::chrono::microseconds{1};
constexpr base::duration rest = std::chrono::milliseconds{200};
constexpr base::duration asked_for = std::chrono::minutes{1};

limit::correction correction_of(const charge& c, const limit::decision& said)
{
    const limit::terms& t = c.limit->in_microseconds();
    return {
        .what = limit::correction::kind::give_back,
        .of = {.tokens = c.cost, .owed_before = limit::owed_before(t, said, c.cost, tick)}};
}

}  // namespace

class give_backs::pending final : public question {
public:
    pending(give_backs& owner, const charge& c, const limit::decision& said, base::instant taken_at)
        : owner_(owner),
          owned_(c),
          what_(correction_of(c, said)),
          receipt_(fresh_receipt()),
          charge_(owned_.get()),
          taken_at_(taken_at)
    {
        charge_.correction = &what_;
        charge_.receipt = receipt_;
        charge_.may_be_corrected = true;
        charge_.max_wait = {};
    }

    std::list<pending>::iterator self;

    bool is_over(base::instant now) const { return now - taken_at_ > asked_for; }

    void ask()
    {
        what_.of.held = (base::now() - taken_at_) / tick + 1;
        if (owner_.to_.ask({&charge_, 1}, *this)) {
            owner_.retry_later();
        }
    }

private:
    give_backs& owner_;
    owned_charge owned_;
    limit::correction what_;
    std::string receipt_;
    charge charge_;
    base::instant taken_at_;

    void answered(const answer&) override { owner_.all_.erase(self); }

    void failed(failure, taken) override { owner_.retry_later(); }
};

give_backs::give_backs(
    const net::executor& executor, shared_store& to, telemetry::store_metrics& metrics
)
    : to_(to), metrics_(metrics), rest_over_(executor, [this] { retry(); })
{}

give_backs::~give_backs()
{
    close();
}

void give_backs::close()
{
    closed_ = true;
    metrics_.give_backs_lost.add(all_.size());
    all_.clear();
    rest_over_.cancel();
}

void give_backs::add(const charge& c, const limit::decision& said, base::instant taken_at)
{
    if (closed_ || all_.size() == max_pending) {
        metrics_.give_backs_lost.add();
        return;
    }
    pending& made = all_.emplace_back(*this, c, said, taken_at);
    made.self = std::prev(all_.end());
    made.ask();
}

void give_backs::retry_later()
{
    if (!closed_ && !std::exchange(rests_, true)) {
        rest_over_.set(rest);
    }
}

void give_backs::retry()
{
    rests_ = false;
    const base::instant now = base::now();
    for (auto next = all_.begin(); next != all_.end();) {
        pending& p = *next++;
        if (p.is_over(now)) {
            metrics_.give_backs_lost.add();
            all_.erase(p.self);
        } else if (!p.asked()) {
            p.ask();
        }
    }
}

}  // namespace gateway::store::redis
