// `admin_server` serves the admin API (admin_api.hpp) on an address of its own and the main
// thread's loop.
#pragma once

#include "gateway/admin/admin_sources.hpp"
#include "gateway/client/options.hpp"
#include "gateway/net/socket.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>

namespace gateway::admin {

// At its bound of connections, the server closes the one that has kept it waiting longest: for the
// rest of a request, or for room for an answer. A slow client therefore cannot shut others out.
class admin_server {
public:
    // Accepts connections on `listening`, which listens on options.address.
    admin_server(
        boost::asio::io_context& context,
        net::socket listening,
        const client::admin_options& options,
        admin_sources from
    );
    ~admin_server();

    // Stops accepting connections. Open ones are still served.
    void stop_accepting();

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace gateway::admin
