// Connects to one server, one attempt at a time: looks its name up anew for each, and tries its
// addresses until one accepts. An attempt takes no longer than it is told, so that whoever waits
// for the server's return notices it in time.
//
// One thread: its executor's. Whoever waits for connect() keeps it alive.
#pragma once

#include "gateway/net/alarm.hpp"
#include "gateway/net/fresh_name.hpp"
#include "gateway/net/task.hpp"

#include <string>

namespace gateway::net {

class connector {
public:
    // `limit`: how long a first look-up may take, and how long connecting may.
    connector(const executor& ex, const server_address& to, base::duration limit);
    connector(const connector&) = delete;
    connector& operator=(const connector&) = delete;

    // One attempt. Not open: it failed, or was cancelled.
    task<stream_socket> connect();

    // Whether the last attempt failed because nothing accepted within the limit.
    bool timed_out() const { return expired_; }

    // What the resolver or the system said when the last attempt failed; may be empty.
    const std::string& detail() const { return detail_; }

    const server_address& address() const { return server_; }

    // Ends the present attempt, and allows no other.
    void cancel();

private:
    executor executor_;
    server_address server_;
    base::duration limit_;
    fresh_name name_;
    // Which of its addresses to try first, modulo their number.
    std::size_t preferred_ = 0;

    stream_socket socket_;
    std::string detail_;
    alarm too_long_;

    // Whether the present attempt took too long.
    bool expired_ = false;

    bool cancelled_ = false;

    void close();
    task<bool> connect_to_one();
};

}  // namespace gateway::net
