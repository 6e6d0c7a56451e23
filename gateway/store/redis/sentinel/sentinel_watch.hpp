// `sentinel_watch` listens to the sentinels for a new master. It subscribes at one of them, and at
// another one when that fails. A message is only a hint: after each one, at the beginning, and
// twice a second without one, it asks them all.
// Thread: its executor's.
// Ownership: held by shared_ptr, as its coroutine may end after cancel().
#pragma once

#include "gateway/net/task.hpp"
#include "gateway/store/redis/protocol/dialogue.hpp"
#include "gateway/store/redis/protocol/options.hpp"
#include "gateway/store/redis/sentinel/sentinels.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <random>

namespace gateway::store::redis {

class sentinel_watch {
public:
    // Gets the present master. Called from the loop, also if it is still the same one.
    using master_listener = std::function<void(const net::server_address&)>;

    // Starts to listen. `limit` is as that of sentinels::make().
    static std::shared_ptr<sentinel_watch> start(
        const net::executor& executor,
        const redis_options& options,
        base::duration limit,
        master_listener on_master
    );

    sentinel_watch(
        const net::executor& executor,
        const redis_options& options,
        base::duration limit,
        master_listener on_master
    );
    sentinel_watch(const sentinel_watch&) = delete;
    sentinel_watch& operator=(const sentinel_watch&) = delete;

    // Stops listening. `on_master` is not called any more.
    void cancel();

private:
    sentinel_options options_;
    base::duration limit_;
    master_listener on_master_;
    std::shared_ptr<sentinels> sentinels_;
    // One connector for each sentinel.
    std::deque<net::connector> connectors_;
    dialogue words_;
    server_tls tls_;
    net::timer rest_timer_;
    std::minstd_rand random_;
    // Number of failures in a row.
    int failures_ = 0;
    bool cancelled_ = false;

    net::task<> run(std::shared_ptr<sentinel_watch> self);
    net::task<> listen_at(net::connector& to);
    net::task<bool> subscribe();
    net::task<bool> hear();
    net::task<> ask_all();
    base::duration rest();
};

}  // namespace gateway::store::redis
