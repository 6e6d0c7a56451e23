#include "gateway/limits/bucket_operations.hpp"

#include "gateway/identity/bucket_name.hpp"
#include "gateway/limits/fallback_name.hpp"
#include "gateway/store/receipt.hpp"

namespace gateway::limits {

namespace {

using operation_kind = bucket_operation::kind;

constexpr std::string_view no_room = "the local store has no room for this bucket";

// Returns how long ago granted tokens count as taken. For a sliding limit that is just under its
// window, as all tokens that have not come back by themselves may be given back.
base::duration granted_from(const limit::limit& l)
{
    const bool slides = l.how() == limit::supply_kind::sliding;
    return slides ? l.refill() - std::chrono::microseconds{1} : base::duration{0};
}

// Returns the correction that an operation makes, in the ticks of the store.
limit::correction correction_of(const bucket_operation& operation, base::duration tick)
{
    using kind = limit::correction::kind;
    switch (operation.what) {
        case operation_kind::reset:
            return {.what = kind::reset};
        case operation_kind::ban:
            return {.what = kind::ban, .of = {.held = operation.ban / tick}};
        case operation_kind::unban:
            return {.what = kind::unban};
        default:
            return {
                .what = kind::refund,
                .of = {
                    .tokens = operation.tokens, .held = granted_from(*operation.numbers) / tick}};
    }
}

// Returns the limit's penalty without its counting: bans hold for a look, too, but a look that is
// rejected does not lead to a ban.
limit::penalty only_bans(const policy::limit_rule& rule)
{
    limit::penalty p = rule.penalty;
    p.after = 0;
    return p;
}

std::string_view text_of(store::failure why)
{
    return store::failure_names[static_cast<std::size_t>(why)];
}

using charges = std::array<store::charge, 3>;

// Returns the answer that the decisions on a question give, see look_for_bans().
bucket_result answer_of(const store::answer& a)
{
    const limit::decision& ban = a.decisions()[1];
    return {
        .decision = a.decisions()[0],
        .banned_for = ban.banned ? ban.retry_after : base::duration{0},
        .by_operator = a.decisions()[2].banned};
}

// Adds two charges to the first one, a look or take: a look for any ban, and a look for a ban by an
// operator, the only kind that a limit without a penalty knows. Both are for no token, which is
// always there, so only a ban rejects them, for as long as it lasts.
void look_for_bans(charges& all, const limit::penalty& bans)
{
    store::charge& look = all[1] = all[0];
    look.cost = 0;
    look.enforced = false;
    look.max_wait = base::duration{0};
    look.looks = true;
    look.penalty = look.penalty == nullptr ? nullptr : &bans;
    all[2] = look;
    all[2].penalty = nullptr;
}

}  // namespace

// An operation on its way to a shared store, in at most two steps: the correction, and the look or
// take. It destroys itself when it has been answered.
class bucket_operations::pending final : public store::question {
public:
    pending(
        bucket_operations& owner,
        std::shared_ptr<store::shared_store> store,
        bucket_operation operation,
        listener hear
    )
        : owner_(owner),
          store_(std::move(store)),
          asked_(std::move(operation)),
          hear_(std::move(hear))
    {}

    std::list<pending>::iterator self;

    void begin()
    {
        const policy::limit_rule& rule = asked_.policy->limits[asked_.limit];
        bans_ = only_bans(rule);
        const bool takes = asked_.what == operation_kind::take;
        charges_[0] = {
            .limit_name = rule.name,
            .bucket_name = identity::hashed(asked_.bucket_name),
            .limit = asked_.numbers,
            .cost = asked_.tokens,
            .max_wait = asked_.max_wait,
            .max_reserved = rule.max_reserved,
            .penalty = !rule.penalty.any() ? nullptr
                       : takes             ? &rule.penalty
                                           : &bans_,
            .may_be_corrected = true};
        if (asked_.is_correction()) {
            correction_ = correction_of(asked_, std::chrono::microseconds{1});
            receipt_ = store::fresh_receipt();
            charges_[0].correction = &correction_;
            charges_[0].receipt = receipt_;
            charges_[0].is_grant = true;
            ask(1);
        } else {
            decide();
        }
    }

private:
    bucket_operations& owner_;
    // Held here, as a reload may replace it meanwhile.
    std::shared_ptr<store::shared_store> store_;
    bucket_operation asked_;
    listener hear_;
    limit::correction correction_;
    limit::penalty bans_;
    std::string receipt_;
    charges charges_;

    void decide()
    {
        const bool takes = asked_.what == operation_kind::take;
        charges_[0].enforced = takes;
        charges_[0].looks = !takes;
        look_for_bans(charges_, bans_);
        ask(charges_.size());
    }

    void ask(std::size_t count)
    {
        if (const auto why = store_->ask(std::span{charges_}.first(count), *this)) {
            failed(*why, store::taken::no);
        }
    }

    void answered(const store::answer& a) override
    {
        if (charges_[0].correction == nullptr) {
            end(answer_of(a));
            return;
        }
        charges_[0].correction = nullptr;
        charges_[0].is_grant = false;
        charges_[0].cost = 1;
        decide();
    }

    void failed(store::failure why, store::taken) override { end({.failed = text_of(why)}); }

    void end(const bucket_result& a)
    {
        const listener hear = std::move(hear_);
        owner_.pending_.erase(self);
        hear(a);
    }
};

bucket_operations::bucket_operations(store::memory_store& local, const base::turn_clock& c)
    : local_(local), clock_(c)
{}

bucket_operations::~bucket_operations() = default;

void bucket_operations::ask(const policy_view& view, bucket_operation operation, listener hear)
{
    if (view.policy != operation.policy) {
        hear({.failed = "the configuration has just been replaced"});
        return;
    }
    const policy::limit_rule& rule = operation.policy->limits[operation.limit];
    if (operation.at_fallback) {
        operation.bucket_name = fallback_name(operation.bucket_name).bytes();
        operation.numbers =
            operation.numbers->share() == nullptr ? operation.numbers : operation.numbers->share();
    }
    if (rule.store == policy::local_store || operation.at_fallback) {
        const store::charge c{
            .limit_name = rule.name,
            .bucket_name = identity::hashed(operation.bucket_name),
            .limit = operation.numbers,
            .cost = operation.tokens,
            .max_wait = operation.max_wait,
            .max_reserved = rule.max_reserved,
            .penalty = rule.penalty.any() ? &rule.penalty : nullptr,
        };
        hear(ask_local(operation, c));
    } else if (pending_.size() >= max_pending) {
        hear({.failed = text_of(store::failure::overload)});
    } else {
        pending& p = pending_.emplace_back(
            *this, view.stores[rule.store], std::move(operation), std::move(hear)
        );
        p.self = std::prev(pending_.end());
        p.begin();
    }
}

bucket_result bucket_operations::ask_local(const bucket_operation& operation, store::charge c)
{
    if (operation.is_correction()) {
        c.is_grant = true;
        if (!local_.correct(c, correction_of(operation, base::duration{1}), clock_.now())) {
            return {.failed = no_room};
        }
        c.cost = 1;
    }
    const auto what =
        operation.what == operation_kind::take ? store::intent::take : store::intent::look;
    const limit::penalty bans = only_bans(operation.policy->limits[operation.limit]);
    charges all{c};
    look_for_bans(all, bans);
    store::answer a;
    if (!local_.decide(what, all, clock_.now(), a)) {
        return {.failed = no_room};
    }
    return answer_of(a);
}

}  // namespace gateway::limits
