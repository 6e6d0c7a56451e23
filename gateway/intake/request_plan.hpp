// `applied_by_plan` applies the plan of a request's client to a limit.
#pragma once

#include "gateway/intake/request_key.hpp"
#include "gateway/policy/policy.hpp"

#include <optional>
#include <string_view>

namespace gateway::intake {

// Returns the client's plan, or 0 if the client is no member or the key is absent. Returns nothing
// if the key can be read in two ways.
std::optional<policy::plan_id> plan_of(
    const policy::plan_section& plans, const key_subject& subject
);

struct applied_limit {
    // unclear: the key that the plan depends on can be read in two ways.
    enum class kind { limited, unlimited, blocked, unclear };
    kind is = kind::limited;
    // The rule's own numbers, or the plan's, with `limited` only; else null.
    const limit::limit* limit = nullptr;
    // Name of the client's plan, which the policy holds; empty: none, or it is unclear.
    std::string_view plan{};
};

applied_limit applied_by_plan(
    const policy::policy& policy, const policy::limit_rule& rule, const key_subject& subject
);

}  // namespace gateway::intake
