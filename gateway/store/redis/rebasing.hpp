// A walk over a Redis server's keys after a reload has changed rates; see
// store/remote/rate_walk.hpp. Keys of clients who stay away would expire at the old ones. What
// memory_store::rebase does at once takes here as long as looking at every key of the database, in
// steps that keep the server from its questions for less than a millisecond each.
#pragma once

#include "gateway/net/task.hpp"
#include "gateway/store/redis/protocol/dialogue.hpp"
#include "gateway/store/redis/protocol/options.hpp"
#include "gateway/store/redis/protocol/server_tls.hpp"
#include "gateway/store/redis/server_connector.hpp"
#include "gateway/store/remote/rate_walk.hpp"
#include "gateway/store/store.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::store::redis {

class rebasing final : public rate_walk {
public:
    rebasing(
        const net::executor& executor,
        std::string name,
        const redis_options& options,
        const std::vector<named_limit>& limits
    );

private:
    net::executor executor_;
    redis_options options_;
    std::vector<named_limit> limits_;

    // Of a cluster's nodes each has its own. Always there.
    std::optional<server_connector> connector_;
    dialogue dialogue_;
    server_tls tls_;

    net::task<std::optional<failure>> attempt() override;
    void stop() override;
    net::task<std::optional<failure>> attempt_nodes();
    net::task<std::optional<failure>> attempt_one(const redis_options& server);
    net::task<std::optional<failure>> greet(const redis_options& server);
    net::task<std::optional<failure>> walk();
};

}  // namespace gateway::store::redis
