// `upstream_status` is an upstream as all workers see it: its servers, the slots in use, and the
// requests that wait for one. It is kept across reloads as long as the upstream keeps its name.
// Thread: any. Its lock is taken by failures, by the first success after one (not while the server
// is ejected), and by reloads.
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

    // Returns the server of that address, which lives as long as anybody holds it.
    std::shared_ptr<server_status> server(const std::string& address);

    // Counts the slots in use, under a bound of the upstream's own only.
    capacity_count& capacity() { return capacity_; }

    wait_queue& queue() { return queue_; }

    // Records a failure of all[which]. Returns true if that server has been ejected for it.
    bool failed(servers all, std::size_t which, const ejection_options& rules, base::instant now);

    // Records a success. A server that is out had that request before, so it tells nothing new.
    void succeeded(server_status& s, base::instant now)
    {
        if (s.failing_.load(std::memory_order_relaxed) && s.back_since() <= now) {
            reinstate(s, now);
        }
    }

private:
    capacity_count capacity_;
    wait_queue queue_;
    std::mutex mutex_;
    std::map<std::string, std::weak_ptr<server_status>> known_;

    void reinstate(server_status& s, base::instant now);
};

}  // namespace gateway::proxy
