// Who has which plan, and by which part of a request it is told.
#pragma once

#include "gateway/policy/limit_rule.hpp"
#include "gateway/policy/plan_table.hpp"

#include <memory>
#include <string>

namespace gateway::policy {

struct plan_section {
    std::string name;
    // Never a prefix of the address: members are prefixes themselves.
    key_part key{};
    // The plan of who is no member; empty: none.
    std::string standard{};
    std::shared_ptr<const plan_table> members{};

    // Whether the members are prefixes of addresses.
    bool by_address() const { return key.from == key_part::source::client_ip; }
};

}  // namespace gateway::policy
