#include "gateway/store/postgres/rebasing.hpp"

#include "gateway/base/clock.hpp"
#include "gateway/telemetry/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <utility>

namespace gateway::store::postgres {

namespace {

// Rows per step: some milliseconds of one server process.
constexpr const char* rows_per_page = "100";

// Beyond a question's timeout: in which every worker has surely noticed the reload.
constexpr base::duration adoption = std::chrono::milliseconds{100};

// Nobody waits for a walk.
constexpr base::duration page_limit = std::chrono::seconds{5};
constexpr base::duration rest_after_trouble = std::chrono::seconds{1};

// "{number,number,...}"
std::string array_of(const limit::limit& l)
{
    std::vector<std::int64_t> numbers;
    l.append_numbers(numbers, base::unix_time());
    std::string text = "{";
    for (const std::int64_t number : numbers) {
        text += (text.size() == 1 ? "" : ",") + std::to_string(number);
    }
    return text + "}";
}

}  // namespace

std::shared_ptr<rebasing> rebasing::start(
    const net::executor& executor,
    std::string name,
    const postgres_options& options,
    const std::vector<named_limit>& limits
)
{
    auto made = std::make_shared<rebasing>(executor, std::move(name), options, limits);
    boost::asio::co_spawn(executor, made->run(made), boost::asio::detached);
    return made;
}

rebasing::rebasing(
    const net::executor& executor,
    std::string name,
    const postgres_options& options,
    const std::vector<named_limit>& limits
)
    : name_(std::move(name)),
      options_(options),
      limits_(limits),
      database_(executor, options_, page_limit),
      timer_(executor)
{}

void rebasing::cancel()
{
    cancelled_ = true;
    database_.cancel();
    timer_.cancel();
}

net::task<> rebasing::run(std::shared_ptr<rebasing> self)
{
    co_await net::pause(self->timer_, options_.timeout + adoption);
    std::optional<failure> told;
    while (!cancelled_) {
        const std::optional<trouble> why = co_await attempt();
        if (cancelled_) {
            break;
        }
        if (!why || told != why->why) {
            report(why);
            told = why ? std::optional{why->why} : std::nullopt;
        }
        database_.close();
        if (!why) {
            ended_ = true;
            database_.cancel();  // its names are not asked for any more
            break;
        }
        co_await net::pause(timer_, rest_after_trouble);
    }
}

net::task<std::optional<trouble>> rebasing::attempt()
{
    if (!co_await database_.open()) {
        co_return database_.last_trouble();
    }
    for (const named_limit& l : limits_) {
        if (const std::optional<trouble> why = co_await walk(l)) {
            co_return why;
        }
    }
    co_return std::nullopt;
}

net::task<std::optional<trouble>> rebasing::walk(const named_limit& over)
{
    const std::string prefix = options_.key_prefix + over.name + ":";
    std::string behind;
    do {
        const std::vector<std::string> parameters{
            prefix, behind, rows_per_page, array_of(over.limit)};
        const session::result rows =
            co_await database_.ask("SELECT gateway.rebase_1($1, $2, $3, $4)", parameters);
        if (rows == nullptr) {
            co_return database_.last_trouble();
        }
        const bool at_end = PQntuples(rows.get()) != 1 || PQgetisnull(rows.get(), 0, 0) == 1;
        behind = at_end ? "" : PQgetvalue(rows.get(), 0, 0);
    } while (!behind.empty() && !cancelled_);
    co_return std::nullopt;
}

void rebasing::report(const std::optional<trouble>& why) const
{
    const std::string store = "store " + name_ + ": ";
    if (!why) {
        telemetry::log(telemetry::log_level::info, store + "all buckets follow the changed rates");
        return;
    }
    telemetry::log(
        telemetry::log_level::warning,
        store + "cannot have all buckets follow the changed rates yet: " +
            std::string{failure_names[static_cast<std::size_t>(why->why)]}
    );
}

}  // namespace gateway::store::postgres
