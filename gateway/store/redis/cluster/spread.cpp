#include "gateway/store/redis/cluster/spread.hpp"

#include <algorithm>
#include <utility>

namespace gateway::store::redis {

namespace {

// Returns the decision of the bucket as it was before the charge. For kinds other than token
// buckets, reset_after stays as it is.
limit::decision without(const charge& c, limit::decision decision)
{
    const limit::terms& t = c.limit->in_microseconds();
    constexpr base::duration tick = std::chrono::microseconds{1};
    if (t.is_by_time()) {
        decision.reset_after = limit::owed_before(t, decision, c.cost, tick) * tick;
    }
    decision.remaining = std::min(decision.remaining + c.cost, c.limit->burst());
    decision.retry_after = {};
    return decision;
}

}  // namespace

spreads::spreads(
    const net::executor& executor,
    shared_store& store,
    base::duration timeout,
    telemetry::store_metrics& metrics
)
    : store_(store),
      timeout_(timeout),
      metrics_(metrics),
      rest_over_(
          executor,
          [this] {
              refunds_.retry(base::now());
              rest();
          }
      ),
      first_deadline_(executor, [this] { expire(); })
{}

std::optional<failure> spreads::ask(
    std::span<const charge> charges, std::span<const std::size_t> turns, question& q
)
{
    if (closed_) {
        return failure::unreachable;
    }
    if (all_.size() == max_pending) {
        metrics_.failures[static_cast<std::size_t>(failure::overload)].add();
        return failure::overload;
    }
    spread& made = all_.emplace_back(*this, charges, turns);
    made.self = std::prev(all_.end());
    const base::instant now = base::now();
    if (const auto why = made.begin(q, now, now + timeout_)) {
        all_.pop_back();
        return why;
    }
    if (all_.size() == 1) {
        first_deadline_.set(made.deadline());
    }
    return std::nullopt;
}

void spreads::close()
{
    closed_ = true;
    first_deadline_.cancel();
    while (!all_.empty()) {
        all_.front().fail(failure::unreachable, taken::perhaps);
    }
    refunds_.lose_all();
    rest_over_.cancel();
}

// Refunds what `decision` allowed of this charge at `taken_at`.
void spreads::refund(const charge& c, const limit::decision& decision, base::instant taken_at)
{
    constexpr base::duration tick = std::chrono::microseconds{1};
    const limit::terms& t = c.limit->in_microseconds();
    const auto owned = std::make_shared<const owned_charge>(c);
    const limit::correction what{
        .what = limit::correction::kind::refund,
        .of = {.tokens = c.cost, .owed_before = limit::owed_before(t, decision, c.cost, tick)},
        .in_line = c.max_wait > base::duration{0}};
    const bool rests = !refunds_.idle();
    refunds_.add(
        {store_,
         owned->get(),
         what,
         taken_at + decision.retry_after,
         metrics_.give_backs_lost,
         owned},
        base::now()
    );
    if (!rests) {
        rest();
    }
}

void spreads::rest()
{
    if (!refunds_.idle()) {
        rest_over_.set(pending_corrections::rest);
    }
}

// Expires one question at a time, as the receiver of its end may be the last user of this.
void spreads::expire()
{
    if (all_.empty()) {
        return;
    }
    spread& first = all_.front();
    if (first.deadline() > base::now()) {
        first_deadline_.set(first.deadline());
        return;
    }
    if (all_.size() > 1) {
        first_deadline_.set(std::next(all_.begin())->deadline());
    }
    metrics_.failures[static_cast<std::size_t>(failure::timeout)].add();
    first.expire();
}

spread::spread(spreads& owner, std::span<const charge> charges, std::span<const std::size_t> turns)
    : owner_(owner), count_(charges.size())
{
    std::array<bool, max_charges> is_needed{};
    for (std::size_t i = 0; i < count_; ++i) {
        is_needed[turns[i]] = is_needed[turns[i]] || charges[i].enforced;
    }
    const auto order = std::span{position_of_}.first(count_);
    for (std::size_t i = 0; i < count_; ++i) {
        order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair{!is_needed[turns[a]], turns[a]} <
               std::pair{!is_needed[turns[b]], turns[b]};
    });
    for (std::size_t i = 0; i < count_; ++i) {
        charges_[i] = owned_.emplace_back(charges[order[i]]).get();
        turn_of_[i] = turns[order[i]];
        needed_ += is_needed[turns[order[i]]] ? 1 : 0;
    }
}

std::optional<failure> spread::begin(question& q, base::instant now, base::instant deadline)
{
    const auto why = ask_turn();
    if (!why) {
        asker_.hold(q, {}, now, deadline);
    }
    return why;
}

std::optional<failure> spread::ask_turn()
{
    const auto rest = std::span{turn_of_}.first(count_).subspan(at_);
    const auto other = [&rest](std::size_t turn) { return turn != rest.front(); };
    in_turn_ =
        static_cast<std::size_t>(std::find_if(rest.begin(), rest.end(), other) - rest.begin());
    asked_at_ = base::now();
    return owner_.store_.ask(std::span{charges_}.subspan(at_, in_turn_), *this);
}

void spread::answered(const answer& a)
{
    for (std::size_t i = 0; i < in_turn_; ++i) {
        decisions_[at_ + i] = a.decisions()[i];
        known_[at_ + i] = a.knows(i);
        taken_at_[at_ + i] = asked_at_;
    }
    if (a.admitted) {
        go_on();
    } else {
        finish(false);
    }
}

void spread::failed(failure why, taken tokens)
{
    if (may_do_without()) {
        go_on();
    } else {
        fail(why, tokens);
    }
}

void spread::expire()
{
    if (may_do_without()) {
        finish(true);
    } else {
        fail(failure::timeout, taken::perhaps);
    }
}

// Goes on to the next turn, or finishes after the last one.
void spread::go_on()
{
    at_ += std::exchange(in_turn_, 0);
    while (at_ < count_) {
        if (asker_.asker == nullptr) {
            owner_.all_.erase(self);  // nobody waits for the rest, and what was taken stays taken
            return;
        }
        const auto why = ask_turn();
        if (!why) {
            return;
        }
        if (!may_do_without()) {
            fail(*why, taken::no);
            return;
        }
        at_ += std::exchange(in_turn_, 0);
    }
    finish(true);
}

// Refunds what the turns before the present one took.
void spread::refund()
{
    for (std::size_t i = 0; i < at_; ++i) {
        if (decisions_[i].allowed && charges_[i].cost > 0) {
            owner_.refund(charges_[i], decisions_[i], taken_at_[i]);
            decisions_[i] = without(charges_[i], decisions_[i]);
        }
    }
}

void spread::finish(bool admitted)
{
    answer all;
    if (!admitted) {
        refund();
    }
    std::array<std::size_t, max_charges> at_position{};
    for (std::size_t i = 0; i < count_; ++i) {
        at_position[position_of_[i]] = i;
    }
    for (std::size_t position = 0; position < count_; ++position) {
        const std::size_t i = at_position[position];
        if (known_[i]) {
            all.add(decisions_[i]);
        } else {
            all.add_unknown();
        }
    }
    all.admitted = admitted;
    question* const q = asker_.release();
    owner_.all_.erase(self);
    if (q != nullptr) {
        q->answered(all);
    }
}

void spread::fail(failure why, taken tokens)
{
    refund();
    question* const q = asker_.release();
    owner_.all_.erase(self);
    if (q != nullptr) {
        q->failed(why, tokens);
    }
}

}  // namespace gateway::store::redis
