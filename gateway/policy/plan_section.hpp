// `plan_section` states who has which plan, and by which part of a request that is decided.
#pragma once

#include "gateway/policy/limit_rule.hpp"
#include "gateway/policy/plan_table.hpp"

#include <memory>
#include <string>

namespace gateway::policy {

struct plan_section {
    std::string name;
    // The part of a request. It is never a prefix of the address, as members are prefixes
    // themselves.
    key_part key{};
    // The plan of everybody who is not a member. Empty: none.
    std::string standard{};
    std::shared_ptr<const plan_table> members{};

    // True if the members are prefixes of addresses.
    bool by_address() const { return key.from == key_part::source::client_ip; }
};

}  // namespace gateway::policy
