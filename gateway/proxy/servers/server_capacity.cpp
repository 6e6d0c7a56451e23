#include "gateway/proxy/servers/server_capacity.hpp"

#include "gateway/base/hash.hpp"

#include <algorithm>

namespace gateway::proxy {

server_capacity::server_capacity(
    const upstream_options& options, std::shared_ptr<upstream_status> status
)
    : options_(options),
      status_(std::move(status)),
      turns_(options.servers.size()),
      random_(static_cast<std::uint64_t>(base::now().time_since_epoch().count())),
      several_(options.servers.size() > 1),
      bounded_(
          options.max_connections != 0 ||
          std::any_of(
              options.servers.begin(),
              options.servers.end(),
              [](const server_options& s) { return s.max_connections != 0; }
          )
      )
{
    for (const server_options& s : options_.servers) {
        const std::string address = to_text(s.address);
        servers_.push_back(status_->server(address));
        // The key is a constant, so that all gateways send a client to the same server.
        seeds_.push_back(base::siphash128(base::hash_key{}, address).low);
    }
}

server_capacity::choice server_capacity::take(
    std::uint64_t candidates, std::uint64_t key, base::instant now
)
{
    if (candidates == 0) {
        return {availability::none, 0};
    }
    if (!several_ && !bounded_) {
        return {availability::taken, 0};
    }
    if (options_.max_connections != 0 && !status_->capacity().take(options_.max_connections)) {
        return {availability::full, 0};
    }
    weigh(candidates, now);
    while (const auto server = pick(key)) {
        if (servers_[*server]->capacity().take(options_.servers[*server].max_connections)) {
            return {availability::taken, *server};
        }
        weights_[*server] = 0;
    }
    if (options_.max_connections != 0) {
        status_->capacity().release();
    }
    return {availability::full, 0};
}

void server_capacity::weigh(std::uint64_t candidates, base::instant now)
{
    bool any = false;
    for (std::size_t i = 0; i < servers_.size(); ++i) {
        const bool candidate = (candidates >> i & 1U) != 0;
        const server_status& s = *servers_[i];
        weights_[i] =
            candidate && s.is_usable(now)
                ? weight_after(
                      options_.servers[i].weight, now - s.back_since(), options_.slow_start
                  )
                : 0;
        any = any || weights_[i] != 0;
    }
    for (std::size_t i = 0; !any && i < servers_.size(); ++i) {
        weights_[i] = (candidates >> i & 1U) * options_.servers[i].weight;
    }
}

std::optional<std::size_t> server_capacity::pick(std::uint64_t key)
{
    const weights all{weights_.data(), servers_.size()};
    switch (options_.balance) {
        case balancing::round_robin:
            return turns_.next(all);
        case balancing::hash:
            return by_key(all, seeds_, key);
        case balancing::least_requests:
            break;
    }
    return least_requests(all, mixed(random_++), [this](std::size_t i) {
        return servers_[i]->capacity().taken();
    });
}

void server_capacity::release(std::size_t server)
{
    if (!several_ && !bounded_) {
        return;
    }
    servers_[server]->capacity().release();
    if (options_.max_connections != 0) {
        status_->capacity().release();
    }
    if (others_wait()) {
        status_->queue().wake_first();
    }
}

bool server_capacity::failed(std::size_t server, base::instant now)
{
    return several_ && status_->failed(servers_, server, options_.ejection, now);
}

}  // namespace gateway::proxy
