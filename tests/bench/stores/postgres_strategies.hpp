// A token bucket in PostgreSQL as others keep it: a function in the database, one call per
// decision. Each caller has a connection of its own, and waits.
#pragma once

#include "tests/bench/stores/strategies.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <postgresql/libpq-fe.h>
#include <string>

namespace gateway::bench {

// One connection. Throws std::runtime_error where the server fails. One thread.
class postgres_client {
public:
    // `where`: a URL, as of libpq.
    explicit postgres_client(const std::string& where);

    // Makes the tables and functions of all ways; once, before anybody asks.
    void install();

    // Whether it says 1. Asks again whenever somebody was in its way (40001, 40P01, 23505).
    bool ask(const char* statement, const std::string& key, const tokens& limit);

    // How often somebody was.
    std::int64_t repeats = 0;

private:
    std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;

    // Nothing: somebody was in its way.
    std::optional<bool> ask_once(
        const char* statement, const std::string& key, const tokens& limit
    );
};

using postgres_strategy =
    bool (*)(postgres_client& on, const std::string& key, const tokens& limit);

// One function with an upsert, which keeps the row of what it refuses locked until it ends.
bool by_upsert(postgres_client& on, const std::string& key, const tokens& limit);

// The same, but what is refused is charged and written, too.
bool by_writing_upsert(postgres_client& on, const std::string& key, const tokens& limit);

// Update, then insert where there was no row, in serializable transactions that are repeated: after
// F. Pachot, "Rate Limiting with PostgreSQL and YugabyteDB: token bucket algorithm".
bool by_update(postgres_client& on, const std::string& key, const tokens& limit);

}  // namespace gateway::bench
