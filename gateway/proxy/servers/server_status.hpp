// `server_status` is one server of an upstream as all workers see it: how busy it is, and whether
// it may be used. It is kept across reloads while its upstream's name and its own address stay.
// Ownership: shared by the pools that use it.
// Thread: any.
#pragma once

#include "gateway/base/clock.hpp"
#include "gateway/proxy/servers/capacity_count.hpp"
#include "gateway/proxy/servers/ejection_state.hpp"

#include <atomic>

namespace gateway::proxy {

class server_status {
public:
    // Counts the requests that have this server: connecting, under way, or a whole tunnel.
    capacity_count& capacity() { return capacity_; }

    // Sets the result of active health checks, which is true as long as nobody checks.
    void set_healthy(bool healthy);

    bool healthy() const { return healthy_.load(std::memory_order_relaxed); }

    // True if it neither fails its health checks nor is ejected.
    bool is_usable(base::instant now) const { return healthy() && back_since() <= now; }

    // Returns the moment since which, or from which on, it is back from having been unusable. At
    // first that is some past moment.
    base::instant back_since() const
    {
        return base::instant{base::duration{back_since_.load(std::memory_order_relaxed)}};
    }

    std::uint64_t ejections() const { return ejections_.load(std::memory_order_relaxed); }

private:
    // upstream_status uses `ejection_` under its own lock.
    friend class upstream_status;

    ejection_state ejection_;

    // The fields that each request writes lie apart from those that each reads and few write.
    alignas(64) capacity_count capacity_;
    alignas(64) std::atomic<bool> healthy_{true};
    // True if there were failures since the last success.
    std::atomic<bool> failing_{false};
    std::atomic<base::duration::rep> back_since_{0};
    std::atomic<std::uint64_t> ejections_{0};

    void back_from(base::instant then);
};

}  // namespace gateway::proxy
