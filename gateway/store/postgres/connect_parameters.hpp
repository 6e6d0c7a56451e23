// What libpq is told to connect to one address of a server. Pure.
#pragma once

#include "gateway/net/resolved_name.hpp"
#include "gateway/store/postgres/options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gateway::store::postgres {

// Names and values, as of PQconnectStartParams().
using connect_parameters = std::vector<std::pair<std::string, std::string>>;

// `limit`: how long an answer is awaited, of which the server is told; nothing: behind a pooler,
// which is not told of settings.
connect_parameters parameters_to(
    const postgres_options& options,
    const net::server_address& server,
    const net::resolved_name::endpoint& at,
    std::optional<base::duration> limit
);

// For how many milliseconds a lock may be waited for.
std::int64_t lock_wait(const postgres_options& options);

}  // namespace gateway::store::postgres
