#include "gateway/store/kinds.hpp"

#include "gateway/store/postgres/keeper.hpp"
#include "gateway/store/postgres/link.hpp"
#include "gateway/store/postgres/rebasing.hpp"
#include "gateway/store/postgres/schema.hpp"
#include "gateway/store/redis/cluster_store.hpp"
#include "gateway/store/redis/link.hpp"
#include "gateway/store/redis/rebasing.hpp"
#include "gateway/store/remote/linked_store.hpp"

#include <utility>

namespace gateway::store {

namespace {

// Each function below has an overload for each kind of store.

std::shared_ptr<shared_store> open(
    net::loop& loop,
    std::string name,
    const redis_options& options,
    telemetry::store_metrics& metrics
)
{
    if (!options.cluster.empty()) {
        return std::make_shared<cluster_store>(loop, std::move(name), options, metrics);
    }
    std::shared_ptr<link> only = redis::link::start(loop, std::move(name), options, metrics);
    return std::make_shared<linked_store>(std::vector{std::move(only)});
}

std::shared_ptr<shared_store> open(
    net::loop& loop,
    const std::string& name,
    const postgres_options& options,
    telemetry::store_metrics& metrics
)
{
    const auto group = std::make_shared<postgres::link_group>(name, metrics);
    std::vector<std::shared_ptr<link>> links;
    for (std::size_t i = 0; i < options.connections; ++i) {
        links.push_back(postgres::link::start(loop, group, options, metrics));
    }
    return std::make_shared<linked_store>(std::move(links));
}

std::shared_ptr<rate_walk> walk(
    const net::executor& executor,
    std::string name,
    const redis_options& options,
    const std::vector<named_limit>& limits
)
{
    return start_walk<redis::rebasing>(executor, std::move(name), options, limits);
}

std::shared_ptr<rate_walk> walk(
    const net::executor& executor,
    const std::string& name,
    const postgres_options& options,
    const std::vector<named_limit>& limits
)
{
    return start_walk<postgres::rebasing>(executor, name, options, limits);
}

std::shared_ptr<housekeeping> keep(
    const net::executor& executor, const std::string& name, const postgres_options& options
)
{
    return postgres::keeper::start(executor, name, options);
}

// Redis needs none: its keys expire by themselves, and it has no schema.
std::shared_ptr<housekeeping> keep(const net::executor&, const std::string&, const redis_options&)
{
    return nullptr;
}

preparation make_ready(const postgres_options& options)
{
    return postgres::install(options);
}

// Redis needs no preparation: each link loads the script itself.
preparation make_ready(const redis_options&)
{
    return {.needed = false};
}

std::string script_for(const postgres_options& options)
{
    return postgres::schema_script(options.durable);
}

std::string script_for(const redis_options&)
{
    return {};
}

}  // namespace

std::string preparation_script(const shared_options& options)
{
    return std::visit([](const auto& kind) { return script_for(kind); }, options);
}

preparation prepare(const shared_options& options)
{
    return std::visit([](const auto& kind) { return make_ready(kind); }, options);
}

std::shared_ptr<housekeeping> start_housekeeping(
    const net::executor& executor, const std::string& name, const shared_options& options
)
{
    return std::visit([&](const auto& kind) { return keep(executor, name, kind); }, options);
}

std::shared_ptr<shared_store> open_store(
    net::loop& loop,
    std::string name,
    const shared_options& options,
    telemetry::store_metrics& metrics
)
{
    metrics.up.set(0);
    return std::visit(
        [&](const auto& kind) { return open(loop, std::move(name), kind, metrics); }, options
    );
}

std::shared_ptr<rate_walk> walk_rates(
    const net::executor& executor,
    std::string name,
    const shared_options& options,
    const std::vector<named_limit>& limits
)
{
    return std::visit(
        [&](const auto& kind) { return walk(executor, std::move(name), kind, limits); }, options
    );
}

}  // namespace gateway::store
