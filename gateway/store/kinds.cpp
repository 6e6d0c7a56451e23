#include "gateway/store/kinds.hpp"

#include "gateway/store/redis/rebasing.hpp"
#include "gateway/store/redis/redis_store.hpp"

#include <utility>

namespace gateway::store {

namespace {

// One function per kind and thing to make.

std::shared_ptr<shared_store> open(
    net::loop& loop,
    std::string name,
    const redis_options& options,
    telemetry::store_metrics& metrics
)
{
    return std::make_shared<redis_store>(loop, std::move(name), options, metrics);
}

std::shared_ptr<rate_walk> walk(
    const net::executor& executor,
    std::string name,
    const redis_options& options,
    const std::vector<named_limit>& limits
)
{
    return redis::rebasing::start(executor, std::move(name), options, limits);
}

}  // namespace

std::shared_ptr<shared_store> open_store(
    net::loop& loop,
    std::string name,
    const shared_options& options,
    telemetry::store_metrics& metrics
)
{
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
