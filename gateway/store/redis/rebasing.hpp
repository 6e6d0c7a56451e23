// `rebasing` walks over a Redis server's keys after a reload has changed rates; see
// store/remote/rate_walk.hpp. Without it the keys of clients who stay away would expire at the old
// rates. memory_store::rebase does the same at once. Here it takes as long as looking at every key
// of the database, in steps that keep the server from its questions for less than a millisecond
// each.
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

    // Connector to the present server: each node of a cluster gets its own. Never empty.
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
