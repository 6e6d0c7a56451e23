// `server_connector` connects to the server that keeps the buckets: the configured one, or the one
// that sentinels name at that moment.
// Thread: its executor's.
// Ownership: whoever awaits connect() keeps it alive.
#pragma once

#include "gateway/net/connector.hpp"
#include "gateway/net/task.hpp"
#include "gateway/store/redis/protocol/options.hpp"
#include "gateway/store/redis/sentinel/master_choice.hpp"
#include "gateway/store/redis/sentinel/sentinels.hpp"
#include "gateway/store/store.hpp"

#include <memory>
#include <optional>
#include <string>

namespace gateway::store::redis {

class server_connector {
public:
    // `limit` bounds a first look-up and an attempt to connect, and each of these steps at a
    // sentinel.
    server_connector(
        const net::executor& executor, const redis_options& options, base::duration limit
    );
    server_connector(const server_connector&) = delete;
    server_connector& operator=(const server_connector&) = delete;

    // Makes one attempt. The returned socket is not open if that failed or was cancelled.
    net::task<net::stream_socket> connect();

    // Reason why the last attempt failed. The words in detail() may be empty.
    failure why() const { return why_; }

    const std::string& detail() const { return detail_; }

    // Notes that the server has turned out to be the right one.
    void accepted() { choice_.accepted(address()); }

    // Notes that the server has reported that it is no master, which sentinels may not know yet.
    void denied() { choice_.denied(address()); }

    bool has_denied(const net::server_address& master) const { return choice_.has_denied(master); }

    // Returns the server of the last attempt.
    const net::server_address& address() const { return connector_->address(); }

    // Ends the present attempt, and allows no other.
    void cancel();

private:
    net::executor executor_;
    base::duration limit_;
    // Null if the server is always the same.
    std::shared_ptr<sentinels> sentinels_;
    master_choice choice_;
    // Never empty.
    std::optional<net::connector> connector_;
    failure why_ = failure::unreachable;
    std::string detail_;
    bool cancelled_ = false;

    net::task<bool> find_master();
};

}  // namespace gateway::store::redis
