// `echo_server` is the built-in upstream `echo`: it answers every request with what it received, as
// JSON. It is for trying the gateway out, and for tests. It is a server like any other, on a
// loopback port of its own and a thread of its own, so that such traffic goes the whole way that
// real traffic goes.
#pragma once

#include <cstddef>
#include <memory>

namespace gateway::probes {

class echo_server {
public:
    // Bounds of a request. A longer body is answered with 413; a longer head closes the connection.
    static constexpr std::size_t max_head_bytes = 64 * 1024;
    static constexpr std::size_t max_body_bytes = 1024 * 1024;

    // Begins to listen.
    // Errors: throws std::system_error.
    echo_server();

    ~echo_server();

    unsigned short port() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace gateway::probes
