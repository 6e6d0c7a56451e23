// The text of take.lua, embedded by CMake.
#pragma once

#include <string_view>

namespace gateway::store::redis {

extern const std::string_view take_script;

}  // namespace gateway::store::redis
