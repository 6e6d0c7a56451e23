// Texts of the Lua scripts, embedded by CMake. Each begins with token_bucket.lua.
#pragma once

#include <string_view>

namespace gateway::store::redis {

extern const std::string_view take_script;
extern const std::string_view rebase_script;

}  // namespace gateway::store::redis
