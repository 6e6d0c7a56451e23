// `keeper` keeps a database in order: it installs the schema if it is missing, and deletes the rows
// of buckets that are full again, a few at a time, one gateway at a time. It has a connection of
// its own, away from the workers' links.
// Thread: its executor's.
#pragma once

#include "gateway/net/task.hpp"
#include "gateway/store/postgres/options.hpp"
#include "gateway/store/postgres/session.hpp"
#include "gateway/store/remote/upkeep.hpp"

#include <memory>
#include <optional>
#include <string>

namespace gateway::store::postgres {

class keeper final : public housekeeping {
public:
    // Starts a keeper, which works until the returned pointer is released. `name` is the store's
    // name in logs.
    static std::shared_ptr<housekeeping> start(
        const net::executor& executor, std::string name, const postgres_options& options
    );

private:
    // `state` is what the keeper's coroutine works with. It may outlive the keeper.
    struct state;

    explicit keeper(std::shared_ptr<state> s) : state_(std::move(s)) {}

    std::shared_ptr<state> state_;

    static net::task<> run(std::shared_ptr<state> s);
    static net::task<std::optional<trouble>> attempt(state& s);
    static net::task<> warn_if_not_durable(state& s);
    static net::task<std::optional<trouble>> prune(state& s);
    static net::task<std::optional<trouble>> look_after_schema(state& s);

public:
    ~keeper() override;
    keeper(const keeper&) = delete;
    keeper& operator=(const keeper&) = delete;
};

}  // namespace gateway::store::postgres
