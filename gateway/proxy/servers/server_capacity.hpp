// `server_capacity` chooses a server for each of one worker's requests to an upstream. It weighs
// the servers, and takes a slot at one, which the request has until its connection is
// given back. Slots are counted for all workers together. With one server and no bound there is
// nothing to choose and nothing to count. Ownership: the pool. Thread: the pool's.
#pragma once

#include "gateway/proxy/options.hpp"
#include "gateway/proxy/servers/balance.hpp"
#include "gateway/proxy/servers/upstream_status.hpp"

#include <array>

namespace gateway::proxy {

class server_capacity {
public:
    server_capacity(const upstream_options& options, std::shared_ptr<upstream_status> status);

    enum class availability : std::uint8_t {
        taken,
        // The upstream, or all servers that may be used, have as many requests as they may.
        full,
        // There is no candidate.
        none,
    };

    struct choice {
        availability is;

        // The server's index, if taken.
        std::size_t server;
    };

    // Takes a slot at one of the usable servers with a bit in `candidates`. If none is usable, any
    // of them will do, because a server that is thought to be dead is better than none.
    choice take(std::uint64_t candidates, std::uint64_t key, base::instant now);

    // Gives the slot back, and wakes a request that waits for one.
    void release(std::size_t server);

    void succeeded(std::size_t server, base::instant now)
    {
        if (several_) {
            status_->succeeded(*servers_[server], now);
        }
    }

    // Records a failure. Returns true if the server has been ejected for it.
    bool failed(std::size_t server, base::instant now);

    // True if a new request has to queue up behind others.
    bool others_wait() const { return bounded_ && !status_->queue().empty(); }

    wait_queue& queue() { return status_->queue(); }

    bool several() const { return several_; }

    // True if the requests at the upstream or at one of its servers are bounded.
    bool bounded() const { return bounded_; }

private:
    const upstream_options& options_;
    std::shared_ptr<upstream_status> status_;
    std::vector<std::shared_ptr<server_status>> servers_;

    // seeds_[i] is the seed of server i, for hashing.
    std::vector<std::uint64_t> seeds_;

    turns turns_;
    std::uint64_t random_;
    bool several_;
    bool bounded_;

    // The servers' weights in one choice; scratch memory.
    std::array<std::uint32_t, max_servers> weights_{};

    void weigh(std::uint64_t candidates, base::instant now);
    std::optional<std::size_t> pick(std::uint64_t key);
};

}  // namespace gateway::proxy
