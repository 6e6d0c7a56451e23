// `client_port` is what a protocol asks of the connection that it is spoken on. Calls never come
// back into it.
#pragma once

#include <string_view>

namespace gateway::client {

class client_port {
public:
    virtual void send_client(std::string_view a, std::string_view b) = 0;
    // True if something that was sent to the client still waits. Then no further request is begun.
    virtual bool client_blocked() const = 0;
    // Closes the connection when what was sent has gone, or resets it at once.
    virtual void close_client(bool reset) = 0;

protected:
    ~client_port() = default;
};

}  // namespace gateway::client
