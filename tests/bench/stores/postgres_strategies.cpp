#include "tests/bench/stores/postgres_strategies.hpp"

#include <array>
#include <stdexcept>

namespace gateway::bench {

namespace {

constexpr const char* schema = R"(
DROP TABLE IF EXISTS upserted, updated;
CREATE UNLOGGED TABLE upserted (key text PRIMARY KEY, tokens float8, at timestamptz) WITH (fillfactor = 50);
CREATE OR REPLACE FUNCTION by_upsert(k text, rate float8, burst float8) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    left_over float8;
BEGIN
    INSERT INTO upserted AS b VALUES (k, burst - 1, clock_timestamp())
    ON CONFLICT (key) DO UPDATE SET
        tokens = least(burst, b.tokens + extract(epoch FROM clock_timestamp() - b.at) * rate) - 1,
        at = clock_timestamp()
    WHERE least(burst, b.tokens + extract(epoch FROM clock_timestamp() - b.at) * rate) >= 1
    RETURNING tokens INTO left_over;
    IF left_over IS NULL THEN
        RETURN 0;
    END IF;
    RETURN 1;
END $$;
CREATE OR REPLACE FUNCTION by_writing_upsert(k text, rate float8, burst float8) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    passed bigint;
BEGIN
    INSERT INTO upserted AS b VALUES (k, burst - 1, clock_timestamp())
    ON CONFLICT (key) DO UPDATE SET
        tokens = greatest(least(burst, b.tokens + extract(epoch FROM clock_timestamp() - b.at) * rate) - 1, -1),
        at = clock_timestamp()
    RETURNING (tokens >= 0)::int INTO passed;
    RETURN passed;
END $$;
CREATE UNLOGGED TABLE updated (key text PRIMARY KEY, tokens float8, at timestamptz) WITH (fillfactor = 50);
CREATE OR REPLACE FUNCTION by_update(k text, rate float8, burst float8) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    left_over float8;
BEGIN
    UPDATE updated SET at = now(),
        tokens = greatest(least(tokens - 1 + rate * extract(epoch FROM clock_timestamp() - at), burst), -1)
    WHERE key = k RETURNING tokens INTO left_over;
    IF left_over IS NULL THEN
        INSERT INTO updated VALUES (k, burst - 1, now());
        left_over := burst - 1;
    END IF;
    RETURN CASE WHEN left_over >= 0 THEN 1 ELSE 0 END;
END $$;
)";

}  // namespace

postgres_client::postgres_client(const std::string& where)
    : connection_(PQconnectdb(where.c_str()), &PQfinish)
{
    if (PQstatus(connection_.get()) != CONNECTION_OK) {
        throw std::runtime_error(PQerrorMessage(connection_.get()));
    }
}

void postgres_client::install()
{
    const std::unique_ptr<PGresult, decltype(&PQclear)> r{
        PQexec(connection_.get(), schema), &PQclear};
    if (PQresultStatus(r.get()) != PGRES_COMMAND_OK) {
        throw std::runtime_error(PQresultErrorMessage(r.get()));
    }
}

bool postgres_client::ask(const char* statement, const std::string& key, const tokens& limit)
{
    std::optional<bool> passes;
    while (!passes) {
        passes = ask_once(statement, key, limit);
    }
    return *passes;
}

std::optional<bool> postgres_client::ask_once(
    const char* statement, const std::string& key, const tokens& limit
)
{
    const std::string rate = std::to_string(limit.per_second);
    const std::string burst = std::to_string(limit.burst);
    const std::array<const char*, 3> values{key.c_str(), rate.c_str(), burst.c_str()};
    const std::unique_ptr<PGresult, decltype(&PQclear)> r{
        PQexecParams(connection_.get(), statement, 3, nullptr, values.data(), nullptr, nullptr, 0),
        &PQclear};
    if (PQresultStatus(r.get()) == PGRES_TUPLES_OK) {
        return std::stoll(PQgetvalue(r.get(), 0, 0)) == 1;
    }
    const char* const code = PQresultErrorField(r.get(), PG_DIAG_SQLSTATE);
    const std::string why = code == nullptr ? "" : code;
    if (why == "40001" || why == "40P01" || why == "23505") {
        ++repeats;
        return std::nullopt;
    }
    throw std::runtime_error(PQresultErrorMessage(r.get()));
}

bool by_upsert(postgres_client& on, const std::string& key, const tokens& limit)
{
    return on.ask("SELECT by_upsert($1, $2, $3)", key, limit);
}

bool by_writing_upsert(postgres_client& on, const std::string& key, const tokens& limit)
{
    return on.ask("SELECT by_writing_upsert($1, $2, $3)", key, limit);
}

bool by_update(postgres_client& on, const std::string& key, const tokens& limit)
{
    return on.ask("SELECT by_update($1, $2, $3)", key, limit);
}

}  // namespace gateway::bench
