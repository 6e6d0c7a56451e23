// Connects to the server that keeps the buckets: the one that is named, or the one that sentinels
// name at that moment.
//
// One thread: its executor's. Whoever waits for connect() keeps it alive.
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
    // `limit`: how long a first look-up may take, how long connecting may, and how long a sentinel
    // may take for each of these.
    server_connector(
        const net::executor& executor, const redis_options& options, base::duration limit
    );
    server_connector(const server_connector&) = delete;
    server_connector& operator=(const server_connector&) = delete;

    // One attempt. Not open: it failed, or was cancelled.
    net::task<net::stream_socket> connect();

    // Of the last attempt, if it failed; the words may be empty.
    failure why() const { return why_; }

    const std::string& detail() const { return detail_; }

    // The server has turned out to be the right one.
    void accepted() { choice_.accepted(address()); }

    // The server has said that it is no master, which sentinels may not know yet.
    void denied() { choice_.denied(address()); }

    bool has_denied(const net::server_address& master) const { return choice_.has_denied(master); }

    // The server of the last attempt.
    const net::server_address& address() const { return connector_->address(); }

    // Ends the present attempt, and allows no other.
    void cancel();

private:
    net::executor executor_;
    base::duration limit_;
    // Null: the server is always the same.
    std::shared_ptr<sentinels> sentinels_;
    master_choice choice_;
    // Always there.
    std::optional<net::connector> connector_;
    failure why_ = failure::unreachable;
    std::string detail_;
    bool cancelled_ = false;

    net::task<bool> find_master();
};

}  // namespace gateway::store::redis
