#include "gateway/store/postgres/keeper.hpp"

#include "gateway/net/reported.hpp"
#include "gateway/store/postgres/schema.hpp"
#include "gateway/telemetry/log.hpp"

#include <boost/asio/co_spawn.hpp>

#include <utility>

namespace gateway::store::postgres {

namespace {

// Longest wait for an answer. No request waits for the keeper.
constexpr base::duration step_limit = std::chrono::seconds{5};
constexpr base::duration rest_after_failure = std::chrono::milliseconds{400};

// Rows per step of a walk over all rows, which takes some milliseconds of one server process. At
// that pace ten million rows take a quarter of an hour.
constexpr const char* rows_per_step = "1000";
constexpr base::duration rest_between_steps = std::chrono::milliseconds{100};

// Number of checks between two walks that the schema is still there, and the rest after each.
constexpr int looks_between_walks = 10;
constexpr base::duration rest_between_looks = std::chrono::seconds{1};

}  // namespace

struct keeper::state {
    state(const net::executor& executor, std::string its_name, const postgres_options& its_options)
        : name(std::move(its_name)),
          options(its_options),
          database(executor, options, step_limit),
          timer(executor)
    {}

    std::string name;
    postgres_options options;
    session database;
    net::timer timer;
    bool ended = false;
    bool has_checked_durability = false;

    void log(telemetry::log_level level, const std::string& words) const
    {
        telemetry::log(level, "store " + name + ": " + words);
    }
};

std::shared_ptr<housekeeping> keeper::start(
    const net::executor& executor, std::string name, const postgres_options& options
)
{
    auto its = std::make_shared<state>(executor, std::move(name), options);
    boost::asio::co_spawn(
        executor,
        run(its),
        net::reported("store " + its->name + ": what keeps the database in order")
    );
    return std::shared_ptr<keeper>{new keeper{its}};
}

keeper::~keeper()
{
    state_->ended = true;
    state_->database.cancel();
    state_->timer.cancel();
}

net::task<> keeper::run(std::shared_ptr<state> s)
{
    std::string logged;
    while (!s->ended) {
        const std::optional<trouble> why = co_await attempt(*s);
        if (s->ended) {
            break;
        }
        // The workers' links report a server that is away.
        const bool is_news = why && why->words != logged && why->why != failure::unreachable &&
                             why->why != failure::timeout;
        if (is_news) {
            s->log(
                telemetry::log_level::warning, "cannot keep the database in order: " + why->words
            );
        }
        logged = why ? why->words : std::string{};
        s->database.close();
        co_await net::pause(s->timer, rest_after_failure);
    }
}

// Works until something fails.
net::task<std::optional<trouble>> keeper::attempt(state& s)
{
    if (!co_await s.database.open()) {
        co_return s.database.last_trouble();
    }
    std::optional<trouble> missing = co_await check_schema(s.database);
    if (missing && missing->no_schema && s.options.migrate) {
        missing = co_await migrate(s.database, s.options.durable);
        if (!missing) {
            s.log(telemetry::log_level::info, "installed the schema \"gateway\"");
        }
    }
    if (missing) {
        co_return missing;
    }
    co_await warn_if_not_durable(s);
    co_return co_await prune(s);
}

// Warns only once, as a lost connection says nothing new of the table.
net::task<> keeper::warn_if_not_durable(state& s)
{
    if (std::exchange(s.has_checked_durability, true)) {
        co_return;
    }
    const std::string warning = co_await check_durability(s.database, s.options.durable);
    if (!warning.empty()) {
        s.log(telemetry::log_level::warning, warning);
    }
}

net::task<std::optional<trouble>> keeper::prune(state& s)
{
    std::string behind;
    while (!s.ended) {
        const std::vector<std::string> parameters{s.options.key_prefix, behind, rows_per_step};
        const session::result rows =
            co_await s.database.ask("SELECT gateway.prune_1($1, $2, $3)", parameters);
        if (rows == nullptr) {
            co_return s.database.last_trouble();
        }
        const bool at_end = PQntuples(rows.get()) != 1 || PQgetisnull(rows.get(), 0, 0) == 1;
        behind = at_end ? "" : PQgetvalue(rows.get(), 0, 0);
        if (!at_end) {
            co_await net::pause(s.timer, rest_between_steps);
        } else if (const std::optional<trouble> why = co_await look_after_schema(s)) {
            co_return why;
        }
    }
    co_return std::nullopt;
}

// Checks the schema between two walks: one that is dropped, or a server that is made anew, is
// noticed before the next walk.
net::task<std::optional<trouble>> keeper::look_after_schema(state& s)
{
    for (int look = 0; look < looks_between_walks && !s.ended; ++look) {
        if (const std::optional<trouble> why = co_await check_schema(s.database)) {
            co_return why;
        }
        co_await net::pause(s.timer, rest_between_looks);
    }
    co_return std::nullopt;
}

}  // namespace gateway::store::postgres
