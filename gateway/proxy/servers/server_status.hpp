// One server of an upstream as all workers see it: how busy it is, and whether it may be used.
// Kept across reloads as long as the upstream keeps its name and the server its address; shared by
// the pools that use it. Any thread.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/proxy/servers/ejection_state.hpp"
#include "gateway/proxy/servers/place_count.hpp"

#include <atomic>

namespace gateway::proxy {

class server_status {
public:
    // Requests that have this server: connecting, under way, or the whole of a tunnel.
    place_count& places() { return places_; }

    // What active health checks say. True as long as nobody checks.
    void set_healthy(bool healthy);

    bool healthy() const { return healthy_.load(std::memory_order_relaxed); }

    // Neither failing its health checks nor ejected.
    bool is_usable(base::instant now) const { return healthy() && back_since() <= now; }

    // The moment since which, or from which on, it is back from having been unusable; at first some
    // past moment.
    base::instant back_since() const
    {
        return base::instant{base::duration{back_since_.load(std::memory_order_relaxed)}};
    }

    std::uint64_t ejections() const { return ejections_.load(std::memory_order_relaxed); }

private:
    // Uses `ejection_` under its own lock.
    friend class upstream_status;

    ejection_state ejection_;

    // What is written with each request lies apart from what is read with each and hardly written.
    alignas(64) place_count places_;
    alignas(64) std::atomic<bool> healthy_{true};
    // There were failures since the last success.
    std::atomic<bool> failing_{false};
    std::atomic<base::duration::rep> back_since_{0};
    std::atomic<std::uint64_t> ejections_{0};

    void back_from(base::instant then);
};

}  // namespace gateway::proxy
