#include "gateway/store/postgres/rebasing.hpp"

#include "gateway/base/clock.hpp"
#include "gateway/store/remote/encoded_call.hpp"

#include <utility>

namespace gateway::store::postgres {

namespace {

// Rows per step, which takes some milliseconds of one server process.
constexpr const char* rows_per_page = "100";

// Longest wait for an answer. No request waits for a walk.
constexpr base::duration page_limit = std::chrono::seconds{5};

// Returns a limit's numbers as "{number,number,...}".
std::string array_of(const limit::limit& l)
{
    std::vector<std::int64_t> numbers;
    l.append_numbers(numbers, base::unix_time());
    std::string text = "{";
    for (const std::int64_t number : numbers) {
        text += text.size() == 1 ? "" : ",";
        text += std::to_string(number);
    }
    return text + "}";
}

}  // namespace

rebasing::rebasing(
    const net::executor& executor,
    std::string name,
    const postgres_options& options,
    const std::vector<named_limit>& limits
)
    : rate_walk(executor, std::move(name)),
      options_(options),
      limits_(limits),
      database_(executor, options_, page_limit)
{}

void rebasing::stop()
{
    database_.cancel();
}

net::task<std::optional<failure>> rebasing::attempt()
{
    std::optional<failure> why;
    if (!co_await database_.open()) {
        why = database_.last_trouble().why;
    }
    for (std::size_t i = 0; i < limits_.size() && !why; ++i) {
        why = co_await walk(limits_[i]);
    }
    if (!why && !cancelled()) {
        const std::vector<std::string> parameters{epoch_key(options_.key_prefix)};
        if (co_await database_.ask("SELECT gateway.note_grant_1($1)", parameters) == nullptr) {
            why = database_.last_trouble().why;
        }
    }
    database_.close();
    co_return why;
}

net::task<std::optional<failure>> rebasing::walk(const named_limit& over)
{
    const std::string prefix = options_.key_prefix + over.name + ":";
    std::string behind;
    do {
        const std::vector<std::string> parameters{
            prefix, behind, rows_per_page, array_of(over.limit)};
        const session::result rows =
            co_await database_.ask("SELECT gateway.rebase_1($1, $2, $3, $4)", parameters);
        if (rows == nullptr) {
            co_return database_.last_trouble().why;
        }
        const bool at_end = PQntuples(rows.get()) != 1 || PQgetisnull(rows.get(), 0, 0) == 1;
        behind = at_end ? "" : PQgetvalue(rows.get(), 0, 0);
    } while (!behind.empty() && !cancelled());
    co_return std::nullopt;
}

}  // namespace gateway::store::postgres
