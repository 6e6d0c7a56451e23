// The statements that make our schema, embedded by CMake from the .sql files.
#pragma once

#include <string_view>

namespace gateway::store::postgres {

extern const std::string_view schema_statements;

}  // namespace gateway::store::postgres
