// A walk over a Redis server's keys after a reload has changed rates: what clients owe is paid back
// at the new ones from then on, also by those who stay away, whose keys would expire at the old
// ones. What memory_store::rebase does at once takes here as long as looking at every key of the
// database, in steps that keep the server from its questions for less than a millisecond each.
//
// On a connection of its own, away from the workers' links, on the thread of its executor. Held by
// shared_ptr, as its coroutine may end after cancel().
#pragma once

#include "gateway/net/task.hpp"
#include "gateway/store/rate_walk.hpp"
#include "gateway/store/redis/dialogue.hpp"
#include "gateway/store/redis/options.hpp"
#include "gateway/store/redis/server_connector.hpp"
#include "gateway/store/store.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::store::redis {

class rebasing final : public rate_walk {
public:
    // Begins when questions in the old terms have been answered. `limits` are all those that live
    // in this store, so that a later walk does what is left of an earlier one, too. Tries again
    // while the server fails; `name` is what logs call the store.
    static std::shared_ptr<rebasing> start(
        const net::executor& executor,
        std::string name,
        const redis_options& options,
        const std::vector<named_limit>& limits
    );

    rebasing(
        const net::executor& executor,
        std::string name,
        const redis_options& options,
        const std::vector<named_limit>& limits
    );
    rebasing(const rebasing&) = delete;
    rebasing& operator=(const rebasing&) = delete;

    void cancel() override;

    bool ended() const override { return ended_; }

private:
    std::weak_ptr<rebasing> self_;
    net::executor executor_;
    std::string name_;
    redis_options options_;
    std::vector<named_limit> limits_;

    std::shared_ptr<server_connector> connector_;
    std::shared_ptr<dialogue> dialogue_;
    // The end of a rest.
    net::timer timer_;

    bool cancelled_ = false;
    bool ended_ = false;

    net::task<> run(std::shared_ptr<rebasing> self);
    net::task<std::optional<failure>> attempt();
    net::task<std::optional<failure>> attempt_nodes();
    net::task<std::optional<failure>> attempt_one(const redis_options& server);
    net::task<std::optional<failure>> greet(const redis_options& server);
    net::task<std::optional<failure>> walk();

    void report(std::optional<failure> why) const;
};

}  // namespace gateway::store::redis
