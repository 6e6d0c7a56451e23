// Checks, installs and upgrades the gateway's table and functions in a database.
#pragma once

#include "gateway/net/task.hpp"
#include "gateway/store/postgres/session.hpp"
#include "gateway/store/postgres/trouble.hpp"
#include "gateway/store/remote/upkeep.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::store::postgres {

// Version of the schema that this gateway needs.
inline constexpr int schema_version = 3;

// Statements that install version 1 in a database without a schema, and those that go from each
// version to the next. CMake embeds them from the .sql files.
extern const std::string_view first_version;
extern const std::array<std::string_view, schema_version - 1> upgrades;

// Returns the statements that bring a database from version `from` to what this gateway needs.
// `from` is 0 if the database has no schema of the gateway. `durable` makes a table that outlives a
// crash of the server.
std::string schema_script(bool durable, int from = 0);

// Returns nothing if the database has a usable schema, otherwise what is wrong.
// Requires: `s` is open.
net::task<std::optional<trouble>> check_schema(session& s);

// Installs what is missing, unless another session has just done so. Returns nothing if the schema
// is there then.
net::task<std::optional<trouble>> migrate(session& s, bool durable);

// Returns a warning if the table was installed before it was to be durable, otherwise an empty
// string.
// Requires: `s` is open.
net::task<std::string> check_durability(session& s, bool durable);

// Connects, installs the schema and waits until that is done.
preparation install(const postgres_options& options);

}  // namespace gateway::store::postgres
