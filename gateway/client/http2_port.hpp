// `http2_port` is what an HTTP/2 connection asks of its shell, besides what its requests do. Calls
// never come back into the connection.
#pragma once

#include "gateway/client/request_host.hpp"

#include <string_view>

namespace gateway::client {

class http2_port : public request_host {
public:
    virtual void send_client(std::string_view a, std::string_view b) = 0;
    // True if something that was sent to the client still waits.
    virtual bool client_blocked() const = 0;
    // Closes the connection when what was sent has gone, or resets it at once.
    virtual void close_client(bool reset) = 0;

protected:
    ~http2_port() = default;
};

}  // namespace gateway::client
