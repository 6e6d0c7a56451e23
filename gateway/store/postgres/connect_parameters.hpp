// `parameters_to` makes the parameters by which libpq connects to one address of a server. Pure.
#pragma once

#include "gateway/net/resolved_name.hpp"
#include "gateway/store/postgres/options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gateway::store::postgres {

// Names and values, as PQconnectStartParams() takes them.
using connect_parameters = std::vector<std::pair<std::string, std::string>>;

// Returns the parameters for one address. `limit` is how long an answer is awaited, which is sent
// to the server as a setting. It is nothing behind a pooler, which gets no settings.
connect_parameters parameters_to(
    const postgres_options& options,
    const net::server_address& server,
    const net::resolved_name::endpoint& at,
    std::optional<base::duration> limit
);

// Returns for how many milliseconds a lock may be waited for.
std::int64_t lock_wait(const postgres_options& options);

}  // namespace gateway::store::postgres
