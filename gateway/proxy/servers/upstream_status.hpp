// An upstream as all workers see it: its servers, the places in use, and who waits for one.
// Kept across reloads as long as the upstream keeps its name. Any thread; the lock is taken by
// failures, by the first success after one (not while it is ejected), and by reloads.
#pragma once

#include "gateway/proxy/servers/server_status.hpp"
#include "gateway/proxy/servers/wait_queue.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

namespace gateway::proxy {

class upstream_status {
public:
    using servers = std::span<const std::shared_ptr<server_status>>;

    // The one of that address, which lives while anybody holds it.
    std::shared_ptr<server_status> server(const std::string& address);

    // The places in use, counted only under a bound of the upstream's own.
    place_count& places() { return places_; }

    wait_queue& queue() { return queue_; }

    // What a request said of all[which]. True: that server has been ejected for it.
    bool failed(servers all, std::size_t which, const ejection_options& rules, base::instant now);

    // Of a server that is out it tells nothing new: it had that request before.
    void succeeded(server_status& s, base::instant now)
    {
        if (s.failing_.load(std::memory_order_relaxed) && s.back_since() <= now) {
            forgive(s, now);
        }
    }

private:
    place_count places_;
    wait_queue queue_;
    std::mutex mutex_;
    std::map<std::string, std::weak_ptr<server_status>> known_;

    void forgive(server_status& s, base::instant now);
};

}  // namespace gateway::proxy
