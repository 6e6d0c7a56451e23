// Where one worker's requests to an upstream go: it weighs the servers, chooses one, and takes a
// place there, which the request has until its connection is given back. Owned by the pool; one
// thread. What is taken is counted for all workers together.
//
// With one server and no bound there is nothing to choose and nothing to count.
#pragma once

#include "gateway/proxy/options.hpp"
#include "gateway/proxy/servers/balance.hpp"
#include "gateway/proxy/servers/upstream_status.hpp"

#include <array>

namespace gateway::proxy {

class places {
public:
    places(const upstream_options& options, std::shared_ptr<upstream_status> status);

    enum class availability : std::uint8_t {
        taken,
        // Those that may be used have as many requests as they may.
        full,
        // There is no candidate.
        none,
    };

    struct choice {
        availability is;

        // The server's index, when taken.
        std::size_t server;
    };

    // Among the servers with a bit in `candidates`: those that are usable; if none is, any of them,
    // because a server that is thought to be dead is better than none.
    choice take(std::uint64_t candidates, std::uint64_t key, base::instant now);

    // Gives the place back, and wakes who waits for one.
    void give_back(std::size_t server);

    void succeeded(std::size_t server, base::instant now)
    {
        if (several_) {
            status_->succeeded(*servers_[server], now);
        }
    }

    // True: the server has been ejected for it.
    bool failed(std::size_t server, base::instant now);

    // Whoever comes now has to queue up behind others.
    bool others_wait() const { return bounded_ && !status_->queue().empty(); }

    wait_queue& queue() { return status_->queue(); }

    bool several() const { return several_; }

    // Whether there is a bound that a place counts towards.
    bool bounded() const { return bounded_; }

private:
    const upstream_options& options_;
    std::shared_ptr<upstream_status> status_;
    std::vector<std::shared_ptr<server_status>> servers_;

    // A seed of each server, for hashing.
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
