// The functions here change the policy of settings in force in one respect, without a reload.
#pragma once

#include "config/settings.hpp"
#include "gateway/identity/token_key.hpp"

#include <string>
#include <vector>

namespace gateway {

// Puts the new members of a changed plan file into the section of `plans` with that name.
void adopt_plan_file(
    config::settings& in_force, const std::string& name, const config::plan_file& fresh
);

// Puts the keys that verify tokens in place of those before.
// Requires: the policy has a rule for tokens.
void adopt_token_keys(config::settings& in_force, std::vector<identity::token_key> keys);

}  // namespace gateway
