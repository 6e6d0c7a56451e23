#include "gateway/worker/resources.hpp"

#include "gateway/base/text.hpp"
#include "gateway/store/kinds.hpp"

#include <algorithm>

namespace gateway::worker {

resources::resources(net::loop& l, telemetry::registry& metrics, std::size_t worker)
    : loop_(l), metrics_(metrics), worker_(worker)
{}

std::shared_ptr<proxy::pool> resources::pool_for(
    const proxy::upstream_options& options,
    const std::shared_ptr<proxy::upstream_status>& status,
    unsigned short echo_port
)
{
    for (const auto& p : pools_) {
        if (p->options() == options) {
            return p;
        }
    }
    proxy::pool_metrics blocks{
        metrics_.upstream(worker_, options.name), metrics_.worker(worker_), {}};
    for (const proxy::server_options& s : options.servers) {
        blocks.servers.push_back(&metrics_.server(worker_, {options.name, to_text(s.address)}));
    }
    return pools_.emplace_back(
        std::make_shared<proxy::pool>(loop_, options, status, echo_port, std::move(blocks))
    );
}

std::shared_ptr<store::shared_store> resources::store_for(const store::named_store& what)
{
    for (const kept_store& k : stores_) {
        if (k.what == what) {
            return k.store;
        }
    }
    auto made =
        store::open_store(loop_, what.name, what.options, metrics_.store(worker_, what.name));
    return stores_.emplace_back(kept_store{what, std::move(made)}).store;
}

std::shared_ptr<const limits::policy_view> resources::adopt(const snapshot& s)
{
    auto view = std::make_shared<limits::policy_view>();
    view->policy = s.policy;
    view->http = s.http;
    view->http2 = s.http2;
    view->via_name = s.via_name;
    view->max_connections_per_peer = s.max_connections_per_peer;
    view->max_waiting = s.max_waiting;
    view->sampling = s.sampling;
    const policy::header_options& headers = s.policy->headers;
    view->limit_headers = {
        .x_ratelimit = headers.x_ratelimit,
        .reset_as_epoch = headers.reset == policy::header_options::reset_form::epoch,
        .ratelimit = headers.ratelimit,
    };
    view->client_header = intake::client_header{s.policy->client.header};
    if (s.policy->token) {
        view->tokens = std::make_unique<intake::token_cache>(s.policy->token->good);
        view->claimed = std::make_unique<intake::claimed_limits>();
    }
    view->no_route = &metrics_.route(worker_, policy::no_route_name);
    for (const policy::route& r : s.policy->routes) {
        view->routes.push_back(&metrics_.route(worker_, r.name));
        view->http_of_routes.push_back(
            r.bounds.changes_http() ? std::make_unique<const http::options>(r.bounds.within(s.http))
                                    : nullptr
        );
    }
    for (const policy::rate_limit_service& one : s.policy->services) {
        view->services.push_back(&metrics_.route(worker_, one.as_route.name));
    }
    for (const policy::limit_rule& l : s.policy->limits) {
        view->limits.push_back(&metrics_.limit(worker_, l.name));
    }
    for (const store::named_store& n : s.shared_stores) {
        view->stores.push_back(store_for(n));
    }
    for (std::size_t i = 0; i < s.upstreams.size(); ++i) {
        view->pools.push_back(pool_for(s.upstreams[i], s.upstream_statuses[i], s.echo_port));
    }
    retire_unused(*view);
    return view;
}

void resources::retire_unused(const limits::policy_view& view)
{
    const auto unused_pool = [&view](const auto& p) {
        return std::find(view.pools.begin(), view.pools.end(), p) == view.pools.end();
    };
    for (auto& p : pools_) {
        if (unused_pool(p)) {
            p->retire();
            retired_pools_.push_back(p);
        }
    }
    std::erase_if(pools_, unused_pool);
    std::erase_if(stores_, [&](const kept_store& k) {
        if (std::find(view.stores.begin(), view.stores.end(), k.store) != view.stores.end()) {
            return false;
        }
        k.store->retire();
        retired_stores_.push_back({k.store, loop_.now() + settles_for});
        const auto& names = view.policy->stores;
        if (std::find(names.begin(), names.end(), k.what.name) == names.end()) {
            metrics_.store(worker_, k.what.name).up.set(telemetry::store_metrics::not_in_use);
        }
        return true;
    });
}

void resources::sweep()
{
    std::erase_if(retired_pools_, [](const auto& p) { return p->empty() && p.use_count() == 1; });
    std::erase_if(retired_stores_, [now = loop_.now()](const retired_store& r) {
        return r.store->settle_up() || r.until <= now;
    });
}

bool resources::settle_up()
{
    bool all = true;
    for (kept_store& k : stores_) {
        all = k.store->settle_up() && all;
    }
    sweep();
    return all && retired_stores_.empty();
}

void resources::close()
{
    for (auto& p : pools_) {
        p->close();
        retired_pools_.push_back(p);
    }
    for (auto& p : retired_pools_) {
        p->close();
    }
    pools_.clear();
    for (kept_store& k : stores_) {
        k.store->close();
    }
    for (retired_store& r : retired_stores_) {
        r.store->close();
    }
}

}  // namespace gateway::worker
