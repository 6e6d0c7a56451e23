// `http1_pool` lends HTTP/1 connections to sessions, and keeps those that nobody needs just now.
// There is one per worker.
#pragma once

#include "gateway/client/http1_connection.hpp"
#include "gateway/limits/spares.hpp"

#include <memory>

namespace gateway::client {

class http1_pool {
public:
    std::unique_ptr<http1_connection> borrow(session_environment& env)
    {
        return spares_.borrow([&env] { return std::make_unique<http1_connection>(env); });
    }

    // Takes a connection back. It destroys nothing, so a connection may be given back while a
    // function of its own is running.
    void take_back(std::unique_ptr<http1_connection> at_rest)
    {
        spares_.take_back(std::move(at_rest));
    }

    // Destroys those that hold another view than the present one, and those that are too many.
    // Called on each tick.
    void trim(const limits::policy_view& present)
    {
        spares_.erase_if([&](const http1_connection& c) { return c.holds_other_than(present); });
        spares_.trim();
    }

    // Destroys all, whichever view they hold.
    // Requires: none is lent.
    void clear() { spares_.clear(); }

private:
    // Connections to lend, of about 1 KiB each.
    limits::spares<http1_connection> spares_;
};

}  // namespace gateway::client
