#include "gateway/limits/reservations/reservation.hpp"

#include "gateway/base/text.hpp"
#include "gateway/identity/bucket_name.hpp"
#include "gateway/limits/reservations/corrections.hpp"
#include "gateway/limits/reservations/fallback_debts.hpp"
#include "gateway/limits/reservations/request_costs.hpp"
#include "gateway/limits/reservations/settlement.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

namespace gateway::limits {

namespace {

using kind = limit::correction::kind;

// Returns the correction that gives tokens back, in the ticks of the store that has the bucket. The
// time that they were held is filled in when it is made.
limit::correction refund_of(const reserved& r, std::int64_t tokens)
{
    const bool local = r.shared == nullptr;
    const base::duration tick = local ? base::duration{1} : std::chrono::microseconds{1};
    const limit::terms& t = local ? r.limit->in_nanoseconds() : r.limit->in_microseconds();
    return {
        .what = kind::refund,
        .of = {.tokens = tokens, .owed_before = limit::owed_before(t, r.decision, r.cost, tick)},
        .in_line = r.rule->max_wait > base::duration{0}};
}

// Returns the cost that the response reports, or nothing if it reports no valid one.
std::optional<std::int64_t> settled_cost(
    const policy::outcome_rule& rule, const http::response_head& head
)
{
    std::optional<std::int64_t> stated;
    bool plain = true;
    for (const http::field& f : head.fields) {
        if (!base::equal_ignoring_case(f.name, rule.settle_header)) {
            continue;
        }
        const std::string_view text = base::trimmed(f.value);
        std::uint64_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        const bool whole = !text.empty() && end == text.data() + text.size();
        plain = plain && whole && error != std::errc::invalid_argument && !stated;
        stated = error == std::errc{} && number <= static_cast<std::uint64_t>(rule.settle_max)
                     ? static_cast<std::int64_t>(number)
                     : rule.settle_max;
    }
    return plain ? stated : std::nullopt;
}

void take_out(const policy::outcome_rule& rule, http::response_head& head)
{
    std::erase_if(head.fields, [&rule](const http::field& f) {
        return base::equal_ignoring_case(f.name, rule.settle_header);
    });
}

// Notes the cost that the response states.
void note_stated(reserved& r, const http::response_head* head)
{
    if (!r.rule->outcome.settle_header.empty() && head != nullptr) {
        r.stated = settled_cost(r.rule->outcome, *head);
    }
}

bool awaits_end(const reserved& r)
{
    return r.rule->outcome.reads_end() || r.by_bytes != nullptr;
}

// Returns the cost that the request states itself, as it had so many bytes.
std::int64_t own_cost(const reserved& r, std::uint64_t bytes)
{
    if (r.by_bytes == nullptr) {
        return r.cost;
    }
    const std::int64_t cost = r.full_cost - r.by_bytes->standard + r.by_bytes->tokens_for(bytes);
    return r.rule->cost.caps ? std::min(cost, r.limit->most_at_once()) : cost;
}

// Returns what the request has cost, as its response has ended so.
std::int64_t cost_at_end(const reserved& r, const policy::response_result& as)
{
    const std::int64_t own = own_cost(r, as.end->request_bytes);
    const policy::outcome_rule& rule = r.rule->outcome;
    if (!rule.reads_end()) {
        return r.stated.value_or(own);
    }
    // Without a response nothing is stated, not even that it has no bytes.
    if (const auto stated = as.status != 0 ? cost_by_end(rule, *as.end) : std::nullopt) {
        return *stated;
    }
    r.metrics->missing_settlements.add();
    return rule.refunds_missing ? 0 : own;
}

// Returns what the request has cost, as its response is this.
std::int64_t final_cost(const reserved& r, const policy::response_result& as)
{
    const bool given_up = as.end != nullptr && as.end->given_up;
    if (!given_up && !r.rule->outcome.keeps_charge(as)) {
        return 0;
    }
    return awaits_end(r) ? cost_at_end(r, as) : r.stated.value_or(r.cost);
}

// Returns what a response changes of what was taken, or nothing if that stays. `cost` is what the
// request has cost.
std::optional<limit::correction> correction_of(const reserved& r, bool resets, std::int64_t cost)
{
    if (resets) {
        limit::correction reset =
            r.is_of_shared_bucket ? refund_of(r, r.cost) : limit::correction{};
        reset.what = kind::reset;
        return reset;
    }
    if (cost > r.cost) {
        return limit::correction{.what = kind::charge, .of = {.tokens = cost - r.cost}};
    }
    return cost < r.cost ? std::optional{refund_of(r, r.cost - cost)} : std::nullopt;
}

}  // namespace

void reservation::responded(
    const policy::response_result& as,
    const http::response_head* head,
    corrections& make,
    request_costs* costs
)
{
    policy::response_result result = as;
    if (!is_grpc_) {
        result.grpc.reset();
    }
    std::erase_if(taken_, [&](reserved& r) {
        if (r.permit != 0) {
            return false;
        }
        note_stated(r, head);
        const bool given_up = result.end != nullptr && result.end->given_up;
        if ((awaits_end(r) ? result.end == nullptr : given_up) ||
            (awaits_outcome(r) && !result.grpc)) {
            return false;
        }
        const bool resets = !given_up && r.rule->outcome.reset_on.contains(result);
        const std::int64_t cost = resets ? r.cost : final_cost(r, result);
        if (const auto what = correction_of(r, resets, cost)) {
            make.make(view_, r, *what);
        }
        if (costs != nullptr) {
            costs->settle(r.rule->name, cost);
        }
        return true;
    });
}

void reservation::passes(fallback_debts& to)
{
    for (reserved& r : owed_) {
        to.add(view_, std::move(r));
    }
    owed_.clear();
    if (taken_.empty()) {
        clear();
    }
}

void reservation::keep_charges()
{
    std::erase_if(taken_, [](const reserved& r) { return r.permit == 0; });
}

void reservation::keep_permits(permit_leases& in)
{
    for (reserved& r : taken_) {
        if (r.permit != 0 && r.shared != nullptr) {
            r.lease = in.keep(view_, r);
        }
    }
}

bool reservation::holds_permits() const
{
    return std::any_of(taken_.begin(), taken_.end(), [](const reserved& r) {
        return r.permit != 0;
    });
}

reservation reservation::part_with_permits()
{
    reservation permits;
    permits.begin(view_);
    const auto first = std::stable_partition(taken_.begin(), taken_.end(), [](const reserved& r) {
        return r.permit == 0;
    });
    permits.taken_.assign(std::make_move_iterator(first), std::make_move_iterator(taken_.end()));
    taken_.erase(first, taken_.end());
    return permits;
}

void reservation::ended(corrections& make, permit_leases& in)
{
    keep_charges();
    refund(make, in, nullptr);
}

void reservation::refund(corrections& make, permit_leases& in, request_costs* costs)
{
    for (const reserved& r : taken_) {
        if (r.lease) {
            in.end(*r.lease);
        }
        if (r.cost > 0) {
            make.make(view_, r, refund_of(r, r.cost));
        }
        if (costs != nullptr && r.permit == 0) {
            costs->settle(r.rule->name, 0);
        }
    }
    clear();
}

store::charge charge_of(const reserved& r, const std::string& bucket_name)
{
    return {
        .limit_name = r.rule->name,
        .bucket_name = identity::hashed(bucket_name),
        .limit = r.limit,
        .permit = r.permit,
        .is_of_shared_bucket = r.is_of_shared_bucket};
}

void take_out_settlements(
    const policy::policy& policy, const policy::route& route, http::response_head& head
)
{
    for (const std::size_t i : route.limits) {
        const policy::outcome_rule& rule = policy.limits[i].outcome;
        if (!rule.settle_header.empty() && !rule.keep_settle_header) {
            take_out(rule, head);
        }
    }
}

bool is_hidden_settlement(
    const policy::policy& policy, const policy::route& route, std::string_view name
)
{
    return std::any_of(route.limits.begin(), route.limits.end(), [&](std::size_t i) {
        const policy::outcome_rule& rule = policy.limits[i].outcome;
        return !rule.settle_header.empty() && !rule.keep_settle_header &&
               http::reads_as(name, rule.settle_header);
    });
}

}  // namespace gateway::limits
