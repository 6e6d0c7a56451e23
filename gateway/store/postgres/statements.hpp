// Statements that make the schema, embedded by CMake from the .sql files.
#pragma once

#include <string_view>

namespace gateway::store::postgres {

// Statements that install version 1 in a database without a schema.
extern const std::string_view schema_statements;

// Statements that go from version 1 to 2.
extern const std::string_view version_2_statements;

// Statements that go from version 2 to 3.
extern const std::string_view version_3_statements;

}  // namespace gateway::store::postgres
