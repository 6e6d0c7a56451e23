// The statements that make our schema, embedded by CMake from the .sql files.
#pragma once

#include <string_view>

namespace gateway::store::postgres {

// Version 1, for a database that has none.
extern const std::string_view schema_statements;

// The step from version 1 to 2.
extern const std::string_view version_2_statements;

// The step from version 2 to 3.
extern const std::string_view version_3_statements;

}  // namespace gateway::store::postgres
