// Listens to the sentinels for a new master: subscribed at one of them, at another one when that
// fails. What it hears is a hint: whenever there is one, at the beginning, and twice a second if
// there is none, it asks them all.
//
// On the thread of its executor. Held by shared_ptr, as its coroutine may end after cancel().
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
    // Where the master is now; called from the loop, also if it is where it was.
    using told = std::function<void(const net::server_address&)>;

    // `limit` as that of sentinels.
    static std::shared_ptr<sentinel_watch> start(
        const net::executor& executor, const redis_options& options, base::duration limit, told tell
    );

    sentinel_watch(
        const net::executor& executor, const redis_options& options, base::duration limit, told tell
    );
    sentinel_watch(const sentinel_watch&) = delete;
    sentinel_watch& operator=(const sentinel_watch&) = delete;

    // It calls nobody any more.
    void cancel();

private:
    sentinel_options options_;
    base::duration limit_;
    told tell_;
    std::shared_ptr<sentinels> sentinels_;
    // Of each sentinel.
    std::deque<net::connector> connectors_;
    dialogue words_;
    server_tls tls_;
    net::timer rest_timer_;
    std::minstd_rand random_;
    // Failures in a row.
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
