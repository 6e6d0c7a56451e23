// What a limit is to a request, by the plan of who sends it.
#pragma once

#include "gateway/intake/request_key.hpp"
#include "gateway/policy/policy.hpp"

#include <optional>
#include <string_view>

namespace gateway::intake {

// 0: no member, or the key is absent. Nothing: the key can be read in two ways.
std::optional<policy::plan_id> plan_of(
    const policy::plan_section& plans, const key_subject& subject
);

struct applied_limit {
    // unclear: whose plan it is can be read in two ways.
    enum class kind { limited, unlimited, blocked, unclear };
    kind is = kind::limited;
    // Of `limited`: the rule's own numbers, or the plan's. Else null.
    const limit::limit* limit = nullptr;
    // The name of the client's plan, which the policy holds; empty: none, or it is unclear.
    std::string_view plan{};
};

applied_limit applied_by_plan(
    const policy::policy& policy, const policy::limit_rule& rule, const key_subject& subject
);

}  // namespace gateway::intake
