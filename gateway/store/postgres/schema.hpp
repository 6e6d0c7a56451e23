// Our table and functions in a database: whether they are there, and how they come there.
#pragma once

#include "gateway/net/task.hpp"
#include "gateway/store/postgres/session.hpp"
#include "gateway/store/postgres/trouble.hpp"
#include "gateway/store/remote/preparation.hpp"

#include <optional>
#include <string>

namespace gateway::store::postgres {

// What this gateway needs.
inline constexpr int schema_version = 3;

// Returns the statements that bring a database from version `from` to what this gateway needs; 0:
// it has nothing of ours. `durable`: the table is one that outlives a crash of the server.
std::string schema_script(bool durable, int from = 0);

// Nothing: what is there serves us. `s` is open.
net::task<std::optional<trouble>> check_schema(session& s);

// Installs what is missing, unless somebody else does so just now. Nothing: it is there.
net::task<std::optional<trouble>> migrate(session& s, bool durable);

// What the table is that was installed before it was to be durable; empty: it is as wanted. `s` is
// open.
net::task<std::string> check_durability(session& s, bool durable);

// Connects, installs and waits until that is done.
preparation install(const postgres_options& options);

}  // namespace gateway::store::postgres
