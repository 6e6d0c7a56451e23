#include "config/limits/limit_draft.hpp"

#include <array>

namespace gateway::config {
namespace {

// Keys that only one algorithm has.
constexpr std::array<std::pair<std::string_view, algorithm>, 6> keys_of_one{
    {{"burst", algorithm::token_bucket},
     {"capacity", algorithm::fixed_window},
     {"start", algorithm::fixed_window},
     {"time_zone", algorithm::fixed_window},
     {"resolution", algorithm::sliding_window},
     {"max", algorithm::concurrency}}};

// Keys that mean nothing where a request holds a permit and takes no tokens.
constexpr std::array<std::string_view, 4> keys_of_tokens{"rate", "charge_on", "reset_on", "settle"};
constexpr const char* a_place = "not for \"algorithm: concurrency\", where a request has one place";

}  // namespace

std::string_view size_key(algorithm a)
{
    switch (a) {
        case algorithm::token_bucket:
            return "burst";
        case algorithm::fixed_window:
            return "capacity";
        case algorithm::concurrency:
            return "max";
        case algorithm::sliding_window:
        case algorithm::sliding_log:
            break;
    }
    return {};
}

void refuse_foreign_keys(section& from, const limit_draft& l)
{
    for (const auto& [key, owner] : keys_of_one) {
        if (l.written.algorithm == owner || !from.has(key)) {
            continue;
        }
        from.problem(
            key,
            key == "burst" && in_windows(l)
                ? "not a key of a fixed_window, whose buckets hold \"capacity\""
                : "only for \"algorithm: " + name_of(owner, algorithms) + '"'
        );
    }
    for (const std::string_view key : keys_of_tokens) {
        if (counts_requests(l) && from.has(key)) {
            from.problem(key, a_place);
        }
    }
}

void refuse_foreign_values(section& from, const limit_draft& l)
{
    if (!counts_requests(l)) {
        return;
    }
    if (!(l.rule.cost == policy::cost_rule{})) {
        from.problem("cost", a_place);
    }
    if (l.rule.max_wait > base::duration{0}) {
        from.problem("max_wait", a_place);
    }
}

}  // namespace gateway::config
