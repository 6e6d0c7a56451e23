// `connector` connects to one server, one attempt at a time. Each attempt looks the name up anew
// and tries its addresses until one accepts. An attempt has a time limit, so that a caller waiting
// for the server's return notices it in time.
// Ownership: the caller of connect() keeps the connector alive until the attempt ends.
// Thread: the one of its executor.
#pragma once

#include "gateway/net/alarm.hpp"
#include "gateway/net/fresh_name.hpp"
#include "gateway/net/task.hpp"

#include <string>

namespace gateway::net {

class connector {
public:
    // `limit` bounds the first lookup, and it bounds the connecting of each attempt.
    connector(const executor& ex, const server_address& to, base::duration limit);
    connector(const connector&) = delete;
    connector& operator=(const connector&) = delete;

    // Makes one attempt, and returns a socket that is not open if it failed or was cancelled.
    task<stream_socket> connect();

    // True if the last attempt failed because nothing accepted within the limit.
    bool timed_out() const { return expired_; }

    // Returns the error of the resolver or the system in the last failed attempt; may be empty.
    const std::string& detail() const { return detail_; }

    const server_address& address() const { return server_; }

    // Ends the current attempt, and makes all later ones fail.
    void cancel();

private:
    executor executor_;
    server_address server_;
    base::duration limit_;
    fresh_name name_;
    // Index of the address to try first, modulo the number of addresses.
    std::size_t preferred_ = 0;

    stream_socket socket_;
    std::string detail_;
    alarm too_long_;

    // True if the current attempt took too long.
    bool expired_ = false;

    bool cancelled_ = false;

    void close();
    task<bool> connect_to_one();
};

}  // namespace gateway::net
