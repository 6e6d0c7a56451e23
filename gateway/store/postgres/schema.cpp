#include "gateway/store/postgres/schema.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace gateway::store::postgres {

namespace {

int number_in(const PGresult& rows, int column)
{
    const std::string_view text = PQgetvalue(&rows, 0, column);
    int number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace

std::string schema_script(bool durable, int from)
{
    constexpr std::string_view place = "@LOGGED@";
    std::string script;
    if (from < 1) {
        script = first_version;
        script.replace(script.find(place), place.size(), durable ? "" : "UNLOGGED");
    }
    for (int version = std::max(from, 1); version < schema_version; ++version) {
        script.append(upgrades[static_cast<std::size_t>(version - 1)]);
    }
    return script;
}

net::task<std::optional<trouble>> check_schema(session& s)
{
    const session::result rows = co_await s.ask("SELECT version, oldest FROM gateway.version");
    if (rows == nullptr) {
        trouble t = s.last_trouble();
        if (t.no_schema) {
            t.words = "the database has no schema \"gateway\": install it with \"gateway migrate\"";
        } else if (t.why == failure::auth) {
            t.words += ": grant what docs/stores.md says";
        }
        co_return t;
    }
    const bool some = PQntuples(rows.get()) == 1;
    const int version = some ? number_in(*rows, 0) : 0;
    const int oldest = some ? number_in(*rows, 1) : 0;
    if (version < schema_version || oldest > schema_version) {
        const std::string is = "schema \"gateway\" of the database has version " +
                               std::to_string(version) + ", and this gateway needs " +
                               std::to_string(schema_version);
        co_return trouble{
            .why = failure::config,
            .words = is + (version < schema_version ? ": upgrade it with \"gateway migrate\""
                                                    : ": run a newer gateway"),
            .no_schema = version < schema_version};
    }
    co_return std::nullopt;
}

namespace {

// Returns the version of the installed schema, or 0 if there is none.
net::task<int> installed_version(session& s)
{
    const session::result rows = co_await s.ask("SELECT version FROM gateway.version");
    co_return rows != nullptr&& PQntuples(rows.get()) == 1 ? number_in(*rows, 0) : 0;
}

}  // namespace

// Sends the statements together, which makes them one transaction: all of it is there, or nothing.
net::task<std::optional<trouble>> migrate(session& s, bool durable)
{
    std::optional<trouble> missing = co_await check_schema(s);
    if (!missing || !missing->no_schema) {
        co_return missing;
    }
    const int from = co_await installed_version(s);
    const session::result done = co_await s.ask(schema_script(durable, from));
    if (done == nullptr && s.connection() == nullptr) {
        co_return s.last_trouble();
    }
    const trouble refused = done == nullptr ? s.last_trouble() : trouble{};
    missing = co_await check_schema(s);
    if (missing && done == nullptr) {
        co_return refused;  // nobody else has installed it meanwhile
    }
    co_return missing;
}

net::task<std::string> check_durability(session& s, bool durable)
{
    if (!durable) {
        co_return std::string{};
    }
    const session::result rows = co_await s.ask(
        "SELECT relpersistence = 'u' FROM pg_class WHERE oid = to_regclass('gateway.buckets')"
    );
    const bool is_unlogged = rows != nullptr && PQntuples(rows.get()) == 1 &&
                             PQgetvalue(rows.get(), 0, 0) == std::string_view{"t"};
    co_return is_unlogged
        ? "the table is unlogged, so a crash of the server makes every bucket full in spite of "
          "durable: true. To change it: ALTER TABLE gateway.buckets SET LOGGED"
        : std::string{};
}

namespace {

// Longest wait for a lock that another session holds. A person is waiting.
constexpr base::duration patience = std::chrono::seconds{5};

constexpr const char* locked =
    ": another session holds a lock on what is in the schema \"gateway\" (pg_locks says which). "
    "When that has ended, run this again";

postgres_options with_patience(postgres_options options)
{
    options.timeout = std::max(options.timeout, patience);
    return options;
}

// `installation` is what the installing coroutine works with, while install() waits for it.
struct installation {
    explicit installation(const postgres_options& o)
        : options(with_patience(o)), database(io.get_executor(), options, std::chrono::seconds{10})
    {}

    boost::asio::io_context io;
    postgres_options options;
    session database;
    std::optional<trouble> why;
    std::string warning;
};

net::task<> run(installation& i)
{
    const bool is_open = co_await i.database.open();
    if (is_open) {
        i.why = co_await migrate(i.database, i.options.durable);
        if (!i.why) {
            i.warning = co_await check_durability(i.database, i.options.durable);
        }
    } else {
        i.why = i.database.last_trouble();
    }
    i.database.cancel();
}

}  // namespace

preparation install(const postgres_options& options)
{
    installation i{options};
    boost::asio::co_spawn(i.io, run(i), boost::asio::detached);
    i.io.run();
    if (!i.why) {
        return {.warning = std::move(i.warning)};
    }
    const std::string name{failure_names[static_cast<std::size_t>(i.why->why)]};
    const std::string words = i.why->words.empty() ? "" : ": " + i.why->words;
    // The server's words say that it has timed out, and only a lock can take that long here.
    const bool is_locked = i.why->why == failure::timeout && !words.empty();
    return {.complaint = name + words + (is_locked ? locked : "")};
}

}  // namespace gateway::store::postgres
