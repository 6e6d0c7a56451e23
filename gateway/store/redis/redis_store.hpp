// A store kept in a Redis server: one atomic script, one round trip, server time.
//
// One per worker and server, on the worker's thread and loop only. Questions travel together
// over one pipelined connection, the link, which connects and recovers by itself; a breaker stops
// the asking when the server fails, and probes it aside. See conversation_state.
#pragma once

#include "gateway/net/loop.hpp"
#include "gateway/store/redis/options.hpp"
#include "gateway/store/store.hpp"
#include "gateway/telemetry/metrics.hpp"

#include <memory>
#include <string>

namespace gateway::store {

namespace redis {
class link;
}

class redis_store final : public shared_store {
public:
    // Starts connecting. `name` is what logs call it; `metrics` must outlive the loop.
    redis_store(
        net::loop& l,
        std::string name,
        const redis_options& options,
        telemetry::store_metrics& metrics
    );

    // Abandons the questions still pending, without calling them, and closes.
    ~redis_store() override;
    redis_store(const redis_store&) = delete;
    redis_store& operator=(const redis_store&) = delete;

    bool recalls(std::span<const charge> charges, base::instant now, answer& into) const override;
    bool take_leased(std::span<const charge> charges, answer& into) override;
    bool settle_up() override;
    std::optional<failure> ask(std::span<const charge> charges, question& q) override;
    void close() override;
    void retire() override;
    bool healthy() const override;

private:
    std::shared_ptr<redis::link> link_;
};

}  // namespace gateway::store
